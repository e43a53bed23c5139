// `-o mermaid`: labels that nothing turns into syntax, and nodes by their keys.
import { describe, expect, test } from 'vitest'
import { toMermaid } from '../../src/output/mermaid.ts'
import { withRemarks } from '../../src/frame/diagram.ts'
import { HOSTILE_TEXTS, UNSAFE_CHARACTERS, resultWith } from '../support/ci-results.ts'

describe('-o mermaid', () => {
  test.each(HOSTILE_TEXTS)('%j is a label alone', (text) => {
    const graph = {
      nodes: [
        { key: 'a', lines: [text, text], style: 'bad' as const },
        { key: 'b', lines: [text], style: 'plain' as const },
      ],
      edges: [
        { from: 'a', to: 'b', label: text },
        { from: 'b', to: 'a', label: '', dotted: true as const },
      ],
    }
    const chart = toMermaid(withRemarks(graph, resultWith(text)), 'a comment')
    expect(chart).not.toMatch(UNSAFE_CHARACTERS)
    const label = `"(?:[^"#;<>{}[\\]()|\`%\\\\]|#\\d+;|<br/>)*"`
    const line = new RegExp(
      [
        '^%% a comment$',
        '^flowchart LR$',
        `^ {2}n\\d+\\[${label}\\](?::::[a-z]+)?$`,
        `^ {2}n\\d+ (?:-->|-\\.->)(?:\\|${label}\\|)? n\\d+$`,
        '^ {2}classDef [a-z]+ [a-z0-9:#,-]+$',
      ].join('|'),
    )
    const lines = chart.split('\n').slice(0, -1)
    expect(lines.filter((one) => !line.test(one))).toEqual([])
    expect(lines.filter((one) => / --?>|-\.->/.test(one))).toHaveLength(2)
  })

  test('nodes of one key are one node, and an edge to a node that is not there is left out', () => {
    const node = { key: 'a', lines: ['x'], style: 'plain' as const }
    expect(toMermaid({ nodes: [node, node], edges: [{ from: 'a', to: 'b', label: '' }] }, 'c')).toBe(
      '%% c\nflowchart LR\n  n0["x"]\n',
    )
  })
})
