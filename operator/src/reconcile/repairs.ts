// How often the operator has put each output back. A client that edits one again and again (another controller, a webhook) must
// not make the operator write for ever (docs/contract.md §8).
import { ANNOTATION_BINDING } from '@kleym/shared/core/model/names.ts'
import { type Output, driftOf } from '@kleym/shared/core/decide/index.ts'
import type { ClusterSpiffeId } from '@kleym/shared/core/model/objects/clusterspiffeid.ts'
import { backoffMs, type Backoff } from '@kleym/shared/kube/backoff.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { Members } from '../claims/members.ts'
import { desiredHashOf } from './desired-hash.ts'

const WINDOW_MS = 60_000
/** Repairs of one output within `WINDOW_MS` that are made at once; the next one waits. */
const REPAIRS_AT_ONCE = 2
/** The waits between later repairs. */
const BACKOFF: Backoff = { firstMs: 5_000, maxMs: 300_000 }

/** The last write under a name. */
interface LastWrite {
  /** The key of the binding that it was for. */
  readonly binding: string | undefined
  readonly desiredHash: string
  /** When repairs were made, within `WINDOW_MS` before the last of them, in monotonic milliseconds. */
  readonly repairs: readonly number[]
  /** Repairs in a row that had to wait, the next one included; 0: the next one is made at once. */
  readonly waits: number
  /** How the object came back from the write, where it still differed from what was asked for. */
  readonly keptDifference: string | undefined
}

export type RepairAdvice =
  /** A repair writes again what was written before; any other write asks for something new. */
  | { readonly kind: 'write'; readonly isRepair: boolean }
  | { readonly kind: 'pause'; readonly ms: number }
  /** The API server has answered this very write with this very object before. */
  | { readonly kind: 'leave' }

export interface RepairsOptions {
  readonly clock: Clock
}

/** The repairs of every output that this process has written, by name. */
export class Repairs {
  readonly #options: RepairsOptions
  readonly #lastWrites = new Map<string, LastWrite>()
  /** Their names by binding. */
  readonly #names = new Members()

  constructor(options: RepairsOptions) {
    this.#options = options
  }

  /** Whether to write `output`, given the object that is there now; `live` is undefined where there is none. */
  advise(output: Output, live: ClusterSpiffeId | undefined): RepairAdvice {
    const last = this.#lastWrites.get(output.metadata.name)
    if (last === undefined || last.desiredHash !== desiredHashOf(output)) {
      return { kind: 'write', isRepair: false }
    }
    if (live !== undefined && last.keptDifference === differenceOf(live, output)) return { kind: 'leave' }
    const dueMs = (last.repairs.at(-1) ?? 0) + pauseMs(last)
    const ms = dueMs - this.#options.clock.monotonicMs()
    return last.waits > 0 && ms > 0 ? { kind: 'pause', ms } : { kind: 'write', isRepair: true }
  }

  /**
   * Notes that `output` was written and that the API server answered with `answer`. `stubborn`: a PUT came back different,
   * and the object is left so. A creation that comes back different is not: what changes new objects may leave a PUT alone.
   */
  written(
    output: Output,
    answer: ClusterSpiffeId | undefined,
    { isRepair, isPut }: { readonly isRepair: boolean; readonly isPut: boolean },
  ): { stubborn: boolean } {
    const { name } = output.metadata
    const stubborn = isPut && answer !== undefined && driftOf(answer, output).length > 0
    const binding = output.metadata.annotations[ANNOTATION_BINDING]
    this.#names.move(name, this.#lastWrites.get(name)?.binding, binding)
    this.#lastWrites.set(name, {
      binding,
      desiredHash: desiredHashOf(output),
      ...(isRepair ? this.#repaired(name) : { repairs: [], waits: 0 }),
      keptDifference: stubborn ? differenceOf(answer, output) : undefined,
    })
    return { stubborn }
  }

  /**
   * Notes that a dry run of a PUT came back as what is live: the API server sets again what it has set before, and a write would
   * change nothing. Whether that is so.
   */
  rehearsed(output: Output, live: ClusterSpiffeId, answer: ClusterSpiffeId | undefined): boolean {
    if (answer === undefined || differenceOf(answer, output) !== differenceOf(live, output)) return false
    return this.written(output, answer, { isRepair: false, isPut: true }).stubborn
  }

  /** Forgets an output that was withdrawn: writing it again is no repair. */
  forget(name: string): void {
    this.#names.move(name, this.#lastWrites.get(name)?.binding, undefined)
    this.#lastWrites.delete(name)
  }

  /** Forgets the outputs of a binding that is gone, whoever removed them. */
  forgetBinding(key: string): void {
    for (const name of this.#names.of(key)) this.forget(name)
  }

  /** Of how many outputs the last write is remembered. */
  get size(): number {
    return this.#lastWrites.size
  }

  #repaired(name: string): Pick<LastWrite, 'repairs' | 'waits'> {
    const now = this.#options.clock.monotonicMs()
    const last = this.#lastWrites.get(name)
    const lastMs = last?.repairs.at(-1)
    if (last === undefined || lastMs === undefined || now - lastMs > Math.max(WINDOW_MS, 2 * pauseMs(last))) {
      return { repairs: [now], waits: 0 }
    }
    const repairs = [...last.repairs.filter((at) => now - at < WINDOW_MS), now]
    const tooMany = last.waits > 0 || repairs.length >= REPAIRS_AT_ONCE
    return { repairs, waits: tooMany ? last.waits + 1 : 0 }
  }
}

/** How long the next repair waits after the last one. */
function pauseMs({ waits }: LastWrite): number {
  return waits === 0 ? 0 : backoffMs(BACKOFF, waits)
}

/** The object, as far as its difference from what was asked for goes: what drift compares. */
function differenceOf(live: ClusterSpiffeId, output: Output): string {
  return JSON.stringify([live.meta.uid, driftOf(live, output), live.rawSpec])
}
