// Names from a kubeconfig and a server, over real HTTP: what is asked for, and that nothing is ever waited for in vain.
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { BINDINGS, PODS } from '@kleym/shared/kube/resources.ts'
import { failure, json, type Behaviour } from '@kleym/testing/faults/behaviour.ts'
import { faultServer, type FaultServer, type Seen } from '@kleym/testing/faults/server.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import type { ClusterFlags } from '../../src/flags/cluster-flags.ts'
import { createLookup, LOOKUP_MS, type CompletionLookup } from '../../src/completion/lookup.ts'
import { workspace } from '../support/workspace.ts'

const ANY = (): boolean => true

beforeAll(() => import('../../src/cluster/connect.ts'))

let debugged: string[]
beforeEach(() => {
  debugged = []
})

interface Asking {
  readonly flags?: ClusterFlags
  /** One that stands still when absent: a busy machine must not use the time up. */
  readonly clock?: FakeClock
}

/** A lookup with a kubeconfig of two contexts that lead to the server. */
async function lookupTo(
  { url }: Pick<FaultServer, 'url'>,
  { flags = {}, clock = new FakeClock() }: Asking = {},
): Promise<CompletionLookup> {
  const kubeconfig = {
    'current-context': 'dev',
    clusters: [{ name: 'c', cluster: { server: url.origin } }],
    users: [{ name: 'u', user: { token: 'secret' } }],
    contexts: [
      { name: 'dev', context: { cluster: 'c', user: 'u', namespace: 'team-a' } },
      { name: 'prod', context: { cluster: 'c', user: 'u', namespace: 'team-b' } },
    ],
  }
  const cwd = await workspace({ config: JSON.stringify(kubeconfig) })
  const lookup = createLookup(flags, {
    cwd,
    env: { KUBECONFIG: join(cwd, 'config') },
    version: '0.0.0',
    clock,
    debug: (line) => void debugged.push(line),
  })
  onTestFinished(() => lookup.close())
  return lookup
}

async function serving(behave: (request: Seen) => Behaviour): Promise<FaultServer> {
  const server = await faultServer(behave)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

function listOf(...names: readonly unknown[]): Behaviour {
  return json({
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion: '1' },
    items: names.map((name) => ({ metadata: { namespace: 'team-a', name } })),
  })
}

function labelled(labels: unknown): unknown {
  return { metadata: { namespace: 'team-a', name: 'p', labels } }
}

test('labels are read from the metadata of one namespace, each once, and none that no API server would have taken', async () => {
  const items = [
    labelled({ app: 'llama', 'llm-d.ai/role': 'prefill' }),
    labelled({ app: 'llama', 'llm-d.ai/role': 'decode', 'bad key': 'x', role: 'a\nb' }),
    labelled(undefined),
    labelled(['app']),
    {},
  ]
  const server = await serving(() =>
    json({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '1' },
      items,
    }),
  )
  const lookup = await lookupTo(server)
  const found = await lookup.labels({
    resource: PODS,
    namespace: 'team-a',
    wanted: (label) => label !== 'app=x',
  })
  expect(found).toEqual(['app=llama', 'llm-d.ai/role=prefill', 'llm-d.ai/role=decode'])
  expect(server.seen[0]?.path).toBe('/api/v1/namespaces/team-a/pods?limit=500')
})

describe('what is asked for', () => {
  test('is the metadata of one namespace, in pages', async () => {
    const server = await serving(() => listOf('chat'))
    const lookup = await lookupTo(server)
    const found = await lookup.objects({ resource: BINDINGS, namespace: 'team-a', wanted: ANY })
    expect(found).toEqual([{ namespace: 'team-a', name: 'chat' }])
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /apis/kleym.sonda.red/v1alpha1/namespaces/team-a/inferenceidentitybindings?limit=500',
    ])
    expect(server.seen[0]?.headers.accept).toContain('as=PartialObjectMetadataList')
  })

  test('is asked as the command line says', async () => {
    const server = await serving(() => listOf())
    const flags = { as: 'eve', 'as-group': ['devs'], token: 'other', context: 'prod' }
    const lookup = await lookupTo(server, { flags })
    await lookup.objects({ resource: PODS, namespace: undefined, wanted: ANY })
    expect(server.seen[0]?.headers).toMatchObject({
      'impersonate-user': 'eve',
      'impersonate-group': 'devs',
    })
    // The connection is not TLS.
    expect(server.seen[0]?.headers).not.toHaveProperty('authorization')
    expect(await lookup.namespace()).toBe('team-b')
  })

  test('is nothing for what the kubeconfig says', async () => {
    const server = await serving(() => listOf())
    const lookup = await lookupTo(server)
    expect(await lookup.kubeconfig('contexts')).toEqual(['dev', 'prod'])
    expect(await lookup.kubeconfig('clusters')).toEqual(['c'])
    expect(await lookup.kubeconfig('users')).toEqual(['u'])
    expect(await lookup.namespace()).toBe('team-a')
    expect(server.connections()).toBe(0)
  })
})

describe('what comes back', () => {
  test('is left out where no API server would have taken the name', async () => {
    const hostile = ['a\nb', 'a\tb', '$(reboot)', '', 'UPPER', '-flag', '\u001b[2J', 7, null, 'a'.repeat(254)]
    const lookup = await lookupTo(await serving(() => listOf(...hostile, 'chat')))
    expect(await lookup.objects({ resource: BINDINGS, namespace: 'team-a', wanted: ANY })).toEqual([
      { namespace: 'team-a', name: 'chat' },
    ])
  })

  test('ends at the limit, without a further page', async () => {
    const names = Array.from({ length: 600 }, (_, at) => `pod-${at}`)
    const server = await serving(() => listOf(...names))
    const lookup = await lookupTo(server)
    const found = await lookup.objects({ resource: PODS, namespace: 'team-a', wanted: ANY })
    expect(found).toHaveLength(500)
  })
})

describe('what goes wrong costs the names alone, and is told to the debug file', () => {
  test.each<[string, () => Behaviour, RegExp]>([
    ['a refusal', () => failure(403, 'Forbidden'), /^list pods: .*Forbidden/],
    ['a kind that is not served', () => failure(404, 'NotFound'), /^list pods: .*NotFound/],
    ['a server that breaks', () => failure(500, 'InternalError'), /^list pods: .*InternalError/],
    ['bytes that are no HTTP', () => ({ kind: 'garbage' }), /^list pods: /],
    ['a connection that is cut', () => ({ kind: 'drop' }), /^list pods: /],
    ['an answer that is no list', () => json([]), /^list pods: /],
  ])('%s', async (_, behave, told) => {
    const lookup = await lookupTo(await serving(behave))
    expect(await lookup.objects({ resource: PODS, namespace: 'team-a', wanted: ANY })).toEqual([])
    expect(debugged.join('\n')).toMatch(told)
  })

  test('a server that is not there', async () => {
    const lookup = await lookupTo({ url: new URL('http://127.0.0.1:1') })
    expect(await lookup.objects({ resource: PODS, namespace: 'team-a', wanted: ANY })).toEqual([])
    expect(debugged.join('\n')).toMatch(/^list pods: /)
  })

  test('a context that is not there', async () => {
    const lookup = await lookupTo(await serving(() => listOf()), { flags: { context: 'nowhere' } })
    expect(await lookup.namespace()).toBeUndefined()
    expect(await lookup.objects({ resource: PODS, namespace: 'team-a', wanted: ANY })).toEqual([])
    expect(debugged.join('\n')).toContain('there is no context "nowhere"')
  })

  test('flags that contradict each other', async () => {
    const lookup = await lookupTo(await serving(() => listOf()), { flags: { 'as-uid': '1' } })
    expect(await lookup.namespace()).toBeUndefined()
    expect(await lookup.kubeconfig('contexts')).toEqual([])
    expect(debugged).toHaveLength(2)
  })

  test('a server that never answers: the time is up', async () => {
    const clock = new FakeClock()
    const server = await serving(() => {
      clock.advance(LOOKUP_MS)
      return { kind: 'stall' }
    })
    const lookup = await lookupTo(server, { clock })
    expect(await lookup.namespace()).toBe('team-a')
    expect(await lookup.objects({ resource: PODS, namespace: 'team-a', wanted: ANY })).toEqual([])
    expect(debugged).toEqual(['list pods: no time left'])
  })

  test('a second page that never comes: the first one is offered', async () => {
    const clock = new FakeClock()
    const first = {
      metadata: { resourceVersion: '1', continue: 'more' },
      items: [{ metadata: { name: 'a' } }],
    }
    const server = await serving(({ path }) => {
      if (!path.includes('continue=')) return json(first)
      clock.advance(LOOKUP_MS)
      return { kind: 'stall' }
    })
    const lookup = await lookupTo(server, { clock })
    expect(await lookup.objects({ resource: PODS, namespace: 'team-a', wanted: ANY })).toEqual([
      { name: 'a' },
    ])
  })
})
