// What is wrong with a registration of which it is not known whether it applies to any pod, since the Namespace that it asks for
// is not among the files: no error, and no "nothing clashes" either. With the executable that ships.
import { beforeAll, describe, expect, test } from 'vitest'
import { ask } from './ask.ts'
import { built } from './plugin.ts'
import { BINDING, documents, NODE, OBJECTIVE, POD, POOL, SMALL, registration } from './workspace.ts'
import { leftWithNone } from './loss-words.ts'

beforeAll(built)

const CHAT = 'spiffe://example.org/ns/team-a/objective/chat'
const OTHER = 'spiffe://example.org/other'
const OF_OTHER = 'podSelector: {matchLabels: {app: other}}'
const OF_PROD = 'namespaceSelector: {matchLabels: {env: prod}}'
const NOT_UTF8 = `workloadSelectorTemplates: ['k8s:x:{{ slice "é" 0 1 }}']`

function pod(namespace: string, app: string): string {
  return POD.replace('name: llama-0', `name: ${app}-0`)
    .replace('namespace: team-a', `namespace: ${namespace}`)
    .replace('3d0ff7fd', namespace === 'team-a' ? '3d0ff7fd' : '4d0ff7fd')
    .replace('{app: llama}', `{app: ${app}}`)
}

function namespaceOf(name: string, env: string): string {
  return `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}, labels: {env: ${env}}}\n`
}

/** A registration as a cluster has it: its age is known, and so is which of two comes first. */
function live(one: string, day: number): string {
  const facts = `uid: u-${day}, resourceVersion: "1", generation: 1, creationTimestamp: "2026-01-0${day}T00:00:00Z"`
  return one.replace(/metadata: \{name: ([a-z]+)\}/, `metadata: {name: $1, ${facts}}`)
}

/** A binding that is ready, its pod, and one of another namespace. No Namespace. */
const WORLD = documents(SMALL, pod('team-b', 'other'))

/** With the Namespace left out, with one that the registration asks for, and with one that it does not ask for. */
async function answers(
  world: string,
  ...args: readonly string[]
): Promise<readonly { readonly code: number | null; readonly stdout: string }[]> {
  const worlds = [
    world,
    documents(world, namespaceOf('team-b', 'prod'), namespaceOf('team-a', 'prod')),
    documents(world, namespaceOf('team-b', 'dev'), namespaceOf('team-a', 'dev')),
  ]
  return Promise.all(worlds.map((one) => ask(one, 'conflicts', ...args)))
}

describe('a fault of a registration whose Namespace is not among the files depends on it', () => {
  test.each([
    [
      'an entry that the server refuses',
      'KLM405',
      'error',
      [registration('bad', OTHER, OF_OTHER, OF_PROD, 'ttl: -5s')],
    ],
    [
      'text that is not UTF-8, which stops SCM',
      'KLM407',
      'error',
      [registration('bad', OTHER, OF_OTHER, OF_PROD, NOT_UTF8)],
    ],
    [
      'a template that fails',
      'KLM408',
      'warning',
      [registration('bad', 'spiffe://example.org/{{ .PodMeta.Nope }}', OF_OTHER, OF_PROD)],
    ],
    [
      'an entry that another one owns',
      'KLM403',
      'warning',
      [
        live(registration('old', OTHER, OF_OTHER), 1),
        live(registration('young', OTHER, OF_OTHER, OF_PROD), 2),
      ],
    ],
    [
      'a fallback that a refused one displaces',
      'KLM402',
      'warning',
      [
        registration('default', OTHER, OF_OTHER, 'fallback: true'),
        registration('bad', `${OTHER}/bad`, OF_OTHER, OF_PROD, 'ttl: -5s'),
      ],
    ],
  ] as const)('%s: %s', async (_what, code, severity, others) => {
    const [open, there, notThere] = await answers(documents(WORLD, ...others), '--fail-on', severity)
    expect(open?.stdout).toContain(code)
    expect(open?.stdout).toContain('depends: ')
    expect(open?.stdout).not.toContain('nothing clashes')
    expect([open?.code, there?.code, notThere?.code]).toEqual([4, 1, 0])
    expect(there?.stdout).toContain(code)
    expect(notThere?.stdout).toContain('nothing clashes')
  })

  test('and what text that is not UTF-8 perhaps stops is not certain to be issued', async () => {
    const world = documents(WORLD, registration('bad', OTHER, OF_OTHER, OF_PROD, NOT_UTF8))
    const { stdout } = await ask(world, 'who-selects', 'pod/llama-0', '-n', 'team-a')
    expect(stdout).toContain('ClusterSPIFFEID/bad perhaps keeps SCM from creating entries')
    expect(stdout).not.toContain('✓')
  })

  test('but what is certain in one namespace is an error, whatever the other is', async () => {
    const refused = registration('bad', OTHER, OF_OTHER, OF_PROD, 'ttl: -5s')
    const world = documents(WORLD, pod('team-c', 'other'), namespaceOf('team-c', 'prod'), refused)
    const { code, stdout } = await ask(world, 'conflicts')
    // The other namespace is told of as well: who asks about that one alone must hear of it.
    expect(stdout).toMatch(/1 error in[^]*also 1 warning/)
    expect(stdout).toMatch(/seen in pod team-b\/\S+\n? +depends: /)
    expect(code).toBe(1)
  })
})

test('of two registrations that want one entry the server may refuse the one that gets it: it is not certainly given away', async () => {
  const thieves = [registration('one', CHAT, OF_OTHER), registration('two', CHAT, OF_OTHER, 'ttl: -5s')]
  const { code, stdout } = await ask(documents(WORLD, ...thieves), 'conflicts')
  expect(stdout).toContain('KLM308')
  expect(stdout).toContain('which of the two SCM takes is not known')
  expect(code).toBe(4)
})

test('two registrations of one entry, whose ages are not known, are no "nothing clashes": one masks the other', async () => {
  const both = [registration('one', OTHER, OF_OTHER), registration('two', OTHER, OF_OTHER)]
  const open = await ask(documents(WORLD, ...both), 'conflicts', '--fail-on', 'warning')
  expect(open.stdout).toContain('ClusterSPIFFEID/one and ClusterSPIFFEID/two want the same entry')
  expect(open.stderr).toContain('not known: whether ClusterSPIFFEID/one or ClusterSPIFFEID/two is the older')
  expect(open.code).toBe(4)
  const known = documents(WORLD, ...both.map((one, at) => live(one, at + 1)))
  const told = await ask(known, 'conflicts', '--fail-on', 'warning')
  expect(told.stdout).toContain('ClusterSPIFFEID/one owns the entry on 1 pod')
  expect(told.code).toBe(1)
})

describe('a registration with a selector that nothing here tells of a container', () => {
  test.each(['k8s:container-image:docker.io/web', 'unix:uid:1000', 'k8s:image-attestations:x'])(
    'gives the identity to another namespace only perhaps: %s',
    async (selector) => {
      const thief = registration('thief', CHAT, OF_OTHER, `workloadSelectorTemplates: ['${selector}']`)
      const { code, stdout, stderr } = await ask(documents(WORLD, thief), 'conflicts')
      expect(stdout).toContain('KLM308')
      expect(stderr).toContain(`not known: whether ${selector} of ClusterSPIFFEID/thief matches`)
      expect(code).toBe(4)
    },
  )

  test('may be a second identity of a container: no "nothing clashes"', async () => {
    const entry = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterStaticEntry
metadata: {name: by-hand}
spec: {spiffeID: '${OTHER}', parentID: 'spiffe://example.org/spire/agent/k8s_psat/prod/5f3d3e5d-6a0f-4a3a-a0a6-7b0d2a1f8a11', selectors: ['k8s:ns:team-a', 'unix:uid:1000']}
`
    const { code, stdout } = await ask(documents(WORLD, entry), 'conflicts', '--fail-on', 'warning')
    expect(stdout).toContain('container vllm of 1 pod holds 2 SPIFFE IDs')
    expect(stdout).toContain('depends: unix selectors are known only on the node')
    expect(code).toBe(4)
    const sure = await ask(
      documents(WORLD, entry.replace('unix:uid:1000', 'k8s:sa:runner')),
      'conflicts',
      '--fail-on',
      'warning',
    )
    expect(sure.stdout).not.toContain('depends')
    expect(sure.code).toBe(1)
  })
})

describe('a default identity is not certainly lost', () => {
  const fallback = registration('default', OTHER, 'fallback: true')
  const two = documents(
    POOL,
    OBJECTIVE,
    BINDING,
    NODE,
    POD.replace('[{name: vllm}]', '[{name: vllm}, {name: proxy}]'),
  )

  test('where another registration may give the container one', async () => {
    const world = documents(two, fallback, registration('more', `${OTHER}/more`, OF_PROD))
    const [open, there, notThere] = await answers(world, '--fail-on', 'warning')
    expect(open?.stdout).toMatch(leftWithNone('proxy of 1 pod'))
    expect(open?.code).toBe(4)
    expect(there?.stdout).not.toContain('left without')
    expect(notThere?.stdout).toMatch(leftWithNone('proxy of 1 pod'))
    expect(notThere?.code).toBe(1)
  })

  test('but it is where what displaces it is kept from the server by another one', async () => {
    const world = documents(
      two,
      fallback,
      pod('team-b', 'other'),
      registration('bad', OTHER, OF_OTHER, NOT_UTF8),
    )
    const { stdout } = await ask(world, 'conflicts')
    expect(stdout).toMatch(leftWithNone('proxy of 1 pod'))
  })
})
