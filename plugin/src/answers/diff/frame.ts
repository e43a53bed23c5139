// The report of `diff`: the change of every ClusterSPIFFEID of ours, then which containers gain or lose which identity.
import { effectOf } from '@kleym/shared/core/explain/effect.ts'
import { compareFindings } from '@kleym/shared/core/findings/finding.ts'
import { affectedPolicies, type AffectedPolicy } from '@kleym/shared/core/explain/affected-policies.ts'
import { hasPolicies } from '@kleym/shared/core/policies/policies.ts'
import { CLUSTER_SPIFFE_ID_KIND, SPIRE_GROUP } from '@kleym/shared/core/names.ts'
import type { State } from '@kleym/shared/core/analysis/state.ts'
import { counted } from '@kleym/shared/core/text/counted.ts'
import type { Effect } from '@kleym/shared/core/explain/effect.ts'
import type { DiffInput } from './base.ts'
import { affectedText, isDifference } from './policies-view.ts'
import type { ObjectChange } from './changes.ts'
import { diffFields } from './json.ts'
import { stayingKinds, viewSides } from './sides-view.ts'
import { viewDiff } from './view.ts'
import { viewDisagreements } from './disagreements-view.ts'
import type { Frame } from '../../frame/frame.ts'
import { missingOf } from '../../frame/missing.ts'

/** Makes the report; `shown` is the unified diff. */
export function diffFrame(input: DiffInput, changes: readonly ObjectChange[], shown: string): Frame {
  // Over a live side, the effect is that of the files alone: what kleym would write without them is no part of it.
  const baseline = input.before === input.after ? input.after.now : input.before.settled
  const future = input.after.settled
  const effect = effectOf(baseline, future, input.drive)
  const affected = affectedBy(baseline, future)
  const judgements =
    input.base === undefined
      ? input.after.now.judgements.values()
      : [...input.base.after.settled.judgements.values(), ...future.judgements.values()]
  const { added } = effect.findings
  // What was given is not what is there: nothing that follows is about the install as it is, so this comes first.
  const { disagreements } = input.operator
  const ownershipUnknown = input.after.now.outputs
    .filter(({ ownership }) => ownership.kind === 'ours' && ownership.assumed)
    .map(({ object }) => object.meta.name)
  const staying = stayingKinds(input)
  return {
    kind: 'DiffReport',
    fields: () =>
      diffFields({
        changes,
        ownershipUnknown,
        effect,
        affected,
        base: input.base,
        takenToStay: staying,
      }),
    findings: [...disagreements, ...added].toSorted(compareFindings),
    suppressionScope: { all: () => [...disagreements, ...added, ...effect.findings.unchanged] },
    differences: [
      ...changes.map(({ kind, name, because }) => `${kind} ClusterSPIFFEID/${name}: ${because}`),
      ...effectTexts(effect),
      ...(affected ?? []).filter(isDifference).map(affectedText),
    ],
    unfollowed: effect.unfollowed,
    missing: missingOf(input, judgements),
    names: () =>
      changes.map(({ name }) => ({
        kind: CLUSTER_SPIFFE_ID_KIND,
        group: SPIRE_GROUP,
        namespace: '',
        name,
      })),
    view: (layout, kept) => [
      ...viewDisagreements(
        kept.filter((one) => disagreements.includes(one)),
        layout,
      ),
      ...viewDiff(
        shown,
        changes,
        {
          ...effect,
          findings: { ...effect.findings, added: kept.filter((one) => !disagreements.includes(one)) },
        },
        {
          ...layout,
          ownershipUnknown: ownershipUnknown.length,
          affected: affected ?? [],
          head: viewSides(input, staying, layout),
          isPartOfWorld: staying.length > 0,
        },
      ),
    ],
  }
}

/** What the change does to rules of policies; undefined where there are no policies to speak of. */
function affectedBy(before: State, after: State): readonly AffectedPolicy[] | undefined {
  const isAny = [before, after].some((one) => hasPolicies(one.policies()))
  return isAny ? affectedPolicies(before, after) : undefined
}

/** What a change does beside objects of kleym's: a registration of somebody else may be what gives or takes an identity. */
function effectTexts({ gained, lost, uncertain, verdicts }: Effect): readonly string[] {
  return [
    ...lost.map(
      ({ spiffeId, containers }) => `${counted(containers.length, 'container')} no longer with ${spiffeId}`,
    ),
    ...gained.map(
      ({ spiffeId, containers }) => `${counted(containers.length, 'container')} newly with ${spiffeId}`,
    ),
    ...(uncertain.length === 0
      ? []
      : [`${counted(uncertain.length, 'container')} for which it depends on what is not known`]),
    ...verdicts.map(
      ({ binding, before, after }) => `${binding}: ${before ?? '(not there)'} → ${after ?? '(deleted)'}`,
    ),
  ]
}
