// What kleym promises above all: whatever strings a tenant writes, an identity of ours reaches no other workload. Held against
// the prediction, container by container, with expectations taken from the manifests and not from what was compiled.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import type { Analysis } from '../../src/core/analysis/states/analysis.ts'
import { DEFAULT_VARIANT_LABEL_KEY } from '../../src/core/model/names.ts'
import type { Pod } from '../../src/core/model/objects/pod.ts'
import { containerVerdicts, type Registration } from '../../src/core/predict/spire/registration.ts'
import { predict } from '../../src/core/predict/spire/predict.ts'
import { sourceText, type Prediction } from '../../src/core/predict/spire/prediction.ts'
import { HANDLES_EVERYTHING } from '@kleym/testing/scm-settings.ts'
import {
  analysisOf,
  HOSTILE,
  hostileTenants,
  manifestsOf,
  oneMoreBinding,
  type BindingDraft,
  type HostileTenants,
  type PoolDraft,
} from './hostile-tenants.ts'

const RUNS = runs(300)

interface Held {
  readonly pod: Pod
  readonly container: string
  readonly role: string
  readonly registration: Registration
}

function heldIn(prediction: Prediction, pods: readonly Pod[]): readonly Held[] {
  return pods.flatMap((pod) =>
    pod.containers.flatMap((container) =>
      containerVerdicts(prediction, pod, container)
        .filter(({ verdict }) => verdict === 'issued' || verdict === 'depends' || verdict === 'unknown')
        .map((registration) => ({ pod, container: container.name, role: container.role, registration })),
    ),
  )
}

function draftOf({ bindings }: HostileTenants, key: string): BindingDraft {
  const found = bindings.find(({ namespace, name }) => `${namespace}/${name}` === key)
  if (found === undefined) throw new Error(`no binding ${key} was written`)
  return found
}

function poolOf({ pools }: HostileTenants, { namespace, pool }: BindingDraft): PoolDraft {
  const found = pools.find((one) => one.namespace === namespace && one.name === pool)
  if (found === undefined) throw new Error(`no pool ${namespace}/${pool} was written`)
  return found
}

/** Whether a hostile text stands where nothing allows it; a label value may have capitals, unlike a name. */
function isUnfit({ mode, variant }: BindingDraft): (text: string) => boolean {
  return (text) =>
    HOSTILE.some((hostile) => hostile === text) &&
    !(mode === 'PerVariant' && text === variant && /^[A-Za-z0-9]{1,63}$/.test(text))
}

test('an identity of ours reaches only the namespace, service account, pool pods, and container or variant of its binding', () => {
  const seen = {
    issued: 0,
    ofVariants: 0,
    init: 0,
    'native sidecar': 0,
    lookAlikes: 0,
    refusedHostile: 0,
    readyBesideHostile: 0,
  }
  fc.assert(
    fc.property(hostileTenants, (world) => {
      const analysis = analysisOf(world)
      const ours = analysis.settled.bindingsByOutput()
      for (const { pod, container, role, registration } of heldIn(
        analysis.settled.prediction(),
        analysis.podsInQuestion,
      )) {
        const key = ours.get(registration.source.name)
        if (key === undefined || registration.source.kind !== 'ClusterSPIFFEID') continue
        const draft = draftOf(world, key)
        const { labels } = poolOf(world, draft)
        expect(pod.namespace).toBe(draft.namespace)
        expect(pod.serviceAccountName).toBe(draft.serviceAccountName)
        expect(Object.fromEntries(pod.labels)).toMatchObject(labels)
        expect(role).not.toBe('ephemeral')
        expect(container).toBe(draft.mode === 'PerObjective' ? draft.containerName : container)
        const variant = pod.labels.get(DEFAULT_VARIANT_LABEL_KEY)
        expect(draft.mode === 'PerVariant' ? draft.variant : variant).toBe(variant)
        if (draft.mode === 'PerVariant') seen.ofVariants++
        if (registration.verdict === 'issued') seen.issued++
        if (role === 'init' || role === 'native sidecar') seen[role]++
        if (analysis.podsInQuestion.some((other) => isLookAlike(other, pod))) seen.lookAlikes++
      }
      countHostile(world, analysis, seen)
    }),
    { numRuns: RUNS },
  )
  // Each of these is what the property is about: it must have happened, and often.
  expect(seen.issued).toBeGreaterThan(leastSeen(30))
  expect(seen.ofVariants).toBeGreaterThan(leastSeen(15))
  expect(seen.init).toBeGreaterThan(leastSeen(5))
  expect(seen['native sidecar']).toBeGreaterThan(leastSeen(5))
  expect(seen.lookAlikes).toBeGreaterThan(leastSeen(20))
  expect(seen.refusedHostile).toBeGreaterThan(leastSeen(30))
  expect(seen.readyBesideHostile).toBeGreaterThan(leastSeen(15))
})

/** A pod of another tenant that looks the same. */
function isLookAlike(other: Pod, pod: Pod): boolean {
  return (
    other.namespace !== pod.namespace &&
    other.serviceAccountName === pod.serviceAccountName &&
    [...pod.labels].every(([key, value]) => other.labels.get(key) === value)
  )
}

function countHostile(
  world: HostileTenants,
  analysis: Analysis,
  seen: { refusedHostile: number; readyBesideHostile: number },
): void {
  let hostile = 0
  let ready = 0
  for (const draft of world.bindings) {
    const state = analysis.settled.judgements.get(`${draft.namespace}/${draft.name}`)?.state
    const container = draft.mode === 'PerObjective' ? [draft.containerName] : []
    const variant = draft.mode === 'PerVariant' ? [draft.variant] : []
    // The name of a binding is part of no selector: it may be anything.
    const bad = [draft.namespace, draft.serviceAccountName, draft.pool, ...container, ...variant].some(
      isUnfit(draft),
    )
    if (bad && state === 'refused') hostile++
    expect({ draft, isReady: bad && state === 'ready' }).toEqual({ draft, isReady: false })
    if (state === 'ready') ready++
  }
  seen.refusedHostile += hostile
  if (hostile > 0 && ready > 0) seen.readyBesideHostile++
}

test('two Ready bindings of one mode never share the pods of one container, or of one variant, provably', () => {
  const seen = { PerObjective: 0, PerVariant: 0, collisions: 0 }
  fc.assert(
    fc.property(hostileTenants, (world) => {
      const exact = { ...world, pods: world.pools.flatMap((pool) => exactPods(world, pool)) }
      const analysis = analysisOf(exact)
      const ready = world.bindings.filter(
        ({ namespace, name, mode }) =>
          mode !== 'PoolOnly' && analysis.settled.judgements.get(`${namespace}/${name}`)?.state === 'ready',
      )
      for (const [at, one] of ready.entries()) {
        for (const other of ready.slice(at + 1)) {
          if (!sameBoundary(one, other)) continue
          seen[one.mode === 'PerVariant' ? 'PerVariant' : 'PerObjective']++
          expect(isSubset(poolOf(world, one), poolOf(world, other))).toBe(false)
          expect(isSubset(poolOf(world, other), poolOf(world, one))).toBe(false)
        }
      }
      expectOneOfOurs(analysis, exact)
      seen.collisions += world.bindings.filter(({ namespace, name }) => {
        const judgement = analysis.settled.judgements.get(`${namespace}/${name}`)
        return judgement?.state === 'refused' && judgement.collision !== undefined
      }).length
    }),
    // One example in twenty has such a pair.
    { numRuns: 3 * RUNS },
  )
  expect(seen.collisions).toBeGreaterThan(leastSeen(20))
  expect(seen.PerObjective).toBeGreaterThan(leastSeen(3))
  expect(seen.PerVariant).toBeGreaterThan(leastSeen(3))
})

/** A pod with a pool's labels and no others: whatever else selects it shares its pods provably. */
function exactPods({ bindings }: HostileTenants, { namespace, labels }: PoolDraft): HostileTenants['pods'] {
  return bindings
    .filter((one) => one.namespace === namespace)
    .map(({ serviceAccountName, containerName, mode, variant }) => ({
      namespace,
      labels,
      variant: mode === 'PerVariant' ? variant : undefined,
      serviceAccountName,
      containers: [{ name: containerName, role: 'regular' }],
    }))
}

/** Whether two bindings give out the same container, or the same variant, as far as their own fields tell. */
function sameBoundary(one: BindingDraft, other: BindingDraft): boolean {
  return (
    one.namespace === other.namespace &&
    one.serviceAccountName === other.serviceAccountName &&
    one.mode === other.mode &&
    (one.mode === 'PerVariant' ? one.variant === other.variant : one.containerName === other.containerName)
  )
}

function isSubset({ labels: one }: PoolDraft, { labels: other }: PoolDraft): boolean {
  return Object.entries(one).every(([key, value]) => Object.hasOwn(other, key) && other[key] === value)
}

function expectOneOfOurs(analysis: Analysis, world: HostileTenants): void {
  const ours = analysis.settled.bindingsByOutput()
  const holders = new Map<string, string>()
  for (const { pod, container, registration } of heldIn(
    analysis.settled.prediction(),
    analysis.podsInQuestion,
  )) {
    const key = ours.get(registration.source.name)
    if (key === undefined) continue
    const { mode } = draftOf(world, key)
    if (mode === 'PoolOnly') continue
    const where = `${mode}:${pod.uid ?? ''}:${container}`
    expect(holders.get(where) ?? key).toBe(key)
    holders.set(where, key)
  }
}

describe('a binding of one namespace changes nothing for the pods of another', () => {
  test('neither their identities nor any other verdict, their default included', () => {
    const seen = { selectable: 0 }
    fc.assert(
      fc.property(hostileTenants, oneMoreBinding, (world, added) => {
        const before = analysisOf(world)
        const after = analysisOf({ ...world, bindings: [...world.bindings, added] })
        const elsewhere = (pods: readonly Pod[]): readonly Pod[] =>
          pods.filter(({ namespace }) => namespace !== added.namespace)
        expect(verdictsOf(after.settled.prediction(), elsewhere(after.podsInQuestion))).toEqual(
          verdictsOf(before.settled.prediction(), elsewhere(before.podsInQuestion)),
        )
        if (hasLookAlike(after, added)) seen.selectable++
      }),
      { numRuns: RUNS },
    )
    expect(seen.selectable).toBeGreaterThan(leastSeen(20))
  })

  test('and it is the namespaceSelector that keeps it so: without it, look-alikes lose their default identity', () => {
    const seen = { changed: 0 }
    fc.assert(
      fc.property(hostileTenants, oneMoreBinding, (world, added) => {
        const before = analysisOf(world)
        const after = analysisOf({ ...world, bindings: [...world.bindings, added] })
        const elsewhere = after.podsInQuestion.filter(({ namespace }) => namespace !== added.namespace)
        const without = verdictsOf(withoutNamespaceSelector(after, added), elsewhere)
        if (without.join('\n') !== verdictsOf(before.settled.prediction(), elsewhere).join('\n'))
          seen.changed++
      }),
      { numRuns: RUNS },
    )
    expect(seen.changed).toBeGreaterThan(leastSeen(20))
  })
})

function verdictsOf(prediction: Prediction, pods: readonly Pod[]): readonly string[] {
  return pods.flatMap((pod) =>
    pod.containers.flatMap((container) =>
      containerVerdicts(prediction, pod, container).map(({ verdict, source, spiffeId }) =>
        JSON.stringify([pod.ref, container.name, verdict, sourceText(source), spiffeId ?? null]),
      ),
    ),
  )
}

function outputOf(analysis: Analysis, { namespace, name }: BindingDraft): string | undefined {
  const judgement = analysis.settled.judgements.get(`${namespace}/${name}`)
  return judgement?.state === 'ready' ? judgement.resolved.output.metadata.name : undefined
}

/** Whether the binding is ready and pods of another tenant carry the labels of its pool. */
function hasLookAlike(analysis: Analysis, added: BindingDraft): boolean {
  const output = analysis.settled.outputs.find(({ object }) => object.meta.name === outputOf(analysis, added))
  const labels = [...(output?.object.spec.podSelector?.matchLabels ?? [])]
  return analysis.podsInQuestion.some(
    (pod) =>
      labels.length > 0 &&
      pod.namespace !== added.namespace &&
      labels.every(([key, value]) => pod.labels.get(key) === value),
  )
}

function withoutNamespaceSelector(analysis: Analysis, added: BindingDraft): Prediction {
  const name = outputOf(analysis, added)
  const { snapshot } = analysis
  return predict({
    clusterSpiffeIds: analysis.settled.outputs.map(({ object }) =>
      object.meta.name === name
        ? { ...object, spec: { ...object.spec, namespaceSelector: undefined } }
        : object,
    ),
    staticEntries: snapshot.staticEntries.read,
    namespaces: snapshot.namespaces.read,
    nodes: snapshot.nodes,
    pods: analysis.podsInQuestion,
    endpoints: snapshot.endpoints,
    settings: HANDLES_EVERYTHING,
  })
}

test('the order of the manifests changes no verdict', () => {
  fc.assert(
    fc.property(hostileTenants, (world) => {
      const turned = {
        pools: world.pools.toReversed(),
        bindings: world.bindings.toReversed(),
        pods: world.pods,
      }
      expect(manifestsOf(turned)).not.toBe(manifestsOf(world))
      const [one, other] = [analysisOf(world), analysisOf(turned)]
      expect(verdictsOf(other.settled.prediction(), other.podsInQuestion)).toEqual(
        verdictsOf(one.settled.prediction(), one.podsInQuestion),
      )
    }),
    { numRuns: runs(50) },
  )
})
