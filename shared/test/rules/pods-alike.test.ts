// What many pods show is worked out once for those that are alike. It is what each of them shows by itself: an estate gives the same
// findings if none of them counts as alike.
import * as fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { leastSeen, runs, seedOf } from '@kleym/testing/runs.ts'
import { analysisOf, tenants } from '@kleym/testing/random-tenants.ts'
import { findingsOf } from '@kleym/testing/at-once.ts'
import { heldBy } from '../../src/core/analysis/policies/holders.ts'
import { comparingEntries, Holdings, type State } from '../../src/core/analysis/index.ts'
import { findingKey, holdersOfNotes } from '../../src/core/findings/index.ts'
import { noPlansBefore } from '../../src/core/answers/migrate/in-a-row.ts'
import { migrating } from '../../src/core/answers/migrate/migrate.ts'
import { explaining } from '../../src/core/answers/index.ts'
import { effectOf } from '../../src/core/answers/explain/effect.ts'
import { generatedFor, outcomesOfGenerated } from '../identity-tests/run-test.ts'
import { toolsFor } from '../suggest/suggestions-for.ts'
import { driveAtOnce } from '../../src/core/base/steps.ts'
import { recordAt, type Pod } from '../../src/core/model/objects/pod.ts'
import { PodsAlike } from '../../src/core/model/objects/pods-alike.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'

const CASES = 16
/** More than are worked on one by one. */
const PODS = 420
const ID = 'spiffe://example.org'
const REGISTRATION = 'each'

/** A registration of others that gives each pod, each node or each annotation an identity of its own, or one that a static entry gives. */
const registration = fc
  .record({
    spiffeIDTemplate: fc.constantFrom(
      `${ID}/pod/{{ .PodMeta.Name }}`,
      `${ID}/uid/{{ .PodMeta.UID }}`,
      `${ID}/node/{{ .NodeMeta.Name }}`,
      `${ID}/on/{{ .PodSpec.NodeName }}`,
      `${ID}/{{ if .PodMeta.DeletionTimestamp }}going{{ else }}ns/team-a/pool/llama{{ end }}`,
      `${ID}/static`,
      `${ID}/static`,
      `${ID}/static`,
      `${ID}/static`,
      `${ID}/ns/{{ .PodMeta.Namespace }}/pool/llama`,
      `${ID}/a/{{ index .PodMeta.OwnerReferences 0 }}`,
    ),
    workloadSelectorTemplates: fc.constantFrom<readonly string[]>(
      [],
      ['k8s:pod-name:{{ .PodMeta.Name }}'],
      ['k8s:pod-name:copy-3'],
      ['k8s:node-name:n1'],
      ['k8s:pod-uid:uid-of-copy-3'],
      ['k8s:pod-uid:{{ .PodMeta.UID }}'],
      ['k8s:container-name:vllm'],
    ),
    fallback: fc.boolean(),
    autoPopulateDNSNames: fc.boolean(),
  })
  .map((spec) => ({
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name: REGISTRATION, uid: 'uid-of-each', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec,
  }))

/** What of a copy may differ from the pod that it is a copy of, beside its name and UID. */
const differences = fc.array(
  fc.record({
    nodeName: fc.constantFrom('n1', 'n2', 'n3', ''),
    mirror: fc.constantFrom(false, false, false, true),
    isGoing: fc.constantFrom(false, false, true),
  }),
  { minLength: 3, maxLength: 3 },
)

/** Copies of a pod, which share with it whatever they have in common. */
function copies(
  { metadata, spec, ...pod }: JsonRecord,
  count: number,
  different: readonly { readonly nodeName: string; readonly mirror: boolean; readonly isGoing: boolean }[],
  from: number,
): readonly JsonRecord[] {
  const mirror = {
    ...recordAt({ metadata }, 'metadata'),
    annotations: { 'kubernetes.io/config.mirror': 'm' },
  }
  return Array.from({ length: count }, (_, index) => {
    const at = from + index
    const one = different[at % (different.length + 3)]
    const name = `copy-${at}`
    return {
      ...pod,
      metadata: {
        ...(one?.mirror === true ? mirror : recordAt({ metadata }, 'metadata')),
        ...(one?.isGoing === true && { deletionTimestamp: '2026-01-02T00:00:00Z' }),
        name,
        uid: `uid-of-${name}`,
      },
      spec: { ...recordAt({ spec }, 'spec'), ...(one !== undefined && { nodeName: one.nodeName }) },
    }
  })
}

const isPod = (object: JsonRecord): boolean => object['kind'] === 'Pod'

const estates = fc.record({ objects: tenants, registration, differences }).map((drafts) => {
  const pods = drafts.objects.filter(isPod)
  const count = Math.ceil(PODS / pods.length)
  return [
    ...drafts.objects.filter((one) => !isPod(one)),
    drafts.registration,
    ...pods.flatMap((pod, at) => copies(pod, count, drafts.differences, at * count)),
  ]
})

/** All that findings say, and the containers that show them. */
function findings(objects: readonly JsonRecord[]): unknown {
  const found = findingsOf(analysisOf(objects))
  const said = found.map(({ within, ...one }) => [one, within?.of(new Set(['team-a']))])
  return { said, holders: holders(objects, new Set(found.map(findingKey))) }
}

/** All that the explanations of bindings say of pods. */
function reaches(objects: readonly JsonRecord[]): unknown {
  const analysis = analysisOf(objects)
  return driveAtOnce(explaining(analysis, [...analysis.snapshot.bindings.read])).map(({ key, reach }) => [
    key,
    reach && Object.entries(reach).map(([part, all]) => [part, all.map(named)]),
  ])
}

function named({ pod, ...one }: { readonly pod: Pod }): unknown {
  return { ...one, pod: pod.ref.name }
}

/** The states without and with the registration of others. */
function states(objects: readonly JsonRecord[]): readonly [before: State, after: State] {
  return [
    analysisOf(objects.filter((one) => recordAt(one, 'metadata')['name'] !== REGISTRATION)).settled,
    analysisOf(objects).settled,
  ]
}

/** What a registration does to containers. */
function effect(objects: readonly JsonRecord[]): unknown {
  const { findings: _, ...all } = effectOf(...states(objects))
  return all
}

/** How many entries it asks for. */
function entries(objects: readonly JsonRecord[]): unknown {
  const { after, change } = driveAtOnce(comparingEntries(...states(objects)))
  const { causes: _, ...changed } = change
  const { byBinding, byNode, ofContainer, ofEachPod } = after
  const counted = [after.entries, after.unmatched].map(({ certain }) => certain)
  return { changed, byBinding, byNode, ofContainer, ofEachPod, counted }
}

/** The tests that pin what containers hold, and what they come to. */
function pinned(objects: readonly JsonRecord[]): unknown {
  const analysis = analysisOf(objects)
  const generated = generatedFor(analysis)
  return { generated, outcomes: outcomesOfGenerated(generated, analysis) }
}

/** How the registration of others becomes bindings. */
function migration(objects: readonly JsonRecord[]): unknown {
  const analysis = analysisOf(objects)
  const object = [...analysis.snapshot.clusterSpiffeIds.read].find(({ meta }) => meta.name === REGISTRATION)
  if (object === undefined) return undefined
  const { oldIds, newIds, moves, uncovered, remainder, changes, kept, open } = driveAtOnce(
    migrating(noPlansBefore(analysis), object, toolsFor(analysis)),
  )
  const all = [...moves, ...uncovered].map((one) => ({ ...one, pods: one.pods.text() }))
  return { oldIds, newIds, all, remainder, changes, kept, open }
}

/** The containers that show findings, by the keys of those. */
function holders(objects: readonly JsonRecord[], keys: ReadonlySet<string> = new Set()): unknown {
  const namespaces = new Set(['team-a'])
  return driveAtOnce(holdersOfNotes(analysisOf(objects).settled, { keys, namespaces }))
}

/** Who holds the IDs that policies name, and the pods of the accounts that they name. */
function held(objects: readonly JsonRecord[]): unknown {
  const { settled } = analysisOf(objects)
  const spiffeIds = [
    `${ID}/ns/team-a`,
    `${ID}/ns/team-a/pool/llama`,
    `${ID}/static`,
    `${ID}/uid/uid-of-copy-3`,
  ]
  const accounts = new Set(['team-a/default', 'team-a/runner'])
  const { byId, podsOfAccount, ...rest } = heldBy(settled, { spiffeIds: new Set(spiffeIds), accounts })
  const { kleymIdsOfAccount, rendered, perhapsRendered, unfinished, unfollowed } = rest
  const holding = [...byId].map(([id, { holders: all, ...one }]) => [id, all.map(named), one])
  const pods = [...podsOfAccount].map(([account, all]) => [account, all.map(({ ref }) => ref.name)])
  return { holding, pods, kleymIdsOfAccount, rendered, perhapsRendered, unfinished, unfollowed }
}

test.each<[string, (objects: readonly JsonRecord[]) => unknown, number]>([
  ['the findings', findings, CASES],
  ['the explanations', reaches, CASES],
  ['the tests that pin it', pinned, CASES],
  ['the holders', held, CASES],
  // Each of its cases settles a dozen estates.
  ['the migration', migration, CASES / 4],
  ['the effect of a change', effect, CASES],
  ['the entries', entries, CASES],
])('an estate in which pods are alike has %s of one in which none are', (_, saidOf, cases) => {
  let folded = 0
  fc.assert(
    fc.property(estates, (objects) => {
      const [find, work] = [vi.spyOn(PodsAlike.prototype, 'find'), vi.spyOn(PodsAlike.prototype, 'work')]
      const shared = saidOf(objects)
      if (work.mock.calls.length < find.mock.calls.length / 2) folded += 1
      find.mockReturnValue(undefined)
      const oneByOne = saidOf(objects)
      vi.restoreAllMocks()
      expect(shared).toEqual(oneByOne)
    }),
    { numRuns: runs(cases), ...seedOf(45) },
  )
  expect(folded).toBeGreaterThan(leastSeen(Math.floor(cases / 8)))
})

test.each<[string, (objects: readonly JsonRecord[]) => unknown]>([
  ['the findings', findings],
  ['the tests that pin what they hold', pinned],
  ['the migration of their registration', migration],
  ['the containers that show findings', holders],
  ['the holders that policies name', held],
  ['the effect of a change', effect],
  ['the entries', entries],
])('of pods that differ in their names and nodes alone, %s are worked out once', (_, saidOf) => {
  const objects = podsOfOne()
  const [find, work] = [vi.spyOn(PodsAlike.prototype, 'find'), vi.spyOn(PodsAlike.prototype, 'work')]
  const there = vi.spyOn(Holdings.prototype, 'there')
  for (const spy of [find, work, there]) spy.mockClear()
  saidOf(objects)
  expect(find.mock.calls.length).toBeGreaterThanOrEqual(PODS)
  expect(work.mock.calls.length).toBeLessThan(find.mock.calls.length / 40)
  expect(there.mock.calls.length).toBeLessThan(PODS)
})

test.each<[string, (pod: JsonRecord) => JsonRecord]>([
  ['that share nothing but their labels, as in files', (pod) => withSpec(pod, structuredClone(pod['spec']))],
  [
    'with init containers',
    (pod) => withSpec(pod, { ...recordAt(pod, 'spec'), initContainers: [{ name: 'init', image: 'init' }] }),
  ],
  [
    'of manifests',
    ({ metadata, ...pod }) => ({
      ...pod,
      metadata: { ...recordAt({ metadata }, 'metadata'), uid: undefined },
    }),
  ],
])('pods %s are alike too', (_, changed) => {
  const [find, work] = [vi.spyOn(PodsAlike.prototype, 'find'), vi.spyOn(PodsAlike.prototype, 'work')]
  for (const spy of [find, work]) spy.mockClear()
  findingsOf(analysisOf(podsOfOne().map((one) => (isPod(one) ? changed(one) : one))))
  expect(find.mock.calls.length).toBeGreaterThanOrEqual(PODS)
  expect(work.mock.calls.length).toBeLessThan(find.mock.calls.length / 40)
})

function withSpec(pod: JsonRecord, spec: unknown): JsonRecord {
  return { ...pod, spec }
}

test('the findings of a state that is compared with several are worked out once', () => {
  const [before, after] = states(podsOfOne())
  const [, other] = states(podsOfOne())
  const find = vi.spyOn(PodsAlike.prototype, 'find')
  const asked = [after, other].map((one) => {
    find.mockClear()
    effectOf(before, one)
    return find.mock.calls.length
  })
  expect(asked[1]).toBe((asked[0] ?? 0) - PODS)
})

test('of findings that are gone, the pods of their namespaces alone are looked at again', () => {
  const objects = podsOfOne()
  const elsewhere = objects
    .filter(isPod)
    .map((one) => ({ ...one, metadata: { ...recordAt(one, 'metadata'), namespace: 'team-b' } }))
  const find = vi.spyOn(PodsAlike.prototype, 'find')
  const asked = [objects, [...objects, ...elsewhere]].map((all) => {
    const { settled } = analysisOf(all)
    const keys = new Set(findingsOf(analysisOf(all)).map(findingKey))
    find.mockClear()
    driveAtOnce(holdersOfNotes(settled, { keys, namespaces: new Set(['team-a']) }))
    return find.mock.calls.length
  })
  expect(asked).toEqual([PODS, PODS])
})

/** Pods that differ in their names and nodes alone, and a registration that selects all of them. */
function podsOfOne(): readonly JsonRecord[] {
  const each = Array.from({ length: PODS }, (_one, at) => at)
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: metadataOf('team-a') },
    {
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ClusterSPIFFEID',
      metadata: { ...metadataOf(REGISTRATION), creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { spiffeIDTemplate: `${ID}/ns/{{ .PodMeta.Namespace }}` },
    },
    ...each.map((at) => ({ apiVersion: 'v1', kind: 'Node', metadata: metadataOf(`n${at}`) })),
    ...each.map((at) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...metadataOf(`p${at}`), namespace: 'team-a', ownerReferences: OWNERS },
      spec: { nodeName: `n${at}`, serviceAccountName: 'default', containers: CONTAINERS },
    })),
  ]
}

function metadataOf(name: string): JsonRecord {
  return { name, uid: `uid-of-${name}` }
}

const CONTAINERS = [{ name: 'vllm', image: 'vllm' }]
const OWNERS = [{ kind: 'ReplicaSet', name: 'p', controller: true }]
