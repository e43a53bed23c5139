// Reports what a binding has come to: in the status first, then, where that has changed something, in one event, one line
// in the log and the metrics. Nothing is reported twice.
import { valueOf } from '@kleym/shared/core/model/objects/binding.ts'
import { apiVersionOf, BINDING } from '@kleym/shared/core/model/kinds.ts'
import {
  type Config,
  type InForceObservation,
  type InForceReason,
  type Judgement,
  nextStatus,
  verdictOf,
  type StatusVerdict,
  isInForceReason,
  REASONS,
} from '@kleym/shared/core/decide/index.ts'
import { BINDING_KIND, IN_FORCE_CONDITION, type ConditionType } from '@kleym/shared/core/model/names.ts'
import type { BindingStatus, Condition } from '@kleym/shared/core/model/objects/binding-status.ts'
import { deepEqual } from '@kleym/shared/core/base/json.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import type { EventRecorder } from '../telemetry/events.ts'
import type { Log, LogKeys } from '../telemetry/log.ts'
import type { BindingMetrics, BindingOutcome } from '../telemetry/binding-metrics.ts'
import type { CachedOutput } from '../caches/cached-output.ts'
import type { CachedBinding } from '../caches/cached-binding.ts'
import type { Caches } from '../caches/caches.ts'
import type { OwnedOutput } from '../claims/output-index.ts'
import type { InForceTracker } from './in-force-tracker.ts'
import type { WriteBudget } from '../write/write-budget.ts'
import type { WriteResult, Writer } from '../write/writer.ts'

export interface ReportsOptions {
  readonly caches: Caches
  readonly writer: Writer
  readonly config: Config
  readonly clock: Clock
  readonly events: EventRecorder
  readonly metrics: BindingMetrics
  readonly inForce: InForceTracker
  readonly budget: Pick<WriteBudget, 'take'>
  readonly log: Log
}

/** What a status was written for, and the status before it. */
interface StatusChange {
  readonly binding: CachedBinding
  readonly before: BindingStatus | undefined
  readonly after: BindingStatus
  readonly judgement: Judgement
  readonly verdict: StatusVerdict
}

/** What came of a report. */
export interface Report {
  /** `held`: its turn to write has not come, and wakes the binding. */
  readonly result: WriteResult | { readonly kind: 'held' }
  /** In how many milliseconds `InForce` may say something else without an event; undefined: never. */
  readonly againInMs: number | undefined
}

export class Reports {
  readonly #options: ReportsOptions
  /** Whether the CRD of an older version refuses a status with `InForce`, so that it is left out. */
  #withoutInForce = false

  constructor(options: ReportsOptions) {
    this.#options = options
  }

  /** Writes the status if it changes; `overtaken` where the binding is no longer the one that was judged. */
  async report(key: string, judgement: Judgement, own: readonly OwnedOutput[]): Promise<Report> {
    const { caches, writer, metrics, budget } = this.#options
    const verdict = verdictOf(judgement)
    const binding = caches.bindings.store.get(key)
    if (binding === undefined) return DONE
    const judged = judgement.compiled.binding.meta
    if (judged.uid !== binding.meta.uid || judged.generation !== binding.meta.generation) {
      return { result: { kind: 'overtaken' }, againInMs: undefined }
    }
    const status = binding.readStatus()
    const { next, againInMs } = this.#next(binding, status, judgement, own)
    if (judgement.state !== 'deleting') {
      metrics.setBinding(key, outcomeOf(verdict, judgement))
      metrics.setInForce(key, inForceReasonOf(next))
    }
    if (deepEqual(next, status)) return { result: { kind: 'done' }, againInMs }
    if (!budget.take(key)) return { result: { kind: 'held' }, againInMs }
    const result = await writer.setStatus(binding, next)
    if (result.kind === 'refused' && conditionOf(next, IN_FORCE_CONDITION) !== undefined) {
      return this.#withoutInForceReport(
        { binding, before: status, after: next, judgement, verdict },
        result,
        againInMs,
      )
    }
    if (result.kind === 'done') this.#announce({ binding, before: status, after: next, judgement, verdict })
    return { result, againInMs }
  }

  /** Writes `InForce` again where it was left out: the CRD has changed. Says whether it was. */
  restoreInForce(): boolean {
    const was = this.#withoutInForce
    this.#withoutInForce = false
    return was
  }

  /**
   * Tries a refused status without `InForce`. Only where that is taken is the CRD too old: a status that is refused either way
   * is one binding's trouble, and must take the condition from no other.
   */
  async #withoutInForceReport(
    change: StatusChange,
    refused: Extract<WriteResult, { kind: 'refused' }>,
    againInMs: number | undefined,
  ): Promise<Report> {
    const conditions = change.after.conditions?.filter(({ type }) => type !== IN_FORCE_CONDITION)
    const after: BindingStatus = { ...change.after, ...(conditions === undefined ? {} : { conditions }) }
    const result = await this.#options.writer.setStatus(change.binding, after)
    if (result.kind === 'refused') return { result: refused, againInMs }
    if (result.kind === 'done') {
      if (!this.#withoutInForce) {
        const text =
          'the API server refuses a status with InForce; it is written without it until the CRD changes'
        this.#options.log.warn(text, { why: refused.message })
      }
      this.#withoutInForce = true
      this.#announce({ ...change, after })
    }
    return { result, againInMs }
  }

  /** Whether the status already says this of the binding as it is, and no output is there. */
  holds(key: string, judgement: Judgement): boolean {
    const binding = this.#options.caches.bindings.store.get(key)
    if (binding === undefined) return false
    const status = binding.readStatus()
    return deepEqual(this.#next(binding, status, judgement, []).next, status)
  }

  /** The binding is gone, or is about to be. */
  forget(key: string): void {
    this.#options.metrics.setBinding(key, undefined)
    this.#options.metrics.setInForce(key, undefined)
    this.#options.inForce.forget(key)
  }

  /** What the status is to say. */
  #next(
    { meta, key }: CachedBinding,
    status: BindingStatus | undefined,
    judgement: Judgement,
    own: readonly OwnedOutput[],
  ): { readonly next: BindingStatus; readonly againInMs: number | undefined } {
    const { config, clock, inForce } = this.#options
    const output = outputInForce(status, judgement, own)
    const { reason, againInMs } = inForce.look(key, this.#observe(output), inForceReasonOf(status))
    const next = nextStatus(status, judgement, {
      config,
      generation: meta.generation ?? 0,
      now: clock
        .now()
        .toISOString()
        .replace(/\.\d+Z$/, 'Z'),
      inForce: output ? { name: output.meta.name, uid: output.meta.uid ?? '' } : this.#withoutOutput(),
      inForceReason: this.#withoutInForce ? 'unwritable' : reason,
    })
    return { next, againInMs }
  }

  /** What it means that no output is seen: a cache that cannot be filled shows none of those that are there. */
  #withoutOutput(): 'not known' | undefined {
    return this.#options.caches.outputs.syncState.kind === 'unknown' ? 'not known' : undefined
  }

  /** What there is to see of the output that is in force. */
  #observe(output: CachedOutput | undefined): InForceObservation {
    if (this.#withoutOutput() === 'not known') return { kind: 'unknown' }
    if (output === undefined) return { kind: 'no output' }
    return { kind: 'output', stats: output.isWhole ? output.stats : undefined }
  }

  #announce(change: StatusChange): void {
    this.#announceInForce(change)
    const { binding, before, judgement, verdict } = change
    const wasReady = conditionOf(before, 'Ready')
    const wasConflict = conditionOf(before, 'Conflict')?.status === 'True'
    const isConflict = verdict.reason === 'IdentityCollision'
    const changed = wasReady?.status !== verdict.ready || wasReady.reason !== verdict.reason
    const keys = logKeysOf(binding, judgement, verdict)
    if (!changed) {
      this.#options.log.debug('updated a status', keys)
      return
    }
    this.#options.log.info('decided', keys)
    // Waiting and not knowing keep the Conflict condition: only a verdict ends a conflict.
    if (wasConflict && !isConflict && verdict.ready !== 'Unknown') {
      const note = 'the identity collision is over'
      this.#record(binding, { type: 'Normal', reason: 'IdentityCollisionResolved', action: 'Collide', note })
    }
    if (verdict.ready === 'Unknown') return
    this.#record(binding, {
      type: verdict.ready === 'True' ? 'Normal' : 'Warning',
      reason: verdict.reason,
      action: verdict.ready === 'True' ? 'Register' : 'Refuse',
      note: verdict.message,
    })
  }

  /** One event on the way to a bad word of `InForce`, and one back. A binding without output has the event of its refusal. */
  #announceInForce({ binding, before, after, judgement, verdict }: StatusChange): void {
    const was = conditionOf(before, IN_FORCE_CONDITION)
    const now = conditionOf(after, IN_FORCE_CONDITION)
    if (now === undefined || was?.reason === now.reason) return
    if (was !== undefined) {
      const keys = logKeysOf(binding, judgement, verdict)
      this.#options.log.info('in force or not', {
        ...keys,
        condition: IN_FORCE_CONDITION,
        reason: now.reason,
        why: now.message,
      })
    }
    const isBad = now.status === 'False' && now.reason !== 'NoOutput'
    const isGoodAgain = now.status === 'True' && was?.status === 'False'
    if (!isBad && !isGoodAgain) return
    const type = isBad ? 'Warning' : 'Normal'
    this.#record(binding, { type, reason: now.reason, action: 'Observe', note: now.message })
  }

  #record(
    { meta }: CachedBinding,
    event: { readonly type: 'Normal' | 'Warning'; reason: string; action: string; note: string },
  ): void {
    this.#options.events.record({
      ...event,
      regarding: {
        apiVersion: apiVersionOf(BINDING),
        kind: BINDING_KIND,
        namespace: meta.namespace,
        name: meta.name,
        uid: meta.uid ?? '',
        resourceVersion: meta.resourceVersion,
      },
    })
  }
}

/** The output of a binding: the one that it asks for, or, while the verdict is unknown, the one that it had. */
function outputInForce(
  status: BindingStatus | undefined,
  judgement: Judgement,
  own: readonly OwnedOutput[],
): CachedOutput | undefined {
  const wanted =
    judgement.state === 'ready'
      ? judgement.resolved.output.metadata.name
      : (status?.clusterSPIFFEID?.name ?? own[0]?.output.meta.name)
  return own.find(({ output }) => output.meta.name === wanted)?.output
}

/** What a status says of `InForce`, as a label of a metric. */
function inForceReasonOf(status: BindingStatus | undefined): InForceReason | undefined {
  const reason = conditionOf(status, IN_FORCE_CONDITION)?.reason
  return reason !== undefined && isInForceReason(reason) ? reason : undefined
}

const DONE: Report = { result: { kind: 'done' }, againInMs: undefined }

function conditionOf(status: BindingStatus | undefined, type: ConditionType): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type)
}

function outcomeOf({ reason }: StatusVerdict, { compiled }: Judgement): BindingOutcome {
  const { mode } = compiled.binding
  return { condition: REASONS[reason].condition, reason, mode: mode.ok ? mode.value : 'Unsupported' }
}

function logKeysOf(
  { key, poolRef, objectiveRef, mode }: CachedBinding,
  judgement: Judgement,
  verdict: StatusVerdict,
): LogKeys {
  const { result } = judgement.compiled
  return {
    binding: key,
    pool: poolRef.ok ? poolRef.value.name : undefined,
    objective: objectiveRef.ok ? objectiveRef.value?.name : undefined,
    mode: valueOf(mode),
    ...(result.kind === 'resolved'
      ? { spiffeID: result.identity.spiffeId, clusterSPIFFEID: result.output.metadata.name }
      : {}),
    condition: REASONS[verdict.reason].condition,
    reason: verdict.reason,
    why: verdict.ready === 'True' ? undefined : verdict.message,
  }
}
