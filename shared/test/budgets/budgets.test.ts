// How many entries a state asks for: in all, by binding and node, and what is above a limit.
import { budgetsOf } from '@kleym/testing/at-once.ts'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { analysisOf } from '@kleym/testing/access-policies.ts'
import { foreign, pod } from '@kleym/testing/finding-cases.ts'
import { binding, estate, FORBIDDEN, poolOnly } from '@kleym/testing/manifests.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import {
  comparingEntries,
  fullestOf,
  type BudgetChange,
  type Budgets,
} from '../../src/core/analysis/budgets/budgets.ts'
import { driveAtOnce } from '../../src/core/base/steps.ts'
import { delayOf } from '../../src/core/analysis/budgets/delay.ts'
import { overLimits } from '../../src/core/analysis/budgets/limits.ts'
import { scmPass } from '../../src/core/analysis/budgets/scm-pass.ts'
import { unknownText } from '../../src/core/model/truth/unknown.ts'

const NODES = ['n1', 'n2'].map((name) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: `uid-of-${name}` },
}))
const podOn = (name: string, nodeName?: string): JsonRecord =>
  pod({ metadata: { name, uid: `uid-of-${name}` }, spec: { nodeName } })
const PODS = [podOn('a', 'n1'), podOn('b', 'n1'), podOn('c', 'n2')]
/** Its container is in no pod. */
const DEAD = foreign('dead', { workloadSelectorTemplates: ['k8s:container-name:gone'] })

const of = (objects: readonly JsonRecord[], setting?: Parameters<typeof analysisOf>[1]): Budgets =>
  budgetsOf(analysisOf(objects, setting).settled)

/** One that asks for the same entries under another name. */
const twin = (name: string): JsonRecord =>
  foreign(name, { spiffeIDTemplate: 'spiffe://example.org/{{ .PodMeta.Name }}' })
const change = (before: readonly JsonRecord[], after: readonly JsonRecord[]): BudgetChange =>
  driveAtOnce(comparingEntries(analysisOf(before).settled, analysisOf(after).settled)).change
const limitsOf = (...args: Parameters<typeof overLimits>): readonly string[] =>
  overLimits(...args).map(({ limit }) => limit)

describe('entries of a state', () => {
  test('one for each pod and registration, by node and binding, and those that never match', () => {
    const budgets = of(estate(...NODES, ...PODS, poolOnly(), DEAD))
    expect(budgets.entries).toMatchObject({ certain: 6, causes: { size: 0 } })
    expect(budgets.unmatched.certain).toBe(3)
    expect(budgets.pods).toBe(3)
    expect([...budgets.byBinding]).toEqual([['team-a/llama', 3]])
    expect(Object.fromEntries(budgets.byNode)).toEqual({ n1: 4, n2: 2 })
    expect(budgets.ofContainer).toEqual({ name: 'vllm of pod team-a/a', entries: 1 })
  })

  test('an entry for one of two containers can match, and so can one of which that is not known', () => {
    const one = foreign('one', { workloadSelectorTemplates: ['k8s:container-name:vllm'] })
    const open = foreign('open', { workloadSelectorTemplates: ['unix:uid:1000'] })
    expect(of(estate(...NODES, ...PODS, one, open)).unmatched.certain).toBe(0)
  })

  test('a static entry counts, and is of no node', () => {
    const entry = {
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ClusterStaticEntry',
      metadata: { name: 'one', uid: 'uid-of-one' },
      spec: {
        spiffeID: 'spiffe://example.org/one',
        parentID: 'spiffe://example.org/parent',
        selectors: ['unix:uid:0'],
      },
    }
    const budgets = of(estate(...NODES, entry))
    expect(budgets.entries.certain).toBe(1)
    expect(budgets.byNode.size).toBe(0)
  })

  test('a static entry of an agent counts on the node of that agent, and for each container that it matches there', () => {
    const entry = {
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ClusterStaticEntry',
      metadata: { name: 'one', uid: 'uid-of-one' },
      spec: {
        spiffeID: 'spiffe://example.org/one',
        parentID: 'spiffe://example.org/spire/agent/k8s_psat/prod/uid-of-n1',
        selectors: ['k8s:ns:team-a'],
      },
    }
    const budgets = of(estate(...NODES, ...PODS, poolOnly(), entry))
    expect(budgets.entries.certain).toBe(4)
    expect(Object.fromEntries(budgets.byNode)).toEqual({ n1: 3, n2: 1 })
    expect(budgets.ofContainer).toEqual({ name: 'vllm of pod team-a/a', entries: 2 })
  })

  test('what SCM does not ask for is no entry: a masked one, a displaced one, one of a pod without a node', () => {
    const budgets = of(
      estate(...NODES, podOn('a', 'n1'), podOn('b'), twin('x'), twin('y'), foreign('z', { fallback: true })),
    )
    expect(budgets.entries.certain).toBe(1)
  })

  test('pods of a workload that are not there yet are counted for each pod, never guessed', () => {
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'llama', namespace: 'team-a', uid: 'uid-of-deployment' },
      spec: {
        replicas: 12,
        selector: { matchLabels: { app: 'llama' } },
        template: {
          metadata: { labels: { app: 'llama' } },
          spec: { serviceAccountName: 'runner', containers: [{ name: 'vllm' }] },
        },
      },
    }
    const budgets = of(estate(...NODES, deployment, poolOnly()))
    expect(budgets.entries.certain).toBe(0)
    expect([...budgets.ofEachPod]).toEqual([['Deployment team-a/llama', 1]])
  })

  test.each([
    ['pods', { gaps: { Pod: FORBIDDEN } }, 'cannot list something: forbidden'],
    ['nodes', { gaps: { Node: FORBIDDEN } }, 'cannot list something: forbidden'],
    ['namespaces', { namespacesRead: ['team-a'] }, 'other namespaces than team-a were not read'],
  ])('%s that were not read are a cause, and no number', (_, setting, why) => {
    const { entries } = of(estate(...NODES, ...PODS, poolOnly()), setting)
    expect([...entries.causes].map(unknownText)).toContain(why)
  })

  test('a binding that is undetermined may ask for more', () => {
    const { entries } = of(estate(...NODES, ...PODS, binding()), { trustDomain: undefined })
    expect(entries.causes.size + entries.certain).toBeGreaterThan(0)
    const unread = of(estate(...NODES, ...PODS, binding()), {
      gaps: { 'InferencePool.inference.networking.k8s.io': FORBIDDEN },
    })
    expect(unread.entries.causes.size).toBeGreaterThan(0)
  })
})

describe('a change', () => {
  test('says what it adds, and on which node most of it', () => {
    const [before, after] = [estate(...NODES, ...PODS), estate(...NODES, ...PODS, poolOnly())]
    expect(change(before, after)).toMatchObject({ added: 3, removed: 0, node: { name: 'n1', entries: 2 } })
    expect(change(after, before)).toMatchObject({ added: 0, removed: 3, node: { name: 'n1', entries: 2 } })
    expect(change(after, after)).toMatchObject({ added: 0, removed: 0, open: 0, node: undefined })
  })

  test('counts the entries of pods that come and go', () => {
    const fewer = estate(...NODES, ...PODS.slice(1), poolOnly())
    const all = estate(...NODES, ...PODS, poolOnly())
    expect(change(fewer, all)).toMatchObject({ added: 1, node: { name: 'n1', entries: 1 } })
    expect([...change(all, fewer).byBinding]).toEqual([['team-a/llama', -1]])
  })

  test('calls nothing removed that may still be there', () => {
    // Go cannot decode it, so SCM sees nothing that is new; whether other entries are there hangs on it.
    const broken = foreign('broken', { ttl: '1d' })
    const one = foreign('one', { spiffeIDTemplate: 'spiffe://example.org/{{ .PodMeta.Name }}' })
    const open = foreign('one', {
      spiffeIDTemplate: 'spiffe://example.org/{{ .PodMeta.Name }}{{ printf "%v" .PodMeta }}',
    })
    const world = [...NODES, ...PODS]
    expect(change([...world, one], [...world, open])).toMatchObject({ added: 0, removed: 0, open: 3 })
    expect(change([...world, one], [...world, one, broken]).removed).toBe(0)
  })
})

test('the fullest of several is the first by name', () => {
  expect(fullestOf(new Map(Object.entries({ b: 2, a: 2, c: 1 })))).toEqual({ name: 'a', entries: 2 })
  expect(fullestOf(new Map())).toBeUndefined()
})

describe('limits', () => {
  const within = { byNode: new Map([['n1', 1_000]]), ofContainer: undefined, pods: 4_000 }
  const quick = scmPass(1_000, {})

  test('at a limit nothing is said, above it something, with a source', () => {
    expect(limitsOf(within, quick)).toEqual([])
    expect(limitsOf({ ...within, byNode: new Map([['n1', 1_001]]) }, quick)).toEqual(['ofAgent'])
    expect(limitsOf({ ...within, ofContainer: { name: 'x', entries: 7_999 } }, quick)).toEqual([])
    expect(limitsOf({ ...within, ofContainer: { name: 'x', entries: 8_000 } }, quick)).toEqual(['ofProcess'])
    expect(limitsOf({ ...within, pods: 4_001 }, quick)).toEqual(['podsOfHalfGiB'])
    expect(limitsOf(within, scmPass(1_000, { gcIntervalSeconds: 0.001 }))).toEqual(['passOfInterval'])
    for (const { source } of overLimits({ ...within, pods: 30_000 }, quick)) expect(source).toMatch(/^https:/)
  })

  test('an agent that is told to keep more SVIDs may have more entries', () => {
    expect(limitsOf({ ...within, byNode: new Map([['n1', 3_000]]) }, quick, 3_000)).toEqual([])
  })

  test('a pass lists a page for each 200 entries, and one at least', () => {
    expect([0, 200, 201, 500_000].map((entries) => scmPass(entries, {}).pages)).toEqual([1, 1, 2, 2_500])
    expect(scmPass(1, {}).gcSeconds).toBe(10)
  })
})

describe('delay', () => {
  const costs = { list: 0.001, render: 0.001, make: 0.1, reload: 0.002, operator: 0.1, sign: 0.5 }
  const settings = { gcIntervalSeconds: 8, syncSeconds: 4, reloadSeconds: 6, costs }

  test('an empty server waits for timers alone', () => {
    const { parts } = delayOf({ ...settings, entries: 0, made: 0 })
    expect(parts.map(({ name, typicalSeconds }) => [name, typicalSeconds])).toEqual([
      ['operator', 0.1],
      ['SCM', 0],
      ['server', 3],
      ['agent', 2.5],
    ])
  })

  test('what comes while SCM lists is in the pass, and what comes later waits for gcInterval and for another pass', () => {
    // 1,000 entries: a second to list, a second for the rest; a cycle of ten seconds.
    const [, scm] = delayOf({ ...settings, entries: 1_000, made: 1 }).parts
    expect(scm?.typicalSeconds).toBeCloseTo((8 * 2.1 + 1 * 1.6 + 1 * (0.5 + 8 + 2.1)) / 10)
    expect(scm?.mostSeconds).toBeCloseTo(1 + 8 + 2 + 0.1)
  })

  test('the times that docs/scale.md has of a real stack are within a factor of 1.5, and it shows the model as it is', () => {
    const page = readFileSync(new URL('../../../docs/scale.md', import.meta.url), 'utf8')
    const rows = [...page.matchAll(/^\| ([\d,]+) \|(?: [\d.]+ \|){8}$/gm)].map(([row]) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => Number(cell.replace(',', ''))),
    )
    expect(rows).toHaveLength(3)
    for (const [entries = 0, , , , measured = 0, longest, typical, most] of rows) {
      const model = delayOf({ entries, made: 1 })
      expect([typical, most]).toEqual([
        Number(model.typicalSeconds.toFixed(2)),
        Number(model.mostSeconds.toFixed(2)),
      ])
      expect(measured / model.typicalSeconds).toBeGreaterThan(1 / 1.5)
      expect(measured / model.typicalSeconds).toBeLessThan(1.5)
      expect(longest).toBeLessThan(model.mostSeconds)
    }
  })

  test('typical is never above the most, whatever the size', () => {
    for (const entries of [0, 10, 10_000, 500_000])
      for (const { typicalSeconds, mostSeconds } of delayOf({ entries, made: 100 }).parts)
        expect(typicalSeconds).toBeLessThanOrEqual(mostSeconds)
  })
})
