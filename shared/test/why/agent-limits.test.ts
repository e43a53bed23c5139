// The fifth hop beside the agent's pod: how long an agent takes to hear of an entry as it and its server are set, how many SVIDs it
// keeps, and that it waits for one (docs/spire_agent.md and doc/spire_server.md of SPIRE v1.15.3).
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { agentConfigIn } from '../../src/core/model/objects/agent-config.ts'
import { readAgentFacts } from '../../src/core/predict/verify/agent-facts.ts'
import { readServerEntry } from '../../src/core/predict/verify/read-server-entry.ts'
import type { ServerEntry } from '../../src/core/predict/verify/server-entry.ts'
import type { ServerSide } from '../../src/core/answers/why/facts.ts'
import type { Hop } from '../../src/core/answers/why/hop.ts'
import { hopOf } from './hops-of.ts'

const NOW = 1_800_000_000
const PARENT = '/spire/agent/k8s_psat/prod/uid-of-n1'
const REGISTRATION = {
  apiVersion: 'spire.spiffe.io/v1alpha1',
  kind: 'ClusterSPIFFEID',
  metadata: { name: 'a', uid: 'uid-of-a' },
  spec: { spiffeIDTemplate: 'spiffe://example.org/a', podSelector: { matchLabels: { app: 'llama' } } },
}

function configMap(namespace: string, name: string, text: string): JsonRecord {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data: { config: text } }
}

const agent = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'spire', name: 'agent' },
  spec: {
    nodeName: 'n1',
    hostPID: true,
    serviceAccountName: 'agent',
    containers: [{ name: 'spire-agent', image: 'spire-agent:1.15.3' }],
    volumes: [{ name: 'c', configMap: { name: 'agent' } }],
  },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
}
const server = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { namespace: 'spire', name: 'spire-server' },
  spec: {
    template: {
      spec: {
        containers: [{ name: 'spire-server', image: 'spire-server:1.15.3' }],
        volumes: [{ name: 'c', configMap: { name: 'server' } }],
      },
    },
  },
}

const AGENT =
  'plugins { WorkloadAttestor "k8s" {} NodeAttestor "k8s_psat" { plugin_data { cluster = "prod" } } }'

/** The hop, of an entry of so many seconds. */
function onAgent(
  age: number,
  {
    agentSets = '',
    serverSets = '',
    entries = 1,
    log = '',
  }: {
    readonly agentSets?: string
    readonly serverSets?: string
    readonly entries?: number
    readonly log?: string
  } = {},
): Hop {
  const entry = entryOf(age)
  const side: ServerSide = {
    entries: [entry],
    ofNodes: [],
    perParent: new Map([[entry.parentId, entries]]),
    differences: [],
    asOf: NOW,
  }
  const of = { podUid: 'uid-of-llama-0', container: 'vllm' }
  return hopOf('on the agent', {
    objects: [REGISTRATION],
    server: side,
    agent: log === '' ? undefined : readAgentFacts(log, of),
    parts: [
      agent,
      server,
      configMap('spire', 'agent', `agent { ${agentSets} } ${AGENT}`),
      configMap('spire', 'server', `server { ${serverSets} } plugins { DataStore "sql" {} }`),
    ],
  })
}

function entryOf(age: number): ServerEntry {
  const reading = readServerEntry({
    id: 'e',
    spiffe_id: { trust_domain: 'example.org', path: '/a' },
    parent_id: { trust_domain: 'example.org', path: PARENT },
    selectors: [{ type: 'k8s', value: 'pod-uid:uid-of-llama-0' }],
    created_at: String(NOW - age),
  })
  if (!reading.ok) throw new Error(reading.why)
  return reading.entry
}

/** The log of a process that is refused. */
function refused(seconds: number): string {
  const time = new Date((NOW + seconds) * 1000).toISOString()
  const selectors = 'selectors="[type:\\"k8s\\" value:\\"pod-uid:uid-of-llama-0\\"]"'
  return [
    `time="${time}" level=debug msg="PID attested to have selectors" pid=7 ${selectors}`,
    `time="${time}" level=error msg="No identity issued" pid=7 registered=false ${selectors}`,
  ].join('\n')
}

describe('how long an agent takes to hear of an entry', () => {
  test.each([
    ['as they are by default', {}, 15],
    ['an agent that asks every minute', { agentSets: 'experimental { sync_interval = "1m" }' }, 70],
    ['a server that looks every half minute', { serverSets: 'cache_reload_interval = "30s"' }, 40],
    ['both', { agentSets: 'sync_interval = "10s"', serverSets: 'cache_reload_interval = "20s"' }, 35],
  ] as const)('%s', (_, sets, within) => {
    expect(onAgent(within, sets)).toMatchObject({ truth: { value: 'open' } })
    expect(onAgent(within, sets).text).toContain(`the agent takes up to ${within} s to receive it`)
    expect(onAgent(within + 1, sets)).toMatchObject({ truth: { value: 'yes' } })
  })

  test('a refusal of a process that has each selector counts once the agent must have heard', () => {
    const slow = { agentSets: 'sync_interval = "1m"' }
    expect(onAgent(30, { log: refused(0) }).truth.value).toBe('no')
    expect(onAgent(90, { ...slow, log: refused(-30) }).truth.value).toBe('yes')
    expect(onAgent(90, { ...slow, log: refused(0) }).truth.value).toBe('no')
  })

  test('a refusal that shows each selector of the entry counts, though the log may hide others of the process', () => {
    const [, refusal = ''] = refused(0).split('\n')
    expect(onAgent(30, { log: refusal }).truth.value).toBe('no')
    const other = refusal.replace('pod-uid:uid-of-llama-0', 'ns:team-a')
    expect(onAgent(30, { log: other }).truth.value).toBe('yes')
  })

  test('what was handed out before a refusal of the same process is gone', () => {
    const [attested = '', refusal = ''] = refused(0).split('\n')
    const fetched = 'time="x" level=debug msg="Fetched X.509 SVID" pid=7 spiffe_id="spiffe://example.org/a"'
    const known = { text: 'the agent has handed the SVID out' }
    expect(onAgent(30, { log: [attested, fetched].join('\n') })).toMatchObject(known)
    // The stream goes on until the last entry of the process is gone: it is refused without another attestation.
    const gone = refusal.replace(/selectors=.*/, '')
    expect(onAgent(30, { log: [attested, fetched, gone].join('\n') }).truth.value).toBe('no')
  })
})

describe('how many SVIDs an agent keeps', () => {
  test.each([
    ['fewer than by default', {}, 1000, false],
    ['more than by default', {}, 1001, true],
    ['more than it is set to', { agentSets: 'x509_svid_cache_max_size = 10' }, 11, true],
    ['fewer than it is set to', { agentSets: 'x509_svid_cache_max_size = 5000' }, 4000, false],
    ['zero is the default', { agentSets: 'x509_svid_cache_max_size = 0' }, 900, false],
  ] as const)('%s: a note, and never a verdict', (_, sets, entries, isTold) => {
    const { truth, notes = [] } = onAgent(100, { ...sets, entries })
    expect(truth.value).toBe('yes')
    expect(notes.some((one) => one.includes('x509_svid_cache_max_size'))).toBe(isTold)
  })
})

test('an agent that waits for the SVID of its entry to be signed is not known to get it', () => {
  const selectors = 'selectors="[type:\\"k8s\\" value:\\"pod-uid:uid-of-llama-0\\"]"'
  const attested = `time="x" level=debug msg="PID attested to have selectors" pid=7 ${selectors}`
  const waits = `time="x" level=info msg="Waiting for SVID to get cached" ${selectors} subsystem_name=cache_manager`
  const fetched =
    'time="x" level=debug msg="Fetched X.509 SVID" pid=7 spiffe_id="spiffe://example.org/a" count=1'
  const hop = onAgent(100, { log: [attested, waits].join('\n') })
  expect(hop.truth.value).toBe('open')
  expect(hop.text).toContain('waits for its SVID to be signed')
  expect(onAgent(100, { log: [attested, waits, fetched].join('\n') }).truth.value).toBe('yes')
  const other = waits.replace('uid-of-llama-0', 'uid-of-another')
  expect(onAgent(100, { log: [attested, other].join('\n') }).truth.value).toBe('yes')
})

const PLUGINS = 'plugins { WorkloadAttestor "k8s" {} }'

test.each([
  ['HCL', `experimental { sync_interval = "1m30s" }\nx509_svid_cache_max_size = 7\n${PLUGINS}`, 90, 7],
  [
    'JSON',
    '{"experimental":{"sync_interval":"20s"},"x509_svid_cache_max_size":8,"plugins":{"WorkloadAttestor":[]}}',
    20,
    8,
  ],
  ['a comment', `# sync_interval = "1m"\n${PLUGINS}`, undefined, undefined],
  ['no duration', `sync_interval = "often"\n${PLUGINS}`, undefined, undefined],
  ['what is not understood', `sync_interval = "20s"\n${PLUGINS}}`, undefined, undefined],
])('the settings of an agent in %s', (_, text, syncSeconds, svidsKept) => {
  const value = configMap('spire', 'agent', text)
  expect(agentConfigIn({ value })).toMatchObject({ syncSeconds, svidsKept })
})
