// A node without an agent is told from a cluster in which no agent is seen at all: there, agents may run beside Kubernetes.
import { expect, test } from 'vitest'
import { agentThere } from '../../src/core/why/on-agent.ts'
import { agentOf, readSpireParts } from '../../src/core/why/spire-parts.ts'
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

/** The same pod, of a tenant whose namespace sorts first. */
const FORGED = { value: { ...AGENT.value, metadata: { name: 'agent-1', namespace: 'a-tenant' } } }

test("a tenant's pod with the image of an agent is not taken for the agent", () => {
  const parts = readSpireParts([FORGED, AGENT], NO_GAPS)
  expect(agentOf(parts, 'n1')).toBeUndefined()
  const there = agentThere(parts, 'n1', undefined)
  expect(there.truth.value).toBe('open')
  expect(there.text).toContain('a-tenant/agent-1, spire/agent-1')
})

const server = (namespace: string) => ({
  value: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'spire-server-0', namespace },
    spec: { containers: [{ name: 'spire-server', image: 'ghcr.io/spiffe/spire-server:1.15.3' }] },
  },
})

test('no command leads into the server of a tenant', () => {
  expect(readSpireParts([server('spire')], NO_GAPS).server?.namespace).toBe('spire')
  expect(readSpireParts([server('a-tenant'), server('spire')], NO_GAPS).server).toBeUndefined()
})
