// Which boxes a finding is about: those of its subject and of all that it is related to.
import { type Finding, bareKind } from '@kleym/shared/core/findings/index.ts'
import type { Subject } from '@kleym/shared/core/model/objects/subject.ts'
import { BINDING_KIND } from '@kleym/shared/core/model/names.ts'
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import type { MapNode } from './graph.ts'

/** An index of the boxes by the objects that they show. */
export class FindingMarks {
  readonly #byObject = new Map<string, Set<string>>()
  /** The containers of a box of pods, by name. */
  readonly #containers = new Map<string, Map<string, string[]>>()

  constructor(nodes: readonly MapNode[]) {
    for (const node of nodes) {
      for (const object of objectsOf(node)) getOrCreate(this.#byObject, object, () => new Set()).add(node.id)
      if (node.kind !== 'container' || node.parent === null) continue
      const names = getOrCreate(this.#containers, node.parent, () => new Map<string, string[]>())
      getOrCreate(names, node.name, () => []).push(node.id)
    }
  }

  /** The ids of the boxes, each once. A finding about a container marks that, else its pods. */
  of({ subject, related }: Pick<Finding, 'subject' | 'related'>): readonly string[] {
    return [...new Set([subject, ...related].flatMap((one) => this.#ofSubject(one)))]
  }

  #ofSubject({ kind, namespace, name, container }: Subject): readonly string[] {
    const ids = [...(this.#byObject.get(objectText(bareKind(kind), namespace, name)) ?? [])]
    if (container === undefined) return ids
    return ids.flatMap((id) => this.#containers.get(id)?.get(container) ?? [id])
  }
}

/** The boxes with the codes of the findings about them. */
export function withFindings(
  nodes: readonly MapNode[],
  findings: readonly Finding[],
  marks: FindingMarks,
): readonly MapNode[] {
  const codes = new Map<string, Set<string>>()
  for (const one of findings)
    for (const id of marks.of(one)) getOrCreate(codes, id, () => new Set()).add(one.code)
  return nodes.map((node) => {
    const found = codes.get(node.id)
    return found === undefined ? node : { ...node, findings: [...found].toSorted() }
  })
}

function objectText(kind: string, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`
}

function objectsOf(node: MapNode): readonly string[] {
  switch (node.kind) {
    case 'namespace':
      return [objectText('Namespace', '', node.label)]
    case 'workload': {
      const name = node.label.slice(node.workload.length + 1)
      return [objectText(node.workload, node.namespace, name)]
    }
    case 'pods':
      return node.pods.map((text) => {
        const [kind = '', path = ''] = text.split(' ', 2)
        const name = path.slice(node.namespace.length + 1)
        return objectText(kind === 'pod' ? 'Pod' : kind, node.namespace, name)
      })
    case 'binding':
      return [objectText(BINDING_KIND, node.namespace, node.label)]
    case 'ClusterSPIFFEID':
    case 'ClusterStaticEntry':
      return [objectText(node.kind, '', node.name)]
    case 'policy':
      return [objectText(node.id.split('/')[1] ?? '', node.namespace, node.label)]
    case 'container':
    case 'identity':
    case 'gap':
      return []
  }
}
