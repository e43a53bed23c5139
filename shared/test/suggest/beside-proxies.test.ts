// What is suggested where a mesh's proxy takes its certificates from SPIRE, beside the default identity of the SPIRE chart.
import { describe, expect, test } from 'vitest'
import { binding, objective, perVariant, pool, poolOnly } from '@kleym/testing/manifests.ts'
import { foreign, pod } from '@kleym/testing/access-policies.ts'
import { analysisOf } from '@kleym/testing/random-tenants.ts'
import { type JsonRecord, stringAt } from '../../src/core/base/json.ts'
import { manifestsBefore } from '../../src/core/answers/suggest/candidate.ts'
import { findingsOf } from '@kleym/testing/at-once.ts'
import { unchanged } from '../../src/core/analysis/states/analysis.ts'
import { containerVerdicts, isHeld } from '../../src/core/predict/spire/registration.ts'
import type { PoolSuggestions } from '../../src/core/answers/suggest/suggest.ts'
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
const SOCKET = { name: 'socket', csi: { driver: 'csi.spiffe.io', readOnly: true } }

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
    manifestsBefore(candidate).map((one) => `${key} ${stringAt(one, 'metadata', 'name') ?? ''}`),
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

test('roles of a pool get PerObjective where their proxies cannot use the identity of a variant', () => {
  const key = 'identity.kleym.sonda.red/variant'
  const roles = ['decode', 'prefill'].map((role) => {
    const one = meshed(role)
    return { ...one, metadata: { ...Object(one['metadata']), labels: { app: 'llama', [key]: role } } }
  })
  const { answer } = suggestionsFor([NODE, pool(), FALLBACK, objective(), ...roles])
  expect(suggestedLines(answer)).toEqual(['team-a/llama-chat PerObjective chat vllm runner'])
  expect(manifestsOf(answer).map(({ kind }) => kind)).toEqual(['ClusterSPIFFEID', 'InferenceIdentityBinding'])
  expect(notOf(poolOf(objective(), ...roles))).toEqual([
    expect.stringMatching(/^impossible PerVariant decode, PerVariant prefill KLM440/),
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
  const tried = found.not.flatMap((one) => one.tried).flatMap(manifestsBefore)
  expect(tried.map((one) => stringAt(one, 'metadata', 'name'))).toEqual(['team-a.llama.istio-proxy'])
})

test('a binding of another pool that stays on the pod is not left out of what the proxy gets', () => {
  const objects = [pool(), pool({ name: 'all' }), FALLBACK, objective(), meshed(), poolOnly()]
  const whyNot = (...more: readonly JsonRecord[]): string =>
    suggestionsFor([NODE, ...objects, ...more])
      .answer.pools.flatMap((one) => notOf(one))
      .find((one) => one.includes('in the place of team-a/llama')) ?? ''
  expect(whyNot()).toContain('and the proxy has the ID that its mesh accepts')
  expect(whyNot(poolOnly({ name: 'all', spec: { poolRef: { name: 'all' } } }))).toContain(
    'and the proxy may still get another ID that its mesh does not accept',
  )
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
    /^apply ClusterSPIFFEID\/team-a\.llama\.istio-proxy, then delete team-a\/prefill, then edit team-a\/decode to this boundary/,
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
    volumes: [{ name: 'kuma-spire-agent-socket', csi: { driver: 'csi.spiffe.io', readOnly: true } }],
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

/** A second fallback, of another ID. */
const TIER = foreign('tier', { spiffeIDTemplate: 'spiffe://example.org/tier', fallback: true })

/** What containers hold, once all that is suggested is applied: `container ID ID`. */
function heldAfter(...objects: readonly JsonRecord[]): readonly string[] {
  const { answer } = suggestionsFor([NODE, pool(), ...objects])
  const { settled, podsInQuestion } = analysisOf([NODE, pool(), ...objects, ...manifestsOf(answer)])
  return podsInQuestion.flatMap((one) =>
    one.containers.map((container) => {
      const held = containerVerdicts(settled.prediction(), one, container).filter(isHeld)
      return [container.name, ...new Set(held.map(({ spiffeId }) => spiffeId ?? ''))].join(' ')
    }),
  )
}

test('a proxy keeps all that it has by fallbacks', () => {
  expect(heldAfter(FALLBACK, TIER, objective(), meshed())).toEqual([
    'vllm spiffe://example.org/ns/team-a/objective/chat',
    'istio-proxy spiffe://example.org/ns/team-a/sa/runner spiffe://example.org/tier',
  ])
})

test('a registration for a proxy has all that the fallback has, and selects the pods that both select', () => {
  const rich = foreign('default', {
    spiffeIDTemplate: ACCOUNT,
    fallback: true,
    ttl: '10m',
    jwtTtl: '5m',
    hint: 'default',
    dnsNameTemplates: ['{{ .PodMeta.Name }}.example'],
    autoPopulateDNSNames: true,
    federatesWith: ['other.org'],
    podSelector: {
      matchLabels: { zone: 'eu' },
      matchExpressions: [{ key: 'old', operator: 'DoesNotExist' }],
    },
  })
  const eu = meshed('llama-0')
  const labelled = { ...eu, metadata: { ...Object(eu['metadata']), labels: { app: 'llama', zone: 'eu' } } }
  const [companion] = manifestsOf(suggestionsFor([NODE, pool(), rich, objective(), labelled]).answer)
  expect(companion?.['spec']).toEqual({
    ...Object(rich['spec']),
    fallback: undefined,
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'team-a' } },
    podSelector: {
      matchLabels: { zone: 'eu', app: 'llama' },
      matchExpressions: [{ key: 'old', operator: 'DoesNotExist' }],
    },
    workloadSelectorTemplates: ['k8s:container-name:istio-proxy', 'k8s:pod-label:app:llama'],
  })
})

test('a fallback that is for proxies alone is kept by a registration with each selector once', () => {
  const ofProxies = foreign('default', {
    spiffeIDTemplate: ACCOUNT,
    fallback: true,
    workloadSelectorTemplates: ['k8s:container-name:istio-proxy'],
  })
  expect(heldAfter(ofProxies, objective(), meshed())).toEqual([
    'vllm spiffe://example.org/ns/team-a/objective/chat',
    'istio-proxy spiffe://example.org/ns/team-a/sa/runner',
  ])
})

test('the proxies of two service accounts share one registration beside a binding for each account', () => {
  const objects = [objective(), meshed(), meshed('other-0', { serviceAccountName: 'other' })]
  const { answer } = suggestionsFor([NODE, pool(), FALLBACK, ...objects])
  expect(manifestsOf(answer).map((one) => stringAt(one, 'metadata', 'name'))).toEqual([
    'team-a.llama.istio-proxy',
    'llama-chat-other',
    'llama-chat-runner',
  ])
  expect(heldAfter(FALLBACK, ...objects).filter((one) => one.startsWith('istio-proxy'))).toEqual([
    'istio-proxy spiffe://example.org/ns/team-a/sa/runner',
    'istio-proxy spiffe://example.org/ns/team-a/sa/other',
  ])
})

test('two pools that select one pod, each with a registration for its proxy', () => {
  const both = pool({ name: 'all', labels: { tier: 'x' } })
  const one = meshed()
  const shared = { ...one, metadata: { ...Object(one['metadata']), labels: { app: 'llama', tier: 'x' } } }
  const objects = [both, objective(), objective({ name: 'all', poolRef: { name: 'all' } }), shared]
  const { answer } = suggestionsFor([NODE, pool(), FALLBACK, ...objects])
  expect(suggestedLines(answer)).toEqual([
    'team-a/all PerObjective all vllm runner',
    'team-a/llama-chat PerObjective chat vllm runner',
  ])
  expect(answer.effect.findings.added.map(({ code }) => code)).not.toContain('KLM403')
})

test('of two bindings that cannot stand together none is called impossible, and nothing is named that is not there', () => {
  const both = pool({ name: 'all' })
  const { answer } = suggestionsFor([
    NODE,
    pool(),
    both,
    FALLBACK,
    objective(),
    objective({ name: 'all', poolRef: { name: 'all' } }),
    meshed(),
  ])
  const [first] = answer.pools
  expect(first === undefined ? [] : notOf(first)).toEqual([
    'open PerObjective all for container vllm IdentityCollision: not both this and PerObjective chat for container vllm of InferencePool team-a/llama: PerObjective bindings must not share the same pod selector and container name',
    expect.stringMatching(/^impossible PoolOnly KLM440/),
  ])
  expect(first?.not[0]?.fix).toBe('ask for one pool alone: kubectl kleym suggest pool/team-a/all')
  const { answer: alone } = suggestionsFor(
    [
      NODE,
      pool(),
      both,
      FALLBACK,
      objective(),
      objective({ name: 'all', poolRef: { name: 'all' } }),
      meshed(),
    ],
    { isPool: ({ meta }) => meta.name === 'all' },
  )
  expect(suggestedLines(alone)).toEqual(['team-a/all PerObjective all vllm runner'])
})

/** What is advised about bindings that give a proxy an ID which it cannot use. */
function fixOf(...objects: readonly JsonRecord[]): string | undefined {
  const nots = suggestionsFor([NODE, ...objects]).answer.pools.flatMap(({ not }) => not)
  return nots.find(({ reason }) => reason === 'KLM440')?.fix
}

describe('to delete a binding is the way only if the proxy then holds its ID', () => {
  const OTHER = poolOnly({ name: 'other', spec: { serviceAccountName: 'other' } })
  test('because the fallback comes back', () => {
    expect(fixOf(pool(), FALLBACK, meshed(), poolOnly())).toBe(
      'delete team-a/llama: the proxy then holds the ID of its service account, or add an InferenceObjective for the pool and ask again',
    )
  })

  test('all bindings of the pool, since each of them displaces the fallback', () => {
    const two = meshed('other-0', { serviceAccountName: 'other' })
    expect(fixOf(pool(), FALLBACK, meshed(), two, poolOnly(), OTHER)).toMatch(
      /^delete team-a\/llama and team-a\/other: /,
    )
  })

  test('not where something else displaces the fallback', () => {
    const team = foreign('team', {
      spiffeIDTemplate: 'spiffe://example.org/team',
      workloadSelectorTemplates: ['k8s:container-name:vllm'],
    })
    expect(fixOf(pool(), FALLBACK, meshed(), poolOnly(), team)).toBe(
      'add an InferenceObjective for the pool and ask again',
    )
  })

  test('beside what is suggested for another pool of the same pod', () => {
    const objects = [
      pool(),
      pool({ name: 'all' }),
      FALLBACK,
      objective({ poolRef: { name: 'all' } }),
      meshed(),
      poolOnly(),
    ]
    expect(fixOf(...objects)).toMatch(/^delete team-a\/llama: the proxy then holds/)
    const { answer } = suggestionsFor([NODE, ...objects])
    const applied = [
      ...objects.filter((one) => one['kind'] !== 'InferenceIdentityBinding'),
      ...manifestsOf(answer),
    ]
    const { settled, podsInQuestion } = analysisOf([NODE, ...applied])
    const held = podsInQuestion.flatMap((one) =>
      one.containers.flatMap((container) =>
        container.name === 'istio-proxy'
          ? containerVerdicts(settled.prediction(), one, container).filter(isHeld)
          : [],
      ),
    )
    expect(held.map(({ spiffeId }) => spiffeId)).toEqual(['spiffe://example.org/ns/team-a/sa/runner'])
  })
})

test('a static entry that certainly gives the proxy its ID needs no registration beside it', () => {
  const entry: JsonRecord = {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterStaticEntry',
    metadata: { name: 'proxies' },
    spec: {
      spiffeID: 'spiffe://example.org/ns/team-a/sa/runner',
      parentID: 'spiffe://example.org/spire/agent/k8s_psat/prod/uid-of-n1',
      selectors: ['k8s:ns:team-a', 'k8s:container-name:istio-proxy'],
    },
  }
  const placed = meshed('llama-0', { nodeName: 'n1' })
  const { answer } = suggestionsFor([NODE, pool(), FALLBACK, objective(), placed, entry])
  expect(manifestsOf(answer).map(({ kind }) => kind)).toEqual(['InferenceIdentityBinding'])
  expect(namesOf(poolOf(objective(), placed, entry, binding()))).toEqual([])
})
