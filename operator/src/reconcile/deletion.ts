// A binding that is being deleted: its output goes, a live list confirms that nothing of it is left, then its finalizer
// goes (contract §8, "Deletion"). Nobody waits for the list: one serves all bindings whose deletes came before it.
import { CLUSTER_SPIFFE_ID_KIND, FINALIZER } from '@kleym/shared/core/names.ts'
import type { Binding } from '@kleym/shared/core/objects/binding.ts'
import { isKindAbsent } from '@kleym/shared/kube/failures.ts'
import type { Log } from '../telemetry/log.ts'
import type { Ledger } from '../claims/ledger.ts'
import type { LiveLists } from '../caches/live-lists.ts'
import { retry, SETTLED, type Next } from './next.ts'
import type { Repairs } from './repairs.ts'
import type { Caches } from '../caches/caches.ts'
import type { AnyFollowedKind } from '@kleym/shared/kube/followed-kind.ts'
import type { Writer } from '../write/writer.ts'

export interface DeletionOptions {
  readonly caches: Caches
  readonly ledger: Ledger
  readonly writer: Writer
  readonly lists: LiveLists
  readonly repairs: Repairs
  readonly log: Log
  /** Asks the API server again whether it serves a kind. */
  readonly recheck: (cache: AnyFollowedKind) => Promise<void>
  /** Asks for a key to be looked at soon. */
  readonly wake: (key: string) => void
}

/** How soon what is left is looked at again, in milliseconds. */
const LEFTOVER_MS = 2_000

/** The list that a deleted binding waits for. */
interface Ticket {
  readonly uid: string | undefined
  state: 'waiting' | 'listed' | 'failed'
  error: unknown
}

export class Deletion {
  readonly #options: DeletionOptions
  readonly #tickets = new Map<string, Ticket>()

  constructor(options: DeletionOptions) {
    this.#options = options
  }

  /** How many bindings wait for a list. */
  get waiting(): number {
    return this.#tickets.size
  }

  /** The binding is gone: so is what was known of its end. */
  forget(key: string): void {
    this.#tickets.delete(key)
  }

  /** Brings the end of a binding as far as it goes now. */
  async run(key: string, binding: Binding): Promise<Next> {
    const { outputs } = this.#options.caches
    if (outputs.syncState.kind === 'waiting') return SETTLED
    const unfinished = outputs.syncState.kind === 'absent' ? undefined : await this.#clear(key, binding)
    if (unfinished !== undefined) return unfinished
    this.#tickets.delete(key)
    return binding.meta.finalizers.includes(FINALIZER) ? this.#letGo(key, binding) : SETTLED
  }

  /** Deletes what is there for the binding, and makes sure that nothing is left; else when to look again. */
  async #clear(key: string, binding: Binding): Promise<Next | undefined> {
    const { ledger, writer, caches, repairs, recheck } = this.#options
    for (const live of ledger.ownOutputs(key)) {
      if (live.object.meta.deletedAt !== undefined) continue
      // Whatever was listed before this delete proves nothing any more.
      this.#tickets.delete(key)
      repairs.forget(live.object.meta.name)
      const result = await writer.remove(live)
      if (result.kind === 'kind absent') await recheck(caches.outputs)
      else if (result.kind !== 'done') return retry(result)
    }
    if (ledger.ownOutputs(key).length > 0) {
      // A list that was asked for while something is here cannot tell when it is gone.
      this.#tickets.delete(key)
      return { kind: 'after', ms: LEFTOVER_MS }
    }
    return binding.meta.finalizers.includes(FINALIZER) ? this.#confirm(key, binding) : undefined
  }

  async #confirm(key: string, { meta }: Binding): Promise<Next | undefined> {
    const { writer, ledger } = this.#options
    const ticket = this.#tickets.get(key)
    if (ticket === undefined || ticket.uid !== meta.uid) {
      void this.#order(key, { uid: meta.uid, state: 'waiting', error: undefined })
      return SETTLED
    }
    if (ticket.state === 'waiting') return SETTLED
    if (ticket.state === 'failed') return this.#afterFailure(key, ticket.error)
    // A write whose answer was lost is in the list, if it was carried out.
    const settled = await writer.settle(key)
    if (settled.kind === 'unknown') return retry(settled)
    return ledger.ownOutputs(key).length === 0 ? undefined : { kind: 'after', ms: 0 }
  }

  /** Waits for a list on the binding's behalf, and wakes it. */
  async #order(key: string, ticket: Ticket): Promise<void> {
    const { lists, wake } = this.#options
    this.#tickets.set(key, ticket)
    try {
      await lists.afterNow()
      ticket.state = 'listed'
    } catch (error) {
      ticket.state = 'failed'
      ticket.error = error
    }
    wake(key)
  }

  async #afterFailure(key: string, error: unknown): Promise<Next | undefined> {
    const { caches, log, recheck } = this.#options
    this.#tickets.delete(key)
    if (isKindAbsent(error)) {
      await recheck(caches.outputs)
      // Where the API server does not serve the kind, nothing is left.
      return caches.outputs.syncState.kind === 'absent' ? undefined : retry()
    }
    const what = CLUSTER_SPIFFE_ID_KIND
    log.warn('cannot tell whether anything is left of a deleted binding', { binding: key, what, error })
    return retry()
  }

  async #letGo(key: string, binding: Binding): Promise<Next> {
    const { caches, writer, log } = this.#options
    const current = caches.bindings.store.get(key)
    if (current === undefined || current.meta.uid !== binding.meta.uid) return { kind: 'after', ms: 0 }
    const result = await writer.setFinalizer(current, false)
    if (result.kind !== 'done') return retry(result)
    log.info('let a deleted binding go', { binding: key })
    return SETTLED
  }
}
