// A binding that lives: decide from the caches, carry out one write, decide again, until nothing is due; then say so in
// the status. Level-based: why it was woken does not matter (contract §6 to §8, runtime "Loop").
import type { UnknownReason } from '@kleym/shared/core/unknown-reason.ts'
import { BINDING_KIND, CLUSTER_SPIFFE_ID_KIND, FINALIZER } from '@kleym/shared/core/names.ts'
import type { ClusterSpiffeId } from '@kleym/shared/core/objects/clusterspiffeid.ts'
import { refuseOutput, withoutOutputs, type Action, type Judgement } from '@kleym/shared/core/plan/plan.ts'
import type { Log } from '../telemetry/log.ts'
import type { ApplyFailures } from './apply-failures.ts'
import type { Ledger, Outlook } from './ledger.ts'
import { retry, SETTLED, type Next } from './next.ts'
import type { Missing } from './references.ts'
import type { Repairs } from './repairs.ts'
import type { Reports } from './reports.ts'
import type { AnyCache, World } from './world.ts'
import type { WriteResult, Writer } from './writer.ts'

export interface ConvergenceOptions {
  readonly world: World
  readonly ledger: Ledger
  readonly writer: Writer
  readonly reports: Reports
  readonly repairs: Repairs
  readonly applyFailures: ApplyFailures
  readonly log: Log
  /** Asks the API server again whether it serves a kind; resolves when the cache's standing says so. */
  readonly recheck: (cache: AnyCache) => Promise<void>
  /** Told of each repair. */
  readonly repaired: () => void
  /** Told that whatever has woken a binding until now is dealt with. */
  readonly looked: (key: string) => void
}

/** How often in a row a write of another may come first before that counts as not knowing. */
const OVERTAKEN_MAX = 5
/** More steps than any convergence of one binding takes. */
const STEPS_MAX = 40
/** How soon a foreign object under our name is looked at again, in milliseconds. */
const FOREIGN_MS = 30_000

/** What a binding has come to. */
interface Conclusion {
  /** Undefined where there is nothing to tell yet. */
  readonly judgement: Judgement | undefined
  readonly next: Next
}

/** `again`: something was carried out. `overtaken`: another's write came first. */
type Step = Conclusion | 'again' | 'overtaken'

type Unknown = Extract<WriteResult, { kind: 'unknown' }>
type Decided = Pick<Exclude<Outlook, { kind: 'waits' }>, 'judgement' | 'actions'>

export class Convergence {
  readonly #world: World
  readonly #ledger: Ledger
  readonly #writer: Writer
  readonly #reports: Reports
  readonly #log: Log
  readonly #recheck: ConvergenceOptions['recheck']
  readonly #repaired: () => void
  readonly #looked: ConvergenceOptions['looked']
  readonly #repairs: Repairs
  readonly #applyFailures: ApplyFailures

  constructor(options: ConvergenceOptions) {
    this.#world = options.world
    this.#ledger = options.ledger
    this.#writer = options.writer
    this.#reports = options.reports
    this.#log = options.log
    this.#recheck = options.recheck
    this.#repaired = options.repaired
    this.#looked = options.looked
    this.#repairs = options.repairs
    this.#applyFailures = options.applyFailures
  }

  /** Brings one binding as far as it goes now, and tells it. */
  async run(key: string): Promise<Next> {
    let overtaken = 0
    for (let steps = 0; steps < STEPS_MAX; steps++) {
      const settled = await this.#writer.settle(key)
      const outlook = this.#ledger.outlook(key)
      if (outlook.kind === 'waits') return SETTLED
      // Its own writes have woken it, and all of them are seen: without this, each binding is looked at once more.
      if (settled.kind !== 'unknown' && isAtRest(outlook) && this.#ledger.orphans(key).length === 0)
        this.#looked(key)
      const step =
        settled.kind === 'unknown'
          ? { judgement: undetermined(outlook, settled.why), next: retry(settled) }
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
      if (told.kind !== 'overtaken') return retry(told)
      overtaken++
      if (overtaken >= OVERTAKEN_MAX) return retry()
    }
    this.#log.error('a binding did not come to rest; this is a bug of kleym', { binding: key })
    return retry()
  }

  /** Carries out what is due first; a conclusion when nothing is. */
  async #step(key: string, outlook: Exclude<Outlook, { kind: 'waits' }>): Promise<Step> {
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
      return { judgement: undetermined(outlook, failed.why), next: retry(failed) }
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

  async #addFinalizer(key: string, outlook: Decided): Promise<Step> {
    const binding = this.#world.bindings.store.get(key)
    if (binding === undefined) return 'again'
    return this.#after(key, await this.#writer.setFinalizer(binding, true), outlook)
  }

  async #carryOut(key: string, action: Action, outlook: Decided): Promise<Step> {
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

  async #after(key: string, result: WriteResult, outlook: Decided): Promise<Step> {
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
        return { judgement: undetermined(outlook, result.why), next: retry(result) }
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
    if (judgement.state === 'undetermined') return { judgement, next: retry() }
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
}

const CONFLICTING: UnknownReason = {
  verb: 'update',
  what: CLUSTER_SPIFFE_ID_KIND,
  cause: 'conflicting writes',
}
const VANISHING: UnknownReason = { verb: 'discover', what: CLUSTER_SPIFFE_ID_KIND, cause: 'absent' }
const REFUSED: UnknownReason = { verb: 'patch', what: BINDING_KIND, cause: 'refused' }

/** Whether nothing is due, of all that is known now. */
function isAtRest(outlook: Outlook): boolean {
  return outlook.kind === 'decided' && outlook.judgement.state === 'ready' && outlook.actions.length === 0
}

function undetermined({ judgement }: { readonly judgement: Judgement }, why: UnknownReason): Judgement {
  return { state: 'undetermined', compiled: judgement.compiled, check: 'output', why }
}
