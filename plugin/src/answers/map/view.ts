// How `map` looks as text: a row for each namespace with what becomes of its containers. The picture itself is a page.
import { counted } from '@kleym/shared/core/text/counted.ts'
import type { Layout } from '../../text/layout.ts'
import { BLANK, line, MARKS, span, type Block, type Line, type Mark, type Span } from '../../text/line.ts'
import { table } from '../../text/table.ts'
import { wrap } from '../../text/wrap.ts'
import {
  CONTAINER_STATES,
  type ContainerState,
  type GapNode,
  type MapGraph,
  type NamespaceNode,
} from './graph.ts'

/** How the table of a map is laid out. */
export interface MapLayout extends Layout {
  readonly isCompared: boolean
}

const STATE_MARKS: Readonly<Record<ContainerState, Mark>> = {
  issued: 'ok',
  several: 'warn',
  pending: 'warn',
  undetermined: 'warn',
  refused: 'bad',
  failed: 'bad',
  displaced: 'bad',
  masked: 'warn',
  ignored: 'note',
  dead: 'note',
  none: 'note',
}

/** The whole view. */
export function viewMap({ nodes, edges }: MapGraph, layout: MapLayout): Block {
  const namespaces = nodes.filter((node) => node.kind === 'namespace')
  const gaps = nodes.filter((node) => node.kind === 'gap').filter(({ state }) => state === 'unknown')
  const identities = nodes.filter((node) => node.kind === 'identity')
  const held = identities.filter(({ state }) => state === 'held').length
  const head = [
    counted(namespaces.length, 'namespace'),
    counted(nodes.filter(({ kind }) => kind === 'binding').length, 'binding'),
    `${identities.length === 1 ? '1 identity' : `${identities.length} identities`}, ${held} of them held`,
  ].join(', ')
  const changed = edges.filter((edge) => edge.kind === 'holds' && edge.change !== null).length
  return [
    line(span(head, 'bold')),
    ...gaps.flatMap((gap) => viewGap(gap, layout)),
    ...(namespaces.length === 0 ? [] : [BLANK]),
    ...table(
      namespaces.map((one) => namespaceRow(one, layout)),
      { width: layout.width, indent: 2 },
    ),
    ...(layout.isCompared ? [BLANK, line(`${counted(changed, 'change')} of who holds what`)] : []),
    BLANK,
    ...wrap(line(span('the picture: the same command with -o html > map.html', 'dim')), {
      width: layout.width,
      hang: 2,
    }),
  ]
}

function viewGap({ namespace, why }: GapNode, { width }: Layout): Block {
  const where = namespace === '' ? '' : `${namespace}: `
  return wrap(line(MARKS.warn, ` ${where}not known: ${why}`), { width, hang: 2 })
}

function namespaceRow(
  { label, containers, pods }: NamespaceNode,
  { unsettled = false }: Layout,
): readonly Line[] {
  // Nothing is simply fine while it depends on what was not given.
  const markOf = (state: ContainerState): Span => {
    const mark = STATE_MARKS[state]
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
      ? line(span('no container', 'dim'))
      : line(
          ...found.flatMap(({ state, count }, at) => [
            at === 0 ? '' : ', ',
            markOf(state),
            ` ${count} ${state}`,
          ]),
        ),
  ]
}
