// `-o dot`: labels that nothing turns into syntax, groups, and nodes by their keys.
import { describe, expect, test } from 'vitest'
import { toDot } from '../../src/output/dot.ts'
import { withRemarks } from '../../src/frame/diagram.ts'
import { HOSTILE_TEXTS, UNSAFE_CHARACTERS, resultWith } from '../support/ci-results.ts'

describe('-o dot', () => {
  test.each(HOSTILE_TEXTS)('%j is a label alone', (text) => {
    const graph = {
      nodes: [
        { key: 'a', lines: [text, text], style: 'bad' as const },
        { key: 'b', lines: [text], style: 'plain' as const, group: text },
      ],
      edges: [{ from: 'a', to: 'b', label: text }],
    }
    const chart = toDot(withRemarks(graph, resultWith(text)), 'a comment')
    expect(chart).not.toMatch(UNSAFE_CHARACTERS)
    // Inside of quotes nothing ends the string: each quote and each other backslash is escaped.
    const outside = chart.replaceAll(/"(?:[^"\\\n]|\\.)*"/g, '""')
    expect(outside).not.toMatch(/(?<!")"(?!")/)
    const line =
      /^\/\/ a comment$|^digraph kleym \{$|^ {2}(?:rankdir=LR|node \[.*\]|subgraph cluster_\d+ \{|\})$|^ {4}label=""$|^ {2,4}n\d+ \[label="".*\]$|^ {2}n\d+ -> n\d+(?: \[.*\])?$|^\}$/
    expect(
      outside
        .split('\n')
        .slice(0, -1)
        .filter((one) => !line.test(one)),
    ).toEqual([])
  })

  test('a group is a cluster, a dotted edge is dashed, a node counts once, and an edge to no node is left out', () => {
    const node = { key: 'a', lines: ['x', 'y'], style: 'good' as const, group: 'team' }
    const edges = [
      { from: 'a', to: 'a', label: '', dotted: true as const },
      { from: 'a', to: 'b', label: 'z' },
    ]
    expect(
      toDot({ nodes: [node, node], edges }, 'c')
        .split('\n')
        .slice(4),
    ).toEqual([
      '  subgraph cluster_0 {',
      '    label="team"',
      String.raw`    n0 [label="x\ny", color="#2da44e"]`,
      '  }',
      '  n0 -> n0 [style=dashed]',
      '}',
      '',
    ])
  })
})
