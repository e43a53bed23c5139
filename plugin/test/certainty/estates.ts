// Random estates: objects, and the settings of kleym and SCM. Each is small, and full of what decides: classes, ignored
// namespaces, registrations of others, workloads that carry the labels of a pool.
import * as fc from 'fast-check'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import {
  accessPolicy,
  namers,
  binding,
  deployment,
  namespaceWith,
  NODE,
  objective,
  pod,
  pool,
  registration,
  staticEntry,
} from './manifests.ts'

/** The settings that may be left out. */
export const SETTINGS = ['trust domain', 'class', 'variant label key', 'scm', 'which scm'] as const
/** One of them. */
export type Setting = (typeof SETTINGS)[number]

/** A value for each setting. */
export interface Values {
  readonly 'trust domain': string
  readonly class: string
  readonly 'variant label key': string
  /** The text of a ControllerManagerConfig. */
  readonly scm: string
  /** The text of another one, which stands beside it where nothing says which of them is meant. */
  readonly 'which scm': string
}

/** The objects of an estate. */
export type Estate = readonly JsonRecord[]

const TRUST_DOMAIN = 'example.org'
/** Keys of labels of the pods, and one that no pod has. */
const LABEL_KEYS = ['role', 'tier', 'none'] as const
const CLASSES = ['', 'spire-mgmt-spire', 'other'] as const

const trustDomain = fc.oneof(
  { arbitrary: fc.constant(TRUST_DOMAIN), weight: 5 },
  { arbitrary: fc.constant('other.org'), weight: 1 },
)

const scmConfig: fc.Arbitrary<(className: string) => string> = fc
  .record({
    scmDomain: fc.oneof(
      { arbitrary: fc.constant(TRUST_DOMAIN), weight: 7 },
      { arbitrary: fc.constant('other.org'), weight: 1 },
    ),
    scmClass: fc.constantFrom(undefined, ...CLASSES),
    watchClassless: fc.boolean(),
    ignoreNamespaces: fc.constantFrom(undefined, [], ['team-b'], ['team-.*']),
    labelled: fc.oneof({ arbitrary: fc.constant(false), weight: 6 }, fc.constant(true)),
    filterByClassName: fc.oneof({ arbitrary: fc.constant(false), weight: 4 }, fc.constant(true)),
    reconciles: fc.oneof({ arbitrary: fc.constant(true), weight: 6 }, fc.constant(false)),
    rendersOnce: fc.boolean(),
    cached: fc.oneof({ arbitrary: fc.constant(false), weight: 6 }, fc.constant(true)),
  })
  // A class of the same name as kleym's makes a world in which anything is issued at all.
  .map((one) => (kleymClass) => {
    const className = one.scmClass ?? kleymClass
    return JSON.stringify({
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ControllerManagerConfig',
      trustDomain: one.scmDomain,
      clusterName: 'prod',
      className,
      watchClassless: one.watchClassless,
      ...(one.ignoreNamespaces !== undefined && { ignoreNamespaces: one.ignoreNamespaces }),
      ...(one.labelled && { clusterSPIFFEIDLabelSelector: { tier: 'prod' } }),
      ...(one.filterByClassName && className !== '' && { filterByClassName: true }),
      ...(one.rendersOnce && { enableEntryRenderCache: true }),
      ...(one.cached && { cacheNamespaces: { 'team-a': {} } }),
      ...(!one.reconciles && { reconcile: { clusterStaticEntries: true } }),
    })
  })

/** Any values that a sound install could have; mostly ones that go together. */
export const values: fc.Arbitrary<Values> = fc
  .record({
    trustDomain,
    class: fc.constantFrom(...CLASSES),
    labelKey: fc.constantFrom(...LABEL_KEYS),
    scm: scmConfig,
    beside: scmConfig,
  })
  .map((one) => ({
    'trust domain': one.trustDomain,
    class: one.class,
    'variant label key': one.labelKey,
    scm: one.scm(one.class),
    'which scm': one.beside(one.class),
  }))

const IDS = [
  'spiffe://example.org/ns/team-a/objective/chat',
  'spiffe://{{ .TrustDomain }}/ns/team-a/objective/chat',
  'spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}',
  'spiffe://other.org/ns/team-a/pool/llama',
  'spiffe://{{ .TrustDomain }}/ns/team-a/pool/llama',
  // With its render cache SCM drops the first, and mixes up the others.
  'spiffe://{{ .TrustDomain }}/ns/team-a/objective/{{ slice "chat" 0 }}',
  '{{ define "who" }}chat{{ end }}spiffe://{{ .TrustDomain }}/ns/team-a/objective/{{ template "who" }}',
  '{{ define "who" }}rest{{ end }}spiffe://{{ .TrustDomain }}/ns/team-a/objective/{{ template "who" }}',
] as const

/** Registrations of others: of any class, some of them fallbacks, some of which SCM or the server cannot take. */
const foreign = fc
  .record({
    id: fc.constantFrom(...IDS),
    className: fc.constantFrom(...CLASSES),
    fallback: fc.boolean(),
    hint: fc.constantFrom('', 'team-a/chat'),
    app: fc.constantFrom(undefined, 'llama', 'thief'),
    env: fc.oneof({ arbitrary: fc.constant(undefined), weight: 3 }, fc.constantFrom('prod', 'dev')),
    ttl: fc.oneof({ arbitrary: fc.constant(undefined), weight: 8 }, fc.constantFrom('1d', '-5s', '1h')),
    selectors: fc.oneof(
      { arbitrary: fc.constant<string[]>([]), weight: 6 },
      fc.constantFrom(['k8s:ns:team-b'], ['k8s:ns:team-a', 'k8s:sa:runner'], ['k8s:x:{{ slice "é" 0 1 }}']),
    ),
    labelled: fc.boolean(),
  })
  .map((one) => (name: string) => registration(name, one))

const staticEntries = fc
  .record({ className: fc.constantFrom(...CLASSES), namespace: fc.constantFrom('team-a', 'team-b') })
  .map(({ className, namespace }) => staticEntry(className, namespace))

const bindings = fc.subarray(
  [
    binding('chat', { objectiveRef: { name: 'chat' }, containerName: 'vllm' }),
    binding('sidecar', { objectiveRef: { name: 'chat' }, containerName: 'proxy' }),
    binding('whole', { mode: 'PoolOnly' }),
    binding('batch', { objectiveRef: { name: 'batch' }, containerName: 'vllm' }),
    binding('nowhere', { objectiveRef: { name: 'chat' }, containerName: 'nope' }),
    binding('gone', { mode: 'PoolOnly', poolRef: { name: 'gone' } }),
  ],
  { minLength: 0, maxLength: 3 },
)

const variants = fc.subarray([
  binding('prefill', { mode: 'PerVariant', identityBoundary: { variant: 'prefill' } }),
  binding('decode', { mode: 'PerVariant', identityBoundary: { variant: 'decode' } }),
])

const pods = fc.subarray([
  pod('team-a', 'llama-0', 'llama', ['vllm', 'proxy'], { role: 'prefill', tier: 'decode' }),
  pod('team-a', 'llama-1', 'llama', ['vllm'], { role: 'decode' }),
  pod('team-a', 'other-0', 'other', ['main']),
  pod('team-b', 'thief', 'thief', ['main']),
  pod('team-b', 'llama-0', 'llama', ['vllm']),
  pod('kube-system', 'thief', 'thief', ['main']),
])

const workloads = fc.subarray([
  deployment('team-a', 'server', 'llama', ['vllm', 'proxy']),
  deployment('team-a', 'web', 'other', ['main']),
  deployment('team-b', 'thief', 'thief', ['main']),
])

/** The namespaces of an estate and its node: most of them are there. */
const surroundings = fc
  .record({
    env: fc.array(fc.constantFrom('prod', 'dev'), { minLength: 3, maxLength: 3 }),
    isThere: fc.array(fc.oneof({ arbitrary: fc.constant(true), weight: 5 }, fc.constant(false)), {
      minLength: 4,
      maxLength: 4,
    }),
  })
  .map(({ env, isThere }) =>
    [...NAMESPACES.map((name, at) => namespaceWith(name, env[at] ?? '')), NODE].filter(
      (_object, at) => isThere[at] === true,
    ),
  )

const NAMESPACES = ['team-a', 'team-b', 'kube-system']

/** Registrations that clash with nothing by themselves. */
const harmless = fc
  .record({
    id: fc.constantFrom(...IDS.slice(0, 3)),
    className: fc.constantFrom('', 'spire-mgmt-spire'),
    fallback: fc.boolean(),
    app: fc.constantFrom(undefined, 'llama', 'thief'),
  })
  .map((one) => (name: string) => registration(name, { ...QUIET, ...one }))

const QUIET = { hint: '', env: 'prod', ttl: undefined, selectors: [], labelled: false } as const

const quiet = fc.record({
  bindings: fc.constant([binding('chat', { objectiveRef: { name: 'chat' }, containerName: 'vllm' })]),
  variants: fc.constant<JsonRecord[]>([]),
  pods,
  workloads,
  foreign: fc.array(harmless, { maxLength: 2 }),
  entry: fc.option(staticEntries),
  surroundings,
})

/** Estates, most of them such that little is wrong with them. */
export const estates: fc.Arbitrary<Estate> = fc
  .oneof(
    { arbitrary: quiet, weight: 3 },
    {
      arbitrary: fc.record({
        bindings,
        variants,
        pods,
        workloads,
        foreign: fc.array(foreign, { maxLength: 3 }),
        entry: fc.option(staticEntries),
        surroundings,
      }),
      weight: 2,
    },
  )
  .map((one) => [
    pool('llama'),
    objective('chat'),
    objective('batch'),
    accessPolicy(),
    ...namers(),
    ...one.bindings,
    ...one.variants,
    ...one.pods,
    ...one.workloads,
    ...one.foreign.map((make, at) => make(`foreign-${at}`)),
    ...(one.entry === null ? [] : [one.entry]),
    ...one.surroundings,
  ])

const THIEF = { ...QUIET, id: IDS[0], className: '', fallback: false, app: 'thief', env: undefined } as const

/** What else may stand in a shell, as far as its reach goes: what takes, gives away, masks or doubles an identity. */
export const ADVERSARIES: readonly JsonRecord[] = [
  registration('adversary-thief', THIEF),
  registration('adversary-any', { ...THIEF, app: undefined, id: IDS[2] }),
  registration('adversary-fallback', { ...THIEF, app: undefined, fallback: true, id: IDS[2] }),
  registration('adversary-idle', { ...THIEF, app: 'nobody' }),
  staticEntry('', 'team-b'),
  pod('team-a', 'adversary-llama', 'llama', ['vllm', 'proxy'], { role: 'prefill' }),
  pod('team-b', 'adversary-thief', 'thief', ['main']),
  pod('team-b', 'adversary-llama', 'llama', ['vllm']),
  pod('team-a', 'adversary-idle', 'nobody', ['main']),
  deployment('team-a', 'adversary-llama', 'llama', ['vllm']),
  deployment('team-b', 'adversary-thief', 'thief', ['main']),
  { ...pool('adversary-pool'), spec: { selector: { matchLabels: { app: 'llama' } } } },
  pool('gone'),
  objective('adversary-objective'),
  binding('adversary-twin', { objectiveRef: { name: 'chat' }, containerName: 'vllm' }),
  binding('adversary-whole', { mode: 'PoolOnly' }),
]

/** An estate in which one binding is ready, nothing is wrong, and nobody else registers anything. */
export const CALM_ALONE: Estate = [
  pool('llama'),
  objective('chat'),
  binding('chat', { objectiveRef: { name: 'chat' }, containerName: 'vllm' }),
  pod('team-a', 'llama-0', 'llama', ['vllm']),
  ...NAMESPACES.map((name) => namespaceWith(name, 'dev')),
  NODE,
]

/** The same with a registration of others. */
export const CALM: Estate = [...CALM_ALONE, registration('of-thieves', { ...THIEF, env: undefined })]

/** Registrations that SCM acts on under `ALL_GIVEN`, each for the namespaces of a label. */
const byNamespace = fc
  .record({
    id: fc.constantFrom(...IDS.slice(0, 3)),
    fallback: fc.boolean(),
    app: fc.constantFrom(undefined, 'llama', 'thief'),
    env: fc.constantFrom('prod', 'dev'),
  })
  .map((one) => (name: string) => registration(name, { ...QUIET, className: '', ...one }))

/** Estates in which it depends on Namespaces, and on the key of variants, what pods get. */
export const estatesOfDetails: fc.Arbitrary<Estate> = fc
  .record({
    variants,
    foreign: fc.array(byNamespace, { minLength: 1, maxLength: 2 }),
    env: fc.array(fc.constantFrom('prod', 'dev'), { minLength: 3, maxLength: 3 }),
  })
  .map(({ foreign: made, env, ...one }) => [
    pool('llama'),
    objective('chat'),
    accessPolicy(),
    ...namers(),
    binding('chat', { objectiveRef: { name: 'chat' }, containerName: 'vllm' }),
    ...one.variants,
    pod('team-a', 'llama-0', 'llama', ['vllm', 'proxy'], { role: 'prefill' }),
    pod('team-b', 'thief', 'thief', ['main']),
    ...made.map((make, at) => make(`foreign-${at}`)),
    ...NAMESPACES.map((name, at) => namespaceWith(name, env[at] ?? '')),
    NODE,
  ])

/** Deployments that stand in a shell: of the pool, of a thief, and of nobody. */
export const DEPLOYMENTS = [
  deployment('team-a', 'server', 'llama', ['vllm']),
  deployment('team-b', 'thief', 'thief', ['main']),
  deployment('team-b', 'idle', 'nobody', ['main']),
  deployment('team-a', 'idle', 'nobody', ['main']),
] as const

/** Every setting, so that no answer rests on one that is assumed. */
export const ALL_GIVEN: Values = {
  'trust domain': TRUST_DOMAIN,
  class: '',
  'variant label key': 'role',
  scm: JSON.stringify({
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ControllerManagerConfig',
    trustDomain: TRUST_DOMAIN,
    clusterName: 'prod',
    watchClassless: true,
    ignoreNamespaces: [],
  }),
  'which scm': JSON.stringify({
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ControllerManagerConfig',
    trustDomain: TRUST_DOMAIN,
    clusterName: 'prod',
    watchClassless: true,
    ignoreNamespaces: [],
  }),
}
