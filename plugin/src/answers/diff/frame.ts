// The report of `diff`: the change of every ClusterSPIFFEID of ours, then what it does to people.
import { asIs, afterwards } from '@kleym/shared/core/explain/lenses.ts'
import { effectOf, type Effect } from '@kleym/shared/core/explain/effect.ts'
import { affectedPolicies, type AffectedPolicy } from '@kleym/shared/core/policies/affected.ts'
import { hasPolicies } from '@kleym/shared/core/policies/policies.ts'
import type { Action } from '@kleym/shared/core/plan/plan.ts'
import { ANNOTATION_BINDING_UID, CLUSTER_SPIFFE_ID_KIND, SPIRE_GROUP } from '@kleym/shared/core/names.ts'
import type { Analysis } from '@kleym/shared/core/analysis/analysis.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { affectedText, isDifference } from './affected-view.ts'
import { viewDiff } from './view.ts'
import type { Frame } from '../../frame/frame.ts'
import { findingReport } from '../../frame/machine.ts'
import type { ObjectChange } from '../../frame/model.ts'
import { missingOf } from '../../frame/missing.ts'
import { affectedReport } from '../policies/json.ts'
import { liveText, updatedText, wantedText } from './object-text.ts'

/** The changes that are due, in byte order of their names; those that the files make come first. */
export function objectChanges({ before, after }: AnswerInput): readonly ObjectChange[] {
  const due = new Set(before === after ? [] : changesOf(before).map(textOfChange))
  return changesOf(after)
    .map((change) => ({ ...change, dueAlready: due.has(textOfChange(change)) }))
    .toSorted((a, b) => Number(a.dueAlready) - Number(b.dueAlready))
}

function textOfChange({ kind, name, before, after }: Omit<ObjectChange, 'dueAlready'>): string {
  return JSON.stringify([kind, name, before, after])
}

function changesOf({ settled }: AnswerInput['after']): readonly Omit<ObjectChange, 'dueAlready'>[] {
  return settled.changes.map((change) => {
    const withUid = change.kind === 'delete' || hasUid(change)
    switch (change.kind) {
      case 'create':
        return {
          ...base(change, change.output.metadata.name),
          because: 'its binding is ready',
          before: '',
          after: wantedText(change.output, withUid),
        }
      case 'update':
        return {
          ...base(change, change.output.metadata.name),
          because: `it differs in ${change.drift.join(', ')}`,
          before: liveText(change.live.object, withUid),
          after: updatedText(change.live.object, change.output, withUid),
        }
      case 'delete':
        return {
          ...base(change, change.live.object.meta.name),
          because: change.because,
          before: liveText(change.live.object, withUid),
          after: '',
        }
    }
  })
}

/** Makes the report; `shown` is the unified diff. */
export function diffFrame(world: AnswerInput, changes: readonly ObjectChange[], shown: string): Frame {
  // Over a live side, the effect is that of the files alone: what kleym has to do anyway is not theirs.
  const baseline = world.before === world.after ? asIs(world.after) : afterwards(world.before)
  const future = afterwards(world.after)
  const effect = effectOf(baseline, future)
  const affected = affectedBy(baseline, future)
  const judgements = world.after.settled.first.judgements.values()
  const { added } = effect.findings
  const assumed = world.after.live.filter(({ ownership }) => ownership.kind === 'ours' && ownership.assumed)
  return {
    kind: 'DiffReport',
    fields: () => ({
      changes,
      ownershipUnknown: assumed.map(({ object }) => object.meta.name),
      effect: {
        ...effectReport(effect),
        ...(affected === undefined ? {} : { policiesAffected: affected.map(affectedReport) }),
      },
    }),
    findings: added,
    grounds: { all: () => [...added, ...effect.findings.unchanged] },
    differences: [
      ...changes.map(({ kind, name, because }) => `${kind} ClusterSPIFFEID/${name}: ${because}`),
      ...(affected ?? []).filter(isDifference).map(affectedText),
    ],
    unclear: effect.unfollowed,
    missing: missingOf(world, judgements),
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
        { ...layout, ownershipUnknown: assumed.length, affected: affected ?? [] },
      ),
  }
}

/** What the change does to rules of policies; undefined where there are no policies to speak of. */
function affectedBy(before: Analysis, after: Analysis): readonly AffectedPolicy[] | undefined {
  const isAny = [before, after].some((one) => hasPolicies(one.policies()))
  return isAny ? affectedPolicies(before, after) : undefined
}

function base(change: Action, name: string): Pick<ObjectChange, 'kind' | 'name' | 'binding'> {
  return { kind: change.kind, name, binding: change.binding }
}

/** Whether the binding behind a change has a UID; a manifest has none, so the annotation cannot be compared. */
function hasUid(change: Exclude<Action, { kind: 'delete' }>): boolean {
  return ANNOTATION_BINDING_UID in change.output.metadata.annotations
}

function effectReport(effect: Effect): Readonly<Record<string, unknown>> {
  return {
    gained: idsReport(effect.gained),
    lost: idsReport(effect.lost),
    stranded: effect.stranded,
    uncertain: effect.uncertain,
    verdicts: effect.verdicts.map(({ binding, before, after }) => ({
      binding,
      before: before ?? null,
      after: after ?? null,
    })),
    newFindings: effect.findings.added.map(findingReport),
    fixedFindings: effect.findings.fixed.map(findingReport),
    unchangedFindings: effect.findings.unchanged.length,
  }
}

function idsReport(changes: Effect['gained']): unknown {
  return changes.map(({ spiffeId, containers }) => ({ spiffeID: spiffeId, containers }))
}
