// SCM's render cache (docs/spire-facts.md §11.11) on the real SCM: the same objects without it and with it. Without it nothing
// is open; with it an object with a constant is dropped, and which of two with equal main parts is served is said to be open.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts'
import { until } from '@kleym/testing/wait.ts'
import { build, namespace, node, pod } from './build-cluster.ts'
import { csid, staticEntry } from './clusterspiffeid.ts'
import { causeOf } from './causes.ts'
import { compare, differenceText, type Comparison } from './compare.ts'
import { startSpire, type Spire } from './spire.ts'

const SPACE = 'cache'
const ID = 'spiffe://example.org'

let cp: ControlPlane
let spire: Spire
beforeAll(async () => {
  cp = await startControlPlane({ controllers: [] })
  spire = await startSpire(cp)
  const objects = [
    ...CASES.flatMap(([name, spec]) => [podOf(name), forPod(name, spec)]),
    podOf('twins'),
    forPod('twins', { spiffeIDTemplate: twin('one') }, 'twin-1'),
    forPod('twins', { spiffeIDTemplate: twin('two') }, 'twin-2'),
    csid('default', {
      fallback: true,
      hint: 'default',
      spiffeIDTemplate: `${ID}/default/{{ .PodMeta.Name }}`,
    }),
    // SCM makes an entry of it, which the server does not take.
    staticEntry('far', {
      spiffeID: 'spiffe://far.example/x',
      parentID: `${ID}/spire/agent/x`,
      selectors: ['k8s:ns:x'],
    }),
  ]
  await build(
    cp,
    [[node('n1'), namespace(SPACE)], objects].map((wave) => wave.map((object) => ({ object }))),
  )
})
afterAll(() => cp?.stop())

/** By the name of the pod, what its object holds, and whether the cache drops it. */
const CASES: readonly (readonly [
  pod: string,
  spec: Readonly<Record<string, unknown>>,
  isDropped: boolean,
])[] = [
  ['number-in-id', { spiffeIDTemplate: `${ID}/own/{{ slice .PodMeta.Name 0 }}` }, true],
  ['character-in-id', { spiffeIDTemplate: `${ID}/own/{{ printf "%c" 'x' }}-{{ .PodMeta.Name }}` }, true],
  ['number-in-selector', { workloadSelectorTemplates: ['k8s:ns:{{ slice .PodMeta.Namespace 0 }}'] }, true],
  ['number-in-dns-name', { dnsNameTemplates: ['{{ slice .PodMeta.Name 0 }}'] }, true],
  [
    'number-not-reached',
    { spiffeIDTemplate: `${ID}/own/{{ .PodMeta.Name }}{{ if false }}{{ 1 }}{{ end }}` },
    true,
  ],
  [
    'number-for-a-block',
    { spiffeIDTemplate: `${ID}/own/{{ block "b" (slice .PodMeta.Name 0) }}{{ . }}{{ end }}` },
    true,
  ],
  [
    'number-in-a-block',
    { spiffeIDTemplate: `${ID}/own/{{ block "b" . }}{{ slice .PodMeta.Name 0 }}{{ end }}` },
    false,
  ],
  [
    'number-beside-text',
    { spiffeIDTemplate: `{{ define "b" }}{{ 1 }}{{ end }}${ID}/own/number-beside-text` },
    false,
  ],
  ['truth-value', { spiffeIDTemplate: `${ID}/own/{{ and true .PodMeta.Name }}` }, false],
  ['text', { spiffeIDTemplate: `${ID}/own/{{ print "1" }}-{{ .PodMeta.Name }}` }, false],
]

/** Main parts of one text, at one place: all that the cache compares. */
function twin(path: string): string {
  return `{{ define "t" }}${path}{{ end }}${ID}/own/{{ template "t" }}`
}

function podOf(name: string) {
  return pod(SPACE, name, { labels: { case: name } })
}

function forPod(name: string, spec: Readonly<Record<string, unknown>>, object = name) {
  const usual = { spiffeIDTemplate: `${ID}/own/{{ .PodMeta.Name }}` }
  return csid(object, { ...usual, podSelector: { matchLabels: { case: name } }, ...spec })
}

/** The names of the pods that hold their default identity. */
function defaultsIn({ held }: Comparison): readonly string[] {
  return held
    .filter(({ hint }) => hint === 'default')
    .map(({ spiffeId }) => spiffeId.replace(`${ID}/default/`, ''))
    .toSorted()
}

function ofTwins({ held }: Comparison): readonly string[] {
  return held
    .map(({ spiffeId }) => spiffeId.replace(`${ID}/own/`, ''))
    .filter((path) => path === 'one' || path === 'two')
    .toSorted()
}

/** What is left open, and why. */
function openIn({ uncertain }: Comparison): readonly string[] {
  return [...new Set(uncertain.map((one) => `${one.source.name}: ${causeOf(one)}`))].toSorted()
}

test('without the cache every object is served, and nothing is open but a foreign trust domain', async () => {
  await until(async () => (await spire.entries()).length === CASES.length + 2, 'all entries to be there')
  const without = await compare(cp, spire)
  expect(without.differences.map(differenceText)).toEqual([])
  expect(openIn(without)).toEqual(["far: a trust domain that is not SCM's"])
  expect(defaultsIn(without)).toEqual([])
  expect(ofTwins(without)).toEqual(['one', 'two'])
})

test('with the cache what holds a constant is dropped, its pod falls back, and one twin is not served', async () => {
  await spire.restart({ className: 'unused' })
  await until(async () => (await spire.entries()).length === 0, 'the server to hold no entry')
  await spire.restart({ enableEntryRenderCache: true })
  await until(async () => (await spire.entries()).length === CASES.length + 1, 'the entries with the cache')
  const cached = await compare(cp, spire)
  expect(cached.differences.map(differenceText)).toEqual([])
  expect(openIn(cached)).toEqual([
    'default: ClusterSPIFFEID/default is a fallback, and whether ClusterSPIFFEID/number-in-a-block applies to this pod is not known',
    'default: ClusterSPIFFEID/default is a fallback, and whether ClusterSPIFFEID/twin-1 applies to this pod is not known',
    "far: a trust domain that is not SCM's",
    "number-in-a-block: a definition in SCM's render cache",
    "twin-1: a definition in SCM's render cache",
    "twin-2: a definition in SCM's render cache",
  ])
  expect(defaultsIn(cached)).toEqual(
    CASES.flatMap(([name, , isDropped]) => (isDropped ? [name] : [])).toSorted(),
  )
  expect(ofTwins(cached)).toHaveLength(1)
})
