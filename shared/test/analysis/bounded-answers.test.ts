// Shapes in which an answer would grow with the square of its input: what is said there, and how much of it.
import { expect, test } from 'vitest'
import { analyse } from '../../src/core/analysis/states/analysis.ts'
import { collisionOf } from '../../src/core/decide/collide/conflict.ts'
import { effectOf } from '../../src/core/answers/explain/effect.ts'
import { findingKey, type Finding } from '../../src/core/findings/finding/finding.ts'
import { collisionFindings, labelsText } from '../../src/core/findings/rules/collision-rules.ts'
import { poolFindings } from '../../src/core/findings/rules/pool-rules.ts'
import { isRecord, type JsonRecord } from '../../src/core/base/json.ts'
import { driveAtOnce } from '../../src/core/base/steps.ts'
import { readScmSettings } from '../../src/core/model/objects/scm-config.ts'
import { readSnapshot } from '../../src/core/snapshot/snapshot.ts'
import { binding, CONFIG, objective, pool } from '@kleym/testing/manifests.ts'

type Labels = Readonly<Record<string, string>>

/** One binding and one pool for each label set, all of one container. */
function bindingsFor(labelSets: readonly Labels[], namespace = 'team-a'): readonly JsonRecord[] {
  return labelSets.flatMap((labels, at) => {
    const name = numbered(at)
    const spec = { poolRef: { name }, objectiveRef: { name } }
    return [
      pool({ name, namespace, labels }),
      objective({ name, namespace, poolRef: { name } }),
      binding({ name, namespace, spec }),
    ]
  })
}

/** Label sets of which each contains all that follow. */
function nested(count: number): readonly Labels[] {
  return times(count, (at) => Object.fromEntries(times(at + 1, (label) => [`l${label}`, 'on'])))
}

function numbered(at: number): string {
  return `b${String(at).padStart(4, '0')}`
}

function times<T>(count: number, make: (at: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, at) => make(at))
}

function snapshotOf(objects: readonly JsonRecord[]): ReturnType<typeof readSnapshot> {
  return readSnapshot({ objects: objects.map((value) => ({ value })) })
}

function analysisOf(objects: readonly JsonRecord[]): ReturnType<typeof analyse> {
  const evidence = { trustDomain: undefined, className: undefined, clusterSpiffeIdClasses: [] }
  return analyse(snapshotOf(objects), CONFIG, readScmSettings(undefined, 'a test', evidence).settings)
}

function collisionsOf(
  analysis: ReturnType<typeof analyse>,
  bindings?: ReadonlySet<string>,
): readonly Finding[] {
  return driveAtOnce(collisionFindings(analysis, bindings))
}

function pod(name: string, labels: Labels): JsonRecord {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'team-a', uid: `uid-of-${name}`, labels },
    spec: { serviceAccountName: 'runner', containers: [{ name: 'vllm' }] },
  }
}

function zoned(zone: string): JsonRecord {
  return pod(zone, { 'topology.kubernetes.io/zone': zone })
}

test('a finding about two label sets names a hundred bindings of each side and counts the rest', () => {
  const wide = times(150, () => ({ app: 'llama' }))
  const analysis = analysisOf(bindingsFor([...wide, { app: 'llama', size: 'small' }]))
  const [own, contained] = collisionsOf(analysis).toSorted((a, b) => b.related.length - a.related.length)
  expect(own?.related).toHaveLength(149)
  expect(contained?.related).toHaveLength(100)
  expect(contained?.related.map(({ name }) => name)).toContain(numbered(150))
  expect(contained?.evidence[0]).toMatch(/; 50 more with these label sets are not named here$/)
})

function namesOf({ subject, related }: Finding): readonly string[] {
  return [subject.name, ...related.map(({ name }) => name)]
}

/** Those of label sets that are equal, or within each other. */
function collisionsIn(findings: readonly Finding[]): typeof findings {
  return findings.filter(({ code }) => code === 'KLM301')
}

test('where very many label sets are within others, each binding has a finding that counts its peers', () => {
  // 45 wide sets over as many narrow ones, each over each, are 2,025 pairs.
  const wide = times(45, (at) => ({ [`wide-${at}`]: 'on' }))
  const all = Object.fromEntries(wide.flatMap((labels) => Object.entries(labels)))
  const narrow = times(45, (at) => ({ ...all, only: numbered(at) }))
  const analysis = analysisOf(bindingsFor([...wide, ...narrow]))
  const found = collisionsIn(collisionsOf(analysis))
  expect(found.map(({ subject }) => subject.name).toSorted()).toEqual(times(90, numbered))
  const counted = / claims container vllm of pods that 45 other bindings claim too$/
  expect(found.filter(({ summary, related }) => !counted.test(summary) || related.length > 0)).toEqual([])
  expect([...analysis.now.judgements.values()].every(({ state }) => state === 'refused')).toBe(true)
  const last = `team-a/${numbered(89)}`
  const about = collisionsIn(collisionsOf(analysis, new Set([last])))
  expect(about.map(({ subject }) => subject.name)).toEqual([numbered(89)])
})

test('each binding that collides is told of, whatever collides in other namespaces', () => {
  const crowd = bindingsFor(nested(64), 'aaa')
  const two = bindingsFor([{ app: 'x' }, { app: 'x', region: 'eu' }], 'zzz')
  const analysis = analysisOf([...crowd, ...two])
  const named = collisionsIn(collisionsOf(analysis)).flatMap(({ subject, related }) =>
    [subject, ...related].map(({ namespace, name }) => `${namespace}/${name}`),
  )
  const refused = [...analysis.now.judgements]
    .filter(([, { state }]) => state === 'refused')
    .map(([key]) => key)
  expect(refused).toHaveLength(66)
  expect([...new Set(named)].toSorted()).toEqual(refused.toSorted())
})

test('one binding more or less among many is no news about the others', () => {
  // With 10 nested sets there are 45 pairs, more than four for each; with 9 there are 36.
  for (const [fewer, more] of [
    [9, 10],
    [63, 64],
  ] as const) {
    const [few, many] = [fewer, more].map((count) => analysisOf(bindingsFor(nested(count))))
    if (few === undefined || many === undefined) throw new Error('there are two')
    const grown = effectOf(few.settled, many.settled).findings
    const newOnes = collisionsIn(grown.added)
    expect(newOnes.map(({ subject }) => subject.name)).toEqual([numbered(more - 1)])
    expect([...grown.fixed, ...grown.noLongerApply].map(findingKey)).toEqual([])
    const shrunk = effectOf(many.settled, few.settled).findings
    expect(collisionsIn(shrunk.added)).toEqual([])
    expect(
      collisionsIn([...shrunk.fixed, ...shrunk.noLongerApply]).map(({ subject }) => subject.name),
    ).toEqual([numbered(more - 1)])
  }
})

/** Label sets with a key each, any two of which a pod may carry: `count` of them are some `count` squared by two pairs. */
function beside(count: number): readonly Labels[] {
  return times(count, (at) => ({ [`l${at}`]: 'on' }))
}

/** The objects of one more binding, of that name, labels and container. */
function oneMore(name: string, labels: Labels, containerName = 'vllm'): readonly JsonRecord[] {
  return [
    pool({ name, labels }),
    objective({ name, poolRef: { name } }),
    binding({ name, spec: { poolRef: { name }, objectiveRef: { name }, containerName } }),
  ]
}

function overlapsIn(findings: readonly Finding[]): typeof findings {
  return findings.filter(({ code }) => code === 'KLM302')
}

test('where very many label sets may overlap, each binding has a finding, and none is cut off', () => {
  // 22 label sets are 231 pairs.
  const two = [...oneMore('yy', { y: 'on' }), ...oneMore('zz', { z: 'on' })]
  const analysis = analysisOf([...bindingsFor(beside(22)), ...two])
  const found = overlapsIn(collisionsOf(analysis))
  expect(found.map(({ subject }) => subject.name).toSorted()).toEqual([...times(22, numbered), 'yy', 'zz'])
  expect(found.filter(({ related }) => related.length > 0)).toEqual([])
  const about = overlapsIn(collisionsOf(analysis, new Set(['team-a/zz'])))
  expect(about.map(({ subject, evidence }) => [subject.name, evidence[0]])).toEqual([
    ['zz', 'for example {l0: on} of b0000'],
  ])
})

test('label sets within one another are no label sets that may overlap, however many they are', () => {
  const wide = times(45, (at) => ({ [`wide-${at}`]: 'on', app: numbered(at) }))
  const narrow = times(45, (at) => ({ ...wide[at], app: numbered(at), only: 'this' }))
  expect(overlapsIn(collisionsOf(analysisOf(bindingsFor([...wide, ...narrow]))))).toEqual([])
})

test('one label set that may overlap more or less among many is no news about the others', () => {
  // 20 label sets are 190 pairs, 21 are 210.
  for (const [fewer, more] of [
    [20, 21],
    [30, 31],
  ] as const) {
    const [few, many] = [fewer, more].map((count) => analysisOf(bindingsFor(beside(count))))
    if (few === undefined || many === undefined) throw new Error('there are two')
    const grown = effectOf(few.settled, many.settled).findings
    expect(overlapsIn(grown.added).map(({ subject }) => subject.name)).toEqual([numbered(more - 1)])
    expect(overlapsIn([...grown.fixed, ...grown.noLongerApply])).toEqual([])
    const shrunk = effectOf(many.settled, few.settled).findings
    expect(overlapsIn(shrunk.added)).toEqual([])
    const gone = overlapsIn([...shrunk.fixed, ...shrunk.noLongerApply])
    expect(gone.map(({ subject }) => subject.name)).toEqual([numbered(more - 1)])
  }
})

test('a collision with another binding in another container is new, although both collided before', () => {
  // 12 nested label sets are 66 pairs, so each binding has a finding; with 11 there are 55, and it is so still.
  const crowd = bindingsFor(nested(12))
  const others = [...oneMore('yy', { l0: 'on' }, 'proxy'), ...oneMore('zz', { l0: 'on', z: 'on' }, 'proxy')]
  const last = `b0011`
  const moved = [...crowd, ...others].filter(
    ({ kind, metadata }) =>
      kind !== 'InferenceIdentityBinding' || !isRecord(metadata) || metadata['name'] !== last,
  )
  const spec = { poolRef: { name: last }, objectiveRef: { name: last }, containerName: 'proxy' }
  const [before, after] = [
    [...crowd, ...others],
    [...moved, binding({ name: last, spec })],
  ].map((objects) => analysisOf(objects).settled)
  if (before === undefined || after === undefined) throw new Error('there are two')
  const { added, unchanged } = effectOf(before, after).findings
  expect(collisionsIn(added).map(namesOf)).toEqual([['yy', last]])
  expect(collisionsIn(unchanged).map(namesOf)).toContainEqual(['yy', 'zz'])
})

test('a collision among many is new where it is in another container than before', () => {
  const crowds = ['one', 'two'].flatMap((container) =>
    nested(12).flatMap((labels, at) => oneMore(`${container}${at}`, labels, container)),
  )
  const [before, after] = ['one', 'two'].map(
    (container) => analysisOf([...crowds, ...oneMore('mover', { l0: 'on', m: 'on' }, container)]).settled,
  )
  if (before === undefined || after === undefined) throw new Error('there are two')
  expect(collisionsIn(effectOf(before, after).findings.added).map(({ subject }) => subject.name)).toEqual([
    'mover',
  ])
})

test('bindings that come to select the same pods are new only where they did not meet before', () => {
  const crowd = bindingsFor(nested(12))
  const [apart, met, same] = [{ y: 'on' }, { y: 'on', z: 'on' }, { z: 'on' }].map(
    (labels) => analysisOf([...crowd, ...oneMore('yy', labels), ...oneMore('zz', { z: 'on' })]).settled,
  )
  if (apart === undefined || met === undefined || same === undefined) throw new Error('there are three')
  expect(collisionsIn(effectOf(apart, same).findings.added).map(namesOf)).toEqual([['yy', 'zz']])
  expect(collisionsIn(effectOf(met, same).findings.added)).toEqual([])
})

/** Binding sets of four families, each a chain of `count` label sets: few chains are reported in pairs, long ones are not. */
function chains(count: number): readonly JsonRecord[] {
  return times(4, (chain) =>
    times(count, (at) =>
      oneMore(`c${chain}${numbered(at)}`, {
        app: 'a',
        chain: String(chain),
        ...Object.fromEntries(times(at + 1, (label) => [`k${label}`, 'on'])),
      }),
    ),
  ).flat(2)
}

test('a binding whose labels come to contain those of others is new, in pairs and where each binding is reported', () => {
  for (const count of [2, 12]) {
    const [before, after] = [{ app: 'a', chain: '0', k0: 'on', zz: 'on' }, { app: 'a' }].map(
      (labels) => analysisOf([...chains(count), ...oneMore('mover', labels)]).settled,
    )
    if (before === undefined || after === undefined) throw new Error('there are two')
    const added = collisionsIn(effectOf(before, after).findings.added).flatMap(namesOf)
    expect(added).toContain('mover')
  }
})

test('a binding that moves from one crowd to another in the same container is new', () => {
  const crowds = ['x', 'z'].flatMap((fam) =>
    times(12, (at) =>
      oneMore(`${fam}${at}`, { fam, ...Object.fromEntries(times(at, (label) => [`k${label}`, 'on'])) }),
    ).flat(),
  )
  const [before, after] = ['x', 'z'].map(
    (fam) => analysisOf([...crowds, ...oneMore('mover', { fam, q: 'on' })]).settled,
  )
  if (before === undefined || after === undefined) throw new Error('there are two')
  expect(collisionsIn(effectOf(before, after).findings.added).map(namesOf)).toEqual([['mover']])
})

test('two bindings that meet on another container than before are new, and no longer meet on the first', () => {
  const [before, after] = ['one', 'two'].map(
    (container) =>
      analysisOf([
        ...oneMore('yy', { y: 'on' }, container),
        ...oneMore('zz', { y: 'on', z: 'on' }, container),
      ]).settled,
  )
  if (before === undefined || after === undefined) throw new Error('there are two')
  const { added, fixed, noLongerApply } = effectOf(before, after).findings
  expect([added, fixed, noLongerApply].map((all) => collisionsIn(all).map(namesOf))).toEqual([
    [['yy', 'zz']],
    [],
    [['yy', 'zz']],
  ])
})

test('one binding less is no news about those that stay', () => {
  const three = ['xx', 'yy', 'zz'].map((name) => oneMore(name, { y: 'on' }))
  const [before, after] = [three, three.slice(0, 2)].map((all) => analysisOf(all.flat()).settled)
  if (before === undefined || after === undefined) throw new Error('there are two')
  const { added, fixed, noLongerApply } = effectOf(before, after).findings
  expect([added, fixed, noLongerApply]).toEqual([[], [], []])
})

test('of a very long label set the beginning is shown', () => {
  const labels = new Map(times(64, (at) => [`key-${at}`, 'v'.repeat(60)]))
  const text = labelsText(labels)
  expect(text.length).toBeLessThan(1_100)
  expect(text).toMatch(/^\{key-0: v{60}, key-1: .*, and 49 more\}$/)
})

test('a wide set over many narrow ones names the same peers as one over few', () => {
  // With as many claims as relatives, rows are merged; with fewer claims they are not.
  for (const wideCount of [1, 12]) {
    const wide = times(wideCount, () => ({ app: 'llama' }))
    const narrow = times(12, (at) => ({ app: 'llama', size: numbered(at) }))
    const { now, compiled } = analysisOf(bindingsFor([...wide, ...narrow]))
    const claim = now.claims.groups
      .flatMap(({ declared }) => declared)
      .find(({ owner }) => owner === 'team-a/b0000')
    const collision = claim === undefined ? undefined : collisionOf(now.claims, claim)
    const others = compiled.map(({ binding: { key } }) => key).filter((key) => key !== 'team-a/b0000')
    expect(collision?.count).toBe(others.length)
    expect(collision?.all().map((peer) => peer.claim.owner)).toEqual(others)
    expect(collision?.named.map((peer) => peer.claim.owner)).toEqual(others.slice(0, 10))
  }
})

test('label sets that differ in a key that all have never overlap; those that agree in it may', () => {
  const apart = times(5, (at) => ({ app: numbered(at), [numbered(at)]: 'on' }))
  expect(collisionsOf(analysisOf(bindingsFor(apart)))).toEqual([])
  const partly = [...apart, { app: numbered(3), other: 'on' }]
  expect(collisionsOf(analysisOf(bindingsFor(partly)))).toHaveLength(1)
  const together = [...apart, { app: numbered(3), other: 'on' }, { other: 'on' }]
  const pairs = collisionsOf(analysisOf(bindingsFor(together)))
  expect(pairs.filter(({ code }) => code === 'KLM302').map(({ related }) => related.length)).toEqual([
    1, 1, 1, 1, 1, 1,
  ])
})

test('pools with equal labels are one finding that names each of them once', () => {
  const pools = times(6, (at) => pool({ name: numbered(at), labels: { app: 'llama' } }))
  const narrow = pool({ name: 'narrow', labels: { app: 'llama', size: 'small' } })
  const pods = [
    pod('a', { app: 'llama' }),
    pod('b', { app: 'llama' }),
    pod('c', { app: 'llama', size: 'small' }),
  ]
  const found = driveAtOnce(poolFindings(analysisOf([...pools, narrow, ...pods])))
  expect(found.map(({ related, summary }) => [related.length, summary.slice(0, 5)])).toEqual([
    [5, '2 pod'],
    [6, '1 pod'],
  ])
})

test('a registration that takes one of several values is found once on a pod whose value is not known', () => {
  const registration = {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name: 'by-zone', uid: 'uid-of-by-zone' },
    spec: {
      spiffeIDTemplate: 'spiffe://example.org/zone',
      podSelector: {
        matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: ['a', 'b', 'a'] }],
      },
    },
  }
  const manifest = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'future', namespace: 'team-a' },
    spec: { containers: [{ name: 'vllm' }] },
  }
  const analysis = analysisOf([registration, manifest, zoned('a'), zoned('b'), zoned('c')])
  const outcomes = analysis.podsInQuestion.map((one) => [
    one.ref.name,
    analysis.settled.prediction().entriesOf(one).length,
  ])
  expect(outcomes).toEqual([
    ['a', 1],
    ['b', 1],
    ['c', 0],
    ['future', 1],
  ])
})
