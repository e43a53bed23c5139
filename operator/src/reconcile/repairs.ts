// How often an output has been put back. Somebody who edits it again and again (another controller, a webhook) must not
// make kleym write for ever (contract §8).
import { driftOf } from '@kleym/shared/core/plan/drift.ts'
import type { Output } from '@kleym/shared/core/compile/output.ts'
import type { ClusterSpiffeId } from '@kleym/shared/core/objects/clusterspiffeid.ts'
import { wishOf } from './desired-hash.ts'

const WINDOW_MS = 60_000
/** Repairs of one object within a minute that are made at once; the next one waits. */
const REPAIRS_AT_ONCE = 2
/** The first such wait; it doubles with each repair. */
const PAUSE_MS = 5_000
const PAUSE_MAX_MS = 300_000

/** What was last written under a name. */
interface Written {
  readonly wish: string
  /** When repairs were made, within the minute before the last of them. */
  readonly repairs: readonly number[]
  /** How long the next repair waits after the last one. */
  readonly pauseMs: number
  /** How the object came back, where it still differed from the wish. */
  readonly stubborn: string | undefined
}

export type RepairAdvice =
  /** A repair writes again what was written before; anything else is a new wish. */
  | { readonly kind: 'write'; readonly isRepair: boolean }
  | { readonly kind: 'pause'; readonly ms: number }
  /** The API server has answered this very wish with this very object before. */
  | { readonly kind: 'leave' }

export class Repairs {
  readonly #monotonicMs: () => number
  readonly #written = new Map<string, Written>()

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs
  }

  /** Whether to write `output`, given what is there now; `live` is undefined where nothing is. */
  advise(output: Output, live: ClusterSpiffeId | undefined): RepairAdvice {
    const before = this.#written.get(output.metadata.name)
    if (before === undefined || before.wish !== wishOf(output)) return { kind: 'write', isRepair: false }
    if (live !== undefined && before.stubborn === differenceOf(live, output)) return { kind: 'leave' }
    const wait = (before.repairs.at(-1) ?? 0) + before.pauseMs - this.#monotonicMs()
    return before.pauseMs > 0 && wait > 0 ? { kind: 'pause', ms: wait } : { kind: 'write', isRepair: true }
  }

  /**
   * `output` was written, and is there now as `answer`; says whether it is left so. A creation that comes back different
   * is not: what changes new objects may leave a PUT alone.
   */
  written(
    output: Output,
    answer: ClusterSpiffeId | undefined,
    { isRepair, isPut }: { readonly isRepair: boolean; readonly isPut: boolean },
  ): { stubborn: boolean } {
    const differs = isPut && answer !== undefined && driftOf(answer, output).length > 0
    this.#written.set(output.metadata.name, {
      wish: wishOf(output),
      ...(isRepair ? this.#repaired(output.metadata.name) : { repairs: [], pauseMs: 0 }),
      stubborn: differs ? differenceOf(answer, output) : undefined,
    })
    return { stubborn: differs }
  }

  /** The output was withdrawn: writing it again is no repair. */
  forget(name: string): void {
    this.#written.delete(name)
  }

  #repaired(name: string): Pick<Written, 'repairs' | 'pauseMs'> {
    const now = this.#monotonicMs()
    const { repairs = [], pauseMs = 0 } = this.#written.get(name) ?? {}
    const last = repairs.at(-1)
    if (last === undefined || now - last > Math.max(WINDOW_MS, 2 * pauseMs))
      return { repairs: [now], pauseMs: 0 }
    const recent = [...repairs.filter((at) => now - at < WINDOW_MS), now]
    const tooMany = pauseMs > 0 || recent.length >= REPAIRS_AT_ONCE
    return { repairs: recent, pauseMs: tooMany ? Math.min(Math.max(2 * pauseMs, PAUSE_MS), PAUSE_MAX_MS) : 0 }
  }
}

/** The object, as far as its difference from the wish goes: what drift looks at. */
function differenceOf(live: ClusterSpiffeId, output: Output): string {
  return JSON.stringify([live.meta.uid, driftOf(live, output), live.rawSpec])
}
