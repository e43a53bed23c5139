// Hundreds of made-up estates, many on one control plane at a time, each in namespaces of its own; and some batches in
// which all ClusterSPIFFEIDs reach into all namespaces. `KLEYM_SVID_ESTATES` and `KLEYM_SVID_SEED` ask for others.
import process from 'node:process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { sourceText } from '../../shared/src/core/predict/spire/prediction.ts'
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts'
import { CAUSE_NAMES, causeOf } from './causes.ts'
import { compare, differenceText, type Comparison } from './compare.ts'
import { placeAll, slotOf, type Estate } from './estate.ts'
import { estatesOf } from './generator.ts'
import { shrink } from './shrink.ts'
import { startSpire, type Spire } from './spire.ts'
import { build, clear, node } from './build-cluster.ts'

const SEED = Number(process.env['KLEYM_SVID_SEED'] ?? '20261121')
const COUNT = Number(process.env['KLEYM_SVID_ESTATES'] ?? runs(550))
/** Three digits name a slot, and the API server is asked for several objects of each. */
const PER_BATCH = 90
/** Estates whose ClusterSPIFFEIDs reach into all of the others. */
const MEETING = 8
/** Of all registrations, those that the prediction may leave open at most. */
const MOST_UNCERTAIN = 0.02
/** And entries that outlived one that the server refused. */
const MOST_KEPT = 0.005

const ESTATES = estatesOf(SEED, COUNT)
/** Nine in ten stand alone. */
const ALONE = Math.floor(COUNT * 0.9)
const BATCHES = starts(0, ALONE, PER_BATCH)
const MEETINGS = starts(ALONE, COUNT, MEETING)

// The API server copies the topology label onto the pods of that node.
const NODES = [node('n1', { zone: 'x' }), node('n2', { zone: 'y', 'topology.kubernetes.io/zone': 'y' })]

let cp: ControlPlane
let spire: Spire
const seen: Comparison[] = []
beforeAll(async () => {
  cp = await startControlPlane({ controllers: [] })
  spire = await startSpire(cp)
})
afterAll(() => cp?.stop())

test.each(BATCHES)(`seed ${SEED}: estates from %i to %i, each alone`, async (from, to) => {
  const comparison = await run(ESTATES.slice(from, to))
  seen.push(comparison)
  if (comparison.differences.length === 0) return
  const [first] = slotsOf(comparison)
  const smallest = first === undefined ? undefined : await smallestOf(ESTATES[from + first])
  expect.fail(
    [
      ...report(comparison, from),
      'the smallest estate that differs:',
      JSON.stringify(smallest, null, 2),
    ].join('\n'),
  )
})

test.each(MEETINGS)(`seed ${SEED}: estates from %i to %i, that meet`, async (from, to) => {
  const comparison = await run(ESTATES.slice(from, to), true)
  seen.push(comparison)
  expect(report(comparison, from)).toEqual([])
})

function starts(from: number, to: number, size: number): readonly (readonly [from: number, to: number])[] {
  const count = Math.ceil((to - from) / size)
  return Array.from({ length: count }, (_, at) => [from + at * size, Math.min(to, from + (at + 1) * size)])
}

async function smallestOf(estate: Estate | undefined): Promise<Estate | undefined> {
  if (estate === undefined) return undefined
  return shrink(estate, async (candidates) => {
    const slots = slotsOf(await run(candidates))
    return candidates.map((_, at) => slots.has(at))
  })
}

/** The slots in which something differs. */
function slotsOf({ differences }: Comparison): ReadonlySet<number> {
  return new Set(differences.flatMap(({ pod, source }) => slotOf(pod ?? '') ?? slotOf(source ?? '') ?? []))
}

async function run(estates: readonly Estate[], meet = false): Promise<Comparison> {
  await clear(cp, spire)
  await build(cp, [NODES.map((object) => ({ object })), ...placeAll(estates, meet)])
  return compare(cp, spire)
}

/** The differences, each with the number of its estate. */
function report({ differences }: Comparison, from: number): readonly string[] {
  return differences.map((difference) => {
    const slot = slotOf(difference.pod ?? '') ?? slotOf(difference.source ?? '')
    return `estate ${slot === undefined ? '?' : from + slot}: ${differenceText(difference)}`
  })
}

test('what is left open is rare, and for causes that are known', () => {
  const outcomes = seen.flatMap((one) => one.outcomes)
  const uncertain = seen.flatMap((one) => one.uncertain)
  const unknown = uncertain.map(causeOf).filter((cause) => !CAUSE_NAMES.includes(cause))
  expect(unknown).toEqual([])
  expect(uncertain.length / outcomes.length).toBeLessThan(MOST_UNCERTAIN)
  expect(seen.flatMap((one) => one.kept).length / outcomes.length).toBeLessThan(MOST_KEPT)
})

test('the estates hold what they are made for', () => {
  const all = seen.flatMap((one) => one.outcomes.map(({ verdict }) => verdict.state))
  const counts = new Map([...Map.groupBy(all, (state) => state)].map(([state, of]) => [state, of.length]))
  const agreed = seen.reduce((sum, one) => sum + one.agreed, 0)
  process.stdout.write(
    `seed ${SEED}: ${COUNT} estates, ${agreed} entries as predicted; ${JSON.stringify(Object.fromEntries(counts))}\n`,
  )
  expect(agreed).toBeGreaterThan(COUNT)
  const states = ['masked', 'displaced', 'ignored', 'failed', 'refused'] as const
  expect(states.filter((state) => (counts.get(state) ?? 0) < COUNT / 10)).toEqual([])
  const contests = Map.groupBy(seen.flatMap(contestsOf), (how) => how)
  const ways = ['by age', 'by deletion or UID'] as const
  expect(ways.filter((how) => (contests.get(how)?.length ?? 0) < COUNT / 50)).toEqual([])
})

/** What decided each contest for an entry. */
function contestsOf({ outcomes, analysis }: Comparison): readonly ('by age' | 'by deletion or UID')[] {
  const { clusterSpiffeIds, staticEntries } = analysis.snapshot
  const ages = new Map<string, string | undefined>([
    ...clusterSpiffeIds.read.map(({ meta }) => [`ClusterSPIFFEID/${meta.name}`, meta.createdAt] as const),
    ...staticEntries.read.map(({ meta }) => [`ClusterStaticEntry/${meta.name}`, meta.createdAt] as const),
  ])
  return outcomes.flatMap(({ source, verdict }) =>
    verdict.state !== 'masked'
      ? []
      : ages.get(sourceText(source)) === ages.get(sourceText(verdict.by))
        ? ['by deletion or UID' as const]
        : ['by age' as const],
  )
}
