// A node without an agent is told from a cluster in which no agent is seen at all: there, agents may run beside Kubernetes.
import { expect, test } from 'vitest'
import { agentThere } from '../../src/core/why/on-agent.ts'
import { readSpireParts } from '../../src/core/why/spire-parts.ts'
import { NO } from '../../src/core/truth/truth.ts'

const NO_GAPS = { agentGaps: [], scmGaps: [], configGaps: [] }
const AGENT = {
  value: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'agent-1', namespace: 'spire' },
    spec: { nodeName: 'n1', containers: [{ name: 'a', image: 'ghcr.io/spiffe/spire-agent:1.15.3' }] },
  },
}

test('no agent anywhere is not known, and one on other nodes alone is broken', () => {
  const nowhere = agentThere(readSpireParts([], NO_GAPS), 'n2', undefined)
  expect(nowhere.truth.value).toBe('open')
  expect(nowhere.text).toContain('may run on node n2 beside Kubernetes')
  const elsewhere = agentThere(readSpireParts([AGENT], NO_GAPS), 'n2', undefined)
  expect(elsewhere.truth).toBe(NO)
  expect(elsewhere.text).toContain('agents run on n1')
})
