// What a binding has come to, told to people: the status first, then, where that has changed something, one event, one
// line in the log and the metrics. Nothing is told twice.
import type { Config } from '@kleym/shared/core/compile/config.ts'
import { BINDING_GROUP, BINDING_KIND, BINDING_VERSION, type ConditionType } from '@kleym/shared/core/names.ts'
import type { Binding } from '@kleym/shared/core/objects/binding.ts'
import type { BindingStatus, Condition } from '@kleym/shared/core/objects/binding-status.ts'
import { deepEqual } from '@kleym/shared/core/plan/drift.ts'
import type { Judgement, LiveOutput } from '@kleym/shared/core/plan/plan.ts'
import { nextStatus, verdictOf, type StatusVerdict } from '@kleym/shared/core/plan/status.ts'
import { REASONS } from '@kleym/shared/core/registry/reasons.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import type { EventRecorder } from '../telemetry/events.ts'
import type { Log, LogKeys } from '../telemetry/log.ts'
import type { Metrics, Outcome } from '../telemetry/metrics.ts'
import type { World } from './world.ts'
import type { WriteResult, Writer } from './writer.ts'

export interface ReportsOptions {
  readonly world: World
  readonly writer: Writer
  readonly config: Config
  readonly clock: Clock
  readonly events: EventRecorder
  readonly metrics: Pick<Metrics, 'setBinding'>
  readonly log: Log
}

/** What a status was written for, and the status before it, which is read once: each reading parses it. */
interface Told {
  readonly binding: Binding
  readonly before: BindingStatus | undefined
  readonly judgement: Judgement
  readonly verdict: StatusVerdict
}

export class Reports {
  readonly #options: ReportsOptions

  constructor(options: ReportsOptions) {
    this.#options = options
  }

  /** Writes the status if it changes; `overtaken` where the binding is no longer the one that was judged. */
  async tell(key: string, judgement: Judgement, own: readonly LiveOutput[]): Promise<WriteResult> {
    const { world, writer, metrics } = this.#options
    const verdict = verdictOf(judgement)
    const binding = world.bindings.store.get(key)
    if (verdict === undefined || binding === undefined) return { kind: 'done' }
    const judged = judgement.compiled.binding.meta
    if (judged.uid !== binding.meta.uid || judged.generation !== binding.meta.generation) {
      return { kind: 'overtaken' }
    }
    const { meta, status } = binding
    const next = this.#next({ meta, status }, judgement, own)
    metrics.setBinding(key, outcomeOf(verdict, judgement))
    if (next === undefined || deepEqual(next, status)) return { kind: 'done' }
    const result = await writer.setStatus(binding, next)
    if (result.kind === 'done') this.#announce({ binding, before: status, judgement, verdict })
    return result
  }

  /** Whether the status already says this, for the binding as it is. */
  holds(key: string, judgement: Judgement): boolean {
    const binding = this.#options.world.bindings.store.get(key)
    if (binding === undefined) return false
    const { meta, status } = binding
    return deepEqual(this.#next({ meta, status }, judgement, []), status)
  }

  /** The binding is gone, or is about to be. */
  forget(key: string): void {
    this.#options.metrics.setBinding(key, undefined)
  }

  /** What the status is to say; undefined where there has been none and none is to be written. */
  #next(
    { meta, status }: Pick<Binding, 'meta' | 'status'>,
    judgement: Judgement,
    own: readonly LiveOutput[],
  ): BindingStatus | undefined {
    const { config, clock } = this.#options
    return nextStatus(status, judgement, {
      config,
      generation: meta.generation ?? 0,
      now: clock
        .now()
        .toISOString()
        .replace(/\.\d+Z$/, 'Z'),
      inForce: inForce(status, judgement, own),
    })
  }

  #announce({ binding, before, judgement, verdict }: Told): void {
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

  #record(
    { meta }: Binding,
    event: { readonly type: 'Normal' | 'Warning'; reason: string; action: string; note: string },
  ): void {
    this.#options.events.record({
      ...event,
      regarding: {
        apiVersion: `${BINDING_GROUP}/${BINDING_VERSION}`,
        kind: BINDING_KIND,
        namespace: meta.namespace,
        name: meta.name,
        uid: meta.uid ?? '',
        resourceVersion: meta.resourceVersion,
      },
    })
  }
}

/** The output that is in force for a binding: the one that it asks for, or, while that is open, the one that it had. */
function inForce(
  status: BindingStatus | undefined,
  judgement: Judgement,
  own: readonly LiveOutput[],
): { readonly name: string; readonly uid: string } | undefined {
  const wanted =
    judgement.state === 'ready'
      ? judgement.resolved.output.metadata.name
      : (status?.clusterSPIFFEID?.name ?? own[0]?.object.meta.name)
  const found = own.find(({ object }) => object.meta.name === wanted)
  return found === undefined ? undefined : { name: found.object.meta.name, uid: found.object.meta.uid ?? '' }
}

function conditionOf(status: BindingStatus | undefined, type: ConditionType): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type)
}

function outcomeOf({ reason }: StatusVerdict, { compiled }: Judgement): Outcome {
  const { mode } = compiled.binding
  return { condition: REASONS[reason].condition, reason, mode: mode.ok ? mode.value : 'Unsupported' }
}

function logKeysOf(
  { key, poolRef, objectiveRef, mode }: Binding,
  judgement: Judgement,
  verdict: StatusVerdict,
): LogKeys {
  const { result } = judgement.compiled
  return {
    binding: key,
    pool: poolRef.ok ? poolRef.value.name : undefined,
    objective: objectiveRef.ok ? objectiveRef.value?.name : undefined,
    mode: mode.ok ? mode.value : undefined,
    ...(result.kind === 'resolved'
      ? { spiffeID: result.identity.spiffeId, clusterSPIFFEID: result.output.metadata.name }
      : {}),
    condition: REASONS[verdict.reason].condition,
    reason: verdict.reason,
    why: verdict.ready === 'True' ? undefined : verdict.message,
  }
}
