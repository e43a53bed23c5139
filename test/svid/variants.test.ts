// Hundreds of made-up pools with bindings of all modes, variants most of all: what the core renders for them, given to the real
// SCM, against the prediction and against what their own manifests promise. The seed is fixed; `KLEYM_SVID_VARIANTS` asks for
// another number of worlds.
import process from 'node:process'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import type { JsonRecord } from '../../shared/src/core/base/json.ts'
import {
  binding,
  CONFIG,
  objective,
  perVariant,
  pool,
  poolOnly,
  settledCluster,
} from '@kleym/testing/manifests.ts'
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts'
import { build, clear, namespace, node, pod } from './build-cluster.ts'
import { csid } from './clusterspiffeid.ts'
import { compare, differenceText, type Comparison } from './compare.ts'
import { CLASS, startSpire, type Spire } from './spire.ts'

const SEED = 20_261_122
const COUNT = Number(process.env['KLEYM_SVID_VARIANTS'] ?? runs(400))
const PER_BATCH = 100
const ROLE = 'llm-d.ai/role'
const INSTALL = { ...CONFIG, className: CLASS, variantLabelKey: ROLE }

type Labels = Readonly<Record<string, string>>

interface World {
  readonly pools: readonly Labels[]
  readonly bindings: readonly {
    readonly pool: 'p0' | 'p1'
    readonly mode: 'PoolOnly' | 'PerVariant' | 'PerObjective'
    readonly variant: string
    readonly account: string
    readonly container: string
  }[]
  readonly pods: readonly {
    readonly labels: Labels
    readonly variant: string | undefined
    readonly account: string
    readonly containers: readonly string[]
    readonly node: string | null
  }[]
}

const poolLabels = fc.constantFrom<Labels>(
  { app: 'llama' },
  { app: 'llama' },
  { app: 'llama', tier: 'gold' },
  { app: 'qwen' },
  { app: 'llama', [ROLE]: 'prefill' },
)
const variant = fc.constantFrom('prefill', 'prefill', 'decode', 'decode', 'Encode')
const account = fc.constantFrom('runner', 'runner', 'runner', 'web')
const worlds: fc.Arbitrary<World> = fc.record({
  pools: fc.array(poolLabels, { minLength: 2, maxLength: 2 }),
  bindings: fc.array(
    fc.record({
      pool: fc.constantFrom('p0', 'p0', 'p1'),
      mode: fc.constantFrom('PerVariant', 'PerVariant', 'PerVariant', 'PoolOnly', 'PerObjective'),
      variant,
      account,
      container: fc.constantFrom('vllm', 'proxy'),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  pods: fc.array(
    fc.record({
      labels: fc.constantFrom<Labels>(
        { app: 'llama' },
        { app: 'llama' },
        { app: 'llama', tier: 'gold' },
        { app: 'qwen' },
        { app: 'other' },
      ),
      variant: fc.oneof({ weight: 5, arbitrary: variant }, { weight: 1, arbitrary: fc.constant(undefined) }),
      account,
      containers: fc.constantFrom(['vllm'], ['vllm', 'proxy']),
      node: fc.constantFrom('n1', 'n1', 'n2', null),
    }),
    { minLength: 2, maxLength: 6 },
  ),
})
const WORLDS = fc.sample(worlds, { seed: SEED, numRuns: COUNT })
const BATCHES = Array.from(
  { length: Math.ceil(COUNT / PER_BATCH) },
  (_, at) => [at * PER_BATCH, Math.min(COUNT, (at + 1) * PER_BATCH)] as const,
)
/** The catch-all default of the SPIRE charts. */
const DEFAULT = csid('default', { fallback: true, hint: 'default' })

let cp: ControlPlane
let spire: Spire
const seen = { ofVariants: 0, ready: 0, collisions: 0, displaced: 0 }
beforeAll(async () => {
  cp = await startControlPlane({ controllers: [] })
  spire = await startSpire(cp)
})
afterAll(() => cp?.stop())

function spaceOf(at: number): string {
  return `v${String(at).padStart(3, '0')}`
}

/** The namespace of a world, its pods, and the ClusterSPIFFEIDs that the operator would keep for its bindings. */
function placed(world: World, at: number): readonly JsonRecord[] {
  const space = spaceOf(at)
  const { judgements, outputs } = settledCluster(inputsOf(world, space), { config: INSTALL }).settled
  for (const judgement of judgements.values()) {
    if (judgement.state === 'ready') seen.ready++
    if (judgement.state === 'refused' && judgement.collision !== undefined) seen.collisions++
  }
  return [
    namespace(space),
    ...world.pods.map((one, number) => podOf(one, space, `p${number}`)),
    ...outputs.map(({ object }) => ({
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ClusterSPIFFEID',
      metadata: {
        name: object.meta.name,
        labels: Object.fromEntries(object.meta.labels),
        annotations: Object.fromEntries(object.meta.annotations),
      },
      spec: object.rawSpec,
    })),
  ]
}

function inputsOf(world: World, space: string): readonly JsonRecord[] {
  return [
    ...world.pools.flatMap((labels, at) => [
      pool({ namespace: space, name: `p${at}`, labels }),
      objective({ namespace: space, name: `o${at}`, poolRef: { name: `p${at}` } }),
    ]),
    ...world.bindings.map((one, at) => {
      const parts = { namespace: space, name: `b${at}` }
      const spec = { poolRef: { name: one.pool }, serviceAccountName: one.account }
      if (one.mode === 'PoolOnly') return poolOnly({ ...parts, spec })
      if (one.mode === 'PerVariant')
        return perVariant({ ...parts, spec: { ...spec, identityBoundary: { variant: one.variant } } })
      const objectiveRef = { name: `o${one.pool.slice(1)}` }
      return binding({ ...parts, spec: { ...spec, objectiveRef, containerName: one.container } })
    }),
  ]
}

function podOf(one: World['pods'][number], space: string, name: string): JsonRecord {
  const labels = one.variant === undefined ? one.labels : { ...one.labels, [ROLE]: one.variant }
  return pod(
    space,
    name,
    { labels },
    {
      nodeName: one.node,
      serviceAccountName: one.account,
      containers: one.containers.map((container) => ({ name: container, image: `${container}:1` })),
    },
  )
}

/** Entries of variants that reach a pod of another namespace, pool, account or variant: a sentence each. */
function strays({ held, analysis }: Comparison): readonly string[] {
  const pods = new Map(analysis.snapshot.pods.read.map((one) => [`k8s:pod-uid:${one.uid ?? ''}`, one]))
  return held.flatMap(({ spiffeId, selectors }) => {
    const [, space = '', poolName = '', role] =
      /^spiffe:\/\/example\.org\/ns\/([^/]+)\/pool\/([^/]+)\/variant\/([^/]+)$/.exec(spiffeId) ?? []
    if (role === undefined) return []
    seen.ofVariants++
    const found = pods.get(selectors.find((one) => one.startsWith('k8s:pod-uid:')) ?? '')
    const labels = WORLDS[Number(space.slice(1))]?.pools[Number(poolName.slice(1))] ?? {}
    const isRight =
      found?.namespace === space &&
      found.labels.get(ROLE) === role &&
      Object.entries(labels).every(([key, value]) => found.labels.get(key) === value)
    return isRight ? [] : [`${spiffeId} is held for ${found?.namespace ?? ''}/${found?.ref.name ?? 'no pod'}`]
  })
}

test.each(BATCHES)(`seed ${SEED}: worlds from %i to %i`, async (from, to) => {
  await clear(cp, spire)
  const objects = WORLDS.slice(from, to).flatMap((world, at) => placed(world, from + at))
  const spaces = objects.filter(({ kind }) => kind === 'Namespace')
  const rest = objects.filter(({ kind }) => kind !== 'Namespace')
  const waves = [[node('n1'), node('n2'), DEFAULT, ...spaces], rest]
  await build(
    cp,
    waves.map((wave) => wave.map((object) => ({ object }))),
  )
  const comparison = await compare(cp, spire)
  expect(comparison.differences.map(differenceText)).toEqual([])
  expect(comparison.uncertain).toEqual([])
  expect(strays(comparison)).toEqual([])
  seen.displaced += comparison.outcomes.filter(({ verdict }) => verdict.state === 'displaced').length
})

test('the worlds hold what they are made for', () => {
  process.stdout.write(`seed ${SEED}: ${COUNT} worlds; ${JSON.stringify(seen)}\n`)
  const least = COUNT / 10
  expect(Object.entries(seen).filter(([, count]) => count < least)).toEqual([])
})
