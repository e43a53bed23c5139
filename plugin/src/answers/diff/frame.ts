// The report of `diff`: the change of every ClusterSPIFFEID of ours, then which containers gain or lose which identity.
import { podText } from '@kleym/shared/core/objects/pod-index.ts'
import type { Pod } from '@kleym/shared/core/objects/pod.ts'
import { effectOf, type Holder } from '@kleym/shared/core/explain/effect.ts'
import { affectedPolicies, type AffectedPolicy } from '@kleym/shared/core/explain/affected-policies.ts'
import { hasPolicies } from '@kleym/shared/core/policies/policies.ts'
import { CLUSTER_SPIFFE_ID_KIND, SPIRE_GROUP } from '@kleym/shared/core/names.ts'
import type { State } from '@kleym/shared/core/analysis/state.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { affectedText, isDifference } from './policies-view.ts'
import type { ObjectChange } from './changes.ts'
import { diffFields } from './json.ts'
import { viewDiff } from './view.ts'
import type { Frame } from '../../frame/frame.ts'
import { missingOf } from '../../frame/missing.ts'

/** Makes the report; `shown` is the unified diff. */
export function diffFrame(input: AnswerInput, changes: readonly ObjectChange[], shown: string): Frame {
  // Over a live side, the effect is that of the files alone: what kleym would write without them is no part of it.
  const baseline = input.before === input.after ? input.after.now : input.before.settled
  const future = input.after.settled
  const effect = effectOf(baseline, future, input.drive)
  const affected = affectedBy(baseline, future)
  const judgements = input.after.now.judgements.values()
  const { added } = effect.findings
  const ownershipUnknown = input.after.now.outputs
    .filter(({ ownership }) => ownership.kind === 'ours' && ownership.assumed)
    .map(({ object }) => object.meta.name)
  return {
    kind: 'DiffReport',
    fields: () => diffFields({ changes, ownershipUnknown, effect, affected }),
    findings: added,
    suppressionScope: { all: () => [...added, ...effect.findings.unchanged] },
    differences: [
      ...changes.map(({ kind, name, because }) => `${kind} ClusterSPIFFEID/${name}: ${because}`),
      ...(affected ?? []).filter(isDifference).map(affectedText),
    ],
    unfollowed: effect.unfollowed,
    missing: missingOf(input, judgements, { pods: podsOf(effect.uncertain, input) }),
    names: () =>
      changes.map(({ name }) => ({
        kind: CLUSTER_SPIFFE_ID_KIND,
        group: SPIRE_GROUP,
        namespace: '',
        name,
      })),
    view: (layout, kept) =>
      viewDiff(
        shown,
        changes,
        { ...effect, findings: { ...effect.findings, added: kept } },
        { ...layout, ownershipUnknown: ownershipUnknown.length, affected: affected ?? [] },
      ),
  }
}

/** The pods of which it is not certain what the change does to them. */
function podsOf(holders: readonly Holder[], { after, before }: AnswerInput): ReadonlySet<Pod> {
  const named = new Set(holders.map(({ pod }) => pod))
  return new Set(
    [after, before].flatMap(({ podsInQuestion }) => podsInQuestion.filter((pod) => named.has(podText(pod)))),
  )
}

/** What the change does to rules of policies; undefined where there are no policies to speak of. */
function affectedBy(before: State, after: State): readonly AffectedPolicy[] | undefined {
  const isAny = [before, after].some((one) => hasPolicies(one.policies()))
  return isAny ? affectedPolicies(before, after) : undefined
}
