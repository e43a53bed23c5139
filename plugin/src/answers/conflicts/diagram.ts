// What clashes, as a graph: each finding leads to its parties.
import { namedIn, type Finding } from '@kleym/shared/core/findings/index.ts'
import { subjectText } from '@kleym/shared/core/model/objects/subject.ts'
import type { Diagram, DiagramEdge, DiagramNode } from '../../output/mermaid.ts'
import { DRAWN_MAX, findingNode } from '../../frame/diagram.ts'

/** The parties and the edges; the findings themselves are drawn with every diagram. */
export function conflictsDiagram(shown: readonly Finding[]): Diagram {
  const nodes: DiagramNode[] = []
  const edges: DiagramEdge[] = []
  for (const one of shown) {
    const from = findingNode(one)
    const parties = namedIn(one)
    for (const { container, ...party } of parties.slice(0, DRAWN_MAX)) {
      const key = subjectText(party)
      nodes.push({ key, lines: [party.kind, key.slice(party.kind.length + 1)], style: 'plain' })
      edges.push({ from, to: key, label: container ?? '' })
    }
    const more = parties.length - DRAWN_MAX
    if (more <= 0) continue
    nodes.push({ key: `${from}\nmore`, lines: [`and ${more} more`], style: 'plain' })
    edges.push({ from, to: `${from}\nmore`, label: '' })
  }
  return { nodes, edges }
}
