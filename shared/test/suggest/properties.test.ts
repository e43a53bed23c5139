// What must hold of every suggestion, whatever pools and pods there are: it is Ready when it is applied, it brings no error, nothing
// else changes its readiness, and after it there is nothing left to suggest for its pods.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import { findingsOf } from '../../src/core/rules/all.ts'
import { findingKey } from '../../src/core/findings/finding.ts'
import { findingEntry } from '../../src/core/registry/findings.ts'
import { isRecord, type JsonRecord } from '../../src/core/json.ts'
import { unchanged, type Analysis } from '../../src/core/analysis/analysis.ts'
import { podText } from '../../src/core/objects/pod-index.ts'
import {
  containerVerdicts,
  isHeld,
  isPossible,
  type Registration,
} from '../../src/core/spire/registration.ts'
import { analysisOf } from '@kleym/testing/random-tenants.ts'
import { manifestsOf, suggestedLines, suggestionsFor, suggestionsOf } from './suggestions-for.ts'
import { randomPools } from './random-pools.ts'

const SEED = 20_261_122
const RUNS = runs(250)

function errorsOf({ settled }: Analysis): ReadonlySet<string> {
  return new Set(
    findingsOf(unchanged(settled))
      .filter(({ code }) => findingEntry(code).severity === 'error')
      .map(findingKey),
  )
}

test('each suggestion is Ready once it is applied, brings no error, and changes the readiness of no other binding', () => {
  const seen = { PoolOnly: 0, PerVariant: 0, PerObjective: 0, impossible: 0, none: 0 }
  fc.assert(
    fc.property(randomPools, (objects) => {
      const { analysis, answer } = suggestionsFor(objects)
      for (const { suggested, not, existing } of answer.pools) {
        for (const { candidate } of suggested) seen[candidate.boundary.mode]++
        for (const { state } of not) if (state === 'impossible') seen.impossible++
        if (suggested.length + existing.length === 0) seen.none++
      }
      // Read again from manifests, as a cluster would hold them.
      const applied = analysisOf([...objects, ...manifestsOf(answer)])
      for (const { suggested } of answer.pools)
        for (const { key } of suggested) expect(applied.settled.judgements.get(key)?.state).toBe('ready')
      for (const [key, before] of analysis.settled.judgements)
        expect([key, applied.settled.judgements.get(key)?.state]).toEqual([key, before.state])
      expect(errorsOf(applied).difference(errorsOf(analysis))).toEqual(new Set())
    }),
    { numRuns: RUNS, seed: SEED },
  )
  expect(Object.entries(seen).filter(([, count]) => count < leastSeen(25))).toEqual([])
})

test('after all suggestions are applied, nothing is left to suggest', () => {
  fc.assert(
    fc.property(randomPools, (objects) => {
      const { answer } = suggestionsFor(objects)
      expect(suggestedLines(suggestionsFor([...objects, ...manifestsOf(answer)]).answer)).toEqual([])
    }),
    { numRuns: RUNS, seed: SEED },
  )
})

test('the order of the objects changes nothing', () => {
  const shuffled = randomPools.chain((objects) =>
    fc.record({
      objects: fc.constant(objects),
      permuted: fc.shuffledSubarray([...objects], { minLength: objects.length }),
    }),
  )
  fc.assert(
    fc.property(shuffled, ({ objects, permuted }) => {
      expect(manifestsOf(suggestionsFor(permuted).answer)).toEqual(
        manifestsOf(suggestionsFor(objects).answer),
      )
    }),
    { numRuns: RUNS, seed: SEED },
  )
})

test('each container that a suggestion is said to reach holds its ID once it is applied', () => {
  let reached = 0
  fc.assert(
    fc.property(randomPools, (objects) => {
      const { answer } = suggestionsFor(objects)
      const applied = analysisOf([...objects, ...manifestsOf(answer)])
      const holders = holdersOf(applied)
      for (const { suggested } of answer.pools)
        for (const { spiffeId, reach } of suggested)
          for (const { pod, containers } of reach.reached)
            for (const container of containers) {
              reached++
              expect(holders).toContain([spiffeId, podText(pod), container].join(' '))
            }
    }),
    { numRuns: RUNS, seed: SEED },
  )
  expect(reached).toBeGreaterThan(leastSeen(250))
})

test('a suggestion names each identity that its pods lose, with what they hold instead', () => {
  const seen = { left: 0, replaced: 0 }
  const withFallback = fc.tuple(randomPools, fc.constantFrom(FALLBACK, KEPT, ACCOUNT_OF_POOL))
  fc.assert(
    fc.property(withFallback, ([pools, more]) => {
      const objects = [...pools, ...more]
      const { analysis, answer } = suggestionsFor(objects)
      const before = holdersOf(analysis)
      const applied = analysisOf([...objects, ...manifestsOf(answer)])
      const after = holdersOf(applied)
      const mayHold = holdersOf(applied, (one) => isHeld(one) || isPossible(one))
      const named = { certain: new Set<string>(), perhaps: new Set<string>() }
      for (const { suggested } of answer.pools)
        for (const { reach } of suggested)
          for (const { pod, containers, spiffeId, instead, open } of reach.lost)
            for (const container of containers) {
              seen[instead.length === 0 ? 'left' : 'replaced']++
              named[open === undefined ? 'certain' : 'perhaps'].add(
                [spiffeId, podText(pod), container].join(' '),
              )
              for (const id of instead) expect(after).toContain([id, podText(pod), container].join(' '))
            }
      expect(named.certain.difference(before.difference(after))).toEqual(new Set())
      expect(before.difference(mayHold).difference(named.certain.union(named.perhaps))).toEqual(new Set())
    }),
    { numRuns: RUNS, seed: SEED },
  )
  expect(seen.left).toBeGreaterThan(0)
  expect(seen.replaced).toBeGreaterThan(leastSeen(100))
})

test('no proxy of a mesh holds less than before once suggestions are applied', () => {
  const seen = { PoolOnly: 0, PerObjective: 0, kept: 0, impossible: 0 }
  let beside = 0
  const certain = fc
    .tuple(randomPools, fc.constantFrom(FALLBACK, KEPT, TWO))
    .map(([pools, more]) => [...pools.map((one) => meshed(one)), ...more.map((one) => meshed(one))])
  fc.assert(
    fc.property(certain, (objects) => {
      const { analysis, answer } = suggestionsFor(objects)
      const applied = analysisOf([...objects, ...manifestsOf(answer)])
      const [before, after] = [holdersOf(analysis), holdersOf(applied)].map(proxiesOnly)
      for (const { suggested, registrations, not } of answer.pools) {
        beside += registrations.length
        for (const { candidate } of suggested) {
          if (candidate.boundary.mode !== 'PerVariant') seen[candidate.boundary.mode]++
          if (candidate.companions !== undefined) seen.kept++
        }
        if (not.some(({ reason }) => reason === 'KLM440')) seen.impossible++
      }
      expect(before?.difference(after ?? new Set())).toEqual(new Set())
      const harms = [analysis, applied].map((one) =>
        [...errorsOf(one)].filter((key) => key.startsWith('KLM441')),
      )
      expect(harms[1]?.filter((key) => harms[0]?.includes(key) !== true)).toEqual([])
      expect(
        suggestionsOf(applied)
          .pools.flatMap(({ registrations }) => registrations)
          .map(({ key }) => key),
      ).toEqual([])
    }),
    { numRuns: RUNS, seed: SEED },
  )
  expect(Object.entries(seen).filter(([, count]) => count <= leastSeen(5))).toEqual([])
  expect(beside).toBeGreaterThan(0)
})

/** With a proxy of Istio that takes its certificates from SPIRE in the place of the container `proxy`. */
function meshed(object: JsonRecord): JsonRecord {
  const socket = { name: 'socket', mountPath: '/run/secrets/workload-spiffe-uds' }
  const text = JSON.stringify(object)
    .replaceAll('{"name":"proxy"}', JSON.stringify({ name: 'istio-proxy', volumeMounts: [socket] }))
    .replaceAll('container-name:proxy', 'container-name:istio-proxy')
    .replaceAll(
      '"serviceAccountName"',
      '"volumes":[{"name":"socket","csi":{"driver":"csi.spiffe.io"}}],"serviceAccountName"',
    )
  const copy: unknown = JSON.parse(text)
  if (!isRecord(copy)) throw new TypeError('an object is an object')
  return copy
}

function proxiesOnly(holders: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...holders].filter((one) => one.endsWith(' istio-proxy')))
}

const [FALLBACK, KEPT, ACCOUNT_OF_POOL, TWO] = [
  [registration('default', { fallback: true })],
  // Something that is no fallback gives one container of each pod the default identity.
  [
    registration('default', { fallback: true }),
    registration('kept', { workloadSelectorTemplates: ['k8s:container-name:proxy'] }),
  ],
  [registration('default', { fallback: true, podSelector: { matchLabels: { app: 'x' } } })],
  // A proxy that has two IDs by fallbacks keeps both.
  [
    registration('default', { fallback: true }),
    registration('tier', { fallback: true, spiffeIDTemplate: 'spiffe://example.org/tier' }),
  ],
]

function registration(name: string, spec: JsonRecord): JsonRecord {
  const spiffeIDTemplate =
    'spiffe://example.org/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}'
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name },
    spec: { spiffeIDTemplate, ...spec },
  }
}

/** `ID pod container` for each identity that a container holds: certainly, if nothing else is asked for. */
function holdersOf(
  { settled, podsInQuestion }: Analysis,
  isMeant: (one: Registration) => boolean = isHeld,
): ReadonlySet<string> {
  return new Set(
    podsInQuestion.flatMap((pod) =>
      pod.containers.flatMap((container) =>
        containerVerdicts(settled.prediction(), pod, container)
          .filter(isMeant)
          .map(({ spiffeId }) => [spiffeId, podText(pod), container.name].join(' ')),
      ),
    ),
  )
}
