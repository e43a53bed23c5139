// What `diff` compares: every ClusterSPIFFEID of ours that is to be created, updated or deleted, before and after.
import { inClass, type State, mayBeOfUndecided } from '@kleym/shared/core/analysis/index.ts'
import { ANNOTATION_BINDING_UID } from '@kleym/shared/core/model/names.ts'
import { type Action, differingPaths } from '@kleym/shared/core/decide/index.ts'
import { verdictText } from '@kleym/shared/core/answers/index.ts'
import type { ClusterSpiffeId } from '@kleym/shared/core/model/objects/clusterspiffeid.ts'
import { distinct } from '@kleym/shared/core/base/text/bytes.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import type { DiffInput } from '../parts/base.ts'
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

/** What the two sides of a diff are called. */
export interface Sides {
  readonly before: string
  readonly after: string
}

/** `live` and `after`, or `base` and `head` between two desired states. */
export function sidesOf({ base }: Pick<DiffInput, 'base'>): Sides {
  return base === undefined ? { before: 'live', after: 'after' } : { before: 'base', after: 'head' }
}

/**
 * The changes that are due, in byte order of their names; those that the files make come first. Between two desired states:
 * what differs once kleym has done all that each of them asks for.
 */
export function objectChanges({ before, after, base }: DiffInput): readonly ObjectChange[] {
  if (base !== undefined) return changesBetween(before.settled, after.settled)
  const due = new Set(before === after ? [] : changesOf(before).map(textOfChange))
  return changesOf(after)
    .map((change) => ({ ...change, dueAlready: due.has(textOfChange(change)) }))
    .toSorted((a, b) => Number(a.dueAlready) - Number(b.dueAlready))
}

function changesBetween(before: State, after: State): readonly ObjectChange[] {
  const [had, has] = [ownOutputs(withClassOf(before, after)), ownOutputs(after)]
  const names = distinct([...had.keys(), ...has.keys()])
  return names.flatMap((name): readonly ObjectChange[] => {
    const [left, right] = [had.get(name), has.get(name)]
    const binding = right?.binding ?? left?.binding ?? ''
    const texts = {
      before: left === undefined ? '' : liveText(left.object, false),
      after: right === undefined ? '' : liveText(right.object, false),
    }
    if (texts.before === texts.after) return []
    const why = { name, binding, dueAlready: false, ...texts }
    // Where the binding of the other side could not be decided, it may have the very output: it is neither new nor gone.
    if (left === undefined && mayHave(before, right)) return []
    if (right === undefined && mayHave(after, left)) return []
    if (left === undefined) return [{ kind: 'create', because: creationText(binding, before), ...why }]
    if (right === undefined) return [{ kind: 'delete', because: deletionText(binding, after), ...why }]
    const paths = differingPaths(left.object, right.object)
    return [{ kind: 'update', because: `it differs in ${paths.join(', ')}`, ...why }]
  })
}

/** A state with the class of another one, where that is open in both: whatever it is, it is one. */
function withClassOf(state: State, other: State): State {
  const isOpen = [state, other].every(({ base: { openSettings } }) =>
    openSettings.assumptions.some(({ setting }) => setting === 'class'),
  )
  return isOpen ? inClass(state, other.base.config.className) : state
}

function mayHave({ undecided, judgements }: State, output: OwnOutput | undefined): boolean {
  if (output === undefined) return false
  const { binding, object } = output
  const isUndetermined = judgements.get(binding)?.state === 'undetermined'
  const isPlaced = [...undecided.values()].flat().some((one) => one.binding === binding)
  // Of a binding whose pool was not read, nothing is known at all.
  if (isUndetermined && !isPlaced) return true
  return mayBeOfUndecided(undecided, { binding, spiffeId: object.spec.spiffeIDTemplate })
}

interface OwnOutput {
  readonly object: ClusterSpiffeId
  readonly binding: string
}

/** kleym's outputs in a state, by name. */
function ownOutputs({ outputs }: State): ReadonlyMap<string, OwnOutput> {
  return new Map(
    outputs.flatMap(({ object, ownership }) =>
      ownership.kind === 'ours' ? [[object.meta.name, { object, binding: ownership.binding }] as const] : [],
    ),
  )
}

/** The name of an output holds its SPIFFE ID: one that changes makes another output. */
const ANOTHER_ID = 'its binding now has another SPIFFE ID'

function creationText(binding: string, before: State): string {
  const judgement = before.judgements.get(binding)
  if (judgement === undefined) return `binding ${binding} is new`
  return judgement.state === 'ready' ? ANOTHER_ID : 'its binding is ready'
}

function deletionText(binding: string, after: State): string {
  const judgement = after.judgements.get(binding)
  if (judgement === undefined) return `binding ${binding} is gone`
  return judgement.state === 'ready' ? ANOTHER_ID : `its binding is ${verdictText(judgement)}`
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
          ...partsOf(change, change.output.metadata.name),
          because: 'its binding is ready',
          before: '',
          after: wantedText(change.output, withUid),
        }
      case 'update':
        return {
          ...partsOf(change, change.output.metadata.name),
          because: `it differs in ${change.drift.join(', ')}`,
          before: liveText(change.live.object, withUid),
          after: updatedText(change.live.object, change.output, withUid),
        }
      case 'delete':
        return {
          ...partsOf(change, change.live.object.meta.name),
          because: change.because,
          before: liveText(change.live.object, withUid),
          after: '',
        }
    }
  })
}

function partsOf(change: Action, name: string): Pick<ObjectChange, 'kind' | 'name' | 'binding'> {
  return { kind: change.kind, name, binding: change.binding }
}

/** Whether the binding behind a change has a UID; a manifest has none, so the annotation cannot be compared. */
function hasUid(change: Exclude<Action, { kind: 'delete' }>): boolean {
  return ANNOTATION_BINDING_UID in change.output.metadata.annotations
}
