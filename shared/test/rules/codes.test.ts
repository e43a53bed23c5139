// Every finding code: the smallest cluster that shows it, and the nearest one that does not.
import { describe, expect, test } from 'vitest'
import { analyse } from '../../src/core/analysis/analysis.ts'
import type { Config } from '../../src/core/compile/config.ts'
import { findingsOf } from '../../src/core/rules/all.ts'
import type { JsonRecord } from '../../src/core/json.ts'
import type { UnknownReason } from '../../src/core/unknown-reason.ts'
import { DEFAULT_VARIANT_LABEL_KEY } from '../../src/core/names.ts'
import { readScmSettings } from '../../src/core/objects/scm-config.ts'
import { FINDING_CODES, type FindingCode } from '../../src/core/registry/findings.ts'
import { readSnapshot } from '../../src/core/snapshot/snapshot.ts'
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
} from '@kleym/testing/manifests.ts'
import { account, CHAT_ID, policy, policyOf, spiffe } from '@kleym/testing/access-policies.ts'

interface Setting {
  /** SCM's configuration; null where it is assumed. */
  readonly scm?: JsonRecord | null
  readonly className?: string
  readonly gaps?: Readonly<Record<string, UnknownReason>>
  /** The objects are yet to be applied. */
  readonly manifests?: true
}

const SCM: JsonRecord = {
  trustDomain: 'example.org',
  clusterName: 'prod',
  watchClassless: true,
  ignoreNamespaces: [],
}

/** The codes that a cluster shows, each once. */
function codesOf(
  objects: readonly JsonRecord[],
  { scm, className = '', gaps = {}, manifests }: Setting,
): readonly string[] {
  const snapshot = readSnapshot({
    objects: objects.map((value) => ({ value, ...(manifests && { isManifest: manifests }) })),
    gaps: new Map(Object.entries(gaps)),
  })
  const { settings } = readScmSettings(scm === null ? undefined : { ...SCM, ...scm }, 'a test', {
    trustDomain: 'example.org',
    className,
    clusterSpiffeIdClasses: snapshot.clusterSpiffeIds.map(({ spec }) => spec.className),
  })
  const config: Config = {
    trustDomain: { kind: 'set', value: 'example.org' },
    className,
    variantLabelKey: DEFAULT_VARIANT_LABEL_KEY,
  }
  return [...new Set(findingsOf(analyse(snapshot, config, settings)).map(({ code }) => code))]
}

/** A running pod `team-a/llama-0` of the pool, with containers `vllm` and `proxy`. */
function pod(parts: { labels?: JsonRecord; spec?: JsonRecord; metadata?: JsonRecord } = {}): JsonRecord {
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
function foreign(name: string, spec: JsonRecord = {}): JsonRecord {
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name, uid: `uid-of-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { spiffeIDTemplate: ID, ...spec },
  }
}

const DEFAULT = foreign('default', { fallback: true })
const OUTPUT = outputOf(estate(binding()))
const LABELS = { app: 'llama', tier: 'gold' }

/** Objects beside the pool and objective of `binding()`. */
const world = (...more: readonly JsonRecord[]): readonly JsonRecord[] => estate(NODE, ...more)
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

const ROLE = DEFAULT_VARIANT_LABEL_KEY
const PREFILL = { app: 'llama', [ROLE]: 'prefill' }
/** What only the API server sets. */
const LIVE = { creationTimestamp: '2026-01-01T00:00:00Z' }

/** A Deployment of pods like `pod()`. */
function deployment(labels: JsonRecord): JsonRecord {
  const containers = [{ name: 'vllm' }, { name: 'proxy' }]
  const spec = { template: { metadata: { labels }, spec: { serviceAccountName: 'runner', containers } } }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'llama', namespace: 'team-a' }, spec }
}

const MANIFESTS: Setting = { manifests: true }

interface Case {
  readonly code: FindingCode
  readonly shows: readonly JsonRecord[]
  readonly not: readonly JsonRecord[]
  readonly setting?: Setting
  /** The setting of the near miss, where that is what differs. */
  readonly settingNot?: Setting
}

const CASES: readonly Case[] = [
  {
    code: 'KLM101',
    shows: world(binding({ spec: { poolRef: { name: 'Llama' } } })),
    not: world(binding()),
  },
  { code: 'KLM102', shows: [objective(), binding()], not: world(binding()) },
  {
    code: 'KLM103',
    shows: world(pool({ group: X_GROUP, labels: { app: 'x' } }), binding()),
    not: world(pool({ group: X_GROUP }), binding()),
  },
  {
    code: 'KLM105',
    shows: [pool(), objective({ poolRef: { name: 'other' } }), binding()],
    not: world(binding()),
  },
  { code: 'KLM106', shows: [pool(), binding()], not: world(binding()) },
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
    not: world(binding()),
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
    code: 'KLM422',
    shows: world(binding()),
    not: world(binding()),
    setting: { className: 'x'.repeat(64) },
    settingNot: { className: 'x'.repeat(63) },
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
    not: world(binding()),
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
]

/** Codes that `findingsOf` cannot show, and why; the first one has a test of its own below. */
const ELSEWHERE: Readonly<Partial<Record<FindingCode, string>>> = {
  KLM520: 'it compares the sources of settings, before there is an analysis',
  KLM104: 'only an API server says that a kind is not served',
  KLM107: 'only an API server says that a kind is not served',
  KLM508: 'only an API server says that a kind is not served',
  KLM507: 'offline an absent trust domain is not known, rather than missing',
  KLM510: 'only an API server refuses a write',
  KLM551: 'it is about manifests that are of no kind that a snapshot holds',
  KLM530: 'it is about how an answer is asked for',
  KLM531: 'it is about how an answer is asked for',
  KLM540: 'it compares with what the operator wrote (status-rules.test.ts)',
  KLM541: 'it compares with what the operator wrote (status-rules.test.ts)',
  KLM542: 'it compares with what the operator wrote (status-rules.test.ts)',
  KLM543: 'it is about Deployments, which no analysis holds (status-rules.test.ts)',
  KLM522: 'it is about an installation (plugin/test/answers/status/frame.test.ts)',
  KLM544: 'it is about an installation (installation-rules.test.ts)',
  KLM545: 'it is about an installation (installation-rules.test.ts)',
  KLM546: 'it compares with what the operator wrote (in-force-finding.test.ts)',
  KLM701: 'it is about an identity test (shared/test/identity-tests)',
}

describe('every finding code', () => {
  test.each(CASES)('$code is shown by its smallest cluster', ({ code, shows, setting = {} }) => {
    expect(codesOf(shows, setting)).toContain(code)
  })

  test.each(CASES)(
    '$code is not shown by the nearest cluster without it',
    ({ code, not, settingNot = {} }) => {
      expect(codesOf(not, settingNot)).not.toContain(code)
    },
  )

  test('stands in the table, or needs what files do not have', () => {
    const tabled = CASES.map(({ code }) => code)
    expect([...tabled, ...Object.keys(ELSEWHERE)].toSorted()).toEqual([...FINDING_CODES])
  })
})

describe('a service account that no pod of the pool has is told whatever becomes of the entry', () => {
  const typo = world(pod({ spec: { serviceAccountName: 'default' } }), binding())

  test.each([
    ['in another trust domain than SCM serves', { scm: { trustDomain: 'example.com' } }],
    ['of a class that SCM does not handle', { scm: { className: 'spire', watchClassless: false } }],
    ['in a namespace that SCM ignores', { scm: { ignoreNamespaces: ['team'] } }],
  ] satisfies readonly (readonly [string, Setting])[])('%s', (_where, setting) => {
    expect(codesOf(typo, setting)).toContain('KLM404')
  })

  test('and while an object stops SCM', () => {
    expect(codesOf([...typo, foreign('reports', { ttl: '1d' })], {})).toContain('KLM404')
  })

  test('and a pod that it does reach is none, though SCM makes no entry for it', () => {
    expect(codesOf(world(pod(), binding()), { scm: { trustDomain: 'example.com' } })).not.toContain('KLM404')
  })
})
