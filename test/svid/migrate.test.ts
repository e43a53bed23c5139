// `migrate` against the real SCM: for made-up ClusterSPIFFEIDs of others, the bindings' outputs are written, and the registration is
// deleted. What containers gain and lose by the entries that the server then holds is what was told beforehand.
import process from 'node:process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import { analysing, type Analysis } from '../../shared/src/core/analysis/states/analysis.ts'
import type { Effect, IdentityChange } from '../../shared/src/core/answers/explain/effect.ts'
import type { JsonRecord } from '../../shared/src/core/base/json.ts'
import { noPlansBefore } from '../../shared/src/core/answers/migrate/in-a-row.ts'
import { migrating, type MigrationInWorlds } from '../../shared/src/core/answers/migrate/migrate.ts'
import { podText } from '../../shared/src/core/model/objects/pod-index.ts'
import { driveAtOnce } from '../../shared/src/core/base/steps.ts'
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts'
import { idOf } from '../control-plane/rest.ts'
import { build, clear, node } from './build-cluster.ts'
import { analysisOfObjects, objectsOf } from './compare.ts'
import { placeAll, slotName, SPACES, type Estate, isOfSlot } from './estate.ts'
import { estatesOf } from './generator.ts'
import { heldContainers, type HeldContainer } from './held-identities.ts'
import { CLUSTER_SPIFFE_ID, startSpire, type HeldEntry, type Spire } from './spire.ts'

const SEED = Number(process.env['KLEYM_SVID_SEED'] ?? '20261122')
const PER_BATCH = 90
const BATCHES = Array.from({ length: runs(4) }, (_, at) => at)
/** ClusterSPIFFEIDs that give an identity to a container and are taken away. */
const LEAST_MIGRATED = leastSeen(200)
/** Of them, those with a binding that takes their place for some container. */
const LEAST_REPLACED = leastSeen(100)

const ESTATES = estatesOf(SEED, PER_BATCH * BATCHES.length)
const NODES = [node('n1', { zone: 'x' }), node('n2', { zone: 'y', 'topology.kubernetes.io/zone': 'y' })]

/** Identities that outlive their registration. */
const MOST_OUTLIVING = 5

let migrated = 0
let replaced = 0
let outlived = 0

let cp: ControlPlane
let spire: Spire
beforeAll(async () => {
  cp = await startControlPlane({ controllers: [] })
  spire = await startSpire(cp)
})
afterAll(() => cp?.stop())

/** The pools and objectives of a slot, which SCM does not read: one objective, two, or none. */
function inference(slot: string): readonly JsonRecord[] {
  return SPACES.flatMap((space) => {
    const metadata = (name: string): JsonRecord => ({ name, namespace: `${slot}-${space}` })
    return [
      ...['llama', 'phi', 'qwen'].map((app) => ({
        apiVersion: 'inference.networking.k8s.io/v1',
        kind: 'InferencePool',
        metadata: metadata(app),
        spec: { selector: { matchLabels: { app } } },
      })),
      ...[
        ['chat', 'llama'],
        ['code', 'phi'],
        ['sql', 'phi'],
      ].map(([name = '', pool]) => ({
        apiVersion: 'llm-d.ai/v1alpha2',
        kind: 'InferenceObjective',
        metadata: metadata(name),
        spec: { poolRef: { name: pool } },
      })),
    ]
  })
}

/** One estate in its slot, and how one of its registrations becomes bindings. */
interface Slot {
  readonly at: number
  readonly analysis: Analysis
  readonly migration: MigrationInWorlds
}

/** The first registration that certainly gives an identity; none that a finalizer keeps. */
function migrationOf(analysis: Analysis): MigrationInWorlds | undefined {
  const { config, settings, snapshot } = analysis
  const tools = {
    analyse: (one: Analysis['snapshot']) => analysing(one, config, settings),
    drive: driveAtOnce,
  }
  for (const object of snapshot.clusterSpiffeIds.read) {
    if (object.meta.deletedAt !== undefined) continue
    const migration = driveAtOnce(migrating(noPlansBefore(analysis), object, tools))
    if (migration.oldIds.length > 0) return migration
  }
  return undefined
}

async function slotsOf(estates: readonly Estate[]): Promise<readonly Slot[]> {
  const objects = await objectsOf(cp)
  return estates.flatMap((_, at) => {
    const slot = slotName(at)
    const own = objects.filter(({ value }) => isOfSlot(value, slot))
    const pools = inference(slot).map((value) => ({ value }))
    const analysis = analysisOfObjects([...own, ...pools], spire.config())
    const migration = migrationOf(analysis)
    return migration === undefined ? [] : [{ at, analysis, migration }]
  })
}

/** The outputs of the suggested bindings, as the operator would write them. */
function outputsOf({ suggestions, after }: MigrationInWorlds): readonly JsonRecord[] {
  return suggestions.pools.flatMap(({ suggested }) =>
    suggested.flatMap(({ key }) => {
      const judgement = after.settled.judgements.get(key)
      return judgement?.state === 'ready' ? [{ ...judgement.resolved.output }] : []
    }),
  )
}

/** `ID container of pod`, for all that containers hold. */
function holdingTexts(all: readonly HeldContainer[]): ReadonlySet<string> {
  return new Set(
    all.flatMap(({ pod, container, ids }) => [...ids].map((id) => `${id} ${container} of ${podText(pod)}`)),
  )
}

function differenceOf(left: readonly HeldContainer[], right: readonly HeldContainer[]): ReadonlySet<string> {
  return holdingTexts(left).difference(holdingTexts(right))
}

function told(changes: readonly IdentityChange[]): ReadonlySet<string> {
  return new Set(
    changes.flatMap(({ spiffeId, containers }) =>
      containers.map(({ pod, container }) => `${spiffeId} ${container} of ${pod}`),
    ),
  )
}

/**
 * The identities that may outlive their registration: the server refuses what SCM wants in the place of an entry, and then leaves
 * that entry as it is, which no snapshot shows.
 */
function mayBeKept({ settled, podsInQuestion }: Analysis): ReadonlySet<string> {
  const prediction = settled.prediction()
  return new Set(
    podsInQuestion.flatMap((pod) =>
      prediction
        .entriesOf(pod)
        .filter(({ verdict, entry }) => verdict.state === 'refused' && entry !== undefined)
        .flatMap(({ entry }) =>
          pod.containers.map(({ name }) => `${entry?.spiffeId} ${name} of ${podText(pod)}`),
        ),
    ),
  )
}

/** What is reported and is not so, or is so and was not reported; containers that are reported as uncertain are left out. */
function wrongOf(
  { gained, lost, uncertain }: Effect,
  before: readonly HeldContainer[],
  after: readonly HeldContainer[],
  kept: ReadonlySet<string> = new Set(),
): readonly string[] {
  const open = new Set([
    ...uncertain.map(({ pod, container }) => `${container} of ${pod}`),
    ...[...before, ...after]
      .filter(({ isOpen }) => isOpen)
      .map(({ pod, container }) => `${container} of ${podText(pod)}`),
  ])
  const isCertain = (text: string): boolean => !open.has(text.slice(text.indexOf(' ') + 1))
  const isKept = (verb: string, text: string): boolean => {
    if (verb !== 'loses' || !kept.has(text)) return false
    outlived++
    return true
  }
  const pairs = [
    ['gains', told(gained), differenceOf(after, before)],
    ['loses', told(lost), differenceOf(before, after)],
  ] as const
  return pairs.flatMap(([verb, predicted, seen]) => [
    ...[...predicted.difference(seen)]
      .filter(isCertain)
      .filter((text) => !isKept(verb, text))
      .map((text) => `told and not so: ${verb} ${text}`),
    ...[...seen.difference(predicted)].filter(isCertain).map((text) => `not told: ${verb} ${text}`),
  ])
}

test.each(BATCHES)('batch %i: what containers gain and lose is what migrate says', async (batch) => {
  const estates = ESTATES.slice(batch * PER_BATCH, (batch + 1) * PER_BATCH)
  await clear(cp, spire)
  const [first = [], ...later] = placeAll(estates)
  const [spaces, pods] = [true, false].map((isSpace) =>
    first.filter(({ object }) => (object['kind'] === 'Namespace') === isSpace),
  )
  // A pod is refused where its namespace is still on its way.
  await build(cp, [[...NODES.map((object) => ({ object })), ...(spaces ?? [])], pods ?? [], ...later])
  const before = await spire.settled()
  const slots = await slotsOf(estates)
  const outputs = slots.flatMap(({ migration }) => outputsOf(migration))
  // In a second of their own: SCM prefers what is older.
  await build(cp, [[], outputs.map((object) => ({ object }))])
  const during = await spire.settled()
  for (const { migration } of slots)
    await cp.admin.delete(idOf({ ...CLUSTER_SPIFFE_ID, metadata: { name: migration.object.meta.name } }))
  const after = await spire.settled()
  const wrong = slots.flatMap(({ at, analysis, migration }) => {
    const held = (entries: readonly HeldEntry[]): readonly HeldContainer[] =>
      heldContainers(analysis, entries)
    const { apply, whole } = migration.effects
    const estate = `estate ${batch * PER_BATCH + at}, ${migration.object.meta.name}`
    migrated++
    if (outputsOf(migration).length > 0) replaced++
    return [
      ...wrongOf(apply, held(before), held(during)).map((text) => `${estate}, applied: ${text}`),
      ...wrongOf(whole, held(before), held(after), mayBeKept(migration.after)).map(
        (text) => `${estate}, done: ${text}`,
      ),
    ]
  })
  expect(wrong).toEqual([])
})

test('there were enough of them', () => {
  process.stdout.write(
    `seed ${SEED}: ${migrated} ClusterSPIFFEIDs migrated, ${replaced} of them with bindings in their place\n`,
  )
  expect(migrated).toBeGreaterThanOrEqual(LEAST_MIGRATED)
  expect(outlived).toBeLessThanOrEqual(MOST_OUTLIVING)
  expect(replaced).toBeGreaterThanOrEqual(LEAST_REPLACED)
})
