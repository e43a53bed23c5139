// How `who-selects` looks: one block per pod, one row per container with the identity it is issued, and below it every
// other registration with the reason why not. Containers that nothing tells apart share one row.
import { groupsBy, type Group } from '@kleym/shared/core/base/groups.ts'
import { verdictWord } from '@kleym/shared/core/predict/index.ts'
import type { Container, Pod } from '@kleym/shared/core/model/objects/pod.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { podText, PodCount } from '@kleym/shared/core/model/objects/pod-index.ts'
import { undecidedText } from '@kleym/shared/core/analysis/index.ts'
import type { Layout } from '../../text/layout.ts'
import { viewHolders } from './holders-view.ts'
import { SEVERAL_WHY, STATES, stateOfVerdict } from '../parts/container-states.ts'
import {
  commonOf,
  holdingOf,
  isCommon,
  worstHolding,
  worstOf,
  type Common,
  type Holding,
} from '../parts/holdings.ts'
import type { ContainerAnswer, PodAnswer, ShownRegistration } from '../parts/pod-answers.ts'
import { hintText, originText, readable, type WhoSelectsLayout } from './registration-text.ts'
import { viewFinding } from '../../text/findings.ts'
import { apart, BLANK, indent, line, MARKS, span, type Block, type Line } from '../../text/line.ts'
import { displayWidth } from '../../text/width.ts'
import { namedIdRows } from '../parts/named-by.ts'
import { namesText } from '../../text/names.ts'
import { wrap } from '../../text/wrap.ts'

/** What stands below the answer: what stops all registrations, then the containers, those in trouble first. */
export function viewWhoSelects(answers: readonly PodAnswer[], layout: WhoSelectsLayout): Block {
  const stops = layout.findings
    .filter(({ severity }) => severity === 'error')
    .map((one) => viewFinding(one, layout))
  if (answers.length === 0) {
    const named = layout.filter.spiffeId === undefined ? [] : viewNamed(layout)
    return apart([...stops, named])
  }
  if (layout.filter.spiffeId !== undefined)
    return apart([...stops, ...viewHolders(answers, layout), viewNamed(layout)])
  const common = commonOf(answers)
  const inOrder = answers.toSorted(
    (left, right) =>
      worstOf(left, common, layout.unsettled === true) - worstOf(right, common, layout.unsettled === true),
  )
  const alike = groupsBy(inOrder, (answer) => signature(answer, common, layout))
  return apart([
    ...stops,
    ...alike.map((group) => viewAlike(group, common, layout)),
    viewCommon(common, layout),
    viewOrder(answers, common, layout),
    viewNamed(layout),
  ])
}

/** Of containers that hold several identities, where the first lines have not said it. */
function viewOrder(answers: readonly PodAnswer[], common: Common, layout: WhoSelectsLayout): Block {
  const holdings = answers.flatMap(({ containers }) =>
    containers.map((one) => holdingOf(one, common, layout.unsettled)),
  )
  if (!holdings.includes('several') || worstHolding(holdings) === 'several') return []
  return wrap(line(span(`A container with several identities: ${SEVERAL_WHY}`, 'dim')), layout.width, 2)
}

/** What holds for every container, once. */
function viewCommon(common: Common, layout: WhoSelectsLayout): Block {
  return [...Map.groupBy(common.values(), ({ except }) => except.join(', '))].flatMap(([except, same]) => [
    ...wrap(
      span(`The same for all of these containers${except === '' ? '' : ` but ${except}`}`, 'bold'),
      layout.width,
      2,
    ),
    ...same
      .flatMap(({ one }) => otherRows(one, layout))
      .flatMap((row) => wrap(line('  ', ...row), layout.width, 6)),
  ])
}

function viewNamed({ named, wide, width }: WhoSelectsLayout): Block {
  if (named === undefined) return []
  const rows = namedIdRows(named, { wide })
  return [
    line(span('Named by access policies', 'bold')),
    ...rows.flatMap((row) => wrap(line(`  ${row}`), width, 4)),
  ]
}

/** Pods that look the same are shown once. */
function signature(answer: PodAnswer, common: Common, layout: WhoSelectsLayout): string {
  if (layout.wide) return podText(answer.pod)
  return JSON.stringify([
    answer.pod.namespace,
    answer.pod.ref.kind,
    answer.pod.serviceAccountName,
    containerRows(answer, common, layout),
  ])
}

function viewAlike(group: Group<PodAnswer>, common: Common, layout: WhoSelectsLayout): Block {
  const head = wrap(podHead(group, layout), layout.width, 2)
  return [...head, BLANK, ...containerRows(group[0], common, layout)]
}

/** A template that is asked about may be that of pods that run. */
function notThereYet(running: number): string {
  if (running === 0) return ', not running yet'
  return running === 1 ? ', 1 pod with its labels is there' : `, ${running} pods with its labels are there`
}

function accountText({ serviceAccountName, perhaps }: Pod): string {
  if (perhaps?.knowsAccount === false) return 'service account not known'
  return `service account ${serviceAccountName === '' ? '(none)' : serviceAccountName}`
}

function podHead(group: Group<PodAnswer>, { running }: Pick<WhoSelectsLayout, 'running'>): Line {
  const pods = group.map(({ pod }) => pod)
  const first = group[0].pod
  const account = accountText(first)
  if (pods.length > 1) {
    const nodes = [...new Set(pods.flatMap(({ nodeName }) => nodeName ?? []))]
    const on =
      nodes.length === 0 ? '' : ` on ${nodes.length === 1 ? `node ${nodes[0]}` : `${nodes.length} nodes`}`
    return line(
      `${PodCount.of(pods).text()} in ${first.namespace}${on}, ${account}: `,
      span(namesText(pods.map(({ ref }) => ref.name)), 'bold'),
    )
  }
  const where = first.exists
    ? first.nodeName === undefined
      ? ', on no node yet'
      : ` on node ${first.nodeName}`
    : notThereYet(running(first))
  return line(span(podText(first), 'bold'), `${where}, ${account}`)
}

/** Titles up to this width are beside their registrations; if one is longer, all titles are above. */
const BESIDE_MAX = 14

/** The rows of all containers; one that reads the same as an earlier one says only that. */
function containerRows({ containers }: PodAnswer, common: Common, layout: WhoSelectsLayout): Block {
  const widest = Math.max(...containers.map(({ container }) => displayWidth(containerTitle(container))))
  const column = widest <= BESIDE_MAX ? widest : undefined
  const seen = new Map<string, string>()
  return containers.flatMap((answer) => {
    const title = containerTitle(answer.container)
    const body = registrationRows(answer, common, layout)
    // That a selector wants another container is the same reason for all that are not it.
    const key = JSON.stringify(body).replaceAll(
      `this container is ${answer.container.name}`,
      'another container',
    )
    const twin = seen.get(key)
    if (twin !== undefined && !layout.wide)
      return [line('  ', span(title, 'bold'), span(`: the same as ${twin}`, 'dim'))]
    seen.set(key, answer.container.name)
    return withTitle(title, body, column, layout)
  })
}

function containerTitle({ name, role }: Container): string {
  return role === 'regular' ? name : `(${role}) ${name}`
}

function withTitle(
  title: string,
  body: readonly Line[],
  column: number | undefined,
  { width }: Layout,
): Block {
  const at = column === undefined ? 4 : column + 4
  const rows = indent(
    body.flatMap((row) => wrap(row, width - at, 4)),
    at,
  )
  if (column === undefined) return [line('  ', span(title, 'bold')), ...rows]
  const [first = [], ...rest] = rows
  return [
    [span('  '), span(title, 'bold'), span(' '.repeat(at - 2 - displayWidth(title))), ...first.slice(1)],
    ...rest,
  ]
}

function registrationRows(
  answer: ContainerAnswer,
  common: Common,
  layout: WhoSelectsLayout,
): readonly Line[] {
  const issued = answer.registrations.filter(({ verdict }) => verdict === 'issued')
  const others = answer.registrations.filter((one) => one.verdict !== 'issued' && !isCommon(one, common))
  return [
    ...nothingRows(holdingOf(answer, common, layout.unsettled), layout),
    ...issued.flatMap((one) => issuedRows(one, layout)),
    ...severalRows(issued),
    ...others.flatMap((one) => otherRows(one, layout)),
    ...undecidedRows(answer.undecided),
  ]
}

function nothingRows(holding: Holding, { world = '' }: WhoSelectsLayout): readonly Line[] {
  switch (holding) {
    case 'pending':
      return [line(MARKS.warn, ' no identity yet')]
    case 'undetermined':
      return [line(MARKS.warn, ' identity undetermined')]
    case 'none':
      return [line(MARKS.note, ` no identity${world}`)]
    case 'several':
    case 'some':
    case 'one':
      return []
  }
}

function severalRows(issued: readonly ShownRegistration[]): readonly Line[] {
  return new Set(issued.map(({ spiffeId }) => spiffeId)).size > 1
    ? [line(MARKS.warn, ` ${issued.length} identities`)]
    : []
}

function issuedRows(one: ShownRegistration, layout: WhoSelectsLayout): readonly Line[] {
  const pending = layout.pending.get(one.source.name)
  return [
    line(MARKS.ok, ' ', span(one.spiffeId ?? '', 'ok')),
    line(`    ${originText(one, layout)}${hintText(one)}`),
    ...(pending === undefined ? [] : [line('    ', span(pending, 'dim'))]),
  ]
}

/** More bindings than this are counted. */
const UNDECIDED_SHOWN = 3

function undecidedRows(undecided: ContainerAnswer['undecided']): readonly Line[] {
  const more = undecided.length - UNDECIDED_SHOWN
  return [
    ...undecided
      .slice(0, UNDECIDED_SHOWN)
      .map((one) => line(MARKS.warn, ` perhaps another identity: ${undecidedText(one)}`)),
    ...(more > 0 ? [line(`    and ${counted(more, 'more such binding')}`)] : []),
  ]
}

/** Why a registration is not issued: the ID, the verdict with its reason, and where it comes from unless the reason says so. */
function otherRows(one: ShownRegistration, layout: WhoSelectsLayout): readonly Line[] {
  if (one.verdict === 'issued') return []
  const origin = originText(one, layout)
  const selector = one.selector === undefined ? '' : `${one.selector}: `
  const why = `${selector}${readable(one.why ?? '', layout)}`
  const from = one.spiffeId === undefined || why.includes(origin) ? '' : ` (${origin})`
  return [
    line(MARKS[STATES[stateOfVerdict(one.verdict)].mark], ` ${one.spiffeId ?? origin}`),
    line('    ', span(verdictWord(one.verdict), 'bold'), `: ${why}${from}`),
  ]
}
