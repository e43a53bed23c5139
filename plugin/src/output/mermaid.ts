// `-o mermaid`: a flowchart, for a page or a review comment. Identifiers are numbers of ours; every word of a label is
// escaped, so nothing that a cluster or a file holds is syntax. Classes only colour: each label says what it means.
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { escapeMermaid } from '../io/escape.ts'

/** How a node looks. */
export type NodeStyle = 'plain' | 'good' | 'bad' | 'doubtful' | 'note' | 'suppressed'

/** A box. */
export interface DiagramNode {
  /** Tells nodes apart; it is not printed. */
  readonly key: string
  /** One line each. */
  readonly lines: readonly string[]
  readonly style: NodeStyle
  /** The title of the frame around it; without one it is in no frame. */
  readonly group?: string
}

/** An arrow from one box to another. */
export interface DiagramEdge {
  /** Keys of nodes. */
  readonly from: string
  readonly to: string
  /** Empty for none. */
  readonly label: string
  /** Beside the derivation: what is said about it. */
  readonly dotted?: true
}

/** A graph, as data; output/dot.ts draws it too. */
export interface Diagram {
  readonly nodes: readonly DiagramNode[]
  readonly edges: readonly DiagramEdge[]
}

const STYLES: Readonly<Record<Exclude<NodeStyle, 'plain'>, string>> = {
  good: 'stroke:#2da44e',
  bad: 'stroke:#cf222e,stroke-width:2px',
  doubtful: 'stroke:#bf8700',
  note: 'stroke:#6e7781',
  suppressed: 'stroke:#6e7781,stroke-dasharray:4',
}

/** The flowchart, with a comment of our own words on its first line. Nodes with one key are one node, the first of them. */
export function toMermaid({ nodes, edges }: Diagram, comment: string): string {
  const ids = new Map<string, string>()
  const lines: string[] = []
  const groups = new Map<string, string[]>()
  const used = new Set<Exclude<NodeStyle, 'plain'>>()
  for (const { key, lines: text, style, group } of nodes) {
    if (ids.has(key)) continue
    const id = `n${ids.size}`
    ids.set(key, id)
    if (style !== 'plain') used.add(style)
    const box = `${id}["${text.map(escapeMermaid).join('<br/>')}"]${style === 'plain' ? '' : `:::${style}`}`
    if (group === undefined) lines.push(`  ${box}`)
    else getOrCreate(groups, group, () => []).push(`    ${box}`)
  }
  for (const [at, [title, boxes]] of [...groups].entries())
    lines.push(`  subgraph g${at}["${escapeMermaid(title)}"]`, ...boxes, '  end')
  for (const { from, to, label, dotted } of edges) {
    const [start, end] = [ids.get(from), ids.get(to)]
    if (start === undefined || end === undefined) continue
    const arrow = dotted === true ? '-.->' : '-->'
    lines.push(`  ${start} ${arrow}${label === '' ? '' : `|"${escapeMermaid(label)}"|`} ${end}`)
  }
  const styles = [...used].toSorted().map((style) => `  classDef ${style} ${STYLES[style]}`)
  return [`%% ${comment}`, 'flowchart LR', ...lines, ...styles, ''].join('\n')
}
