// Each format whole, of one small result: what a consumer reads, held to the letter (`npm run golden` refreshes them). Sentences of
// real answers stand in the goldens of test/e2e; these change only if a format does.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { finding } from '@kleym/shared/core/findings/finding/finding.ts'
import { toDot } from '../../src/output/dot.ts'
import { toGithub } from '../../src/output/github.ts'
import { toJson } from '../../src/output/json.ts'
import { toJunit } from '../../src/output/junit.ts'
import { toMarkdown } from '../../src/output/markdown.ts'
import { toMermaid, type Diagram } from '../../src/output/mermaid.ts'
import { toSarif } from '../../src/output/sarif.ts'
import type { CiResult } from '../../src/output/ci.ts'
import { resultWith } from '../support/ci-results.ts'

const chat = { kind: 'InferenceIdentityBinding', namespace: 'team', name: 'chat' }
const theirs = finding('KLM301', {
  subject: chat,
  related: [{ kind: 'ClusterSPIFFEID', namespace: '', name: 'theirs' }],
  summary: 'two share a container',
  evidence: ['first', 'second'],
  fix: 'give one another container',
})
const odd = finding('KLM402', { subject: chat, related: [], summary: 'odd', evidence: [], fix: 'look' })
const slow = finding('KLM412', { subject: chat, related: [], summary: 'slow', evidence: [], fix: 'wait' })

const RESULT: CiResult = {
  ...resultWith('x'),
  threshold: 'error',
  findings: [theirs, odd, slow, theirs],
  suppressed: [{ finding: odd, suppression: { by: 'annotation', text: 'KLM402', reason: 'known' } }],
  differences: ['chat would change'],
  unknowns: ['the Namespace team was not read'],
  passed: [{ subject: chat, text: 'holds its identity' }],
  placeOf: ({ kind }) => (kind === 'ClusterSPIFFEID' ? undefined : { file: 'team/chat.yaml', line: 7 }),
}

const DIAGRAM: Diagram = {
  nodes: [
    { key: 'a', lines: ['pool', 'llama'], style: 'plain' },
    { key: 'b', lines: ['chat'], style: 'good', group: 'team' },
    { key: 'c', lines: ['batch'], style: 'bad', group: 'team' },
    { key: 'd', lines: ['old'], style: 'suppressed' },
  ],
  edges: [
    { from: 'a', to: 'b', label: 'selects' },
    { from: 'a', to: 'c', label: '' },
    { from: 'c', to: 'd', label: 'displaces', dotted: true },
  ],
}

test.each([
  ['github.txt', toGithub(RESULT)],
  ['junit.xml', toJunit(RESULT)],
  ['markdown.txt', toMarkdown(RESULT, { view: 'chat\n  is refused', language: 'text' })],
  ['result.sarif', toJson(toSarif(RESULT))],
  ['diagram.mermaid', toMermaid(DIAGRAM, 'a comment')],
  ['diagram.dot', toDot(DIAGRAM, 'a comment')],
])('%s', async (file, text) => {
  await expect(text).toMatchFileSnapshot(join(import.meta.dirname, 'golden', file))
})
