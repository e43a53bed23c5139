// What `diff` compares: every ClusterSPIFFEID of ours that is to be created, updated or deleted, before and after.
import { ANNOTATION_BINDING_UID } from '@kleym/shared/core/names.ts'
import type { Action } from '@kleym/shared/core/plan/plan.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { liveText, updatedText, wantedText } from './yaml-text.ts'

/** One ClusterSPIFFEID before and after; an empty text where it is not there. */
export interface ObjectChange {
  readonly kind: Action['kind']
  readonly name: string
  readonly binding: string
  readonly because: string
  readonly before: string
  readonly after: string
  /** It is due already, whether or not the files are applied. */
  readonly dueAlready: boolean
}

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

function changesOf(analysis: AnswerInput['after']): readonly Omit<ObjectChange, 'dueAlready'>[] {
  return analysis.changes.all.map((change) => {
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

function base(change: Action, name: string): Pick<ObjectChange, 'kind' | 'name' | 'binding'> {
  return { kind: change.kind, name, binding: change.binding }
}

/** Whether the binding behind a change has a UID; a manifest has none, so the annotation cannot be compared. */
function hasUid(change: Exclude<Action, { kind: 'delete' }>): boolean {
  return ANNOTATION_BINDING_UID in change.output.metadata.annotations
}
