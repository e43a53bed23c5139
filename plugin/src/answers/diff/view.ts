// How `diff` looks below its answer: which containers gain or lose an identity, the findings that are new or fixed, then the
// unified diff of objects.
import {
  type AffectedPolicy,
  editedText,
  exchangesOf,
  type Effect,
  type IdentityChange,
} from '@kleym/shared/core/answers/index.ts'
import { holderKey, type Holder } from '@kleym/shared/core/model/objects/pod-index.ts'
import type { Finding } from '@kleym/shared/core/findings/index.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import type { Layout } from '../../text/layout.ts'
import { changeTexts, overRows } from '../parts/budgets.ts'
import type { BudgetDifference } from '../parts/budgets-schema.ts'
import { areAllNamed, gainText, isQuiet, loseText } from './answer.ts'
import type { ObjectChange } from './changes.ts'
import { viewAffected } from './policies-view.ts'
import { viewFindingGroups } from '../../text/finding-groups.ts'
import { severitiesText } from '../../text/findings.ts'
import { apart, BLANK, line, MARKS, span, type Block, type Line } from '../../text/line.ts'
import { namesText } from '../../text/names.ts'
import type { Role } from '../../io/palette.ts'
import { table } from '../../text/table.ts'
import { wrap } from '../../text/wrap.ts'

/** What the view shows beside the changes and their effect. */
export interface DiffLayout extends Layout {
  /** How many outputs were matched by name and annotation alone. */
  readonly ownershipUnknown: number
  /** Rules of access policies that name an ID which changes hands. */
  readonly affected: readonly AffectedPolicy[]
  /** What the change does to the number of entries; undefined: the answer is about some bindings alone. */
  readonly entries: BudgetDifference | undefined
  /** What stands above all else: what is compared with what. */
  readonly head: Block
  /** Whether objects that are in no file are treated as unchanged: then nothing is certain to be unchanged. */
  readonly isPartOfWorld: boolean
  /** Whether the objects have other settings than the answer: then nothing is certain to be unchanged either. */
  readonly isDisputed: boolean
  /** The finding whose summary and fix are the reason below the answer. */
  readonly told: Finding | undefined
}

/** What stands below the answer: the effect first, then what changes in objects, then what is pending anyway. */
export function viewDiff(
  shown: string,
  changes: readonly ObjectChange[],
  effect: Effect,
  layout: DiffLayout,
): Block {
  const caused = changes.filter(({ dueAlready }) => !dueAlready)
  const due = changes.filter(({ dueAlready }) => dueAlready)
  return apart([
    layout.head,
    effectBlock(effect, layout),
    [...entriesBlock(layout), ...editedBlock(effect, layout)],
    viewAffected(layout.affected, layout),
    ...findingBlocks(effect, layout),
    caused.length === 0
      ? noChange(due, effect, layout)
      : [...reasons(caused, layout), BLANK, ...patch(shown)],
    [...ownershipNote(layout), ...dueBlock(due, layout)],
  ])
}

/** kleym changes no object; the mark is `ok` only if nothing else changes either. */
function noChange(
  due: readonly ObjectChange[],
  effect: Effect,
  { incomplete, affected, isPartOfWorld, isDisputed }: DiffLayout,
): Block {
  const mark =
    incomplete === true || isDisputed
      ? MARKS.warn
      : isQuiet(effect, affected) && !isPartOfWorld
        ? MARKS.ok
        : MARKS.note
  return [
    due.length === 0
      ? line(mark, " no ClusterSPIFFEID of kleym's changes")
      : line(mark, " the files change no ClusterSPIFFEID of kleym's"),
  ]
}

/** What kleym has to do whether or not the files are applied: said, but not mixed with what they do. */
function dueBlock(due: readonly ObjectChange[], layout: Layout): Block {
  if (due.length === 0) return []
  const kinds = (['create', 'update', 'delete'] as const).flatMap((kind) => {
    const names = due.filter((one) => one.kind === kind).map(({ binding }) => binding)
    return names.length === 0 ? [] : [`${kind} ${layout.wide ? names.join(', ') : namesText(names)}`]
  })
  const head = `pending without this change: ${counted(due.length, 'ClusterSPIFFEID')}: ${kinds.join('; ')}`
  return [
    ...wrap(line(MARKS.note, ` ${head}`), layout.width, 4),
    ...(layout.wide
      ? table(
          due.map(({ kind, binding, because }) => [SIGNS[kind], binding, because]),
          { width: layout.width, indent: 4 },
        )
      : []),
  ]
}

function patch(shown: string): Block {
  return shown
    .replace(/\n$/, '')
    .split('\n')
    .map((row) => line(span(row, roleOf(row))))
}

function roleOf(row: string): Role | undefined {
  if (row.startsWith('--- ') || row.startsWith('+++ ')) return 'bold'
  if (row.startsWith('@@')) return 'dim'
  return row.startsWith('+') ? 'add' : row.startsWith('-') ? 'remove' : undefined
}

const SIGNS: Readonly<Record<ObjectChange['kind'], string>> = { create: '+', update: '~', delete: '-' }

function reasons(changes: readonly ObjectChange[], layout: Layout): Block {
  const counts = (['create', 'update', 'delete'] as const)
    .map((kind) => [kind, changes.filter((change) => change.kind === kind).length] as const)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} to ${kind}`)
  const rows = changes.map(({ kind, binding, because }) => [SIGNS[kind], binding, because])
  return [line(span(counts.join(', '), 'bold')), ...table(rows, { width: layout.width, indent: 2 })]
}

function ownershipNote({ ownershipUnknown, width }: DiffLayout): Block {
  if (ownershipUnknown === 0) return []
  const text = ` ${counted(ownershipUnknown, 'output')} matched by name and annotation: manifests of bindings have no UID, so their owner is not known`
  return wrap(line(MARKS.note, text), width, 2)
}

/** What a change does to containers, a line for each identity; nothing where it does nothing. */
export function viewIdentityChanges(
  effect: Pick<Effect, 'lost' | 'gained' | 'kept' | 'stranded' | 'uncertain'>,
  { width }: Pick<Layout, 'width'>,
): Block {
  const { lost, stranded, uncertain } = effect
  const exchanges = exchangesOf(effect)
  const rows = [
    ...exchanges.lost.map((change) => identityLine('-', loseText(change), change, 'remove')),
    ...(areLosers(stranded, lost) ? [allLeftLine(stranded)] : []),
    ...exchanges.gained.map((change) => identityLine('+', gainText(change), change, 'add')),
    ...(areLosers(stranded, lost) ? [] : countedLine(stranded, 'left without an identity')),
    ...countedLine(uncertain, 'undetermined'),
  ]
  return [
    ...rows.flatMap((row) => wrap(row, width, 4)),
    ...openedByRows(uncertain).flatMap((text) => wrap(line(`    ${text}`), width, 6)),
  ]
}

/** How many reasons are shown of what leaves containers open; JSON has 20 for each container. */
const REASONS_SHOWN = 3

function openedByRows(uncertain: Effect['uncertain']): readonly string[] {
  const all = [...new Set(uncertain.flatMap(({ why }) => why))]
  const more = all.length - REASONS_SHOWN
  return [
    ...all.slice(0, REASONS_SHOWN),
    ...(more > 0 ? [`and ${counted(more, 'more reason')}: see -o json`] : []),
  ]
}

function effectBlock(effect: Effect, layout: DiffLayout): Block {
  const rows = viewIdentityChanges(effect, layout)
  const listed = areAllNamed(effect.verdicts) ? [] : effect.verdicts
  const verdicts = listed.map(({ binding, before, after }) => [
    binding,
    `${before ?? '(not there)'} → ${after ?? '(deleted)'}`,
  ])
  if (rows.length === 0 && verdicts.length === 0) return []
  return [
    line(span('After this change', 'bold')),
    ...rows,
    ...table(verdicts, { width: layout.width, indent: 2 }),
  ]
}

/** The entries that the change adds or removes, and the limits that it crosses. */
function entriesBlock({ entries, width }: DiffLayout): Block {
  if (entries === undefined) return []
  return [
    ...changeTexts(entries.change).map((text) => line(MARKS.note, ` ${text}`)),
    ...overRows(entries.over).map(([mark, , says]) => line(MARKS[mark], ` ${says}`)),
  ].flatMap((row) => wrap(row, width, 2))
}

/** The registrations of others that are edited, new or gone. What that does to containers stands above. */
function editedBlock({ edited }: Effect, { width, wide }: DiffLayout): Block {
  const shown = wide ? edited : edited.slice(0, EDITED_SHOWN)
  const more = edited.length - shown.length
  return [
    ...shown.map(editedText),
    ...(more === 0 ? [] : [`and ${counted(more, 'more registration')} (-o wide)`]),
  ].flatMap((text) => wrap(line(MARKS.note, ` ${text}`), width, 2))
}

const EDITED_SHOWN = 10

function identityLine(sign: string, text: string, { containers }: IdentityChange, role: Role): Line {
  const many = containers.length === 1 ? '1 container ' : `${containers.length} containers `
  return line('  ', span(sign, role), ` ${many}`, span(text, role), `: ${holdersText(containers)}`)
}

/** Whether the stranded containers are those that lose an identity: the lines above name them already. */
function areLosers(stranded: readonly Holder[], lost: readonly IdentityChange[]): boolean {
  const losers = new Set(lost.flatMap(({ containers }) => containers.map(holderKey)))
  return stranded.length > 0 && losers.symmetricDifference(new Set(stranded.map(holderKey))).size === 0
}

function allLeftLine(stranded: readonly Holder[]): Line {
  const all = stranded.length === 1 ? 'it is' : `all ${stranded.length} are`
  return line('  ', MARKS.warn, ` ${all} left without an identity`)
}

function countedLine(holders: readonly Holder[], what: string): Block {
  if (holders.length === 0) return []
  return [line('  ', MARKS.warn, ` ${counted(holders.length, 'container')} ${what}: ${holdersText(holders)}`)]
}

/** Containers by name, each with its pods: `vllm of team-a/llama-0, team-a/llama-1`. */
function holdersText(holders: readonly Holder[]): string {
  return [...Map.groupBy(holders, ({ container }) => container)]
    .map(
      ([container, same]) => `${container} of ${namesText(same.map(({ pod }) => pod.replace(/^pod /, '')))}`,
    )
    .join('; ')
}

function findingBlocks({ findings }: Effect, layout: DiffLayout): readonly Block[] {
  const { added, fixed, noLongerApply, perhapsGone, unchanged } = findings
  const part = (label: string, list: typeof added): string =>
    `${label}: ${list.length === 0 ? 'none' : severitiesText(list)}`
  const head = [
    `findings   ${part('new', added)}`,
    part('fixed', fixed),
    ...(noLongerApply.length === 0 ? [] : [part('no longer apply', noLongerApply)]),
    ...(perhapsGone.length === 0 ? [] : [part('not known', perhapsGone)]),
    part('unchanged', unchanged),
  ]
  return [
    wrap(span(head.join('   '), 'bold'), layout.width, 11),
    [...viewFindingGroups(added, layout, layout.told)],
    [
      ...fixed.flatMap((one) => goneRows(line(MARKS.ok, ' fixed: '), one, layout)),
      ...noLongerApply.flatMap((one) => goneRows(line(MARKS.note, ' no longer applies: '), one, layout)),
      ...perhapsGone.flatMap((one) => goneRows(line(MARKS.warn, ' perhaps still so: '), one, layout)),
    ],
  ]
}

function goneRows(head: Line, { summary, code }: Finding, { width }: Layout): Block {
  return wrap(line(...head, span(summary, 'dim'), `   ${code}`), width, 2)
}
