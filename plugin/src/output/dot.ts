// `-o dot`: the same drawing for Graphviz. Identifiers are numbers of ours; every label is a quoted string
// (https://graphviz.org/doc/info/lang.html), escaped, and never an HTML label. Colours only colour: each label says what it means.
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { escapeDot } from '../io/escape.ts'
import type { Diagram, NodeStyle } from './mermaid.ts'

const STYLES: Readonly<Record<NodeStyle, string>> = {
  plain: '',
  good: ', color="#2da44e"',
  bad: ', color="#cf222e", penwidth=2',
  doubtful: ', color="#bf8700"',
  note: ', color="#6e7781"',
  suppressed: ', color="#6e7781", style=dashed',
}

/** The graph, with a comment of our own words on its first line. Nodes with one key are one node, the first of them. */
export function toDot({ nodes, edges }: Diagram, comment: string): string {
  const ids = new Map<string, string>()
  const lines: string[] = []
  const groups = new Map<string, string[]>()
  for (const { key, lines: text, style, group } of nodes) {
    if (ids.has(key)) continue
    const id = `n${ids.size}`
    ids.set(key, id)
    const box = `${id} [label=${quoted(text)}${STYLES[style]}]`
    if (group === undefined) lines.push(`  ${box}`)
    else getOrCreate(groups, group, () => []).push(`    ${box}`)
  }
  for (const [at, [title, boxes]] of [...groups].entries())
    lines.push(`  subgraph cluster_${at} {`, `    label=${quoted([title])}`, ...boxes, '  }')
  for (const { from, to, label, dotted } of edges) {
    const [start, end] = [ids.get(from), ids.get(to)]
    if (start === undefined || end === undefined) continue
    const attributes = [
      ...(label === '' ? [] : [`label=${quoted([label])}`]),
      ...(dotted === true ? ['style=dashed'] : []),
    ]
    lines.push(`  ${start} -> ${end}${attributes.length === 0 ? '' : ` [${attributes.join(', ')}]`}`)
  }
  return [
    `// ${comment}`,
    'digraph kleym {',
    '  rankdir=LR',
    '  node [shape=box, fontname="sans-serif"]',
    ...lines,
    '}',
    '',
  ].join('\n')
}

/** A quoted string of several lines. */
function quoted(lines: readonly string[]): string {
  const text = lines.map(escapeDot)
  return `"${text.join(String.raw`\n`)}"`
}
