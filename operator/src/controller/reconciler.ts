// One binding at a time: decide from the caches, carry out one write, decide again, until nothing is due; then say so in
// the status. Level-based: why a key was woken does not matter (contract §6 to §8, runtime "Loop").
import type { Ignorance } from '@kleym/shared/core/knowledge.ts'
import {
  ANNOTATION_BINDING_UID,
  BINDING_KIND,
  CLUSTER_SPIFFE_ID_KIND,
  FINALIZER,
} from '@kleym/shared/core/names.ts'
import type { Binding } from '@kleym/shared/core/objects/binding.ts'
import type { ClusterSpiffeId } from '@kleym/shared/core/objects/clusterspiffeid.ts'
import { refuseOutput, type Action, type Judgement } from '@kleym/shared/core/plan/plan.ts'
import { ignoranceOf, isKindAbsent } from '@kleym/shared/kube/failures.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import type { Log } from '../log.ts'
import type { Ledger, Outlook } from './ledger.ts'
import type { LiveLists } from './live-lists.ts'
import { cachedBinding } from './read.ts'
import { ApplyFailures } from './apply-failures.ts'
import type { Missing } from './references.ts'
import { Repairs } from './repairs.ts'
import type { Reports } from './reports.ts'
import type { AnyCache, World } from './world.ts'
import type { WriteResult, Writer } from './writer.ts'

/** When to look at the key again, beside whenever something wakes it. */
export type Next =
  | { readonly kind: 'settled' }
  | { readonly kind: 'after'; readonly ms: number }
  /** Something failed: with backoff. */
  | { readonly kind: 'retry'; readonly atLeastMs: number; readonly atMostMs: number }

export interface ReconcilerOptions {
  readonly world: World
  readonly ledger: Ledger
  readonly writer: Writer
  readonly lists: LiveLists
  readonly reports: Reports
  readonly clock: Clock
  readonly log: Log
  /** Asks the API server again whether it serves a kind; resolves when the cache's standing says so. */
  readonly recheck: (cache: AnyCache) => Promise<void>
  /** Told of each repair. */
  readonly repaired: () => void
}

/** How often in a row a write of another may come first before that counts as not knowing. */
const OVERTAKEN_MAX = 5
/** More steps than any convergence of one binding takes. */
const STEPS_MAX = 40
/** How soon a foreign object under our name is looked at again. */
const FOREIGN_MS = 30_000
/** How soon what is left of a deleted binding is looked at again. */
const LEFTOVER_MS = 2_000
/** The longest pause after a failed read or write of which nobody knows why. */
export const UNKNOWN_MAX_MS = 30_000
/** The longest pause after a permanent refusal. */
export const REFUSED_MAX_MS = 300_000

const SETTLED: Next = { kind: 'settled' }

/** What a binding has come to. */
interface Conclusion {
  /** Undefined where there is nothing to tell yet. */
  readonly judgement: Judgement | undefined
  readonly next: Next
}

export class Reconciler {
  readonly #world: World
  readonly #ledger: Ledger
  readonly #writer: Writer
  readonly #lists: LiveLists
  readonly #reports: Reports
  readonly #log: Log
  readonly #recheck: ReconcilerOptions['recheck']
  readonly #repaired: () => void
  readonly #repairs: Repairs
  readonly #applyFailures: ApplyFailures

  constructor(options: ReconcilerOptions) {
    this.#world = options.world
    this.#ledger = options.ledger
    this.#writer = options.writer
    this.#lists = options.lists
    this.#reports = options.reports
    this.#log = options.log
    this.#recheck = options.recheck
    this.#repaired = options.repaired
    const monotonicMs = (): number => options.clock.monotonicMs()
    this.#repairs = new Repairs(monotonicMs)
    this.#applyFailures = new ApplyFailures(monotonicMs)
  }

  /** Brings one key as far as it goes now. Rejects only for a bug. */
  async reconcile(key: string): Promise<Next> {
    const orphans = await this.#removeOrphans(key)
    const binding = this.#world.bindings.store.get(key)
    if (binding === undefined) {
      this.#reports.forget(key)
      this.#applyFailures.forget(key)
      // What it claimed by a write without an answer must not outlive it.
      const settled = await this.#writer.settle(key)
      return settled.kind === 'unknown' ? retryAfter(settled) : orphans
    }
    const own =
      binding.meta.deletedAt === undefined ? await this.#converge(key) : await this.#finish(key, binding)
    return sooner(orphans, own)
  }

  // A binding that lives

  async #converge(key: string): Promise<Next> {
    let overtaken = 0
    for (let steps = 0; steps < STEPS_MAX; steps++) {
      const settled = await this.#writer.settle(key)
      const outlook = this.#ledger.outlook(key)
      if (outlook.kind === 'waits') return SETTLED
      const step =
        settled.kind === 'unknown'
          ? { judgement: undetermined(outlook, settled.why), next: retryAfter(settled) }
          : await this.#step(key, outlook)
      if (step === 'again') continue
      if (step === 'overtaken') {
        overtaken++
        if (overtaken < OVERTAKEN_MAX) continue
      }
      const conclusion = step === 'overtaken' ? this.#conclude(key, undetermined(outlook, CONFLICTING)) : step
      if (conclusion.judgement === undefined) return conclusion.next
      const told = await this.#reports.tell(key, conclusion.judgement, this.#ledger.ownOutputs(key))
      if (told.kind === 'done') return conclusion.next
      if (told.kind !== 'overtaken') return retryAfter(told)
      overtaken++
      if (overtaken >= OVERTAKEN_MAX) return retry(UNKNOWN_MAX_MS)
    }
    this.#log.error('a binding did not come to rest; this is a bug of kleym', { binding: key })
    return retry(REFUSED_MAX_MS)
  }

  /** Carries out what is due first; a conclusion when nothing is. */
  async #step(
    key: string,
    outlook: Exclude<Outlook, { kind: 'waits' }>,
  ): Promise<Conclusion | 'again' | 'overtaken'> {
    const { outputs } = this.#world
    if (outputs.standing.kind === 'unknown') {
      return this.#conclude(key, undetermined(outlook, outputs.standing.why))
    }
    if (outlook.kind === 'doubtful') {
      if (this.#reports.holds(key, outlook.judgement) && this.#ledger.ownOutputs(key).length === 0) {
        return { judgement: outlook.judgement, next: SETTLED }
      }
      const failed = await this.#confirm(outlook.doubts)
      if (failed === undefined) return 'again'
      this.#ledger.doubtStays(key)
      return { judgement: undetermined(outlook, failed.why), next: retryAfter(failed) }
    }
    const { judgement, actions } = this.#withApplyFailures(outlook)
    if (outputs.standing.kind === 'absent') return this.#conclude(key, withoutOutputs(judgement))
    const [action] = actions
    if (this.#lacksFinalizer(key, action)) return this.#addFinalizer(key, outlook)
    if (action === undefined) return this.#conclude(key, this.#withdrawn(key, judgement))
    return this.#carryOut(key, action, outlook)
  }

  /** Live reads of names that no cache holds; the failure of one that could not be made. */
  async #confirm(doubts: readonly Missing[]): Promise<Unknown | undefined> {
    for (const doubt of doubts) {
      const result = await this.#writer.readMissing(doubt)
      if (result.kind === 'unknown') return result
      if (result.kind === 'kind absent') {
        const { pools, objectives } = this.#world
        const cache = doubt.kind === 'pool' ? pools.get(doubt.group) : objectives.get(doubt.group)
        if (cache !== undefined) await this.#recheck(cache)
        // Discovery lags behind: where it still names the kind, the object is not there all the same.
        this.#ledger.confirmAbsent(doubt)
      } else if (!result.found) this.#ledger.confirmAbsent(doubt)
      // What is there after all has come into the cache with the read.
    }
    return undefined
  }

  /** Before the first output is written, and as long as there is one. */
  #lacksFinalizer(key: string, action: Action | undefined): boolean {
    const binding = this.#world.bindings.store.get(key)
    if (binding === undefined || binding.meta.finalizers.includes(FINALIZER)) return false
    // A deleting binding gets none: the API server would refuse it.
    if (binding.meta.deletedAt !== undefined) return false
    if (action !== undefined && action.kind !== 'delete') return true
    return action === undefined && this.#ledger.ownOutputs(key).length > 0
  }

  async #addFinalizer(key: string, outlook: Decided): Promise<Conclusion | 'again' | 'overtaken'> {
    const binding = this.#world.bindings.store.get(key)
    if (binding === undefined) return 'again'
    return this.#after(key, await this.#writer.setFinalizer(binding, true), outlook)
  }

  async #carryOut(
    key: string,
    action: Action,
    outlook: Decided,
  ): Promise<Conclusion | 'again' | 'overtaken'> {
    if (action.kind === 'delete') {
      const { name } = action.live.object.meta
      this.#repairs.forget(name)
      this.#log.info('withdrawing an output', {
        binding: key,
        clusterSPIFFEID: name,
        because: action.because,
      })
      return this.#after(key, await this.#writer.remove(action.live), outlook)
    }
    const { output } = action
    const live = action.kind === 'update' ? action.live : undefined
    const advice = this.#repairs.advise(output, live?.object)
    if (advice.kind === 'leave' || advice.kind === 'pause') {
      // What is written is left as it is for now; what it took the place of goes all the same.
      const retired = outlook.actions.find(({ kind }) => kind === 'delete')
      if (retired !== undefined) return this.#carryOut(key, retired, outlook)
    }
    if (advice.kind === 'leave') return this.#conclude(key, outlook.judgement)
    if (advice.kind === 'pause') return { judgement: undefined, next: { kind: 'after', ms: advice.ms } }
    // Called at once: the reservation belongs to the decision.
    const writing =
      live === undefined ? this.#writer.create(key, output) : this.#writer.update(key, live, output)
    const result = await writing
    if (result.kind === 'refused') {
      this.#applyFailures.note(key, output, result.message)
      return 'again'
    }
    if (result.kind === 'done') {
      this.#noteWritten(key, action, { isRepair: advice.isRepair, answer: result.answer })
    }
    return this.#after(key, result, outlook)
  }

  #noteWritten(
    key: string,
    action: Exclude<Action, { kind: 'delete' }>,
    { isRepair, answer }: { readonly isRepair: boolean; readonly answer: ClusterSpiffeId | undefined },
  ): void {
    const { name } = action.output.metadata
    const keys = { binding: key, clusterSPIFFEID: name, spiffeID: action.output.spec.spiffeIDTemplate }
    this.#applyFailures.forget(key)
    this.#log.info(isRepair ? 'repaired an output' : 'wrote an output', {
      ...keys,
      ...(action.kind === 'update' ? { drift: action.drift } : {}),
    })
    if (isRepair) this.#repaired()
    // The answer and not the cache, which may hold somebody's edit of a moment later: that is still to be undone.
    const isPut = action.kind === 'update'
    if (this.#repairs.written(action.output, answer, { isRepair, isPut }).stubborn) {
      this.#log.warn('an output came back other than it was written; it is left so until it changes', keys)
    }
  }

  async #after(
    key: string,
    result: WriteResult,
    outlook: Decided,
  ): Promise<Conclusion | 'again' | 'overtaken'> {
    switch (result.kind) {
      case 'done':
        return 'again'
      case 'overtaken':
        return 'overtaken'
      case 'kind absent':
        await this.#recheck(this.#world.outputs)
        // Where the API server has not made up its mind, this comes again with backoff.
        return this.#world.outputs.standing.kind === 'absent'
          ? 'again'
          : this.#conclude(key, undetermined(outlook, VANISHING))
      case 'refused':
        return this.#conclude(key, undetermined(outlook, REFUSED))
      case 'unknown':
        return { judgement: undetermined(outlook, result.why), next: retryAfter(result) }
    }
  }

  /** A refusal is told only when nothing of ours is left: until then it is not known that it is carried out. */
  #withdrawn(key: string, judgement: Judgement): Judgement {
    if (judgement.state !== 'refused') return judgement
    const [left] = this.#ledger.ownOutputs(key)
    if (left === undefined) return judgement
    const what = `${CLUSTER_SPIFFE_ID_KIND} ${left.object.meta.name}`
    return undetermined({ judgement }, { verb: 'delete', what, cause: 'held by finalizers' })
  }

  #conclude(key: string, judgement: Judgement): Conclusion {
    if (judgement.state === 'undetermined') return { judgement, next: retry(UNKNOWN_MAX_MS) }
    if (judgement.state !== 'refused') return { judgement, next: SETTLED }
    if (judgement.reason === 'OutputNotOwned') return { judgement, next: { kind: 'after', ms: FOREIGN_MS } }
    if (judgement.reason === 'ManagedOutputApplyFailed') {
      return { judgement, next: { kind: 'after', ms: this.#applyFailures.waitMs(key) } }
    }
    return { judgement, next: SETTLED }
  }

  /** While the API server refuses what would be written, the binding is refused, and tried again with backoff. */
  #withApplyFailures(outlook: Decided): Decided {
    const { judgement, actions } = outlook
    const action = actions.find(({ kind }) => kind !== 'delete')
    if (action === undefined || action.kind === 'delete' || judgement.state !== 'ready') return outlook
    const failure = this.#applyFailures.of(action.binding, action.output)
    if (failure === undefined || failure.waitMs === 0) return outlook
    return refuseOutput(
      judgement.compiled,
      this.#ledger.ownOutputs(action.binding),
      'ManagedOutputApplyFailed',
      failure.message,
    )
  }

  // A binding that is being deleted

  async #finish(key: string, binding: Binding): Promise<Next> {
    const { outputs } = this.#world
    if (outputs.standing.kind === 'waiting') return SETTLED
    if (outputs.standing.kind !== 'absent') {
      const left = await this.#removeOutputs(key, binding)
      if (left !== undefined) return left
    }
    this.#reports.forget(key)
    if (!binding.meta.finalizers.includes(FINALIZER)) return SETTLED
    const current = this.#world.bindings.store.get(key)
    if (current === undefined || current.meta.uid !== binding.meta.uid) return { kind: 'after', ms: 0 }
    const result = await this.#writer.setFinalizer(current, false)
    if (result.kind === 'done') this.#log.info('let a deleted binding go', { binding: key })
    return result.kind === 'done'
      ? SETTLED
      : result.kind === 'overtaken'
        ? retry(UNKNOWN_MAX_MS)
        : retryAfter(result)
  }

  /** Deletes what is there for the binding, and makes sure that nothing is left; else when to look again. */
  async #removeOutputs(key: string, binding: Binding): Promise<Next | undefined> {
    for (const live of this.#ledger.ownOutputs(key)) {
      if (live.object.meta.deletedAt !== undefined) continue
      this.#repairs.forget(live.object.meta.name)
      const result = await this.#writer.remove(live)
      if (result.kind === 'kind absent') await this.#recheck(this.#world.outputs)
      else if (result.kind !== 'done') return retryAfter(result)
    }
    if (!binding.meta.finalizers.includes(FINALIZER)) {
      return this.#ledger.ownOutputs(key).length === 0 ? undefined : { kind: 'after', ms: LEFTOVER_MS }
    }
    try {
      await this.#lists.afterNow()
    } catch (error) {
      if (!isKindAbsent(error)) {
        const why = ignoranceOf(error, 'list', CLUSTER_SPIFFE_ID_KIND)
        this.#log.warn('cannot tell whether anything is left of a deleted binding', { binding: key, why })
        return retry(UNKNOWN_MAX_MS)
      }
      await this.#recheck(this.#world.outputs)
      return this.#world.outputs.standing.kind === 'absent' ? undefined : retry(UNKNOWN_MAX_MS)
    }
    // A write whose answer was lost is in the list, if it was carried out.
    const settled = await this.#writer.settle(key)
    if (settled.kind === 'unknown') return retryAfter(settled)
    return this.#ledger.ownOutputs(key).length === 0 ? undefined : { kind: 'after', ms: LEFTOVER_MS }
  }

  // Outputs that no binding answers for

  async #removeOrphans(key: string): Promise<Next> {
    const orphans = this.#ledger.orphans(key).filter(({ object }) => object.meta.deletedAt === undefined)
    if (orphans.length === 0) return SETTLED
    const [namespace = '', name = ''] = key.split('/')
    const seen = this.#world.bindings.store.get(key)
    const read = await this.#writer.read(this.#world.bindings, { namespace, name }, cachedBinding)
    if (read.kind === 'kind absent') {
      await this.#recheck(this.#world.bindings)
      return retry(UNKNOWN_MAX_MS)
    }
    if (read.kind !== 'read') return retryAfter(read)
    if (!read.found && seen !== undefined) this.#world.bindings.store.confirmGone(seen.meta)
    // What the read has shown may make it no orphan.
    for (const orphan of this.#ledger.orphans(key)) {
      if (orphan.object.meta.deletedAt !== undefined) continue
      if (read.found && this.#livesUnder(key, orphan.object.meta.annotations.get(ANNOTATION_BINDING_UID)))
        continue
      this.#repairs.forget(orphan.object.meta.name)
      this.#log.info('removing an orphan', { binding: key, clusterSPIFFEID: orphan.object.meta.name })
      const result = await this.#writer.remove(orphan)
      if (result.kind === 'kind absent') await this.#recheck(this.#world.outputs)
      // Also where another's write came first: it may have changed nothing that the cache would wake anybody for.
      else if (result.kind !== 'done') return retryAfter(result)
    }
    return SETTLED
  }

  #livesUnder(key: string, uid: string | undefined): boolean {
    return this.#world.bindings.store.get(key)?.meta.uid === uid
  }
}

type Unknown = Extract<WriteResult, { kind: 'unknown' }>
type Decided = Pick<Exclude<Outlook, { kind: 'waits' }>, 'judgement' | 'actions'>

const CONFLICTING: Ignorance = { verb: 'update', what: CLUSTER_SPIFFE_ID_KIND, cause: 'conflicting writes' }
const VANISHING: Ignorance = { verb: 'discover', what: CLUSTER_SPIFFE_ID_KIND, cause: 'absent' }
const REFUSED: Ignorance = { verb: 'patch', what: BINDING_KIND, cause: 'refused' }

/** Where ClusterSPIFFEIDs are not served, nothing can be in force, and nothing is left to withdraw. */
function withoutOutputs(judgement: Judgement): Judgement {
  if (judgement.state !== 'ready' && judgement.state !== 'waiting') return judgement
  const message = `the API server does not serve ${CLUSTER_SPIFFE_ID_KIND}`
  return refuseOutput(judgement.compiled, [], 'ClusterSPIFFEIDCRDMissing', message).judgement
}

function undetermined({ judgement }: { readonly judgement: Judgement }, why: Ignorance): Judgement {
  return { state: 'undetermined', compiled: judgement.compiled, check: 'output', why }
}

function retry(atMostMs: number, atLeastMs = 0): Next {
  return { kind: 'retry', atLeastMs, atMostMs }
}

function retryAfter(result: WriteResult): Next {
  return retry(UNKNOWN_MAX_MS, result.kind === 'unknown' ? (result.retryAfterMs ?? 0) : 0)
}

function sooner(left: Next, right: Next): Next {
  if (left.kind === 'settled') return right
  if (right.kind === 'settled' || left.kind === 'retry') return left
  return right.kind === 'retry' || right.ms < left.ms ? right : left
}
