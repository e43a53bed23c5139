// How the containers that hold one SPIFFE ID look: by what gives it to them, then a row for each pod.
import { groupsBy, type Group } from '@kleym/shared/core/base/groups.ts'
import { verdictWord } from '@kleym/shared/core/predict/index.ts'
import type { Container, Pod } from '@kleym/shared/core/model/objects/pod.ts'
import { podText } from '@kleym/shared/core/model/objects/pod-index.ts'
import { line, MARKS, type Block } from '../../text/line.ts'
import { table } from '../../text/table.ts'
import { wrap } from '../../text/wrap.ts'
import { STATES, stateOfVerdict } from '../parts/container-states.ts'
import type { PodAnswer, ShownRegistration } from '../parts/pod-answers.ts'
import { hintText, originText, readable, type WhoSelectsLayout } from './registration-text.ts'

interface HolderRow {
  readonly pod: Pod
  readonly container: string
  readonly one: ShownRegistration
}

/** A block for each registration that gives the ID, or may: where it comes from, then the pods with their containers. */
export function viewHolders(answers: readonly PodAnswer[], layout: WhoSelectsLayout): readonly Block[] {
  const held = answers.flatMap(({ pod, containers }) =>
    containers.flatMap(({ container, registrations }) =>
      registrations.map((one): HolderRow => ({ pod, container: nameOf(container), one })),
    ),
  )
  return groupsBy(held, ({ one }) => headText(one, layout))
    .toSorted((left, right) => rankOf(left) - rankOf(right))
    .map((same) => viewGroup(same, layout))
}

function nameOf({ name, injectedBy }: Container): string {
  return injectedBy === undefined ? name : 'any that a webhook adds'
}

/** What is issued first. */
function rankOf([{ one }]: Group<HolderRow>): number {
  return one.verdict === 'issued' ? 0 : 1
}

function headText(one: ShownRegistration, layout: WhoSelectsLayout): string {
  const selector = one.selector === undefined ? '' : `${one.selector}: `
  const why =
    one.verdict === 'issued'
      ? ''
      : `; ${verdictWord(one.verdict)}: ${selector}${readable(one.why ?? '', layout)}`
  const pending = one.verdict === 'issued' ? layout.pending.get(one.source.name) : undefined
  const other =
    one.spiffeId === undefined || one.spiffeId === layout.filter.spiffeId ? '' : `, as ${one.spiffeId}`
  return `by ${originText(one, layout)}${other}${hintText(one)}${why}${pending === undefined ? '' : `; ${pending}`}`
}

function viewGroup(same: Group<HolderRow>, layout: WhoSelectsLayout): Block {
  const [{ one: first }] = same
  const mark = MARKS[STATES[stateOfVerdict(first.verdict)].mark]
  const rows = [...Map.groupBy(same, ({ pod }) => pod)].map(([pod, ofPod]) => [
    podText(pod),
    pod.exists ? (pod.nodeName ?? '(no node)') : '(template)',
    [...new Set(ofPod.map(({ container }) => container))].join(', '),
  ])
  return [
    ...wrap(line(mark, ' ', headText(first, layout)), layout.width, 4),
    ...table(rows, { width: layout.width, indent: 2, header: ['POD', 'NODE', 'CONTAINERS'] }),
  ]
}
