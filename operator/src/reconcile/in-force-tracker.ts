// What the operator remembers of each binding's output to say whether SCM acts on it (docs/contract.md §7, `InForce`). The
// memory is this process's own: after a start or a take-over every delay begins anew, and the status stays meanwhile.
import {
  afterWrite,
  lookInForce,
  NOTHING_SEEN,
  type InForceMemory,
  type InForceObservation,
  type InForceReason,
} from '@kleym/shared/core/decide/index.ts'
import type { OutputStats } from '@kleym/shared/core/model/objects/output-stats.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'

export interface InForceTrackerOptions {
  readonly clock: Clock
}

/** What to say of an output now, and when to look again without an event. */
export interface InForceLook {
  /** Undefined: the last word stays. */
  readonly reason: InForceReason | undefined
  /** In milliseconds. */
  readonly againInMs: number | undefined
}

/** The outputs that this process has written or looked at, by the binding that they are for. */
export class InForceTracker {
  readonly #options: InForceTrackerOptions
  readonly #memories = new Map<string, InForceMemory>()

  constructor(options: InForceTrackerOptions) {
    this.#options = options
  }

  /** Notes a create, or an update that changed what is written; `stats` are the counters that stood there before. */
  written(key: string, stats: OutputStats | undefined): void {
    this.#memories.set(key, afterWrite(stats, this.#options.clock.monotonicMs()))
  }

  /** Looks at the output of a binding. `said` is the word of the status. */
  look(key: string, observation: InForceObservation, said: InForceReason | undefined): InForceLook {
    const nowMs = this.#options.clock.monotonicMs()
    const before = this.#memories.get(key) ?? takenOver(observation, said, nowMs)
    const { reason, memory, againInMs } = lookInForce(before, observation, nowMs)
    // Kept also where there is nothing to remember: that it was looked at is what a status cannot tell.
    this.#memories.set(
      key,
      memory.pending === undefined && memory.unsaid === undefined ? NOTHING_SEEN : memory,
    )
    return { reason, againInMs }
  }

  /** Forgets a binding that is gone. */
  forget(key: string): void {
    this.#memories.delete(key)
  }
}

/**
 * The memory of an output that another process has written: where the status says that SCM must still act, the counters that
 * are there may be of what stood before the write, and the time begins anew.
 */
function takenOver(
  observation: InForceObservation,
  said: InForceReason | undefined,
  nowMs: number,
): InForceMemory {
  return said === 'Pending' && observation.kind === 'output'
    ? afterWrite(observation.stats, nowMs)
    : NOTHING_SEEN
}
