// Random estates for the safety properties: several tenants with look-alike pods, and strings that try to break out of a
// selector, a template, a line or a path. Small alphabets, so that objects refer to each other often.
import * as fc from 'fast-check'
import { analyse, type Analysis } from '../../src/core/analysis/states/analysis.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { DEFAULT_VARIANT_LABEL_KEY } from '../../src/core/model/names.ts'
import { CONFIG } from '@kleym/testing/manifests.ts'
import { HANDLES_EVERYTHING } from '@kleym/testing/scm-settings.ts'
import { readSnapshot } from '../../src/core/snapshot/snapshot.ts'

/** What a tenant would write to reach beyond its own pods. */
export const HOSTILE = [
  'vllm:k8s:sa:admin',
  'runner\nk8s:sa:admin',
  '{{ .PodSpec.ServiceAccountName }}',
  '{{ index .PodMeta.Labels "app" }}',
  'k8s:ns:team-b',
  'team-b/../team-a',
  'a/b',
  '..',
  'ｖｌｌｍ',
  'vl\u200blm',
  '\u202evllm',
  'Vllm',
  'vllm ',
  '',
  '__proto__',
  '\u0000',
  'x'.repeat(300),
] as const

// The first of each comes up more often, so that objects refer to each other often; the others are its prefixes and extensions.
const NAMESPACES = ['team-a', 'team-a', 'team-b', 'team'] as const
const ACCOUNTS = ['runner', 'runner', 'runner', 'runner', 'run', 'runner-2'] as const
const CONTAINERS = ['vllm', 'vllm', 'vllm', 'vl', 'vllm-2', 'proxy'] as const
const POOLS = ['llama', 'llama-2'] as const
const VARIANTS = ['prefill', 'prefill', 'decode', 'Prefill'] as const
const LABEL_SETS: readonly JsonRecord[] = [
  { app: 'llama' },
  { app: 'llama', tier: 'gold' },
  { app: 'llama', zone: 'eu' },
  { app: 'llama', tier: 'gold', zone: 'eu' },
  { app: 'llama-2' },
  { 'x.org/app': 'llama' },
]

/** Mostly one of the words, sometimes something hostile. */
function mostly(words: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 24, arbitrary: fc.constantFrom(...words) },
    { weight: 1, arbitrary: fc.constantFrom(...HOSTILE) },
  )
}

const hostileLabels: fc.Arbitrary<JsonRecord> = fc
  .tuple(mostly(['app', 'tier']), fc.constantFrom(...HOSTILE))
  .map(([key, value]) => Object.fromEntries([[key, value]]))
const labels = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom(...LABEL_SETS) },
  { weight: 1, arbitrary: hostileLabels },
)

/** The variant that a pod carries: mostly one, now and then none or something hostile. */
const carried = fc.oneof(
  { weight: 6, arbitrary: mostly(VARIANTS) },
  { weight: 1, arbitrary: fc.constant(undefined) },
)

/** A pool before it is a manifest. */
export interface PoolDraft {
  readonly namespace: string
  readonly name: string
  readonly labels: JsonRecord
}

const poolPlaces = [...new Set(NAMESPACES)].flatMap((namespace) =>
  [...new Set(POOLS)].map((name) => ({ namespace, name })),
)
const poolDrafts: fc.Arbitrary<readonly PoolDraft[]> = fc
  .tuple(
    fc.array(labels, { minLength: poolPlaces.length, maxLength: poolPlaces.length }),
    fc.constantFrom(...HOSTILE),
  )
  .map(([all, hostile]) => [
    ...poolPlaces.map((at, nth) => ({ ...at, labels: all[nth] ?? {} })),
    { namespace: 'team-a', name: hostile, labels: { app: 'llama' } },
  ])

const binding = fc.record({
  namespace: fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom(...NAMESPACES) },
    { weight: 1, arbitrary: fc.constantFrom(...HOSTILE) },
  ),
  name: mostly(['one', 'two', 'three', 'four', 'five']),
  pool: mostly(POOLS),
  objective: fc.constantFrom('a', 'b', '{{ .TrustDomain }}'),
  serviceAccountName: mostly(ACCOUNTS),
  mode: fc.constantFrom(
    'PerObjective',
    'PerObjective',
    'PerObjective',
    'PerVariant',
    'PerVariant',
    'PoolOnly',
  ),
  containerName: mostly(CONTAINERS),
  variant: mostly(VARIANTS),
})
/** A binding before it is a manifest. */
export type BindingDraft = typeof binding extends fc.Arbitrary<infer T> ? T : never

/** A pod before it is a manifest. */
export interface PodDraft {
  readonly namespace: string
  readonly labels: JsonRecord
  /** Undefined: it has no such label. */
  readonly variant: string | undefined
  readonly serviceAccountName: string
  readonly containers: readonly { readonly name: string; readonly role: string }[]
}

const pod: fc.Arbitrary<PodDraft> = fc.record({
  namespace: fc.constantFrom(...NAMESPACES),
  labels: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...LABEL_SETS) },
    { weight: 1, arbitrary: hostileLabels },
  ),
  variant: carried,
  serviceAccountName: mostly(ACCOUNTS),
  containers: fc.uniqueArray(
    fc.record({ name: mostly(CONTAINERS), role: fc.constantFrom('regular', 'init', 'sidecar', 'ephemeral') }),
    { selector: ({ name }) => name, minLength: 1, maxLength: 4 },
  ),
})

/** What the tenants of a cluster have written. */
export interface HostileTenants {
  readonly pools: readonly PoolDraft[]
  readonly bindings: readonly BindingDraft[]
  readonly pods: readonly PodDraft[]
}

const place = ({ namespace, name }: { readonly namespace: string; readonly name: string }): string =>
  `${namespace}/${name}`

/** Two pools in each of three namespaces and one with a hostile name, up to ten bindings, up to ten pods. */
export const hostileTenants: fc.Arbitrary<HostileTenants> = fc.record({
  pools: poolDrafts,
  bindings: fc.uniqueArray(binding, { selector: place, minLength: 4, maxLength: 10 }),
  pods: fc.array(pod, { minLength: 3, maxLength: 10 }),
})

/** One more binding, for clusters that are compared before and after it. */
export const oneMoreBinding: fc.Arbitrary<BindingDraft> = binding.map((draft) => ({
  ...draft,
  name: 'added',
}))

/** The catch-all default that the SPIRE charts install. */
const DEFAULT_ID: JsonRecord = {
  apiVersion: 'spire.spiffe.io/v1alpha1',
  kind: 'ClusterSPIFFEID',
  metadata: { name: 'default', uid: 'uid-of-default', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: {
    spiffeIDTemplate:
      'spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}',
    fallback: true,
  },
}

/** The manifests of these tenants; live ones carry a UID. */
export function manifestsOf({ pools, bindings, pods }: HostileTenants): readonly JsonRecord[] {
  return [
    DEFAULT_ID,
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'uid-of-n1' }, spec: {} },
    ...pools.flatMap(poolManifests),
    ...bindings.map(bindingManifest),
    ...pods.map(podManifest),
  ]
}

/** A pool, and the objectives that lead to it. */
function poolManifests({ namespace, name, labels: matchLabels }: PoolDraft): readonly JsonRecord[] {
  return [
    {
      apiVersion: 'inference.networking.k8s.io/v1',
      kind: 'InferencePool',
      metadata: { name, namespace },
      spec: { selector: { matchLabels } },
    },
    ...['a', 'b', '{{ .TrustDomain }}'].map((objective) => ({
      apiVersion: 'llm-d.ai/v1alpha2',
      kind: 'InferenceObjective',
      metadata: { name: `${name}-${objective}`, namespace },
      spec: { poolRef: { name } },
    })),
  ]
}

function bindingManifest(draft: BindingDraft): JsonRecord {
  const { namespace, name, mode, containerName, variant, serviceAccountName } = draft
  const perObjective = mode === 'PerObjective'
  return {
    apiVersion: 'kleym.sonda.red/v1alpha1',
    kind: 'InferenceIdentityBinding',
    metadata: { name, namespace, uid: `uid-of-${namespace}-${name}` },
    spec: {
      poolRef: { name: draft.pool },
      mode,
      serviceAccountName,
      ...(mode === 'PerVariant' ? { identityBoundary: { variant } } : {}),
      ...(perObjective ? { objectiveRef: { name: `${draft.pool}-${draft.objective}` }, containerName } : {}),
    },
  }
}

function podManifest(
  { namespace, labels: podLabels, variant, serviceAccountName, containers }: PodDraft,
  at: number,
) {
  const of = (role: string, more: JsonRecord = {}): readonly JsonRecord[] =>
    containers.filter((one) => one.role === role).map(({ name }) => ({ name, ...more }))
  const all = variant === undefined ? podLabels : { ...podLabels, [DEFAULT_VARIANT_LABEL_KEY]: variant }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${at}`, namespace, uid: `uid-of-pod-${at}`, labels: all },
    spec: {
      nodeName: 'n1',
      serviceAccountName,
      containers: of('regular'),
      initContainers: [...of('init'), ...of('sidecar', { restartPolicy: 'Always' })],
      ephemeralContainers: of('ephemeral'),
    },
  }
}

/** What the whole core makes of these tenants. */
export function analysisOf(tenants: HostileTenants): Analysis {
  const objects = manifestsOf(tenants).map((value) => ({ value }))
  return analyse(readSnapshot({ objects }), CONFIG, HANDLES_EVERYTHING)
}
