// The map as a graph for mermaid and Graphviz: a frame for each namespace, a box for pods that are alike, with a line for each
// container. Beyond what these programs draw, namespaces alone, and it says so.
import { groupsBy } from '@kleym/shared/core/base/groups.ts'
import { labelLines } from '../../frame/diagram.ts'
import type { Diagram, DiagramEdge, DiagramNode, NodeStyle } from '../../output/mermaid.ts'
import { STATES, type StateMark } from '../parts/container-states.ts'
import type {
  BindingNode,
  ContainerNode,
  IdentityNode,
  MapEdge,
  MapGraph,
  MapNode,
  NamespaceNode,
  PodsNode,
  RegistrationNode,
} from './graph.ts'

/** More boxes or arrows than these are not drawn: mermaid takes 500 arrows and 50,000 characters at most. */
export const MAP_DRAWN_MAX = 150

/** A mark and its style: the word stands beside them. */
const LOOKS: Readonly<Record<StateMark, { readonly mark: string; readonly style: NodeStyle }>> = {
  ok: { mark: '✓', style: 'good' },
  warn: { mark: '!', style: 'doubtful' },
  bad: { mark: '✗', style: 'bad' },
  note: { mark: '·', style: 'note' },
}
const BINDING_MARKS: Readonly<Record<BindingNode['state'], StateMark>> = {
  ready: 'ok',
  refused: 'bad',
  undetermined: 'warn',
  waiting: 'warn',
  deleting: 'note',
}
/** The worst first: the style of a box of several containers is that of the first of these that it has. */
const STYLE_ORDER: readonly NodeStyle[] = ['bad', 'doubtful', 'note', 'good', 'plain']

/** The graph without its findings, which every diagram has beside it. */
export function mapDiagram(graph: MapGraph): Diagram {
  const whole = wholeDiagram(graph)
  if (whole.nodes.length <= MAP_DRAWN_MAX && whole.edges.length <= MAP_DRAWN_MAX) return whole
  const namespaces = graph.nodes.filter((node) => node.kind === 'namespace')
  const drawn = namespaces.slice(0, MAP_DRAWN_MAX)
  const more = namespaces.length - drawn.length
  return {
    nodes: [
      {
        key: 'too many',
        lines: labelLines(
          `! ${whole.nodes.length} boxes and ${whole.edges.length} arrows are more than ${MAP_DRAWN_MAX}: only namespaces are drawn. Narrow it with -n, -l or --spiffe-id, or use -o html`,
        ),
        style: 'doubtful',
      },
      ...graph.nodes.filter((node) => node.kind === 'gap').map(boxOf),
      ...drawn.map(namespaceBox),
      ...(more > 0
        ? [{ key: 'more', lines: [`and ${more} more namespaces`], style: 'note' } satisfies DiagramNode]
        : []),
    ],
    edges: [],
  }
}

function wholeDiagram({ nodes, edges }: MapGraph): Diagram {
  const containers = Map.groupBy(
    nodes.filter((node) => node.kind === 'container'),
    ({ parent }) => parent ?? '',
  )
  const parents = new Set(nodes.map(({ parent }) => parent))
  const boxes = nodes.flatMap((node) => {
    if (node.kind === 'pods') return podsBox(node, containers.get(node.id) ?? [])
    if (node.kind === 'namespace') return parents.has(node.id) ? [] : namespaceBox(node)
    return node.kind === 'workload' || node.kind === 'container' ? [] : boxOf(node)
  })
  const owners = new Map(
    nodes.flatMap((node) => (node.kind === 'container' ? [[node.id, node] as const] : [])),
  )
  return { nodes: boxes, edges: arrowsOf(edges, owners) }
}

function namespaceBox({ id, label, containers, pods, open }: NamespaceNode): DiagramNode {
  const counts = Object.entries(containers).map(([state, count]) => `${count} ${state}`)
  return {
    key: id,
    lines: [
      `Namespace ${label}`,
      ...(counts.length === 0 ? [pods === 0 ? 'no pod' : 'no container'] : labelLines(counts.join(', '))),
      ...(open === null ? [] : labelLines(`! not all of its pods are known: ${open}`)),
    ],
    style: 'plain',
  }
}

function podsBox(node: PodsNode, containers: readonly ContainerNode[]): DiagramNode {
  const looks = new Set(containers.map((one) => containerLook(one).style))
  return {
    key: node.id,
    group: node.namespace,
    lines: [
      `${changeText(node)}${node.label}`,
      ...(node.perhaps === null ? [] : labelLines(`! perhaps: ${node.perhaps}`)),
      ...containers.map(containerText),
    ],
    style: STYLE_ORDER.find((style) => looks.has(style)) ?? 'plain',
  }
}

/** A removed container is shown with its former state, and without the colour of a present one. */
function containerLook({ state, change }: ContainerNode): (typeof LOOKS)[StateMark] {
  return LOOKS[change === 'removed' ? 'note' : STATES[state].mark]
}

function containerText(one: ContainerNode): string {
  const { name, state, open, identities, change } = one
  const more = open !== null && identities.length > 0 ? ', perhaps more' : ''
  const word = `${change === 'removed' ? 'was ' : ''}${state}${more}`
  return `${changeText(one)}${containerLook(one).mark} ${name}: ${word}`
}

function changeText({ change }: Pick<MapNode, 'change'>): string {
  return change === null ? '' : `[${change}] `
}

function boxOf(
  node: Exclude<MapNode, NamespaceNode | PodsNode | ContainerNode | { readonly kind: 'workload' }>,
): DiagramNode {
  const key = node.id
  const change = changeText(node)
  switch (node.kind) {
    case 'binding': {
      const isGone = node.change === 'removed'
      const { mark, style } = LOOKS[isGone ? 'note' : BINDING_MARKS[node.state]]
      const reason = node.state === 'ready' ? '' : ` (${node.reason})`
      return {
        key,
        group: node.namespace,
        lines: [
          `${change}${mark} InferenceIdentityBinding`,
          node.label,
          `${isGone ? 'was ' : ''}${node.state}${reason}`,
        ],
        style,
      }
    }
    case 'ClusterSPIFFEID':
    case 'ClusterStaticEntry':
      return {
        key,
        lines: [`${change}${node.kind}`, node.name, ...handlingLines(node)],
        style: node.handling === 'handled' ? 'plain' : node.handling === 'ignored' ? 'note' : 'doubtful',
      }
    case 'identity':
      return {
        key,
        lines: [`${change}${node.spiffeID}`, holdersText(node)],
        style: node.state === 'held' ? 'good' : node.state === 'unheld' ? 'note' : 'doubtful',
      }
    case 'policy':
      return {
        key,
        group: node.namespace,
        lines: [
          `${change}access policy`,
          node.label,
          ...(node.namesAny ? ['names any principal'] : []),
          ...(node.isInterpreted ? [] : ['kleym cannot interpret it']),
        ],
        style: node.isInterpreted ? 'plain' : 'doubtful',
      }
    case 'gap':
      return {
        key,
        ...(node.namespace === '' ? {} : { group: node.namespace }),
        lines: [`! ${node.label}`, ...labelLines(node.why)],
        style: node.state === 'unknown' ? 'bad' : 'note',
      }
  }
}

function handlingLines({ handling, why }: RegistrationNode): readonly string[] {
  return handling === 'handled' ? [] : labelLines(`${handling}: ${why ?? ''}`)
}

function holdersText({ state, holders, perhaps }: IdentityNode): string {
  if (state === 'unheld') return 'no container here holds it'
  if (state === 'unknown') return 'no container is known to hold it'
  const certain = holders === 0 ? [] : [`held by ${holders}`]
  return [...certain, ...(perhaps === 0 ? [] : [`perhaps by ${perhaps}`])].join(', ')
}

/** Arrows between the boxes; a container's are those of its pods. What gives nothing is left out beside what gives something. */
function arrowsOf(
  edges: readonly MapEdge[],
  containers: ReadonlyMap<string, ContainerNode>,
): readonly DiagramEdge[] {
  const podsOf = (id: string): string => containers.get(id)?.parent ?? id
  const nameOf = (id: string): string => containers.get(id)?.name ?? ''
  const living = new Set(
    edges.flatMap((edge) => (edge.kind === 'registration' && edge.verdict !== 'dead' ? [edge.from] : [])),
  )
  const held = new Set(edges.flatMap((edge) => (edge.kind === 'holds' ? [edge.to] : [])))
  const arrows = edges.flatMap((edge): (DiagramEdge & { readonly name: string }) | readonly never[] => {
    const ends = { from: podsOf(edge.from), to: podsOf(edge.to) }
    switch (edge.kind) {
      case 'registration':
        return edge.verdict === 'dead' && living.has(edge.from)
          ? []
          : { ...ends, ...arrow(edge.verdict, edge.verdict !== 'issued'), name: nameOf(edge.to) }
      case 'holds':
        return {
          ...ends,
          ...arrow(
            edge.change === null
              ? edge.certain
                ? ''
                : 'perhaps'
              : `${edge.change}${edge.certain || edge.change === 'removed' ? '' : ', perhaps'}`,
            !edge.certain,
          ),
          name: nameOf(edge.from),
        }
      case 'asks':
        return held.has(edge.to) ? [] : { ...ends, ...arrow('asks for', true), name: '' }
      case 'names':
        return { ...ends, ...arrow(edge.how === 'exactly' ? 'names' : `names: ${edge.how}`, true), name: '' }
    }
  })
  const alike = groupsBy(arrows, ({ from, to, label, dotted }) =>
    JSON.stringify([from, to, label, dotted === true]),
  )
  return alike.map((same) => {
    const [{ name: _, label, ...drawn }] = same
    const names = [...new Set(same.map(({ name }) => name))].filter((one) => one !== '')
    return { ...drawn, label: [names.join(', '), label].filter((one) => one !== '').join(': ') }
  })
}

function arrow(label: string, dotted: boolean): Pick<DiagramEdge, 'label'> & { dotted?: true } {
  return dotted ? { label, dotted: true } : { label }
}
