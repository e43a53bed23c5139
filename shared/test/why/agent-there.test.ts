// A node without an agent is told from a cluster in which no agent is seen at all: there, agents may run beside Kubernetes.
import { describe, expect, test } from 'vitest'
import { agentThere } from '../../src/core/answers/why/on-agent.ts'
import { agentOf, readSpireParts } from '../../src/core/answers/why/spire-parts.ts'
import { NO } from '../../src/core/model/truth/truth.ts'

const NO_GAPS = { agentGaps: [], scmGaps: [], configGaps: [] }
const AGENT = {
  value: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'agent-1', namespace: 'spire' },
    spec: {
      nodeName: 'n1',
      hostPID: true,
      serviceAccountName: 'spire-agent',
      containers: [{ name: 'a', image: 'ghcr.io/spiffe/spire-agent:1.15.3' }],
    },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  },
}

test('no agent anywhere is not known, and one on other nodes alone is broken', () => {
  const nowhere = agentThere(readSpireParts([], NO_GAPS), 'n2', undefined)
  expect(nowhere.truth.value).toBe('open')
  expect(nowhere.text).toContain('may run on node n2 outside Kubernetes')
  const elsewhere = agentThere(readSpireParts([AGENT], NO_GAPS), 'n2', undefined)
  expect(elsewhere.truth).toBe(NO)
  expect(elsewhere.text).toContain('agents run on n1')
})

/** The same pod, of a tenant whose namespace sorts first. */
const FORGED = { value: { ...AGENT.value, metadata: { name: 'agent-1', namespace: 'a-tenant' } } }
/** What Pod Security leaves to most tenants. */
const UNPRIVILEGED = { value: { ...FORGED.value, spec: { ...FORGED.value.spec, hostPID: false } } }

const server = (namespace: string, volumes: readonly unknown[] = []) => ({
  value: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'spire-server-0', namespace },
    spec: { volumes, containers: [{ name: 'spire-server', image: 'ghcr.io/spiffe/spire-server:1.15.3' }] },
  },
})

describe("a tenant's pod with the image of an agent is not taken for the agent", () => {
  test('beside the agent: nothing tells which of two namespaces is SPIRE’s', () => {
    const parts = readSpireParts([FORGED, AGENT], NO_GAPS)
    expect(agentOf(parts, 'n1')).toBeUndefined()
    const there = agentThere(parts, 'n1', undefined)
    expect(there.truth.value).toBe('open')
    expect(there.text).toContain('a-tenant/agent-1, spire/agent-1')
  })

  test('beside the agent, without a right of the node: it is none', () => {
    const parts = readSpireParts([UNPRIVILEGED, AGENT], NO_GAPS)
    expect(agentOf(parts, 'n1')).toMatchObject({ namespace: 'spire' })
  })

  test('alone, without a right of the node: no agent is known, and none is missing for certain', () => {
    const parts = readSpireParts([UNPRIVILEGED], NO_GAPS)
    expect(agentOf(parts, 'n1')).toBeUndefined()
    const there = agentThere(parts, 'n1', undefined)
    expect(there.truth.value).toBe('open')
    expect(there.text).toContain('a-tenant/agent-1 does not share the process IDs of the node')
    expect(agentThere(parts, 'n2', undefined).text).toContain('no pod that runs a SPIRE agent was found')
  })

  test.each([
    ['HCL', 'service_account_allow_list = ["spire:spire-agent"]'],
    ['JSON', '{"clusters":[{"prod":{"service_account_allow_list":["spire:spire-agent"]}}]}'],
  ])('where the server says in %s whose pods are agents, those are', (_, text) => {
    const config = {
      value: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'server', namespace: 'spire' },
        data: { 'server.conf': text },
      },
    }
    const own = server('spire', [{ name: 'c', configMap: { name: 'server' } }])
    const parts = readSpireParts([FORGED, AGENT, own, config], NO_GAPS)
    expect(agentOf(parts, 'n1')).toMatchObject({ namespace: 'spire' })
    const alone = readSpireParts([FORGED, own, config], NO_GAPS)
    expect(agentThere(alone, 'n1', undefined).text).toContain('takes those of spire:spire-agent alone')
    // A tenant's ConfigMap says nothing, nor does one that the server does not mount.
    const other = { value: { ...config.value, metadata: { name: 'server', namespace: 'a-tenant' } } }
    expect(readSpireParts([own, other], NO_GAPS).agentAccounts).toBeUndefined()
    expect(readSpireParts([server('spire'), config], NO_GAPS).agentAccounts).toBeUndefined()
  })
})

test('no command leads into the server of a tenant', () => {
  expect(readSpireParts([server('spire')], NO_GAPS).server?.namespace).toBe('spire')
  expect(readSpireParts([server('a-tenant'), server('spire')], NO_GAPS).server).toBeUndefined()
})

function serverAmong(...objects: Parameters<typeof readSpireParts>[0]) {
  return readSpireParts(objects, NO_GAPS).server
}

test('a pod with the image of the server decides about no command while a workload runs the server', () => {
  const { spec } = server('spire').value
  const workload = (namespace: string) => ({
    value: {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'spire-server', namespace },
      spec: { template: { spec } },
    },
  })
  expect(serverAmong(workload('spire'))).toMatchObject({ namespace: 'spire', pod: 'spire-server-0' })
  expect(serverAmong(workload('spire'), server('a-tenant'))).toMatchObject({ namespace: 'spire' })
  expect(serverAmong(workload('spire'), workload('a-tenant'))).toBeUndefined()
  expect(serverAmong(server('spire'), server('a-tenant'))).toBeUndefined()
})
