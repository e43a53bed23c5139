// What a snapshot says of things that are not in it: certainly absent, of a kind that is not there, or not known and why.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import type { Lookup } from '../../src/core/model/objects/lookup.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import {
  bindingsIn,
  readSnapshot,
  referencesIn,
  servesLlmD,
  type SnapshotSource,
} from '../../src/core/snapshot/snapshot.ts'
import { foreign } from '@kleym/testing/finding-cases.ts'
import { TENANTS, tenants } from '@kleym/testing/random-tenants.ts'
import { binding, FORBIDDEN, K8S_GROUP, LLM_D, objective, pool } from '@kleym/testing/manifests.ts'

const X_K8S_GROUP = 'inference.networking.x-k8s.io'

function deployment(namespace: string): JsonRecord {
  const spec = { serviceAccountName: 'runner', containers: [{ name: 'vllm' }] }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'vllm', namespace },
    spec: { template: { metadata: { labels: { app: 'llama' } }, spec } },
  }
}

const LLM_D_OBJECTIVES = `InferenceObjective.${LLM_D}`
const POOL = `InferencePool.${K8S_GROUP}`
const source = (more: Partial<SnapshotSource> = {}): SnapshotSource => ({
  objects: [pool(), objective(), binding()].map((value) => ({ value })),
  ...more,
})
const poolOf = (more: Partial<SnapshotSource>, namespace: string, name: string): Lookup<unknown> =>
  referencesIn(readSnapshot(source(more))).pool(K8S_GROUP, namespace, name)
const state = ({ state: found }: Lookup<unknown>): string => found

describe('a pool', () => {
  test.each<[string, Partial<SnapshotSource>, readonly [string, string], string]>([
    ['that is there', {}, ['team-a', 'llama'], 'found'],
    ['that is not', {}, ['team-a', 'other'], 'absent'],
    ['of a namespace that was read', { namespacesRead: new Set(['team-a']) }, ['team-a', 'other'], 'absent'],
    ['of one that was not', { namespacesRead: new Set(['team-b']) }, ['team-a', 'other'], 'unknown'],
    [
      'that was found in a namespace that was not listed',
      { namespacesRead: new Set() },
      ['team-a', 'llama'],
      'found',
    ],
    ['of a kind that is not served', { absentKinds: new Set([POOL]) }, ['team-a', 'other'], 'kind absent'],
    [
      'of a kind that could not be read',
      { gaps: new Map([[POOL, FORBIDDEN]]) },
      ['team-a', 'other'],
      'unknown',
    ],
    ['where nothing is sure', { gaps: new Map([['*', FORBIDDEN]]) }, ['team-a', 'other'], 'unknown'],
  ])('%s is %s', (_says, more, [namespace, name], found) => {
    expect(state(poolOf(more, namespace, name))).toBe(found)
  })

  test('of a namespace that was not read says so', () => {
    expect(poolOf({ namespacesRead: new Set(['team-b']) }, 'team-a', 'x')).toEqual({
      state: 'unknown',
      why: { verb: 'list', what: POOL, namespace: 'team-a', cause: 'not given' },
    })
  })
})

test('a binding of a namespace that was not read is not known', () => {
  const lookUp = bindingsIn(readSnapshot(source({ namespacesRead: new Set(['team-a']) })))
  expect(state(lookUp('team-a/llama'))).toBe('found')
  expect(state(lookUp('team-a/other'))).toBe('absent')
  expect(lookUp('team-b/other')).toMatchObject({ state: 'unknown', why: { namespace: 'team-b' } })
})

test('namespaces in question give what those alone hold, beside all that no namespace holds', () => {
  fc.assert(
    fc.property(tenants, fc.constantFrom(...TENANTS), fc.boolean(), (estate, namespace, isLlmD) => {
      const others = estate.filter(({ kind }) => kind !== 'InferenceObjective')
      // An objective of llm-d's group says that the group is served, whichever namespace it is of.
      const group = isLlmD ? LLM_D : X_K8S_GROUP
      const objectives = [objective({ group, namespace: 'team-b' }), objective({ group: X_K8S_GROUP })]
      const objects = [...others, ...objectives, ...TENANTS.map(deployment)].map((value) => ({ value }))
      const whole = readSnapshot({ objects })
      const isHere = (one: { readonly namespace: string }): boolean => one.namespace === namespace
      const onlyNamespaces = new Set([namespace])
      expect(readSnapshot({ objects, onlyNamespaces })).toEqual({
        ...whole,
        bindings: whole.bindings.with(whole.bindings.read.filter(({ meta }) => isHere(meta))),
        pools: whole.pools.with(whole.pools.read.filter(({ meta }) => isHere(meta))),
        objectives: whole.objectives.with(whole.objectives.read.filter(({ meta }) => isHere(meta))),
        pods: whole.pods.with(whole.pods.read.filter(isHere)),
        templates: whole.templates.with(whole.templates.read.filter(isHere)),
        namespacesRead: onlyNamespaces,
      })
      expect(servesLlmD(readSnapshot({ objects, onlyNamespaces }))).toBe(isLlmD)
    }),
    { numRuns: runs(100) },
  )
})

test.each<[string, Partial<SnapshotSource>, boolean]>([
  ['in a cluster that has none in these namespaces', { listedKinds: new Set([LLM_D_OBJECTIVES]) }, true],
  ['in a cluster that does not serve them', { absentKinds: new Set([LLM_D_OBJECTIVES]) }, false],
  ['in files that have none', {}, false],
])('objectives of llm-d %s', (_says, more, isLlmD) => {
  expect(servesLlmD(readSnapshot({ objects: [], ...more }))).toBe(isLlmD)
})

describe('nodes and endpoints', () => {
  const node = { value: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } } }

  test.each<[string, SnapshotSource, number | undefined]>([
    ['of files that have none', { objects: [] }, undefined],
    ['of files that have some', { objects: [node] }, 1],
    ['of a cluster that has none', { objects: [], listedKinds: new Set(['Node', 'Endpoints']) }, 0],
    ['of a cluster that lists others', { objects: [], listedKinds: new Set(['Pod']) }, undefined],
    ['that could not all be read', { objects: [node], gaps: new Map([['Node', FORBIDDEN]]) }, undefined],
  ])('%s', (_says, given, count) => {
    expect(readSnapshot(given).nodes?.length).toBe(count)
  })

  test('endpoints of a cluster that has none are none', () => {
    expect(readSnapshot({ objects: [], listedKinds: new Set(['Endpoints']) }).endpoints).toEqual([])
    expect(readSnapshot({ objects: [], listedKinds: new Set(['Node']) }).endpoints).toBeUndefined()
  })
})

test.each<[string, JsonRecord, readonly string[]]>([
  ['that is applied may get a label that a registration asks for', {}, ['env']],
  ['of a cluster has its labels', { uid: 'u' }, []],
  ['that has the label may get another value', { labels: { env: 'dev' } }, ['env']],
  ['that has the value keeps it', { labels: { env: 'prod' } }, []],
])('with a policy that sets labels, a Namespace %s', (_, metadata, possible) => {
  const namespaceSelector = { matchLabels: { env: 'prod', tier: 'web' } }
  const {
    namespaces: { read: namespaces },
  } = readSnapshot({
    objects: [
      { value: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a', ...metadata } } },
      { value: foreign('x', { namespaceSelector }) },
      {
        value: { apiVersion: 'kyverno.io/v1', kind: 'ClusterPolicy', metadata: { name: 'x' } },
        podChange: { by: 'x', mountsWorkloadApi: false, labelText: '{"labels": {"env": "prod"}}' },
      },
    ],
  })
  expect(namespaces.map((one) => [...(one.possible ?? [])])).toEqual([possible])
})

test.each([
  ['env', ['vllm']],
  ['istio-injection', ['vllm', 'istio-proxy']],
])('with a policy that may label Namespaces with %s, a template has %j', (key, names) => {
  const {
    templates: { read: templates },
  } = readSnapshot({
    objects: [
      { value: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } } },
      { value: deployment('a') },
      { value: foreign('x', { workloadSelectorTemplates: ['k8s:container-name:istio-proxy'] }) },
      {
        value: { apiVersion: 'argoproj.io/v1alpha1', kind: 'Application', metadata: { name: 'x' } },
        podChange: {
          by: 'x',
          mountsWorkloadApi: false,
          labelText: `"labels":{"${key}":"enabled"}`,
          alone: 'namespaces' as const,
        },
      },
    ],
  })
  expect(templates.map(({ containers }) => containers.map(({ name }) => name))).toEqual([names])
})
