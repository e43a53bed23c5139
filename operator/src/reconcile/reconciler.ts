// One key at a time: first the outputs that nobody answers for, then the binding, if there is one.
import type { Clock } from '@kleym/shared/kube/clock.ts'
import type { Log } from '../telemetry/log.ts'
import { ApplyFailures } from './apply-failures.ts'
import { Convergence } from './convergence.ts'
import { Deletion } from './deletion.ts'
import type { Ledger } from '../claims/ledger.ts'
import type { LiveLists } from '../caches/live-lists.ts'
import { retry, sooner, type Next } from './next.ts'
import { Orphans } from './orphans.ts'
import { Repairs } from './repairs.ts'
import type { Reports } from './reports.ts'
import type { Caches } from '../caches/caches.ts'
import type { AnyFollowedKind } from '@kleym/shared/kube/followed-kind.ts'
import type { Writer } from '../write/writer.ts'

export interface ReconcilerOptions {
  readonly caches: Caches
  readonly ledger: Ledger
  readonly writer: Writer
  readonly lists: LiveLists
  readonly reports: Reports
  readonly clock: Clock
  readonly log: Log
  /** Asks the API server again whether it serves a kind; resolves when the cache's syncState says so. */
  readonly recheck: (cache: AnyFollowedKind) => Promise<void>
  /** Told of each repair. */
  readonly repaired: () => void
  /** Asks for a key to be looked at soon. */
  readonly wake: (key: string) => void
  /** Told that whatever has woken a key until now is dealt with. */
  readonly looked: (key: string) => void
}

export class Reconciler {
  readonly #caches: Caches
  readonly #writer: Writer
  readonly #reports: Reports
  readonly #applyFailures: ApplyFailures
  readonly #orphans: Orphans
  readonly #convergence: Convergence
  readonly #deletion: Deletion

  constructor(options: ReconcilerOptions) {
    const repairs = new Repairs(options)
    this.#caches = options.caches
    this.#writer = options.writer
    this.#reports = options.reports
    this.#applyFailures = new ApplyFailures(options)
    this.#orphans = new Orphans(options)
    this.#convergence = new Convergence({ ...options, repairs, applyFailures: this.#applyFailures })
    this.#deletion = new Deletion({ ...options, repairs })
  }

  /** How many deleted bindings wait for a list that confirms that nothing is left of them. */
  get waiting(): number {
    return this.#deletion.waiting
  }

  /** Brings one key as far as it goes now. Rejects only for a bug. */
  async reconcile(key: string): Promise<Next> {
    const orphans = await this.#orphans.remove(key)
    return sooner(orphans, await this.#reconcileBinding(key))
  }

  async #reconcileBinding(key: string): Promise<Next> {
    const binding = this.#caches.bindings.store.get(key)
    if (binding !== undefined && binding.meta.deletedAt === undefined) return this.#convergence.run(key)
    this.#reports.forget(key)
    this.#applyFailures.forget(key)
    if (binding !== undefined) return this.#deletion.run(key, binding)
    this.#deletion.forget(key)
    // What it claimed by a write without an answer must not outlive it.
    const settled = await this.#writer.settle(key)
    return settled.kind === 'unknown' ? retry(settled) : { kind: 'settled' }
  }
}
