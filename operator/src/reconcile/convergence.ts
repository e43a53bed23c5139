// A binding that is not being deleted: decide from the caches, carry out one write, decide again, until nothing is due; then
// say so in the status. Level-based: why the binding was woken does not matter (docs/contract.md §6 to §8).
import { namespaceWritten } from '@kleym/shared/core/model/namespaced-name.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import type { OutputStats } from '@kleym/shared/core/model/objects/output-stats.ts'
import { BINDING_KIND, CLUSTER_SPIFFE_ID_KIND } from '@kleym/shared/core/model/names.ts'
import {
  alteredMessage,
  hasLost,
  isAsProven,
  isProvenField,
  type AlteredField,
  type Output,
  refusePruned,
  refuseWrite,
  withoutOutputs,
  type Action,
  type Judgement,
  type Pruned,
  REASONS,
} from '@kleym/shared/core/decide/index.ts'
import type { ClusterSpiffeId } from '@kleym/shared/core/model/objects/clusterspiffeid.ts'
import type { Caches } from '../caches/caches.ts'
import { hasOurs } from '../caches/kept-finalizers.ts'
import type { OutputSchema } from '../caches/output-schema.ts'
import type { Indexes } from '../claims/indexes.ts'
import type { Evaluation, Ledger, OwnDecision } from '../claims/ledger.ts'
import type { MissingRef } from '../claims/missing-refs.ts'
import type { Log } from '../telemetry/log.ts'
import type { WriteBudget } from '../write/write-budget.ts'
import type { WriteResult, Writer } from '../write/writer.ts'
import type { ApplyFailures } from './apply-failures.ts'
import { desiredHashOf } from './desired-hash.ts'
import type { InForceTracker } from './in-force-tracker.ts'
import { retry, NOTHING_TO_DO, sooner, type Next } from './next.ts'
import type { NamespaceRoom } from './namespace-room.ts'
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
  readonly outputSchema: OutputSchema
  readonly budget: WriteBudget
  readonly room: NamespaceRoom
  /** Whether no SCM takes an output without a class. */
  readonly classlessIgnored: boolean
  readonly log: Log
  /** Called after each repair of an output, to count it. */
  readonly onRepair: () => void
  /** Drops the wakes of a key until now: they are dealt with. */
  readonly clearWakes: (key: string) => void
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
  /** Whether the CRD of outputs was read for it. */
  isSchemaRead: boolean
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

  /** Makes all writes of one binding that are possible now, and reports the result. */
  async run(key: string): Promise<Next> {
    let overtaken = 0
    const look: Look = { dryRuns: new Set(), isSchemaRead: false }
    for (let steps = 0; steps < STEPS_MAX; steps++) {
      const unknownWrites = await this.#options.writer.resolveUnknownWrites(key)
      const { indexes } = this.#options
      const namespace = namespaceWritten(key)
      do await indexes.workIn(namespace)
      while (indexes.isBehind(namespace))
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
      const conclusion = step === 'overtaken' ? this.#conclude(undetermined(evaluation, CONFLICTING)) : step
      if (conclusion.judgement === undefined) return conclusion.next
      const reported = await this.#options.reports.report(
        key,
        conclusion.judgement,
        this.#options.ledger.ownOutputs(key),
      )
      const { result, againInMs } = reported
      if (result.kind === 'held') return NOTHING_TO_DO
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
      return this.#conclude(undetermined(evaluation, outputs.syncState.why))
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
    const { judgement, actions, retriesInMs } = this.#withApplyFailures(this.#withPruned(evaluation))
    if (outputs.syncState.kind === 'absent') return this.#conclude(withoutOutputs(judgement))
    const [action] = actions
    if (!look.isSchemaRead && this.#needsSchema(action)) {
      look.isSchemaRead = true
      await this.#options.outputSchema.refresh()
      return 'again'
    }
    const lacksFinalizer = this.#lacksFinalizer(key, action)
    const full =
      action !== undefined && action.kind !== 'delete' ? this.#options.room.fullFor(key) : undefined
    if (full !== undefined) {
      return { judgement: { ...undetermined(evaluation, NAMESPACE_FULL), full }, next: NOTHING_TO_DO }
    }
    // Before anything is decided: with its turn it is looked at anew.
    const isWithdrawal = !lacksFinalizer && (action === undefined || action.kind === 'delete')
    if (!isWithdrawal && !this.#options.budget.take(key)) return HELD
    if (lacksFinalizer) return this.#addFinalizer(key, evaluation)
    if (action !== undefined) return this.#carryOut(key, action, evaluation, look)
    const conclusion = this.#conclude(this.#undeterminedUntilWithdrawn(key, judgement))
    return retriesInMs === undefined
      ? conclusion
      : { ...conclusion, next: { kind: 'after', ms: retriesInMs } }
  }

  /** Makes live reads of names that no cache holds. Returns the failure of one that could not be made. */
  async #verify(refs: readonly MissingRef[]): Promise<UnknownOutcome | undefined> {
    for (const ref of refs) {
      const result = await this.#options.writer.readMissing(ref)
      if (result.kind === 'unknown') return result
      if (result.kind === 'kind absent' || !result.found) this.#options.indexes.confirmAbsent(ref)
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
    return this.#after(await this.#options.writer.setFinalizer(binding, true), evaluation)
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
      return this.#after(await this.#options.writer.remove(action.live.object), evaluation)
    }
    const { output } = action
    const live = action.kind === 'update' ? action.live : undefined
    const advice = this.#options.repairs.advise(output, live?.object)
    if (advice.kind === 'leave' || advice.kind === 'pause') {
      // The operator leaves what is written as it is for now, but deletes what that took the place of.
      const retired = evaluation.actions.find(({ kind }) => kind === 'delete')
      if (retired !== undefined) return this.#carryOut(key, retired, evaluation, look)
    }
    // What is right stays: a policy that refuses the update, or a webhook that alters it, is to show before it is stored.
    const isRight = live !== undefined && isAsProven(live.object, output)
    if (advice.kind === 'leave') return this.#conclude(evaluation.judgement)
    if (advice.kind === 'pause') {
      const verb = live === undefined ? 'create' : 'update'
      const what = `${CLUSTER_SPIFFE_ID_KIND} ${output.metadata.name}`
      const why = { verb, what, cause: 'changed or deleted too often by another client' } as const
      const judgement = isRight ? evaluation.judgement : undetermined(evaluation, why)
      return { judgement, next: { kind: 'after', ms: advice.ms } }
    }
    const statsBefore = this.#statsOf(key, output.metadata.name)
    // Called at once: the reservation belongs to the decision.
    const hash = `${live?.object.meta.uid ?? ''} ${desiredHashOf(output)}`
    const options = { dryRun: (isRight || this.#lastTryFailed(key)) && !dryRuns.has(hash) }
    const writing =
      live === undefined
        ? this.#options.writer.create(action.binding, output, options)
        : this.#options.writer.update(action.binding, live, output, options)
    const result = await writing
    if (result.kind === 'altered') {
      await this.#options.outputSchema.refresh()
      // What the CRD drops, no webhook has changed.
      if (this.#pruned(output).fields.length === 0) this.#noteAltered(key, output, { ...result, ...options })
      return 'again'
    }
    if (result.kind === 'refused') {
      this.#options.applyFailures.note(key, output, result.message)
      const refused = { binding: key, clusterSPIFFEID: output.metadata.name, why: result.message }
      this.#options.log.warn('the API server refuses an output', refused)
      return 'again'
    }
    if (result.kind === 'done' && options.dryRun) {
      // Much may have changed meanwhile: the write is decided anew, unless it would change nothing.
      if (live !== undefined && this.#options.repairs.rehearsed(output, live.object, result.answer)) {
        this.#options.applyFailures.forget(key)
        this.#warnStubborn(key, output)
      } else dryRuns.add(hash)
      return 'again'
    }
    if (result.kind === 'done') {
      this.#noteWritten(key, action, { isRepair: advice.isRepair, answer: result.answer, statsBefore })
    }
    return this.#after(result, evaluation)
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
    if (this.#options.repairs.written(action.output, answer, { isRepair, isPut }).stubborn)
      this.#warnStubborn(key, action.output)
  }

  #warnStubborn(key: string, { metadata, spec }: Output): void {
    this.#options.log.warn('an output comes back other than it is written; it is left so until it changes', {
      binding: key,
      clusterSPIFFEID: metadata.name,
      spiffeID: spec.spiffeIDTemplate,
    })
  }

  /** SCM's counters on an output as the cache has it now. */
  #statsOf(key: string, name: string): OutputStats | undefined {
    const found = this.#options.ledger.ownOutputs(key).find(({ output }) => output.meta.name === name)?.output
    return found?.isWhole === true ? found.stats : undefined
  }

  async #after(result: WriteResult, evaluation: OwnDecision): Promise<StepResult> {
    switch (result.kind) {
      case 'done':
      case 'kind absent':
        return 'again'
      case 'overtaken':
        return 'overtaken'
      case 'refused':
        return this.#conclude(undetermined(evaluation, REFUSED))
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

  #conclude(judgement: Judgement): Conclusion {
    if (judgement.state === 'undetermined') {
      // An objective that cannot be understood stays so until a user changes it, and that wakes the binding.
      const isInObject = judgement.check === 'objective leads to the pool'
      return { judgement, next: isInObject ? NOTHING_TO_DO : retry() }
    }
    if (judgement.state !== 'refused') return { judgement, next: NOTHING_TO_DO }
    if (judgement.reason === 'OutputNotOwned') return { judgement, next: { kind: 'after', ms: FOREIGN_MS } }
    return { judgement, next: NOTHING_TO_DO }
  }

  /** Whether the CRD is to be read before a write: it may be the reason why the live object lacks what was proven of it. */
  #needsSchema(action: Action | undefined): boolean {
    if (action === undefined || action.kind === 'delete') return false
    if (!this.#options.outputSchema.isKnown) return true
    return action.kind === 'update' && hasLost(action.live.object, action.output)
  }

  #pruned({ spec }: Output): Pruned {
    const { outputSchema, classlessIgnored } = this.#options
    const fields = outputSchema.pruned(spec).filter(isProvenField)
    return { fields, isSafe: classlessIgnored && fields.every((field) => field === '.spec.className') }
  }

  /** While the CRD of outputs lacks what is proven of them, none is written, and none stays that is wider without it. */
  #withPruned(evaluation: OwnDecision): OwnDecision {
    const { judgement, own } = evaluation
    if (judgement.state !== 'ready' && judgement.state !== 'waiting') return evaluation
    const pruned = this.#pruned(judgement.resolved.output)
    if (pruned.fields.length === 0 || (judgement.state === 'waiting' && pruned.isSafe)) return evaluation
    return { ...refusePruned(judgement, own, pruned), own }
  }

  /** While the API server refuses what would be written, the write is put off, and tried again with backoff. */
  #withApplyFailures(evaluation: OwnDecision): OwnDecision & { readonly retriesInMs?: number } {
    const { judgement, actions, own } = evaluation
    const action = actions.find(({ kind }) => kind !== 'delete')
    if (action === undefined || action.kind === 'delete' || judgement.state !== 'ready') return evaluation
    const failure = this.#options.applyFailures.of(action.binding, action.output)
    if (failure === undefined || failure.waitMs === 0) return evaluation
    const { message, waitMs } = failure
    return { ...refuseWrite(judgement.compiled, own, action, message), own, retriesInMs: waitMs }
  }
}

/** It waits for its turn to write. */
const HELD: Conclusion = { judgement: undefined, next: NOTHING_TO_DO }

const CONFLICTING: UnknownReason = {
  verb: 'update',
  what: CLUSTER_SPIFFE_ID_KIND,
  cause: 'conflicting writes',
}
const NAMESPACE_FULL: UnknownReason = { verb: 'create', what: CLUSTER_SPIFFE_ID_KIND, cause: 'refused' }
const REFUSED: UnknownReason = { verb: 'patch', what: BINDING_KIND, cause: 'refused' }

/** Whether nothing is due, of all that is known now. */
function isAtRest(evaluation: Evaluation): boolean {
  return (
    evaluation.kind === 'decided' && evaluation.judgement.state === 'ready' && evaluation.actions.length === 0
  )
}

function undetermined(
  { judgement }: { readonly judgement: Judgement },
  why: UnknownReason,
): Extract<Judgement, { state: 'undetermined' }> {
  return { state: 'undetermined', compiled: judgement.compiled, check: 'output', why }
}
