// How `map` looks as text: a row for each namespace with what becomes of its containers. The picture itself is a page.
import type { Finding } from '@kleym/shared/core/findings/index.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import { leadingWith, type Answer } from '../../text/answer.ts'
import { kindsText } from '../../text/findings.ts'
import { viewFindingGroups } from '../../text/finding-groups.ts'
import type { Layout } from '../../text/layout.ts'
import { BLANK, line, MARKS, span, type Block, type Line, type Span } from '../../text/line.ts'
import { table } from '../../text/table.ts'
import { wrap } from '../../text/wrap.ts'
import { budgetRows, type BudgetReport } from '../parts/budgets.ts'
import { CONTAINER_STATES, type ContainerState, STATES } from '../parts/container-states.ts'
import { type Holding, holdingTexts, markOfStates } from '../parts/holdings.ts'
import type { ContainerNode, GapNode, MapGraph, MapNode, NamespaceNode } from './graph.ts'

/** How the table of a map is laid out. */
export interface MapLayout extends Layout {
  /** Undefined: the map is of a part of the pods. */
  readonly budgets: BudgetReport | undefined
  readonly isCompared: boolean
  /** Nothing is taken for granted. */
  readonly isCertain: boolean
  /** The findings that are not suppressed. */
  readonly findings: readonly Finding[]
}

/** As `who-selects` has it; the other states are why a container holds nothing. */
const HELD: Readonly<Partial<Record<ContainerState, Holding>>> = {
  issued: 'one',
  several: 'several',
  pending: 'pending',
  undetermined: 'undetermined',
}

/** What the containers of the map come to, and which errors are found. */
export function mapAnswer(
  { nodes }: MapGraph,
  grave: readonly Finding[],
  { world = '' }: Pick<Layout, 'world'>,
): Answer {
  const states = nodes.flatMap((node) =>
    node.kind === 'namespace'
      ? CONTAINER_STATES.flatMap((state) => Array.from({ length: node.containers[state] ?? 0 }, () => state))
      : [],
  )
  if (states.length === 0) return { mark: 'note', text: [`no container is in scope${world}`] }
  const more = nodes.reduce((sum, node) => sum + (isMore(node) ? node.count : 0), 0)
  return {
    mark: markOfStates(states, more > 0),
    ...leadingWith(
      [
        ...holdingTexts(
          states.map((state) => HELD[state] ?? 'none'),
          more > 0,
        ),
        ...(more === 0 ? [] : [`${more} may hold more`]),
      ],
      ...(grave.length === 0 ? [] : [[kindsText(grave)]]),
    ),
  }
}

/** Whether a container that holds an identity may hold another one too. */
function isMore(node: MapNode): node is ContainerNode {
  return (
    node.kind === 'container' && node.open !== null && node.identities.length > 0 && node.change !== 'removed'
  )
}

/** What follows the answer: a row for each namespace. */
export function viewMap({ nodes, edges }: MapGraph, layout: MapLayout): Block {
  const namespaces = nodes.filter((node) => node.kind === 'namespace')
  const gaps = nodes.filter((node) => node.kind === 'gap').filter(({ state }) => state === 'unknown')
  const identities = nodes.filter((node) => node.kind === 'identity')
  const held = identities.filter(({ state }) => state === 'held').length
  const count = [
    counted(nodes.filter(({ kind }) => kind === 'binding').length, 'binding'),
    `${identities.length === 1 ? '1 identity' : `${identities.length} identities`}, ${held} ${layout.isCertain ? 'certainly held' : 'held'}`,
  ].join('; ')
  const errors = layout.findings.filter(({ severity }) => severity === 'error')
  const changed = edges.filter((edge) => edge.kind === 'holds' && edge.change !== null).length
  return [
    line(`  ${count}`),
    ...(layout.isCompared ? [line(`  ${counted(changed, 'change')} of who holds what`)] : []),
    ...gaps.flatMap((gap) => viewGap(gap, layout)),
    ...table(
      (layout.budgets === undefined ? [] : budgetRows(layout.budgets)).map(([mark, what, says]) => [
        MARKS[mark],
        what,
        says,
      ]),
      { width: layout.width, indent: 2, gap: 1 },
    ),
    ...(namespaces.length === 0 ? [] : [BLANK]),
    ...table(
      namespaces.map((one) => namespaceRow(one, layout)),
      { width: layout.width, indent: 2 },
    ),
    ...(errors.length === 0 ? [] : [BLANK, ...viewFindingGroups(errors, layout)]),
    BLANK,
    ...wrap(line(span('the picture: the same command with -o html > map.html', 'dim')), layout.width, 2),
  ]
}

function viewGap({ namespace, why }: GapNode, { width }: Layout): Block {
  const where = namespace === '' ? '' : `${namespace}: `
  return wrap(line(MARKS.warn, ` ${where}not known: ${why}`), width, 2)
}

function namespaceRow(
  { label, containers, pods, open }: NamespaceNode,
  { unsettled = false }: Layout,
): readonly Line[] {
  // Nothing is simply fine while it depends on what was not given.
  const markOf = (state: ContainerState): Span => {
    const mark = STATES[state].mark
    return MARKS[unsettled && mark === 'ok' ? 'warn' : mark]
  }
  const found = CONTAINER_STATES.flatMap((state) => {
    const count = containers[state]
    return count === undefined ? [] : [{ state, count }]
  })
  return [
    line(label),
    line(counted(pods, 'pod')),
    found.length === 0
      ? open === null
        ? line(span('no container', 'dim'))
        : line(MARKS.warn, ' no container is known')
      : line(
          ...found.flatMap(({ state, count }, at) => [
            at === 0 ? '' : ', ',
            markOf(state),
            ` ${count} ${state}`,
          ]),
        ),
  ]
}
