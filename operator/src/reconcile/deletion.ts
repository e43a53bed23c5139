// A binding that is being deleted: the operator deletes its output, a live list confirms that nothing of it is left, then the
// operator removes its finalizer (docs/contract.md §8, "Deletion"). What is still there then says that it is being deleted. No
// worker waits for the list: one list serves all bindings whose deletes came before it, and wakes them.
import { CLUSTER_SPIFFE_ID_KIND } from '@kleym/shared/core/model/names.ts'
import { mayBeKindAbsent } from '@kleym/shared/kube/failures.ts'
import type { AnyFollowedKind } from '@kleym/shared/kube/followed-kind.ts'
import type { CachedBinding } from '../caches/cached-binding.ts'
import type { Caches } from '../caches/caches.ts'
import { hasOurs } from '../caches/kept-finalizers.ts'
import type { LiveLists } from '../caches/live-lists.ts'
import type { Ledger } from '../claims/ledger.ts'
import type { Log } from '../telemetry/log.ts'
import type { Writer } from '../write/writer.ts'
import { retry, NOTHING_TO_DO, sooner, type Next } from './next.ts'
import type { Repairs } from './repairs.ts'
import type { Reports } from './reports.ts'

export interface BindingDeletionOptions {
  readonly caches: Caches
  readonly ledger: Ledger
  readonly writer: Writer
  readonly lists: LiveLists
  readonly repairs: Repairs
  readonly reports: Pick<Reports, 'report'>
  readonly log: Log
  /** Asks the API server again whether it serves a kind. */
  readonly recheck: (cache: AnyFollowedKind) => Promise<void>
  /** Asks for a key to be reconciled soon. */
  readonly wake: (key: string) => void
}

/** How soon the operator looks again at outputs that are still there, in milliseconds. */
const LEFTOVER_MS = 2_000

/** The list that a deleted binding waits for. */
interface Confirmation {
  readonly bindingUid: string | undefined
  state: 'waiting' | 'listed' | 'failed'
  error: unknown
}

export class BindingDeletion {
  readonly #options: BindingDeletionOptions
  readonly #confirmations = new Map<string, Confirmation>()

  constructor(options: BindingDeletionOptions) {
    this.#options = options
  }

  /** How many bindings wait for a list, or must still hear of it. */
  get waiting(): number {
    return this.#confirmations.size
  }

  /** The binding is gone: drops its deletion state. */
  forget(key: string): void {
    this.#confirmations.delete(key)
  }

  /** Brings the deletion of a binding as far as it goes now. */
  async run(key: string, binding: CachedBinding): Promise<Next> {
    const { outputs } = this.#options.caches
    if (outputs.syncState.kind === 'waiting') return NOTHING_TO_DO
    const unfinished =
      outputs.syncState.kind === 'absent' ? undefined : await this.#deleteOutputs(key, binding)
    if (unfinished !== undefined) return unfinished
    this.#confirmations.delete(key)
    if (hasOurs(binding.finalizers)) return this.#removeFinalizer(key, binding)
    // Without one it is gone, and the cache will hear of it.
    return binding.finalizers.hasOthers ? this.#sayLeaving(key, binding) : NOTHING_TO_DO
  }

  /** Says so in the status where another's finalizer may keep the binding, or its output, for long. */
  async #sayLeaving(key: string, binding: CachedBinding): Promise<Next> {
    const { ledger, reports } = this.#options
    const { result } = await reports.report(key, ledger.leaving(binding), ledger.ownOutputs(key))
    return result.kind === 'done' || result.kind === 'held' ? NOTHING_TO_DO : retry(result)
  }

  /** Deletes what is there for the binding, and makes sure that nothing is left; else when to look again. */
  async #deleteOutputs(key: string, binding: CachedBinding): Promise<Next | undefined> {
    const { ledger, writer, repairs } = this.#options
    const tried = new Set<string>()
    // Asked for anew after each: another binding of that name, made meanwhile, does not own what is left.
    for (;;) {
      const output = ledger
        .ownOutputs(key)
        .map((own) => own.output)
        .find(({ meta }) => meta.deletedAt === undefined && !tried.has(meta.name))
      if (output === undefined) break
      tried.add(output.meta.name)
      // A list from before this delete proves nothing any more.
      this.#confirmations.delete(key)
      repairs.forget(output.meta.name)
      const result = await writer.remove(output)
      if (result.kind !== 'done' && result.kind !== 'kind absent') return retry(result)
    }
    if (ledger.ownOutputs(key).length > 0) {
      // A list that was asked for while something is here cannot tell when it is gone.
      this.#confirmations.delete(key)
      return sooner(await this.#sayLeaving(key, binding), { kind: 'after', ms: LEFTOVER_MS })
    }
    // A hand, or a restored backup, may have given its output another UID. `Orphans` deletes it, and tries again.
    const orphans = ledger.orphans(key)
    if (orphans.length > 0) {
      this.#confirmations.delete(key)
      const isEachLeaving = orphans.every(({ output }) => output.meta.deletedAt !== undefined)
      return isEachLeaving ? { kind: 'after', ms: LEFTOVER_MS } : NOTHING_TO_DO
    }
    return hasOurs(binding.finalizers) ? this.#confirm(key, binding) : undefined
  }

  async #confirm(key: string, { meta }: CachedBinding): Promise<Next | undefined> {
    const { writer, ledger } = this.#options
    const confirmation = this.#confirmations.get(key)
    if (confirmation === undefined || confirmation.bindingUid !== meta.uid) {
      void this.#requestList(key, { bindingUid: meta.uid, state: 'waiting', error: undefined })
      return NOTHING_TO_DO
    }
    if (confirmation.state === 'waiting') return NOTHING_TO_DO
    if (confirmation.state === 'failed') return this.#afterFailure(key, confirmation.error)
    // A write whose answer was lost is in the list, if it was carried out.
    const hadAltered = writer.hasAltered(key)
    const unknownWrites = await writer.resolveUnknownWrites(key)
    if (unknownWrites.kind === 'unknown') return retry(unknownWrites)
    // What a webhook had made of a write was deleted just now: the list began before that, and proves nothing any more.
    if (hadAltered) {
      this.#confirmations.delete(key)
      return { kind: 'after', ms: 0 }
    }
    return ledger.ownOutputs(key).length === 0 ? undefined : { kind: 'after', ms: 0 }
  }

  /** Waits for a list on the binding's behalf, and wakes it. */
  async #requestList(key: string, confirmation: Confirmation): Promise<void> {
    const { lists, wake } = this.#options
    this.#confirmations.set(key, confirmation)
    try {
      await lists.afterNow()
      confirmation.state = 'listed'
    } catch (error) {
      confirmation.state = 'failed'
      confirmation.error = error
    }
    wake(key)
  }

  async #afterFailure(key: string, error: unknown): Promise<Next | undefined> {
    const { caches, log, recheck } = this.#options
    this.#confirmations.delete(key)
    if (mayBeKindAbsent(error)) {
      await recheck(caches.outputs)
      // Where the API server does not serve the kind, nothing is left.
      return caches.outputs.syncState.kind === 'absent' ? undefined : retry()
    }
    const what = CLUSTER_SPIFFE_ID_KIND
    log.warn('cannot tell whether anything is left of a deleted binding', { binding: key, what, error })
    // The wait for the next list counts as success, so that failures in a row are not counted: without a pause of its own, a list
    // that fails at once would be asked for every few milliseconds.
    return { kind: 'retry', atLeastMs: LEFTOVER_MS, atMostMs: LEFTOVER_MS }
  }

  async #removeFinalizer(key: string, binding: CachedBinding): Promise<Next> {
    const { caches, writer, log } = this.#options
    const current = caches.bindings.store.get(key)
    if (current === undefined || current.meta.uid !== binding.meta.uid) return { kind: 'after', ms: 0 }
    const result = await writer.setFinalizer(current, false)
    if (result.kind !== 'done') return retry(result)
    log.info('let a deleted binding go', { binding: key })
    return NOTHING_TO_DO
  }
}
