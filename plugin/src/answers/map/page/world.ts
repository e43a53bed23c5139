// The data of the page, indexed once: which box is in which frame, which edges leave a box, and which findings are about it.
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import type { ContainerNode, HoldsEdge, MapEdge, MapNode, NamespaceNode, RegistrationEdge } from '../graph.ts'
import type { PageData, PageFinding } from '../page-data.ts'

/** The boxes of the map, and what is asked of them. */
export class World {
  readonly data: PageData
  readonly nodes: readonly MapNode[]
  readonly namespaces: readonly NamespaceNode[]
  /** The rows of the table: what a person asks about. */
  readonly rows: readonly MapNode[]
  readonly #byId: ReadonlyMap<string, MapNode>
  readonly #children: ReadonlyMap<string, readonly MapNode[]>
  readonly #from: ReadonlyMap<string, readonly MapEdge[]>
  readonly #to: ReadonlyMap<string, readonly MapEdge[]>
  readonly #findings: ReadonlyMap<string, readonly PageFinding[]>
  readonly #texts = new Map<string, string>()

  constructor(data: PageData) {
    this.data = data
    const { nodes, edges, findings } = data.report
    this.nodes = nodes
    this.#byId = new Map(nodes.map((node) => [node.id, node]))
    this.#children = grouped(nodes, ({ parent }) => parent ?? '')
    this.#from = grouped(edges, ({ from }) => from)
    this.#to = grouped(edges, ({ to }) => to)
    this.namespaces = nodes.filter((node) => node.kind === 'namespace')
    this.rows = nodes.filter((node) => this.#isRow(node))
    const byNode = new Map<string, PageFinding[]>()
    for (const [at, ids] of data.findingNodes.entries())
      for (const id of ids) {
        const finding = findings[at]
        if (finding !== undefined) getOrCreate(byNode, id, () => []).push(finding)
      }
    this.#findings = byNode
  }

  #isRow(node: MapNode): boolean {
    if (node.kind === 'namespace' || node.kind === 'pods') return this.childrenOf(node.id).length === 0
    return node.kind !== 'workload'
  }

  node(id: string): MapNode | undefined {
    return this.#byId.get(id)
  }

  childrenOf(id: string): readonly MapNode[] {
    return this.#children.get(id) ?? []
  }

  /** What leads away from a box. */
  from(id: string): readonly MapEdge[] {
    return this.#from.get(id) ?? []
  }

  /** What leads to a box. */
  to(id: string): readonly MapEdge[] {
    return this.#to.get(id) ?? []
  }

  containersOf(pods: string): readonly ContainerNode[] {
    return this.childrenOf(pods).filter((node) => node.kind === 'container')
  }

  /** The registrations of a container, in the order of `who-selects`. */
  registrationsOf(container: string): readonly RegistrationEdge[] {
    return this.to(container).filter((edge) => edge.kind === 'registration')
  }

  holdsOf(container: string): readonly HoldsEdge[] {
    return this.from(container).filter((edge) => edge.kind === 'holds')
  }

  /** The containers that hold an identity, or may. */
  holdersOf(identity: string): readonly HoldsEdge[] {
    return this.to(identity).filter((edge) => edge.kind === 'holds')
  }

  /** The box that is drawn for a node: a container is a line in the box of its pods. */
  boxOf(id: string): string {
    const node = this.node(id)
    return node?.kind === 'container' ? (node.parent ?? id) : id
  }

  /** Of a container, those of its pods too. */
  findingsOf(node: MapNode): readonly PageFinding[] {
    const own = this.#findings.get(node.id) ?? []
    const ofPods = node.kind === 'container' ? (this.#findings.get(node.parent ?? '') ?? []) : []
    return [...new Set([...own, ...ofPods])]
  }

  /** All that a search looks through. */
  textOf(node: MapNode): string {
    return getOrCreate(this.#texts, node.id, () => this.#searched(node).join('\n').toLowerCase())
  }

  #searched(node: MapNode): readonly string[] {
    const parent = node.kind === 'container' ? this.node(node.parent ?? '') : undefined
    const own = [node.label, node.namespace, node.kind, ...node.findings]
    switch (node.kind) {
      case 'container': {
        const workload = this.node(parent?.parent ?? '')?.label ?? ''
        const pods = parent?.kind === 'pods' ? [...parent.pods, parent.serviceAccount ?? ''] : []
        const ids = this.holdsOf(node.id).map(({ to }) => to)
        return [...own, node.state, node.open ?? '', workload, ...pods, ...ids]
      }
      case 'pods':
        return [...own, ...node.pods]
      case 'binding':
        return [...own, node.state, node.reason, node.message, node.spiffeID ?? '']
      case 'ClusterSPIFFEID':
      case 'ClusterStaticEntry':
        return [...own, node.handling, node.why ?? '']
      case 'policy':
        return [...own, ...node.says]
      case 'gap':
        return [...own, node.why]
      case 'identity':
      case 'namespace':
      case 'workload':
        return own
    }
  }
}

/** Values by a key of theirs, in their order. */
export function grouped<Value>(
  values: Iterable<Value>,
  keyOf: (value: Value) => string,
): ReadonlyMap<string, readonly Value[]> {
  const groups = new Map<string, Value[]>()
  for (const value of values) getOrCreate(groups, keyOf(value), () => []).push(value)
  return groups
}
