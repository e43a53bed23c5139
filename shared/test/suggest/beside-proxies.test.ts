// What is suggested where a mesh's proxy takes its certificates from SPIRE, beside the default identity of the SPIRE chart.
import { expect, test } from 'vitest'
import { binding, objective, perVariant, pool, poolOnly } from '@kleym/testing/manifests.ts'
import { foreign, pod } from '@kleym/testing/access-policies.ts'
import { analysisOf } from '@kleym/testing/random-tenants.ts'
import type { JsonRecord } from '../../src/core/json.ts'
import { stringAt } from '../../src/core/json.ts'
import { companionsOf } from '../../src/core/suggest/candidate.ts'
import { findingsOf } from '../../src/core/rules/all.ts'
import { unchanged } from '../../src/core/analysis/analysis.ts'
import type { PoolSuggestions } from '../../src/core/suggest/suggest.ts'
import { manifestsOf, suggestedLines, suggestionsFor } from './suggestions-for.ts'

const ACCOUNT = 'spiffe://example.org/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}'
const NODE: JsonRecord = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', uid: 'uid-of-n1' },
  spec: {},
}
const FALLBACK = foreign('default', { spiffeIDTemplate: ACCOUNT, fallback: true })
const PROXY = {
  name: 'istio-proxy',
  volumeMounts: [{ name: 'socket', mountPath: '/var/run/secrets/workload-spiffe-uds' }],
}
const SOCKET = { name: 'socket', csi: { driver: 'csi.spiffe.io' } }

function meshed(name = 'llama-0', spec: JsonRecord = {}): JsonRecord {
  return pod({ name, spec: { containers: [{ name: 'vllm' }, PROXY], volumes: [SOCKET], ...spec } })
}

const NATIVE = {
  containers: [{ name: 'vllm' }],
  initContainers: [{ ...PROXY, restartPolicy: 'Always' }],
}

function poolOf(...objects: readonly JsonRecord[]): PoolSuggestions {
  const [first] = suggestionsFor([NODE, pool(), FALLBACK, ...objects]).answer.pools
  if (first === undefined) throw new Error('the pool is there')
  return first
}

function namesOf({ registrations }: PoolSuggestions): readonly string[] {
  return registrations.flatMap(({ key, candidate }) =>
    companionsOf(candidate).map((one) => `${key} ${stringAt(one, 'metadata', 'name') ?? ''}`),
  )
}

function notOf({ not }: PoolSuggestions): readonly string[] {
  return not.map(({ state, what, reason, why }) => `${state} ${what} ${reason ?? '-'}: ${why}`)
}

function codesOf(objects: readonly JsonRecord[]): readonly string[] {
  return findingsOf(unchanged(analysisOf(objects).settled)).map(({ code }) => code)
}

test.each([
  ['a container like others', {}],
  ['a native sidecar', NATIVE],
])('a binding that is there and takes the ID of a proxy gets the registration alone: %s', (_, spec) => {
  const objects = [objective(), meshed('llama-0', spec), binding()]
  const found = poolOf(...objects)
  expect(found.suggested).toEqual([])
  expect(namesOf(found)).toEqual(['team-a/llama team-a.llama.istio-proxy'])
  const applied = [
    pool(),
    FALLBACK,
    ...objects,
    ...manifestsOf(suggestionsFor([NODE, pool(), FALLBACK, ...objects]).answer),
  ]
  expect(codesOf([NODE, pool(), FALLBACK, ...objects])).toContain('KLM441')
  expect(codesOf(applied)).not.toContain('KLM441')
})

test('nothing is said where a registration keeps the ID already, or where none gives way', () => {
  const kept = foreign('kept', {
    spiffeIDTemplate: ACCOUNT,
    workloadSelectorTemplates: ['k8s:container-name:istio-proxy'],
  })
  expect(namesOf(poolOf(objective(), meshed(), binding(), kept))).toEqual([])
  const [only] = suggestionsFor([NODE, pool(), objective(), meshed(), binding()]).answer.pools
  expect(only === undefined ? [] : namesOf(only)).toEqual([])
})

test('one registration for the proxies of all service accounts of a pool', () => {
  const other = meshed('other-0', { serviceAccountName: 'other' })
  // A binding of one account displaces the default identity of the pods of all.
  expect(namesOf(poolOf(objective(), meshed(), other, binding()))).toEqual([
    'team-a/llama team-a.llama.istio-proxy',
  ])
  expect(namesOf(poolOf(other, poolOnly()))).toEqual(['team-a/llama team-a.llama.istio-proxy'])
})

test('a name that something else has is left to it', () => {
  const taken = foreign('team-a.llama.istio-proxy', {
    spiffeIDTemplate: 'spiffe://example.org/x',
    podSelector: { matchLabels: { app: 'nothing' } },
  })
  expect(namesOf(poolOf(objective(), meshed(), binding(), taken))).toEqual([
    expect.stringMatching(/^team-a\/llama team-a\.llama\.istio-proxy-[0-9a-f]{8}$/),
  ])
})

test('in the place of PoolOnly stands PerObjective with a registration, for a person to choose', () => {
  const found = poolOf(objective(), meshed(), poolOnly())
  expect(manifestsOf({ ...suggestionsFor([]).answer, pools: [found] })).toEqual([])
  expect(notOf(found)).toEqual([
    'open PerObjective chat for container vllm in the place of team-a/llama KLM440: team-a/llama: istio-proxy of 1 pod gets an identity that Istio does not accept; this one would be Ready, and the proxy has the ID that its mesh accepts',
  ])
  expect(found.not[0]?.fix).toBe(
    'apply ClusterSPIFFEID/team-a.llama.istio-proxy, then edit team-a/llama to this boundary (manifests: -o json); policies that name spiffe://example.org/ns/team-a/pool/llama have to name spiffe://example.org/ns/team-a/objective/chat before',
  )
  const tried = found.not.flatMap((one) => one.tried).flatMap((one) => companionsOf(one))
  expect(tried.map((one) => stringAt(one, 'metadata', 'name'))).toEqual(['team-a.llama.istio-proxy'])
})

test('of bindings PerVariant all but one are deleted', () => {
  const key = 'identity.kleym.sonda.red/variant'
  const roles = ['decode', 'prefill'].map((role) =>
    pod({
      name: role,
      labels: { app: 'llama', [key]: role },
      spec: { containers: [{ name: 'vllm' }, PROXY], volumes: [SOCKET] },
    }),
  )
  const bindings = ['decode', 'prefill'].map((name) =>
    perVariant({ name, spec: { identityBoundary: { variant: name } } }),
  )
  const found = poolOf(objective(), ...roles, ...bindings)
  expect(found.not[0]?.fix).toMatch(
    /^apply ClusterSPIFFEID\/team-a\.decode\.istio-proxy, then delete team-a\/prefill, then edit team-a\/decode to this boundary/,
  )
})

test('it is impossible without an objective, and a person chooses among several', () => {
  expect(notOf(poolOf(meshed(), poolOnly()))).toEqual([
    expect.stringMatching(
      /^impossible PerObjective in the place of team-a\/llama KLM440: .*; no objective targets the pool, and a registration for the proxy adds an SVID and takes none away$/,
    ),
  ])
  expect(notOf(poolOf(objective(), objective({ name: 'code' }), meshed(), poolOnly()))).toEqual([
    expect.stringMatching(
      /^open .*2 objectives lead to the pool, and nothing says which of them a container serves$/,
    ),
  ])
})

test('the harm of one pool to its proxies keeps no other pool of the namespace from a binding', () => {
  const plain = pod({ name: 'plain-0', labels: { app: 'plain' }, spec: { containers: [{ name: 'vllm' }] } })
  const objects = [NODE, pool(), pool({ name: 'plain', labels: { app: 'plain' } }), FALLBACK, meshed(), plain]
  expect(suggestedLines(suggestionsFor(objects).answer)).toEqual(['team-a/plain PoolOnly runner'])
  expect(suggestedLines(suggestionsFor([...objects, objective()]).answer)).toEqual([
    'team-a/llama-chat PerObjective chat vllm runner',
    'team-a/plain PoolOnly runner',
  ])
})

/** Kuma's proxy with the volume by which its control plane enables SPIRE. */
const KUMA = pod({
  spec: {
    containers: [
      { name: 'vllm' },
      { name: 'kuma-sidecar', volumeMounts: [{ name: 'kuma-spire-agent-socket', mountPath: '/x' }] },
    ],
    volumes: [{ name: 'kuma-spire-agent-socket', csi: { driver: 'csi.spiffe.io' } }],
  },
})

test.each([
  ['PerObjective', [objective()], ['team-a/llama-chat PerObjective chat vllm runner']],
  ['PoolOnly, since it asks for its ID by name', [], ['team-a/llama PoolOnly runner']],
])("Kuma's proxy keeps the ID that it may ask for beside %s", (_, more, lines) => {
  const objects = [NODE, pool(), FALLBACK, KUMA, ...more]
  const { answer } = suggestionsFor(objects)
  expect(suggestedLines(answer)).toEqual(lines)
  const manifests = manifestsOf(answer)
  expect(manifests.map(({ kind }) => kind)).toEqual(['ClusterSPIFFEID', 'InferenceIdentityBinding'])
  const [, alone] = manifests
  expect(alone === undefined ? [] : codesOf([...objects, alone])).toContain('KLM441')
  const codes = codesOf([...objects, ...manifests])
  expect(codes.filter((code) => code === 'KLM440' || code === 'KLM441')).toEqual([])
})

function whyOf(...objects: readonly JsonRecord[]): string {
  return poolOf(...objects)
    .suggested.flatMap(({ why }) => why)
    .join()
}

test('the reason says whether the mesh needs the ID for certain', () => {
  expect(whyOf(objective(), meshed())).toContain('which the mesh needs')
  expect(whyOf(objective(), KUMA)).toContain('which the mesh may need')
})
