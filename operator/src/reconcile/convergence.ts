// A binding that is not being deleted: decide from the caches, carry out one write, decide again, until nothing is due; then
// say so in the status. Level-based: why the binding was woken does not matter (docs/contract.md §6 to §8).
import type { UnknownReason } from '@kleym/shared/core/unknown-reason.ts'
import type { OutputStats } from '@kleym/shared/core/in-force/stats.ts'
import { BINDING_KIND, CLUSTER_SPIFFE_ID_KIND } from '@kleym/shared/core/names.ts'
import { alteredMessage, type AlteredField } from '@kleym/shared/core/plan/altered-fields.ts'
import type { Output } from '@kleym/shared/core/compile/output.ts'
import type { ClusterSpiffeId } from '@kleym/shared/core/objects/clusterspiffeid.ts'
import { refuseOutput, withoutOutputs, type Action, type Judgement } from '@kleym/shared/core/plan/plan.ts'
import { REASONS } from '@kleym/shared/core/registry/reasons.ts'
import type { AnyFollowedKind } from '@kleym/shared/kube/followed-kind.ts'
import type { Caches } from '../caches/caches.ts'
import { hasOurs } from '../caches/kept-finalizers.ts'
import type { Indexes } from '../claims/indexes.ts'
import type { Evaluation, Ledger, OwnDecision } from '../claims/ledger.ts'
import type { MissingRef } from '../claims/missing-refs.ts'
import type { Log } from '../telemetry/log.ts'
import type { WriteResult, Writer } from '../write/writer.ts'
import type { ApplyFailures } from './apply-failures.ts'
import { desiredHashOf } from './desired-hash.ts'
import type { InForceTracker } from './in-force-tracker.ts'
import { retry, NOTHING_TO_DO, sooner, type Next } from './next.ts'
import type { Repairs } from './repairs.ts'
import type { Reports } from './reports.ts'

export interface ConvergenceOptions {
  readonly caches: Caches
  readonly indexes: Indexes
  readonly ledger: Ledger
  readonly writer: Writer
  readonly reports: Reports
  readonly repairs: Repairs
  readonly applyFailures: ApplyFailures
  readonly inForce: InForceTracker
  readonly log: Log
  /** Asks the API server again whether it serves a kind; resolves when the cache's state says so. */
  readonly recheck: (cache: AnyFollowedKind) => Promise<void>
  /** Called after each repair of an output, to count it. */
  readonly onRepair: () => void
  /** Drops the wakes of a key until now: they are dealt with. */
  readonly clearWakes: (key: string) => void
  /** Lets timers and I/O have their turn. */
  readonly pause: () => Promise<unknown>
}

/** How often in a row another client's write may come first before that counts as not knowing. */
const OVERTAKEN_MAX = 5
/** More steps than any convergence of one binding takes. */
const STEPS_MAX = 40
/** How soon the operator looks again at a foreign object under our name, in milliseconds. */
const FOREIGN_MS = 30_000

/** What one look at a binding has learnt, over all of its steps. */
interface Look {
  /** The writes that a dry run has let through. */
  readonly dryRuns: Set<string>
  /** The names of outputs that the API server has answered to be gone. */
  readonly gone: Set<string>
}

/** What a binding has come to. */
interface Conclusion {
  /** Undefined where there is nothing to tell yet. */
  readonly judgement: Judgement | undefined
  readonly next: Next
}

/** `again`: something was carried out. `overtaken`: another client's write came first. */
type StepResult = Conclusion | 'again' | 'overtaken'

type UnknownOutcome = Extract<WriteResult, { kind: 'unknown' }>

export class Convergence {
  readonly #options: ConvergenceOptions

  constructor(options: ConvergenceOptions) {
    this.#options = options
  }

  /** Brings one binding as far as it goes now, and reports it. */
  async run(key: string): Promise<Next> {
    let overtaken = 0
    const look: Look = { dryRuns: new Set(), gone: new Set() }
    for (let steps = 0; steps < STEPS_MAX; steps++) {
      const unknownWrites = await this.#options.writer.resolveUnknownWrites(key)
      await this.#options.indexes.workInSlices(this.#options.pause)
      const evaluation = this.#options.ledger.evaluate(key)
      if (evaluation.kind === 'waits') return NOTHING_TO_DO
      // Its own writes have woken it, and all of them are seen: without this, each binding would be reconciled once more.
      if (
        unknownWrites.kind !== 'unknown' &&
        isAtRest(evaluation) &&
        this.#options.ledger.orphans(key).length === 0
      )
        this.#options.clearWakes(key)
      const step =
        unknownWrites.kind === 'unknown'
          ? { judgement: undetermined(evaluation, unknownWrites.why), next: retry(unknownWrites) }
          : await this.#step(key, evaluation, look)
      if (step === 'again') continue
      if (step === 'overtaken') {
        overtaken++
        if (overtaken < OVERTAKEN_MAX) continue
      }
      const conclusion =
        step === 'overtaken' ? this.#conclude(key, undetermined(evaluation, CONFLICTING)) : step
      if (conclusion.judgement === undefined) return conclusion.next
      const reported = await this.#options.reports.report(
        key,
        conclusion.judgement,
        this.#options.ledger.ownOutputs(key),
      )
      const { result, againInMs } = reported
      if (result.kind === 'done') {
        return againInMs === undefined
          ? conclusion.next
          : sooner(conclusion.next, { kind: 'after', ms: againInMs })
      }
      if (result.kind !== 'overtaken') return retry(result)
      overtaken++
      if (overtaken >= OVERTAKEN_MAX) return retry()
    }
    this.#options.log.error('a binding did not come to rest; this is a bug of kleym', { binding: key })
    return retry()
  }

  /** Carries out what is due first; a conclusion when nothing is. */
  async #step(
    key: string,
    evaluation: Exclude<Evaluation, { kind: 'waits' }>,
    look: Look,
  ): Promise<StepResult> {
    const { outputs } = this.#options.caches
    if (outputs.syncState.kind === 'unknown') {
      return this.#conclude(key, undetermined(evaluation, outputs.syncState.why))
    }
    if (evaluation.kind === 'unverified') {
      if (
        this.#options.ledger.ownOutputs(key).length === 0 &&
        this.#options.reports.holds(key, evaluation.judgement)
      ) {
        return { judgement: evaluation.judgement, next: NOTHING_TO_DO }
      }
      const failed = await this.#verify(evaluation.refs)
      if (failed === undefined) return 'again'
      this.#options.indexes.markUnverifiable(key)
      return { judgement: undetermined(evaluation, failed.why), next: retry(failed) }
    }
    const { judgement, actions } = this.#withApplyFailures(evaluation)
    if (outputs.syncState.kind === 'absent') return this.#conclude(key, withoutOutputs(judgement))
    const [action] = actions
    if (this.#lacksFinalizer(key, action)) return this.#addFinalizer(key, evaluation)
    if (action !== undefined) return this.#carryOut(key, action, evaluation, look)
    const unconfirmed = judgement.state === 'refused' ? this.#unconfirmedOutput(key, look) : undefined
    if (unconfirmed !== undefined) return this.#confirmGone(key, unconfirmed, evaluation, look)
    return this.#conclude(key, this.#undeterminedUntilWithdrawn(key, judgement))
  }

  /**
   * The output that the status names and that the cache does not hold, unless this look at the binding has seen it go. A cache
   * can be wrong about it: after a restore, an API server that was not restarted sends the deletions of the history before.
   */
  #unconfirmedOutput(key: string, { gone }: Look): string | undefined {
    const { bindings, outputs } = this.#options.caches
    const name = bindings.store.get(key)?.readStatus()?.clusterSPIFFEID?.name
    return name === undefined || gone.has(name) || outputs.store.get(name) !== undefined ? undefined : name
  }

  /** A live read: what is there after all comes into the cache with it, and is withdrawn next. */
  async #confirmGone(
    key: string,
    name: string,
    evaluation: OwnDecision,
    { gone }: Look,
  ): Promise<StepResult> {
    const result = await this.#options.writer.read(this.#options.caches.outputs, { namespace: '', name })
    if (result.kind !== 'read') return this.#after(key, result, evaluation)
    gone.add(name)
    return 'again'
  }

  /** Makes live reads of names that no cache holds. Returns the failure of one that could not be made. */
  async #verify(refs: readonly MissingRef[]): Promise<UnknownOutcome | undefined> {
    for (const ref of refs) {
      const result = await this.#options.writer.readMissing(ref)
      if (result.kind === 'unknown') return result
      if (result.kind === 'kind absent') {
        const { pools, objectives } = this.#options.caches
        const cache = ref.kind === 'pool' ? pools.get(ref.group) : objectives.get(ref.group)
        if (cache !== undefined) await this.#options.recheck(cache)
        // Discovery lags behind: it may still name the kind, but the object is not there.
        this.#options.indexes.confirmAbsent(ref)
      } else if (!result.found) this.#options.indexes.confirmAbsent(ref)
      // An object that is there has come into the cache with the read.
    }
    return undefined
  }

  /** Before the first output is written, and as long as there is one. */
  #lacksFinalizer(key: string, action: Action | undefined): boolean {
    const binding = this.#options.caches.bindings.store.get(key)
    if (binding === undefined || hasOurs(binding.finalizers)) return false
    // A deleting binding gets none: the API server would refuse it.
    if (binding.meta.deletedAt !== undefined) return false
    if (action !== undefined && action.kind !== 'delete') return true
    return action === undefined && this.#options.ledger.ownOutputs(key).length > 0
  }

  async #addFinalizer(key: string, evaluation: OwnDecision): Promise<StepResult> {
    const binding = this.#options.caches.bindings.store.get(key)
    if (binding === undefined) return 'again'
    return this.#after(key, await this.#options.writer.setFinalizer(binding, true), evaluation)
  }

  async #carryOut(key: string, action: Action, evaluation: OwnDecision, look: Look): Promise<StepResult> {
    const { dryRuns } = look
    if (action.kind === 'delete') {
      const { name } = action.live.object.meta
      this.#options.repairs.forget(name)
      this.#options.log.info('withdrawing an output', {
        binding: key,
        clusterSPIFFEID: name,
        because: action.because,
      })
      const removal = await this.#options.writer.remove(action.live.object)
      const isGone = this.#options.caches.outputs.store.get(name) === undefined
      if (removal.kind === 'done' && isGone) look.gone.add(name)
      return this.#after(key, removal, evaluation)
    }
    const { output } = action
    const live = action.kind === 'update' ? action.live : undefined
    const advice = this.#options.repairs.advise(output, live?.object)
    if (advice.kind === 'leave' || advice.kind === 'pause') {
      // The operator leaves what is written as it is for now, but deletes what that took the place of.
      const retired = evaluation.actions.find(({ kind }) => kind === 'delete')
      if (retired !== undefined) return this.#carryOut(key, retired, evaluation, look)
    }
    if (advice.kind === 'leave') return this.#conclude(key, evaluation.judgement)
    if (advice.kind === 'pause') return { judgement: undefined, next: { kind: 'after', ms: advice.ms } }
    const statsBefore = this.#statsOf(key, output.metadata.name)
    // Called at once: the reservation belongs to the decision.
    const hash = `${live?.object.meta.uid ?? ''} ${desiredHashOf(output)}`
    const options = { dryRun: this.#lastTryFailed(key) && !dryRuns.has(hash) }
    const writing =
      live === undefined
        ? this.#options.writer.create(action.binding, output, options)
        : this.#options.writer.update(action.binding, live, output, options)
    const result = await writing
    if (result.kind === 'altered') {
      this.#noteAltered(key, output, { ...result, ...options })
      return 'again'
    }
    if (result.kind === 'refused') {
      this.#options.applyFailures.note(key, output, result.message)
      return 'again'
    }
    if (result.kind === 'done' && options.dryRun) {
      // Much may have changed meanwhile: the write is decided anew.
      dryRuns.add(hash)
      return 'again'
    }
    if (result.kind === 'done') {
      this.#noteWritten(key, action, { isRepair: advice.isRepair, answer: result.answer, statsBefore })
    }
    return this.#after(key, result, evaluation)
  }

  /**
   * Whether memory or the status says that the last try to write an output for a binding has failed: then a dry run comes
   * first, as a webhook may still alter what is written.
   */
  #lastTryFailed(key: string): boolean {
    if (this.#options.applyFailures.has(key)) return true
    const status = this.#options.caches.bindings.store.get(key)?.readStatus()
    const { condition } = REASONS.ManagedOutputApplyFailed
    return (
      status?.conditions?.some(
        ({ type, reason }) => type === condition && reason === 'ManagedOutputApplyFailed',
      ) === true
    )
  }

  #noteAltered(
    key: string,
    output: Output,
    { fields, dryRun }: { readonly fields: readonly AlteredField[]; readonly dryRun: boolean },
  ): void {
    const { name } = output.metadata
    this.#options.repairs.forget(name)
    this.#options.applyFailures.note(key, output, alteredMessage(fields))
    const text = dryRun
      ? 'an output would come back other than it was proven; it is not written'
      : 'an output came back other than it was proven; it is deleted'
    this.#options.log.warn(text, { binding: key, clusterSPIFFEID: name, altered: fields })
  }

  #noteWritten(
    key: string,
    action: Exclude<Action, { kind: 'delete' }>,
    {
      isRepair,
      answer,
      statsBefore,
    }: {
      readonly isRepair: boolean
      readonly answer: ClusterSpiffeId | undefined
      readonly statsBefore: OutputStats | undefined
    },
  ): void {
    const { name } = action.output.metadata
    const keys = { binding: key, clusterSPIFFEID: name, spiffeID: action.output.spec.spiffeIDTemplate }
    this.#options.applyFailures.forget(key)
    this.#options.log.info(isRepair ? 'repaired an output' : 'wrote an output', {
      ...keys,
      ...(action.kind === 'update' ? { drift: action.drift } : {}),
    })
    if (isRepair) this.#options.onRepair()
    // SCM has to act on a new object, also on one that takes the place of another with the same content.
    if (!isRepair || action.kind === 'create') this.#options.inForce.written(key, statsBefore)
    // The answer and not the cache, which may hold a later edit by a person: that is still to be undone.
    const isPut = action.kind === 'update'
    if (this.#options.repairs.written(action.output, answer, { isRepair, isPut }).stubborn) {
      this.#options.log.warn(
        'an output came back other than it was written; it is left so until it changes',
        keys,
      )
    }
  }

  /** SCM's counters on an output as the cache has it now. */
  #statsOf(key: string, name: string): OutputStats | undefined {
    const found = this.#options.ledger.ownOutputs(key).find(({ output }) => output.meta.name === name)?.output
    return found?.isWhole === true ? found.stats : undefined
  }

  async #after(key: string, result: WriteResult, evaluation: OwnDecision): Promise<StepResult> {
    switch (result.kind) {
      case 'done':
        return 'again'
      case 'overtaken':
        return 'overtaken'
      case 'kind absent':
        await this.#options.recheck(this.#options.caches.outputs)
        // Where discovery still names the kind, the binding is tried again with backoff.
        return this.#options.caches.outputs.syncState.kind === 'absent'
          ? 'again'
          : this.#conclude(key, undetermined(evaluation, VANISHING))
      case 'refused':
        return this.#conclude(key, undetermined(evaluation, REFUSED))
      case 'unknown':
        return { judgement: undetermined(evaluation, result.why), next: retry(result) }
    }
  }

  /** The status tells a refusal only when no output is left: until then it is not known that the refusal is carried out. */
  #undeterminedUntilWithdrawn(key: string, judgement: Judgement): Judgement {
    if (judgement.state !== 'refused') return judgement
    const [left] = this.#options.ledger.ownOutputs(key)
    if (left === undefined) return judgement
    const what = `${CLUSTER_SPIFFE_ID_KIND} ${left.output.meta.name}`
    return undetermined({ judgement }, { verb: 'delete', what, cause: 'held by finalizers' })
  }

  #conclude(key: string, judgement: Judgement): Conclusion {
    if (judgement.state === 'undetermined') {
      // An objective that cannot be understood stays so until a user changes it, and that wakes the binding.
      const isInObject = judgement.check === 'objective leads to the pool'
      return { judgement, next: isInObject ? NOTHING_TO_DO : retry() }
    }
    if (judgement.state !== 'refused') return { judgement, next: NOTHING_TO_DO }
    if (judgement.reason === 'OutputNotOwned') return { judgement, next: { kind: 'after', ms: FOREIGN_MS } }
    if (judgement.reason === 'ManagedOutputApplyFailed') {
      return { judgement, next: { kind: 'after', ms: this.#options.applyFailures.waitMs(key) } }
    }
    return { judgement, next: NOTHING_TO_DO }
  }

  /** While the API server refuses what would be written, the binding is refused, and tried again with backoff. */
  #withApplyFailures(evaluation: OwnDecision): OwnDecision {
    const { judgement, actions, own } = evaluation
    const action = actions.find(({ kind }) => kind !== 'delete')
    if (action === undefined || action.kind === 'delete' || judgement.state !== 'ready') return evaluation
    const failure = this.#options.applyFailures.of(action.binding, action.output)
    if (failure === undefined || failure.waitMs === 0) return evaluation
    return { ...refuseOutput(judgement.compiled, own, 'ManagedOutputApplyFailed', failure.message), own }
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
function isAtRest(evaluation: Evaluation): boolean {
  return (
    evaluation.kind === 'decided' && evaluation.judgement.state === 'ready' && evaluation.actions.length === 0
  )
}

function undetermined({ judgement }: { readonly judgement: Judgement }, why: UnknownReason): Judgement {
  return { state: 'undetermined', compiled: judgement.compiled, check: 'output', why }
}
