// What every diagram shows beside its graph.
import { expect, test } from 'vitest'
import { toMermaid } from '../../src/output/mermaid.ts'
import { withRemarks } from '../../src/frame/diagram.ts'
import { resultWith } from '../support/ci-results.ts'

test('a diagram shows each finding once, what is suppressed, and what is not known', () => {
  const chart = toMermaid(withRemarks({ nodes: [], edges: [] }, resultWith('x')), 'c')
  expect(chart.match(/✗ error KLM301/g)).toHaveLength(1)
  expect(chart.match(/· suppressed error KLM301/g)).toHaveLength(2)
  expect(chart).toContain('! the answer is not complete<br/>not known: x')
})
