// What `status` says of SPIRE as a whole: the hops "installed", "on the server" and "on the agent", by the steps of `why`.
import { describe, expect, test } from 'vitest'
import { installationHops, type SpireInstall } from '@kleym/shared/core/answers/why/installation.ts'
import { isRecord, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { ExpectedEntry } from '@kleym/shared/core/predict/verify/expected.ts'
import {
  agentConfig,
  agentPodOn,
  serverWorkload,
  statusOf,
  workloadStatus,
  type DraftPod,
} from '@kleym/testing/why-world.ts'
import { ClusterReader } from '../../../src/cluster/reader.ts'
import { readSpireInstall } from '../../../src/cluster/spire-side.ts'
import { api, FakeClient, type Answers } from '../../support/fake-client.ts'

const DAEMON_SET = {
  metadata: { name: 'spire-agent', namespace: 'spire-system' },
  spec: { template: { spec: { containers: [{ name: 'spire-agent', image: 'spire-agent:1.15.3' }] } } },
}

function agentOn(node: string, ready = true, version = '1.15.3'): JsonRecord {
  const pod: DraftPod = agentPodOn(node, 'agent')
  const containers = [{ name: 'spire-agent', image: `ghcr.io/spiffe/spire-agent:${version}` }]
  return { ...pod, spec: { ...pod.spec, containers }, status: statusOf(pod, { ready }) }
}

function serverOf(ready: number, version = '1.15.3'): JsonRecord {
  const text = JSON.stringify(serverWorkload()).replaceAll('1.15.3', version)
  const parsed: unknown = JSON.parse(text)
  return { ...(isRecord(parsed) && parsed), status: workloadStatus(ready) }
}

const node = (name: string): JsonRecord => ({ metadata: { name } })

/** A cluster of two nodes. */
function cluster(parts: Answers['lists'] = {}, objects: Answers['objects'] = {}): Answers {
  return {
    lists: {
      'StatefulSet.apps': [[[serverOf(1)]]],
      'DaemonSet.apps': [[[DAEMON_SET]]],
      Node: [[[node('n1'), node('n2')]]],
      'Pod spire-system': [[[agentOn('n1'), agentOn('n2')]]],
      ...parts,
    },
    objects: { 'ConfigMap spire-system/agent': agentConfig('agent'), ...objects },
  }
}

async function hops(
  answers: Answers,
  server?: SpireInstall['server'],
): Promise<{
  readonly rows: readonly string[]
  readonly notes: readonly string[]
  readonly calls: readonly string[]
}> {
  const fake = new FakeClient(answers)
  const { parts, nodes } = await readSpireInstall(new ClusterReader(fake.client, 'dev'))
  const all = installationHops({ parts, nodes, server, entriesCommand: 'COMMAND' })
  return {
    rows: all.map(({ truth, text, fix }) =>
      [truth.value, text, ...(fix === undefined ? [] : [fix])].join(' | '),
    ),
    notes: all.flatMap(({ notes = [] }) => notes),
    calls: fake.calls,
  }
}

test('a sound installation, without the entries of the server', async () => {
  const { rows, notes, calls } = await hops(cluster())
  expect(rows).toEqual([
    'yes | StatefulSet spire-server/spire-server has 1 of 1 replicas ready',
    'open | the entries of the server were not given | COMMAND',
    'yes | agents are ready on 2 nodes',
  ])
  expect(notes).toEqual([])
  // Pods of other namespaces are not read.
  expect(calls.filter((one) => one.startsWith('list Pod'))).toEqual(['list Pod spire-system'])
})

test('agents are found beside any number of tenants that run a DaemonSet of the same image', async () => {
  const tenants = Array.from({ length: 12 }, (_, at) => ({
    ...DAEMON_SET,
    metadata: { name: 'mine', namespace: `a-tenant-${at}` },
  }))
  const ofTenants = Object.fromEntries(
    tenants.map(({ metadata: { namespace } }) => [`Pod ${namespace}`, [[[]]]] as const),
  )
  const { rows, calls } = await hops(
    cluster({
      ...ofTenants,
      'DaemonSet.apps': [[[...tenants, DAEMON_SET]]],
      Pod: [[[agentOn('n1'), agentOn('n2')]]],
    }),
  )
  expect(calls.filter((one) => one.startsWith('list Pod'))).toEqual(['list Pod'])
  expect(rows[2]).toBe('yes | agents are ready on 2 nodes')
})

const NO_FIELDS = {
  dnsNames: [],
  federatesWith: [],
  hint: '',
  x509SvidTtl: 0,
  jwtSvidTtl: 0,
  admin: false,
  downstream: false,
  storeSvid: false,
  expiresAt: 0,
}

/** The second row, where entries of some causes are missing. */
async function entriesRow(...causes: readonly ('deleted' | 'race')[]): Promise<string | undefined> {
  const expected = new ExpectedEntry(
    0,
    {
      source: { kind: 'ClusterSPIFFEID', name: 'a' },
      spiffeId: '',
      selectors: [],
      tail: '',
      fields: NO_FIELDS,
      others: [],
      isCertain: true,
      isSent: true,
      isPending: false,
      doubt: undefined,
    },
    { pod: undefined, parentId: '' },
  )
  const differences = causes.map(
    (cause) => ({ kind: 'missing', expected, why: 'SCM has counted it', owner: undefined, cause }) as const,
  )
  return (await hops(cluster(), { differences, agreed: 3 })).rows[1]
}

describe('what is broken', () => {
  test.each([
    ['SCM does not run', { 'StatefulSet.apps': [[[serverOf(0)]]] }, 0, /^no \| .*spire-server.* 0 of 1/],
    [
      'an agent is not ready',
      { 'Pod spire-system': [[[agentOn('n1'), agentOn('n2', false)]]] },
      2,
      /^no \| agent pod spire-system\/spire-agent-n2 is not ready \(CrashLoopBackOff\) \| see why: kubectl logs/,
    ],
    [
      'no agent is ready',
      { 'Pod spire-system': [[[agentOn('n1', false), agentOn('n2', false)]]] },
      2,
      /is not ready \(CrashLoopBackOff\); and 1 more/,
    ],
  ] as const)('%s', async (_, parts, at, says) => {
    expect((await hops(cluster(parts))).rows[at]).toMatch(says)
  })

  test('entries are missing, and those of a moment ago are not', async () => {
    expect(await entriesRow()).toBe('yes | the server holds each entry that SCM is to make: 3')
    expect(await entriesRow('race')).toMatch(/^yes/)
    expect(await entriesRow('deleted', 'race', 'deleted')).toMatch(
      /^no \| the server holds no entry of ClusterSPIFFEID\/a: SCM has counted it; and 1 more \| find who deletes it/,
    )
  })
})

describe('what is not known, and what is a note', () => {
  test.each([
    [
      'agents that are no pods',
      { 'DaemonSet.apps': [[[]]] },
      2,
      /^open \| no DaemonSet that runs a SPIRE agent was found/,
    ],
    [
      'SCM that is not seen',
      { 'StatefulSet.apps': [[[]]] },
      0,
      /^open \| no workload that runs SCM was found/,
    ],
    [
      'DaemonSets that may not be listed',
      { 'DaemonSet.apps': [[api(403)]] },
      2,
      /^open \| .*DaemonSet.*forbidden/,
    ],
    [
      'workloads that may not be listed',
      { 'StatefulSet.apps': [[api(403)]] },
      0,
      /^open \| .*StatefulSet.*forbidden/,
    ],
  ] as const)('%s', async (_, parts, at, says) => {
    expect((await hops(cluster(parts))).rows[at]).toMatch(says)
  })

  test('a node without an agent is a note: nothing may be meant to run there', async () => {
    const { rows, notes } = await hops(cluster({ 'Pod spire-system': [[[agentOn('n1')]]] }))
    expect(rows[2]).toBe('yes | agents are ready on 1 node')
    expect(notes).toEqual(['no agent runs on n2: pods there get no SVID'])
  })

  test('versions that were reported as a bad pair are a note', async () => {
    const { rows, notes } = await hops(
      cluster({
        'StatefulSet.apps': [[[serverOf(1, '1.15.2')]]],
        'Pod spire-system': [[[agentOn('n1', true, '1.15.2')]]],
      }),
    )
    expect(rows[2]).toMatch(/^yes/)
    expect(notes).toContainEqual(expect.stringContaining('https://github.com/spiffe/spire/issues/7198'))
  })
})
