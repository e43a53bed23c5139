// The report of `diff`: the change of every ClusterSPIFFEID of ours, then what it does to people.
import { asIs, afterwards } from '@kleym/shared/core/explain/lenses.ts'
import { effectOf, type Effect } from '@kleym/shared/core/explain/effect.ts'
import type { Action } from '@kleym/shared/core/plan/plan.ts'
import { ANNOTATION_BINDING_UID, CLUSTER_SPIFFE_ID_KIND, SPIRE_GROUP } from '@kleym/shared/core/names.ts'
import type { World } from '../gather/gather.ts'
import { viewDiff } from '../view/diff.ts'
import { findingReport, type Frame } from './frame.ts'
import { missingOf } from './missing.ts'
import { liveText, updatedText, wantedText } from './object-text.ts'

/** One ClusterSPIFFEID before and after; an empty text where it is not there. */
export interface ObjectChange {
  readonly kind: Action['kind']
  readonly name: string
  readonly binding: string
  readonly because: string
  readonly before: string
  readonly after: string
}

/** Turns the two texts of each change into a unified diff, or shows it through another program. */
export type Differ = (changes: readonly ObjectChange[]) => Promise<string>

/** The changes that are due, in byte order of their names. */
export function objectChanges({ after }: World): readonly ObjectChange[] {
  return after.settled.changes.map((change) => {
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
export function diffFrame(world: World, changes: readonly ObjectChange[], shown: string): Frame {
  const effect = effectOf(asIs(world.before), afterwards(world.after))
  const judgements = world.after.settled.first.judgements.values()
  const assumed = world.after.live.filter(({ ownership }) => ownership.kind === 'ours' && ownership.assumed)
  return {
    kind: 'DiffReport',
    fields: {
      changes,
      ownershipUnknown: assumed.map(({ object }) => object.meta.name),
      effect: effectReport(effect),
    },
    findings: effect.findings.added,
    differs: changes.length > 0,
    missing: missingOf(world, judgements),
    names: changes.map(({ name }) => ({
      kind: CLUSTER_SPIFFE_ID_KIND,
      group: SPIRE_GROUP,
      namespace: '',
      name,
    })),
    view: (layout) => viewDiff(shown, changes, effect, { ...layout, ownershipUnknown: assumed.length }),
  }
}

function base(change: Action, name: string): Pick<ObjectChange, 'kind' | 'name' | 'binding'> {
  return { kind: change.kind, name, binding: change.binding }
}

/** Whether the binding behind a change has a UID; a manifest has none, so the annotation cannot be compared. */
function hasUid(change: Exclude<Action, { kind: 'delete' }>): boolean {
  return ANNOTATION_BINDING_UID in change.output.metadata.annotations
}

function effectReport(effect: Effect): Readonly<Record<string, unknown>> {
  const ids = (items: Effect['gained']): unknown =>
    items.map(({ spiffeId, containers }) => ({ spiffeID: spiffeId, containers }))
  return {
    gained: ids(effect.gained),
    lost: ids(effect.lost),
    stranded: effect.stranded,
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
