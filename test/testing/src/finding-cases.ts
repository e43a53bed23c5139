// Every finding code: the smallest cluster that shows it, and the nearest one that does not. The tests of the rules run on these,
// and the pages of the codes show what differs between the two.
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { DEFAULT_VARIANT_LABEL_KEY } from '@kleym/shared/core/model/names.ts'
import type { FindingCode } from '@kleym/shared/core/findings/registry/findings.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import {
  binding,
  estate,
  K8S_GROUP,
  live,
  objective,
  orphanOf,
  outputOf,
  perVariant,
  pool,
  poolOnly,
  X_GROUP,
} from './manifests.ts'
import { account, CHAT_ID, policy, policyOf, spiffe } from './access-policies.ts'

/** What a cluster is set to. */
export interface FindingSetting {
  /** SCM's configuration; null where it is assumed. */
  readonly scm?: JsonRecord | null
  readonly className?: string
  readonly gaps?: Readonly<Record<string, UnknownReason>>
  /** The objects are not applied yet. */
  readonly manifests?: true
}

/** The configuration of SCM in every case, unless the case says otherwise. */
export const CASE_SCM: JsonRecord = {
  trustDomain: 'example.org',
  clusterName: 'prod',
  watchClassless: true,
  ignoreNamespaces: [],
}

/** A running pod `team-a/llama-0` of the pool, with containers `vllm` and `proxy`. */
export function pod(
  parts: { labels?: JsonRecord; spec?: JsonRecord; metadata?: JsonRecord } = {},
): JsonRecord {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'llama-0',
      namespace: 'team-a',
      uid: 'uid-of-llama-0',
      labels: parts.labels ?? { app: 'llama' },
      ...parts.metadata,
    },
    spec: {
      nodeName: 'n1',
      serviceAccountName: 'runner',
      containers: [{ name: 'vllm' }, { name: 'proxy' }],
      ...parts.spec,
    },
  }
}

const NODE: JsonRecord = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'uid-of-n1' } }
const ID = 'spiffe://example.org/foreign/{{ .PodMeta.Name }}'

/** A ClusterSPIFFEID that is not kleym's; it selects every pod unless `spec` says otherwise. */
export function foreign(name: string, spec: JsonRecord = {}): JsonRecord {
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name, uid: `uid-of-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { spiffeIDTemplate: ID, ...spec },
  }
}

/** A default identity, as the chart of SPIRE has one. */
export const DEFAULT = foreign('default', { fallback: true })
const OUTPUT = outputOf(estate(binding()))
const LABELS = { app: 'llama', tier: 'gold' }
const AMBIENT = { app: 'llama', 'istio.io/dataplane-mode': 'ambient' }

/** Objects beside the pool and objective of `binding()`. */
export const world = (...more: readonly JsonRecord[]): readonly JsonRecord[] => estate(NODE, ...more)
const second = (spec: JsonRecord, name = 'second'): JsonRecord => binding({ name, spec })
const otherPool = (labels: Readonly<Record<string, string>>): readonly JsonRecord[] => [
  pool({ name: 'other', labels }),
  objective({ name: 'sql', poolRef: { name: 'other' } }),
]
const ofOther = (spec: JsonRecord = {}): JsonRecord =>
  second({ poolRef: { name: 'other' }, objectiveRef: { name: 'sql' }, ...spec })

/** A pod of another namespace with the same labels, and a foreign registration that gives it the binding's ID. */
const LOOKALIKE = pod({ metadata: { namespace: 'team-b', uid: 'uid-of-the-lookalike' } })
const thief = (spec: JsonRecord): JsonRecord =>
  foreign('thief', {
    spiffeIDTemplate: 'spiffe://example.org/ns/team-a/objective/chat',
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'team-b' } },
    ...spec,
  })

/** A pool, its objective and a binding of a second team. */
const OF_ANOTHER_TEAM: readonly JsonRecord[] = [
  pool({ namespace: 'team-b' }),
  objective({ namespace: 'team-b' }),
  binding({ namespace: 'team-b' }),
]

/** A policy of Istio with one principal. */
const istioPolicy = (principal: string): JsonRecord => ({
  apiVersion: 'security.istio.io/v1',
  kind: 'AuthorizationPolicy',
  metadata: { name: 'callers', namespace: 'team-a', uid: 'uid-of-callers' },
  spec: { rules: [{ from: [{ source: { principals: [principal] } }] }] },
})

/** A ConfigMap that holds an ID among other text. */
const mentioning = (id: string): JsonRecord => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'clients', namespace: 'team-a', uid: 'uid-of-clients' },
  data: { 'clients.yaml': `expected: "${id}"\n` },
})

const ROLE = DEFAULT_VARIANT_LABEL_KEY
const PREFILL = { app: 'llama', [ROLE]: 'prefill' }
/** What only the API server sets. */
const LIVE = { creationTimestamp: '2026-01-01T00:00:00Z' }

const SOCKET = 'spiffe-workload-api'
const MOUNT = { name: SOCKET, mountPath: '/spiffe-workload-api', readOnly: true }

/** A pod whose Istio proxy takes its certificates from SPIRE. */
export const MESHED = pod({
  spec: {
    containers: [
      { name: 'vllm' },
      {
        name: 'istio-proxy',
        volumeMounts: [{ name: 'workload-socket', mountPath: '/run/secrets/workload-spiffe-uds' }],
      },
    ],
    volumes: [{ name: 'workload-socket', csi: { driver: 'csi.spiffe.io', readOnly: true } }],
  },
})

/** The ID that the chart of SPIRE gives every pod. */
const OF_ACCOUNT =
  'spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}'
/** The fallback of the chart of SPIRE. */
export const CHART_DEFAULT = foreign('default', { fallback: true, spiffeIDTemplate: OF_ACCOUNT })

/** What registers such a proxy, and it alone, with the ID that Istio accepts. */
export const PROXYS_OWN = foreign('istio-proxies', {
  spiffeIDTemplate: OF_ACCOUNT,
  podSelector: { matchLabels: { app: 'llama' } },
  workloadSelectorTemplates: ['k8s:container-name:istio-proxy'],
})

/** A pod with a volume of SPIFFE's CSI driver, mounted in `vllm`; with an init container that fetches an SVID, or does not. */
function podWith({
  volumeMounts = [MOUNT],
  init,
}: {
  volumeMounts?: readonly JsonRecord[]
  init?: 'fetch' | 'other'
}): JsonRecord {
  const command =
    init === 'fetch'
      ? ['/opt/spire/bin/spire-agent', 'api', 'fetch', 'x509', '-write', '/certs']
      : ['download-model']
  return pod({
    spec: {
      containers: [{ name: 'vllm', volumeMounts }],
      ...(init !== undefined && { initContainers: [{ name: 'prepare', command, volumeMounts: [MOUNT] }] }),
      volumes: [{ name: SOCKET, csi: { driver: 'csi.spiffe.io', readOnly: true } }],
    },
  })
}

/** A Deployment of pods like `pod()`. */
function deployment(labels: JsonRecord): JsonRecord {
  const containers = [{ name: 'vllm' }, { name: 'proxy' }]
  const template = { metadata: { labels }, spec: { serviceAccountName: 'runner', containers } }
  const spec = { selector: { matchLabels: labels }, template }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'llama', namespace: 'team-a' }, spec }
}

const MANIFESTS: FindingSetting = { manifests: true }

/** One code, with a cluster that shows it and one that does not. */
export interface FindingCase {
  readonly code: FindingCode
  readonly shows: readonly JsonRecord[]
  readonly not: readonly JsonRecord[]
  readonly setting?: FindingSetting
  /** The setting of the near miss, where that is what differs. */
  readonly settingNot?: FindingSetting
}

/** The cases, one for each code that objects alone can show. */
export const FINDING_CASES: readonly FindingCase[] = [
  {
    code: 'KLM101',
    shows: world(binding({ spec: { poolRef: { name: 'Llama' } } })),
    not: world(binding()),
  },
  { code: 'KLM102', shows: [objective(), binding()], not: [pool(), objective(), binding()] },
  {
    code: 'KLM103',
    shows: world(pool({ group: X_GROUP, labels: { app: 'x' } }), binding()),
    not: world(pool({ group: X_GROUP }), binding()),
  },
  {
    code: 'KLM105',
    shows: [pool(), objective({ poolRef: { name: 'other' } }), binding()],
    not: [pool(), objective(), binding()],
  },
  { code: 'KLM106', shows: [pool(), binding()], not: [pool(), objective(), binding()] },
  {
    code: 'KLM110',
    shows: world(
      pool({ group: X_GROUP, labels: { app: 'x' } }),
      binding({ spec: { poolRef: { name: 'llama', group: K8S_GROUP } } }),
    ),
    not: world(pool({ group: X_GROUP }), binding({ spec: { poolRef: { name: 'llama', group: K8S_GROUP } } })),
  },
  {
    code: 'KLM111',
    shows: [pool(), objective({ group: X_GROUP }), objective({ name: 'sql' }), binding()],
    not: [pool(), objective({ group: X_GROUP }), binding()],
  },
  {
    code: 'KLM201',
    shows: [
      pool({
        spec: { selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['llama'] }] } },
      }),
      objective(),
      binding(),
    ],
    not: [pool(), objective(), binding()],
  },
  {
    code: 'KLM202',
    shows: [pool({ labels: { app: '' } }), objective(), binding()],
    not: [pool({ labels: { app: 'x' } }), objective(), binding()],
  },
  {
    code: 'KLM203',
    shows: world(perVariant({ spec: { identityBoundary: undefined } })),
    not: world(perVariant()),
  },
  {
    code: 'KLM301',
    shows: world(...otherPool(LABELS), binding(), ofOther()),
    not: world(...otherPool(LABELS), binding(), ofOther({ containerName: 'proxy' })),
  },
  {
    code: 'KLM302',
    shows: world(...otherPool({ tier: 'gold' }), binding(), ofOther()),
    not: world(...otherPool({ app: 'llama-2', tier: 'gold' }), binding(), ofOther()),
  },
  {
    code: 'KLM303',
    shows: world(pod(), binding(), poolOnly({ name: 'second' })),
    not: world(pod(), binding(), second({ objectiveRef: { name: 'chat' }, containerName: 'proxy' })),
  },
  {
    code: 'KLM304',
    shows: world(binding(), second({ containerName: 'proxy' })),
    not: world(
      objective({ name: 'sql' }),
      binding(),
      second({ containerName: 'proxy', objectiveRef: { name: 'sql' } }),
    ),
  },
  {
    code: 'KLM305',
    shows: world(pod(), binding(), foreign('mesh')),
    not: world(pod(), binding(), foreign('mesh', { podSelector: { matchLabels: { app: 'x' } } })),
  },
  {
    code: 'KLM306',
    shows: world(pod({ labels: LABELS }), ...otherPool({ tier: 'gold' })),
    not: world(pod(), ...otherPool({ tier: 'gold' })),
  },
  {
    code: 'KLM307',
    shows: world(pod(), binding(), foreign('mesh', { hint: 'team-a/llama' })),
    not: world(pod(), binding(), foreign('mesh', { hint: 'team-a/llama-2' })),
  },
  {
    code: 'KLM308',
    shows: world(pod(), LOOKALIKE, binding(), thief({})),
    // Its selectors let it reach no container there.
    not: world(pod(), LOOKALIKE, binding(), thief({ workloadSelectorTemplates: ['k8s:ns:team-a'] })),
  },
  {
    code: 'KLM310',
    shows: world(pod(), foreign('nested', { downstream: true })),
    not: world(pod(), foreign('nested')),
  },
  {
    code: 'KLM311',
    shows: world(
      pod(),
      binding(),
      thief({ namespaceSelector: undefined, podSelector: { matchLabels: { app: 'x' } } }),
    ),
    not: world(
      pod(),
      binding(),
      thief({ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'team-a' } } }),
    ),
  },
  {
    code: 'KLM401',
    shows: world(binding()),
    not: world(binding()),
    setting: { scm: { className: 'spire', watchClassless: false } },
    settingNot: { scm: { className: 'spire' } },
  },
  {
    code: 'KLM402',
    shows: world(pod(), DEFAULT, binding()),
    not: world(pod(), DEFAULT, poolOnly()),
  },
  {
    code: 'KLM403',
    shows: world(pod(), foreign('one'), foreign('two')),
    not: world(pod(), foreign('one'), foreign('two', { spiffeIDTemplate: `${ID}/two` })),
  },
  {
    code: 'KLM404',
    shows: world(pod({ spec: { serviceAccountName: 'default' } }), binding()),
    not: world(pod(), binding()),
  },
  {
    code: 'KLM405',
    shows: world(pod(), foreign('doubled', { workloadSelectorTemplates: ['k8s:sa:a', 'k8s:sa:a'] })),
    not: world(pod(), foreign('doubled', { workloadSelectorTemplates: ['k8s:sa:a', 'k8s:sa:b'] })),
  },
  { code: 'KLM406', shows: [foreign('reports', { ttl: '1d' })], not: [foreign('reports', { ttl: '24h' })] },
  {
    code: 'KLM407',
    shows: world(pod(), foreign('cut', { dnsNameTemplates: ['{{ slice "é" 0 1 }}'] })),
    not: world(pod(), foreign('cut', { dnsNameTemplates: ['{{ slice "eé" 0 1 }}'] })),
  },
  {
    code: 'KLM408',
    shows: world(pod(), foreign('broken', { spiffeIDTemplate: '{{ .PodMeta.Nam }}' })),
    not: world(pod(), foreign('fine')),
  },
  {
    code: 'KLM409',
    shows: world(binding()),
    not: world(binding()),
    setting: { scm: { ignoreNamespaces: ['team'] } },
    settingNot: { scm: { ignoreNamespaces: ['^team$'] } },
  },
  {
    code: 'KLM410',
    shows: world(binding()),
    not: world(binding()),
    setting: { scm: null },
    settingNot: { scm: null, className: 'spire' },
  },
  {
    code: 'KLM411',
    shows: world(binding()),
    not: world(binding()),
    setting: { scm: { trustDomain: 'example.com' } },
  },
  { code: 'KLM412', shows: world(binding()), not: world(pod(), binding()) },
  {
    code: 'KLM413',
    shows: world(
      pod({
        metadata: {
          ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: '1', controller: true }],
        },
      }),
      foreign('by-owner', { workloadSelectorTemplates: ['k8s:sa:{{ .PodMeta.OwnerReferences }}'] }),
    ),
    not: world(pod(), foreign('by-owner', { workloadSelectorTemplates: ['k8s:sa:{{ .PodMeta.Name }}'] })),
  },
  {
    code: 'KLM414',
    shows: world(binding()),
    not: world(binding()),
    setting: { scm: { ignoreNamespaces: ['('] } },
  },
  {
    code: 'KLM415',
    shows: world(pod({ labels: { app: 'llama', [ROLE]: 'decode' } }), perVariant()),
    not: world(pod({ labels: { app: 'llama', [ROLE]: 'prefill' } }), perVariant()),
  },
  {
    code: 'KLM416',
    shows: world(pod({ labels: { app: 'llama', [ROLE]: 'decode' } }), perVariant()),
    not: world(
      pod({ labels: { app: 'llama', [ROLE]: 'decode' } }),
      perVariant(),
      perVariant({ name: 'decode', spec: { identityBoundary: { variant: 'decode' } } }),
    ),
  },
  {
    code: 'KLM417',
    shows: world(pod({ labels: PREFILL, metadata: LIVE }), deployment({ app: 'llama' }), perVariant()),
    not: world(pod({ labels: PREFILL, metadata: LIVE }), deployment(PREFILL), perVariant()),
  },
  {
    code: 'KLM418',
    shows: world(pod(), DEFAULT, poolOnly()),
    not: world(pod(), foreign('default'), poolOnly()),
  },
  {
    code: 'KLM422',
    shows: world(binding()),
    not: world(binding()),
    setting: { className: 'x'.repeat(64) },
    settingNot: { className: 'x'.repeat(63) },
  },
  {
    code: 'KLM430',
    shows: world(podWith({ volumeMounts: [] }), binding()),
    not: world(podWith({}), binding()),
  },
  {
    code: 'KLM431',
    shows: world(podWith({ init: 'fetch' }), binding()),
    not: world(podWith({ init: 'other' }), binding()),
  },
  {
    code: 'KLM440',
    shows: world(MESHED, poolOnly()),
    not: world(MESHED, binding(), PROXYS_OWN),
  },
  {
    code: 'KLM441',
    shows: world(MESHED, CHART_DEFAULT, binding()),
    not: world(MESHED, CHART_DEFAULT, binding(), PROXYS_OWN),
  },
  {
    code: 'KLM442',
    shows: world(pod({ labels: AMBIENT }), binding()),
    not: world(pod({ labels: AMBIENT }), poolOnly()),
  },
  { code: 'KLM501', shows: world(binding({ spec: { mode: 'PerPod' } })), not: world(binding()) },
  { code: 'KLM502', shows: world(binding({ spec: { objectiveRef: undefined } })), not: world(poolOnly()) },
  {
    code: 'KLM503',
    shows: world(binding({ spec: { serviceAccountName: 'Runner' } })),
    not: world(binding()),
  },
  { code: 'KLM504', shows: world(binding({ spec: { containerName: 'v_llm' } })), not: world(binding()) },
  {
    code: 'KLM505',
    shows: world(poolOnly({ spec: { containerName: 'vllm' } })),
    not: world(poolOnly({ spec: { containerName: '' } })),
  },
  {
    code: 'KLM506',
    shows: [
      pool(),
      objective({ name: 'o'.repeat(230) }),
      binding({ spec: { objectiveRef: { name: 'o'.repeat(230) } } }),
    ],
    not: [
      pool(),
      objective({ name: 'o'.repeat(200) }),
      binding({ spec: { objectiveRef: { name: 'o'.repeat(200) } } }),
    ],
  },
  {
    code: 'KLM509',
    shows: world(binding(), live(OUTPUT, { annotations: { 'kleym.sonda.red/binding': undefined } })),
    not: world(binding(), live(OUTPUT)),
  },
  {
    code: 'KLM511',
    shows: [objective(), binding()],
    not: [pool(), objective(), binding()],
    setting: { gaps: { '*': { verb: 'read', what: 'a.yaml', cause: 'malformed' } } },
  },
  {
    code: 'KLM512',
    shows: world(binding(), orphanOf(OUTPUT, 'team-a/gone')),
    not: world(binding({ spec: { containerName: 'proxy' } }), orphanOf(OUTPUT, 'team-a/gone')),
  },
  {
    code: 'KLM420',
    setting: MANIFESTS,
    settingNot: MANIFESTS,
    shows: world(foreign('named', { namespaceSelector: { matchNames: ['production'] } })),
    not: world(foreign('named', { namespaceSelector: { matchLabels: { name: 'production' } } })),
  },
  {
    code: 'KLM421',
    setting: MANIFESTS,
    settingNot: MANIFESTS,
    shows: world(foreign('hourly', { ttl: 3600 })),
    not: world(foreign('hourly', { ttl: '1h' })),
  },
  {
    code: 'KLM550',
    setting: MANIFESTS,
    settingNot: MANIFESTS,
    shows: world(binding({ spec: { containerNames: ['vllm'] } })),
    not: world(binding()),
  },
  { code: 'KLM521', shows: world(orphanOf(OUTPUT, 'team-a/gone')), not: world(binding(), live(OUTPUT)) },
  {
    code: 'KLM601',
    shows: world(binding(), pod(), policyOf(spiffe('spiffe://example.org/ns/team-a/objective/Chat'))),
    not: world(binding(), pod(), policyOf(spiffe(CHAT_ID))),
  },
  {
    code: 'KLM602',
    shows: world(policyOf({ type: 'SPIFFE', serviceAccount: { name: 'planner' } })),
    not: world(policyOf(account('planner'))),
  },
  { code: 'KLM603', shows: world(policyOf({ type: 'SPIFFE' })), not: world(policyOf(spiffe(CHAT_ID))) },
  {
    code: 'KLM604',
    shows: world(binding(), policyOf(account('planner'))),
    not: world(binding(), policyOf(account('runner', 'team-a'))),
  },
  {
    code: 'KLM605',
    shows: world(binding(), policyOf(spiffe(CHAT_ID))),
    not: world(binding(), pod(), policyOf(spiffe(CHAT_ID))),
  },
  {
    code: 'KLM606',
    shows: world(binding(), pod(), policyOf(account('runner', 'team-a'))),
    not: world(pod(), policyOf(account('runner', 'team-a'))),
  },
  {
    code: 'KLM607',
    shows: world(policy({ spec: { rules: [] } })),
    not: world(policy()),
  },
  {
    code: 'KLM608',
    shows: world(policy(), policy({ name: 'other' })),
    not: world(policy(), policy({ name: 'other', namespace: 'others' })),
  },
  {
    code: 'KLM609',
    shows: world(policy({ apiVersion: 'agentic.networking.x-k8s.io/v0alpha0' })),
    not: world(policy()),
  },
  {
    code: 'KLM610',
    shows: world(istioPolicy(CHAT_ID)),
    not: world(istioPolicy(CHAT_ID.replace('spiffe://', ''))),
  },
  {
    code: 'KLM611',
    shows: world(binding(), ...OF_ANOTHER_TEAM, istioPolicy('example.org/ns/*')),
    not: world(binding(), ...OF_ANOTHER_TEAM, istioPolicy('example.org/ns/team-a/*')),
  },
  {
    code: 'KLM612',
    shows: world(binding(), mentioning('spiffe://example.org/ns/team-a/objective/Chat')),
    not: world(binding(), mentioning(CHAT_ID)),
  },
]

/** Codes that no objects show, and why. */
export const NO_CASE: Readonly<Partial<Record<FindingCode, string>>> = {
  KLM104: 'Only an API server says that it does not serve a kind.',
  KLM107: 'Only an API server says that it does not serve a kind.',
  KLM309: 'It is about several clusters at once: see docs/scale.md.',
  KLM507:
    'The operator does not start without a trust domain, and kubectl kleym leaves open what it is not given.',
  KLM508: 'Only an API server says that it does not serve a kind.',
  KLM510: 'Only an API server refuses a write.',
  KLM544: 'Only an API server says that it does not serve a kind.',
  KLM821: 'It is about what a process got over the Workload API: see docs/verify.md.',
  KLM822: 'It is about what a process got over the Workload API: see docs/verify.md.',
  KLM801: 'It compares with the entries of a SPIRE server: see docs/verify.md.',
  KLM802: 'It compares with the entries of a SPIRE server: see docs/verify.md.',
  KLM803: 'It compares with the entries of a SPIRE server: see docs/verify.md.',
  KLM804: 'It compares with the entries of a SPIRE server: see docs/verify.md.',
  KLM805: 'It compares with the entries of a SPIRE server: see docs/verify.md.',
  KLM806: 'It compares with the entries of a SPIRE server: see docs/verify.md.',
  KLM811: 'It needs the bundles of a SPIRE server: see docs/verify.md.',
  KLM812: 'kubectl kleym verify alone tells of it: see docs/verify.md.',
  KLM813: 'kubectl kleym verify alone tells of it: see docs/verify.md.',
}
