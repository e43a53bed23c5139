// Findings about variants, beyond one case of each code: which pods of a shared pool are left out, and what is to be done about
// label sets that may overlap.
import { describe, expect, test } from 'vitest'
import { analyse } from '../../src/core/analysis/states/analysis.ts'
import type { Finding } from '../../src/core/findings/finding/finding.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import type { RawObject } from '../../src/core/model/objects/raw.ts'
import { DEFAULT_VARIANT_LABEL_KEY } from '../../src/core/model/names.ts'
import { readScmSettings } from '../../src/core/model/objects/scm-config.ts'
import type { FindingCode } from '../../src/core/findings/registry/findings.ts'
import { findingsOf } from '@kleym/testing/at-once.ts'
import { readSnapshot } from '../../src/core/snapshot/snapshot.ts'
import { CONFIG, estate, perVariant, pool, poolOnly } from '@kleym/testing/manifests.ts'

const ROLE = DEFAULT_VARIANT_LABEL_KEY
const SETTINGS = readScmSettings({ trustDomain: 'example.org', watchClassless: true }, 'a test', {
  trustDomain: 'example.org',
  className: '',
  clusterSpiffeIdClasses: [],
}).settings

function pod(name: string, role: string | undefined, serviceAccountName = 'runner'): JsonRecord {
  const labels = { app: 'llama', ...(role === undefined ? {} : { [ROLE]: role }) }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'team-a', labels },
    spec: { nodeName: 'n1', serviceAccountName, containers: [{ name: 'vllm' }] },
  }
}

function of(role: string, name = role, spec: JsonRecord = {}): JsonRecord {
  return perVariant({ name, spec: { identityBoundary: { variant: role }, ...spec } })
}

function findings(code: FindingCode, ...more: readonly JsonRecord[]): readonly Finding[] {
  const snapshot = readSnapshot({ objects: estate(...more).map((value) => ({ value })) })
  return findingsOf(analyse(snapshot, CONFIG, SETTINGS)).filter((one) => one.code === code)
}

describe('pods of a pool that no variant covers', () => {
  const PODS = [pod('a', 'prefill'), pod('b', 'prefill', 'other'), pod('c', 'decode'), pod('d', undefined)]
  const [b, c, d] = [
    `${ROLE}=prefill under service account other: pod team-a/b`,
    `${ROLE}=decode: pod team-a/c`,
    `no label ${ROLE}: pod team-a/d`,
  ]

  test.each<[what: string, more: readonly JsonRecord[], left: readonly string[]]>([
    ['one variant of one service account', [], [c, b, d]],
    [
      'the other service account of the variant too',
      [of('prefill', 'more', { serviceAccountName: 'other' })],
      [c, d],
    ],
    ['the other variant too', [of('decode')], [b, d]],
    ['a PoolOnly binding, which covers those of its own account', [poolOnly({ name: 'all' })], [b]],
    [
      'a PoolOnly binding of an account that no pod has',
      [poolOnly({ name: 'all', spec: { serviceAccountName: 'nobody' } })],
      [c, b, d],
    ],
  ])('with %s', (_what, more, left) => {
    const found = findings('KLM416', ...PODS, of('prefill'), ...more)
    expect(found.map(({ evidence }) => evidence)).toEqual([left])
  })

  test('a template is no pod', () => {
    const spec = pod('e', undefined)['spec']
    const template = { metadata: { labels: { app: 'llama', [ROLE]: 'decode' } }, spec }
    const metadata = { name: 'llama', namespace: 'team-a' }
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { template } }
    const [found] = findings('KLM416', ...PODS, of('prefill'), deployment)
    expect(found?.summary).toBe('no binding of InferencePool llama is for 3 pods and 1 pod template of it')
  })
})

test('of variants whose label sets may overlap no container is to be named', () => {
  const gold = pool({ name: 'gold', labels: { tier: 'gold' } })
  const [found] = findings(
    'KLM302',
    gold,
    of('prefill'),
    of('prefill', 'gold', { poolRef: { name: 'gold' } }),
  )
  expect(found?.summary).toContain('and it is claimed by both sides')
  expect(found?.fix).toBe(
    'Give one of the bindings its own variant or service account, or pools that share no pod.',
  )
})

describe('a template that does not say the variant which its pods carry', () => {
  const template = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'llama', namespace: 'team-a' },
    spec: {
      selector: { matchLabels: { app: 'llama' } },
      template: {
        metadata: { labels: { app: 'llama' } },
        spec: { serviceAccountName: 'runner', containers: [{ name: 'vllm' }] },
      },
    },
  }

  test.each([
    ['as the template has them', [{ name: 'vllm' }]],
    ['and a sidecar that a webhook has added', [{ name: 'vllm' }, { name: 'istio-proxy' }]],
  ])('is reported for pods with its containers %s', (_what, containers) => {
    const running = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'llama-x',
        namespace: 'team-a',
        uid: '3d0ff7fd-08cb-45dd-9e5a-2c9d3d6cc73f',
        creationTimestamp: '2026-01-01T00:00:00Z',
        labels: { app: 'llama', [ROLE]: 'prefill' },
      },
      spec: { serviceAccountName: 'runner', nodeName: 'n1', containers },
    }
    expect(findings('KLM417', template, running, of('prefill'))).toMatchObject([
      { summary: expect.stringContaining('1 pod like it carries one') },
    ])
  })
})

const template = (labels: JsonRecord): JsonRecord => ({
  metadata: { labels },
  spec: { serviceAccountName: 'runner', containers: [{ name: 'vllm' }] },
})
const deployment: JsonRecord = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'llama', namespace: 'team-a' },
  spec: {
    selector: { matchLabels: { app: 'llama' } },
    template: template({ app: 'llama', [ROLE]: 'decode' }),
  },
}
const rayCluster = (labels: JsonRecord): RawObject => ({
  isUnread: true,
  value: {
    apiVersion: 'ray.io/v1',
    kind: 'RayCluster',
    metadata: { name: 'ray', namespace: 'team-a' },
    spec: { headGroupSpec: { template: template(labels) } },
  },
})
const setting = (label: string): RawObject => ({
  value: { apiVersion: 'kyverno.io/v1', kind: 'ClusterPolicy', metadata: { name: 'labels' } },
  podChange: { by: 'ClusterPolicy labels', mountsWorkloadApi: false, labelText: `{"labels": {${label}}}` },
})
const gold = pool({ labels: { tier: 'gold' } })

/** What is found about variants, each code with what it depends on. */
function foundOf(objects: readonly RawObject[]): Readonly<Record<string, readonly string[]>> {
  const analysis = analyse(readSnapshot({ objects }), CONFIG, SETTINGS)
  const found = findingsOf(analysis).filter(({ code }) => /^KLM41[256]$/.test(code))
  return Object.fromEntries(found.map(({ code, dependsOn }) => [code, dependsOn ?? []]))
}
const raw = (...objects: readonly JsonRecord[]): readonly RawObject[] => objects.map((value) => ({ value }))

/** Of a kind that nobody knows: its pods may carry any label. */
const FLEET: JsonRecord = {
  apiVersion: 'example.dev/v1',
  kind: 'Fleet',
  metadata: { name: 'fleet', namespace: 'team-a' },
  spec: { template: template({ [ROLE]: 'decode' }) },
}

describe('where every pod may carry other labels than it was read with, or may not be there', () => {
  const variant = `label ${ROLE} of pods`

  test.each<
    [what: string, objects: readonly RawObject[], found: Readonly<Record<string, readonly string[]>>]
  >([
    ['as they were read', raw(...estate(deployment, of('prefill'))), { KLM415: [], KLM416: [] }],
    [
      'a policy sets the label of variants',
      [...raw(...estate(deployment, of('prefill'))), setting(`"${ROLE}": "prefill"`)],
      { KLM415: [variant], KLM416: [variant] },
    ],
    [
      'a policy sets it to a third value',
      [...raw(...estate(deployment, of('prefill'))), setting(`"${ROLE}": "other"`)],
      { KLM415: [], KLM416: [] },
    ],
    [
      'a policy sets a label of the pool',
      [...raw(...estate(gold, deployment, of('decode'))), setting('"tier": "gold"')],
      { KLM412: ['label tier of pods'] },
    ],
    [
      'a policy sets a label of the pool, of pods of another variant',
      [...raw(...estate(gold, deployment, of('prefill'))), setting('"tier": "gold"')],
      { KLM412: ['label tier of pods'], KLM415: ['label tier of pods'], KLM416: ['label tier of pods'] },
    ],
    [
      'a controller may make pods of another variant',
      [...raw(...estate(of('prefill'))), rayCluster({ app: 'llama', [ROLE]: 'decode' })],
      {
        KLM415: ['what RayCluster.ray.io team-a/ray makes'],
        KLM416: ['what RayCluster.ray.io team-a/ray makes'],
      },
    ],
    [
      'a controller may make pods of the variant',
      [...raw(...estate(of('prefill'))), rayCluster({ app: 'llama', [ROLE]: 'prefill' })],
      {},
    ],
    [
      'a controller that nobody knows may make pods of the pool',
      [...raw(...estate(of('prefill'))), { ...rayCluster({}), value: FLEET }],
      {
        KLM415: ['what Fleet.example.dev team-a/fleet makes'],
        KLM416: ['what Fleet.example.dev team-a/fleet makes'],
      },
    ],
    [
      'a controller may make pods of another pool',
      [...raw(...estate(of('prefill'))), rayCluster({ app: 'other', [ROLE]: 'prefill' })],
      { KLM412: [] },
    ],
  ])('%s', (_what, objects, found) => {
    expect(foundOf(objects)).toEqual(found)
  })
})
