// The report of `diff`: the change of every ClusterSPIFFEID of ours, then which containers gain or lose which identity.
import { effectOf } from '@kleym/shared/core/explain/effect.ts'
import { compareFindings } from '@kleym/shared/core/findings/finding.ts'
import { affectedPolicies, type AffectedPolicy } from '@kleym/shared/core/explain/affected-policies.ts'
import { hasPolicies } from '@kleym/shared/core/policies/policies.ts'
import { CLUSTER_SPIFFE_ID_KIND, SPIRE_GROUP } from '@kleym/shared/core/names.ts'
import type { State } from '@kleym/shared/core/analysis/state.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { affectedText, isDifference } from './policies-view.ts'
import type { ObjectChange } from './changes.ts'
import { diffFields } from './json.ts'
import { viewDiff } from './view.ts'
import { viewDisagreements } from './disagreements-view.ts'
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
  // What was given is not what is there: nothing that follows is about the install as it is, so this comes first.
  const { disagreements } = input.operator
  const ownershipUnknown = input.after.now.outputs
    .filter(({ ownership }) => ownership.kind === 'ours' && ownership.assumed)
    .map(({ object }) => object.meta.name)
  return {
    kind: 'DiffReport',
    fields: () => diffFields({ changes, ownershipUnknown, effect, affected }),
    findings: [...disagreements, ...added].toSorted(compareFindings),
    suppressionScope: { all: () => [...disagreements, ...added, ...effect.findings.unchanged] },
    differences: [
      ...changes.map(({ kind, name, because }) => `${kind} ClusterSPIFFEID/${name}: ${because}`),
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
        { ...layout, ownershipUnknown: ownershipUnknown.length, affected: affected ?? [] },
      ),
    ],
  }
}

/** What the change does to rules of policies; undefined where there are no policies to speak of. */
function affectedBy(before: State, after: State): readonly AffectedPolicy[] | undefined {
  const isAny = [before, after].some((one) => hasPolicies(one.policies()))
  return isAny ? affectedPolicies(before, after) : undefined
}
