// What every diagram has beside its graph: a node for each finding, what is suppressed, and what is not known.
import { findingKey, type Finding, findingEntry, type Severity } from '@kleym/shared/core/findings/index.ts'
import { subjectText } from '@kleym/shared/core/model/objects/subject.ts'
import { suppressionText, type CiResult } from '../output/ci.ts'
import type { Diagram, DiagramNode, NodeStyle } from '../output/mermaid.ts'

/** Pods or parties beyond this many of one node are counted in one node more: mermaid draws 500 edges at most. */
export const DRAWN_MAX = 20
/** Columns of a label. */
const LABEL_WIDTH = 60

const SEVERITY_STYLES: Readonly<Record<Severity, { readonly mark: string; readonly style: NodeStyle }>> = {
  error: { mark: '✗', style: 'bad' },
  warning: { mark: '!', style: 'doubtful' },
  info: { mark: '·', style: 'note' },
}

/** The key of the node of a finding, for edges to it. */
export function findingNode(one: Finding): string {
  return ['finding', findingKey(one), one.summary, ...one.evidence].join('\n')
}

/** The graph with its remarks: unknowns first, then the graph, then the findings and the suppressed ones. */
export function withRemarks({ nodes, edges }: Diagram, result: CiResult): Diagram {
  return {
    nodes: [
      ...result.unknowns.map((text, at): DiagramNode => ({
        key: `unknown\n${at}`,
        lines: ['! the answer is not complete', ...labelLines(`not known: ${text}`)],
        style: 'bad',
      })),
      ...nodes,
      ...result.findings.map((one): DiagramNode => {
        const { mark, style } = SEVERITY_STYLES[one.severity]
        const title = `${mark} ${one.severity} ${one.code}: ${findingEntry(one.code).title}`
        return { key: findingNode(one), lines: [title, ...labelLines(one.summary)], style }
      }),
      ...result.suppressed.map(({ finding: one, suppression }, at): DiagramNode => ({
        key: `suppressed\n${at}`,
        lines: [
          `· suppressed ${one.severity} ${one.code} of ${subjectText(one.subject)}`,
          ...labelLines(suppressionText(suppression)),
        ],
        style: 'suppressed',
      })),
    ],
    edges,
  }
}

/** A sentence as lines that a box can hold. */
export function labelLines(text: string): readonly string[] {
  const lines: string[] = []
  let row = ''
  for (const word of text.split(' ')) {
    if (row !== '' && row.length + 1 + word.length > LABEL_WIDTH) {
      lines.push(row)
      row = word
    } else row = row === '' ? word : `${row} ${word}`
  }
  return [...lines, row]
}
