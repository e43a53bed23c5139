// The status that a judgement comes to (docs/contract.md §2 and §7): six conditions, always all of them, in one order, and
// times that move only when a condition's status does.
import { collisionPeers } from '../collide/conflict.ts'
import { unknownReasonText } from '../../model/unknown-reason.ts'
import {
  DECISION_CONDITIONS,
  IN_FORCE_CONDITION,
  MESSAGE_BYTES,
  type DecisionCondition,
} from '../../model/names.ts'
import type { InForceReason } from '../in-force/in-force.ts'
import { IN_FORCE_REASONS } from '../reasons/in-force-reasons.ts'
import type { BindingStatus, Condition } from '../../model/objects/binding-status.ts'
import { REASONS, type Reason } from '../reasons/reasons.ts'
import { cutToBytes } from '../../base/text/bytes.ts'
import { modeOf } from '../compile/checks.ts'
import type { Config } from '../settings/config.ts'
import type { Judgement } from './plan.ts'

/** What `Ready` says. */
export interface StatusVerdict {
  readonly ready: 'True' | 'False' | 'Unknown'
  readonly reason: Reason
  /** At most 1,024 bytes. */
  readonly message: string
}

/** The verdict of a judgement. */
export function verdictOf(judgement: Judgement): StatusVerdict {
  switch (judgement.state) {
    case 'ready':
      return saying('Reconciled', `compiled into ClusterSPIFFEID ${judgement.resolved.output.metadata.name}`)
    case 'refused':
      return saying(judgement.reason, judgement.message)
    case 'undetermined':
      return judgement.full === undefined
        ? saying('Undetermined', unknownReasonText(judgement.why))
        : saying(
            'NamespaceFull',
            `${judgement.full} bindings of the namespace have an output, the most that the operator is set to (--bindings-per-namespace); this one gets one when one of theirs is gone`,
          )
    case 'waiting': {
      const [first = 'a peer', ...rest] = judgement.waitsFor
      return saying('WaitingForPeer', `waiting for ${first}${rest.length > 0 ? ' and more' : ''}`)
    }
    case 'deleting':
      return saying('Deleting', 'the binding is being deleted')
  }
}

/** What a status is computed from, beside the judgement. */
export interface StatusContext {
  readonly config: Config
  /** `metadata.generation` of the binding. */
  readonly generation: number
  /** RFC 3339, whole seconds. */
  readonly now: string
  /** The output that is in force, by name and UID; undefined while there is none, `not known` while outputs cannot be read. */
  readonly inForce: { readonly name: string; readonly uid: string } | 'not known' | undefined
  /** What `InForce` says; undefined: the last word stays. `unwritable`: the CRD takes no such condition. */
  readonly inForceReason: InForceReason | 'unwritable' | undefined
}

/** The next status; equal to the previous one, byte for byte, when nothing has changed. */
export function nextStatus(
  previous: BindingStatus | undefined,
  judgement: Judgement,
  context: StatusContext,
): BindingStatus {
  const verdict = verdictOf(judgement)
  const conditions = [
    ...DECISION_CONDITIONS.map((type) =>
      nextCondition(previous, type, (before) => wantedCondition(before, type, verdict), context),
    ),
    ...(context.inForceReason === 'unwritable'
      ? []
      : [nextCondition(previous, IN_FORCE_CONDITION, inForceCondition(context.inForceReason), context)]),
  ]
  const head = {
    observedGeneration: context.generation,
    conditions,
    ...(context.config.trustDomain.kind === 'set' ? { trustDomain: context.config.trustDomain.value } : {}),
    ...(context.config.className === '' ? {} : { clusterSPIFFEIDClassName: context.config.className }),
    ...variantLabelKeyOf(judgement, context.config),
  }
  if (judgement.state === 'ready') return { ...head, ...rendered(judgement, context) }
  if (judgement.state === 'refused') {
    return judgement.collision === undefined
      ? head
      : { ...head, conflicts: collisionPeers(judgement.collision) }
  }
  // The Conflict condition keeps its last verdict, and `conflicts` is the machine form of its message.
  const conflicts = previous?.conflicts === undefined ? {} : { conflicts: previous.conflicts }
  return { ...head, ...conflicts, ...(context.inForce === undefined ? {} : kept(previous)) }
}

/** The label key, with a variant alone: a CRD that prunes variants prunes this too, and would be written to for ever. */
function variantLabelKeyOf(
  { compiled: { binding } }: Judgement,
  { variantLabelKey }: Config,
): Pick<BindingStatus, 'variantLabelKey'> {
  const { identityBoundary: field } = binding
  const hasVariant = modeOf(binding) === 'PerVariant' && field.ok && field.value !== undefined
  return hasVariant && variantLabelKey !== undefined ? { variantLabelKey } : {}
}

function rendered(judgement: Extract<Judgement, { state: 'ready' }>, context: StatusContext): BindingStatus {
  const { identity } = judgement.resolved
  return {
    computedSpiffeIDs: [{ mode: identity.mode, spiffeID: identity.spiffeId }],
    renderedSelectors: [
      { spiffeID: identity.spiffeId, selectors: identity.selectors.map(({ selector }) => selector) },
    ],
    ...(typeof context.inForce === 'object' ? { clusterSPIFFEID: context.inForce } : {}),
  }
}

function kept(previous: BindingStatus | undefined): BindingStatus {
  const { computedSpiffeIDs, renderedSelectors, clusterSPIFFEID } = previous ?? {}
  return {
    ...(computedSpiffeIDs === undefined ? {} : { computedSpiffeIDs }),
    ...(renderedSelectors === undefined ? {} : { renderedSelectors }),
    ...(clusterSPIFFEID === undefined ? {} : { clusterSPIFFEID }),
  }
}

/** What a condition says. */
type SaidCondition = Pick<Condition, 'status' | 'reason' | 'message'>

function nextCondition(
  previous: BindingStatus | undefined,
  type: Condition['type'],
  wantedFrom: (before: Condition | undefined) => SaidCondition,
  context: StatusContext,
): Condition {
  const before = previous?.conditions?.find((condition) => condition.type === type)
  const wanted = wantedFrom(before)
  return {
    type,
    status: wanted.status,
    observedGeneration: context.generation,
    lastTransitionTime:
      before !== undefined && before.status === wanted.status ? before.lastTransitionTime : context.now,
    reason: wanted.reason,
    message: wanted.message,
  }
}

function wantedCondition(
  before: Condition | undefined,
  type: DecisionCondition,
  { ready, reason, message }: StatusVerdict,
): SaidCondition {
  if (type === 'Ready') return { status: ready, reason, message }
  if (ready === 'Unknown') {
    // Not knowing keeps the last verdict; where there is none yet, it says that it does not know, and why now.
    return before === undefined || before.status === 'Unknown'
      ? { status: 'Unknown', reason, message }
      : before
  }
  if (REASONS[reason].condition === type) return { status: 'True', reason, message }
  return { status: 'False', reason: 'Resolved', message: '' }
}

/** `InForce` for a reason; without one the last word stays, and where there is none SCM must still act. */
function inForceCondition(
  reason: InForceReason | undefined,
): (before: Condition | undefined) => SaidCondition {
  return (before) => {
    // There is an output where the last word stays, so it cannot be that there is none.
    if (reason === undefined && before !== undefined && before.reason !== 'NoOutput') return before
    const said = reason ?? 'Pending'
    const { status, message } = IN_FORCE_REASONS[said]
    return { status, reason: said, message }
  }
}

function saying(reason: Reason, message: string): StatusVerdict {
  return { ready: REASONS[reason].ready, reason, message: cutToBytes(message, MESSAGE_BYTES) }
}

/** The state of a binding in words: `ready`, `refused`, `undetermined`, `waiting` or `being deleted`. */
export function judgementWord(state: Judgement['state']): string {
  return state === 'deleting' ? 'being deleted' : state
}

/** The SPIFFE ID that a binding gives; undefined for one that is not ready. */
export function idOfReady(judgement: Judgement | undefined): string | undefined {
  return judgement?.state === 'ready' ? judgement.resolved.identity.spiffeId : undefined
}
