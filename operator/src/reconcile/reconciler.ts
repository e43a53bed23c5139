// One key at a time: first the outputs whose binding is gone, then the binding, if there is one.
import type { Caches } from '../caches/caches.ts'
import type { Writer } from '../write/writer.ts'
import type { ApplyFailures } from './apply-failures.ts'
import type { Convergence } from './convergence.ts'
import type { BindingDeletion } from './deletion.ts'
import { retry, sooner, type Next } from './next.ts'
import type { Orphans } from './orphans.ts'
import type { Repairs } from './repairs.ts'
import type { Reports } from './reports.ts'

export interface ReconcilerOptions {
  readonly caches: Pick<Caches, 'bindings'>
  readonly writer: Writer
  readonly reports: Reports
  readonly repairs: Repairs
  readonly applyFailures: ApplyFailures
  readonly orphans: Orphans
  readonly convergence: Convergence
  readonly deletion: BindingDeletion
}

export class Reconciler {
  readonly #options: ReconcilerOptions

  constructor(options: ReconcilerOptions) {
    this.#options = options
  }

  /** How many deleted bindings wait for a list that confirms that nothing is left of them. */
  get waiting(): number {
    return this.#options.deletion.waiting
  }

  /** Brings one key as far as it goes now. Rejects only for a bug. */
  async reconcile(key: string): Promise<Next> {
    const orphans = await this.#options.orphans.remove(key)
    return sooner(orphans, await this.#reconcileBinding(key))
  }

  async #reconcileBinding(key: string): Promise<Next> {
    const { caches, convergence, reports, repairs, applyFailures, deletion, writer } = this.#options
    const binding = caches.bindings.store.get(key)
    if (binding !== undefined && binding.meta.deletedAt === undefined) return convergence.run(key)
    reports.forget(key)
    applyFailures.forget(key)
    if (binding !== undefined) return deletion.run(key, binding)
    deletion.forget(key)
    // Also where somebody else removed finalizer and output.
    repairs.forgetBinding(key)
    // A write without an answer must not leave a claim behind for a binding that is gone.
    const unknownWrites = await writer.resolveUnknownWrites(key)
    return unknownWrites.kind === 'unknown' ? retry(unknownWrites) : { kind: 'nothing to do' }
  }
}
