// Time, counted: what the operator's one thread does has a cost, and tenants of any shape make as much work as they can. No
// step between two turns of the event loop takes longer than its bound, and nor does the wait of a tenant who does nothing.
import { expect, test } from 'vitest'
import { namespaceWritten } from '@kleym/shared/core/model/namespaced-name.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { SLICE } from '../../src/claims/indexes.ts'
import { WorkQueue } from '../../src/queue/queue.ts'
import { PAUSE_EVERY_MS, runWorkers } from '../../src/queue/workers.ts'
import { countedIndexes } from '../build/counted-indexes.ts'
import { Dice } from './dice.ts'

/** What things cost, in milliseconds: more than on the machine of docs/performance.md. */
const COMPILE_MS = 0.1
const LOOK_MS = 0.1
const WAKE_MS = 0.001
const DECISION_MS = 0.5
const WORKERS = 8
const TURNS = 400
const QUIET = 'quiet'
/** What runs between two turns of the loop, but for queued keys: a slice, what the workers may do, and the decision begun last. */
const STEP_MS = SLICE * COMPILE_MS + PAUSE_EVERY_MS + SLICE * COMPILE_MS + DECISION_MS

interface Tenant {
  readonly namespace: string
  readonly bindings: number
  readonly pools: number
  /** The chance of an edit of one of its pools in each turn of the loop. */
  readonly edits: number
  /** Whether all of its bindings claim the same pods. */
  readonly collides: boolean
  /** Whether the labels of its first pool are among those of each other one. */
  readonly nests: boolean
}

function tenantOf(dice: Dice, at: number): Tenant {
  return {
    namespace: `tenant-${at}`,
    bindings: 1 + dice.below(dice.chance(0.3) ? 1_500 : 150),
    pools: 1 + dice.below(dice.chance(0.3) ? 600 : 4),
    edits: dice.next(),
    collides: dice.chance(0.5),
    nests: dice.chance(0.5),
  }
}

function labelsOf({ nests }: Tenant, at: number, version: number): Record<string, string> {
  if (!nests) return { app: `v${version}` }
  const shared = { app: 'llama', model: 'llama' }
  if (at > 0) return { ...shared, shard: `${at}-${version}` }
  return version % 2 === 0 ? shared : { app: 'llama' }
}

/** Lets some tenants work against one that is quiet; the longest step and wait, and how often the quiet one was decided. */
async function timed(seed: number) {
  const dice = new Dice(seed)
  const tenants = Array.from({ length: 1 + dice.below(5) }, (_, at) => tenantOf(dice, at))
  const clock = new FakeClock()
  let version = 0
  let stepBegan = 0
  const longest = { stepMs: 0, waitMs: 0, decided: 0 }
  const queue = new WorkQueue({ clock, random: () => 0.5, groupOf: namespaceWritten, workers: WORKERS })
  const wake = (key: string): void => {
    clock.advance(WAKE_MS)
    queue.add(key)
  }
  const editPool = (tenant: Tenant, at: number): void => {
    version += 1
    setPool({ namespace: tenant.namespace, name: `pool-${at}`, labels: labelsOf(tenant, at, version) })
  }
  const addBinding = (namespace: string, name: string, poolName: string, variant: string): void => {
    setBinding({ namespace, name, spec: { poolRef: { name: poolName }, identityBoundary: { variant } } })
  }
  let asked: number | undefined
  let turns = 0
  const pause = async (): Promise<void> => {
    longest.stepMs = Math.max(longest.stepMs, clock.monotonicMs() - stepBegan)
    turns += 1
    if (turns > TURNS) void queue.shutDown()
    for (const tenant of tenants) {
      if (dice.chance(tenant.edits)) editPool(tenant, dice.below(tenant.pools))
    }
    if (asked === undefined && dice.chance(0.2)) {
      asked = clock.monotonicMs()
      addBinding(QUIET, `binding-${turns}`, 'pool-0', 'prefill')
    }
    stepBegan = clock.monotonicMs()
  }
  const { indexes, ledger, setBinding, setPool } = countedIndexes({
    clock,
    wake,
    pause,
    compiles: () => clock.advance(COMPILE_MS),
    looked: () => clock.advance(LOOK_MS),
  })
  for (const tenant of tenants) {
    for (let at = 0; at < tenant.pools; at++) editPool(tenant, at)
    for (let at = 0; at < tenant.bindings; at++) {
      const variant = tenant.collides ? 'prefill' : `v${at}`
      addBinding(tenant.namespace, `binding-${at}`, `pool-${at % tenant.pools}`, variant)
    }
  }
  stepBegan = clock.monotonicMs()
  const decide = async (key: string): Promise<void> => {
    const namespace = namespaceWritten(key)
    do await indexes.workIn(namespace)
    while (indexes.isBehind(namespace))
    indexes.finish(namespace)
    clock.advance(DECISION_MS)
    ledger.reserve(key, 'output').release()
    if (namespace !== QUIET || asked === undefined) return
    longest.waitMs = Math.max(longest.waitMs, clock.monotonicMs() - asked)
    longest.decided += 1
    asked = undefined
  }
  // So that there is always a turn: tenants whose bindings are all settled would let it end.
  wake('idle/idle')
  const idle = async (key: string): Promise<void> => {
    if (key === 'idle/idle') {
      await pause()
      queue.addAfter(key, 0)
    } else await decide(key)
  }
  await runWorkers(queue, WORKERS, idle, { clock, everyMs: PAUSE_EVERY_MS, pause })
  return { ...longest, tenants }
}

test('no step, and no wait of a quiet namespace, exceeds its bound, whatever the shapes of the tenants', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { stepMs, waitMs, decided, tenants } = await timed(seed)
    const bindings = Math.max(...tenants.map((tenant) => tenant.bindings))
    const shapes = JSON.stringify(tenants)
    expect(stepMs, `seed ${seed}: ${shapes}`).toBeLessThan(STEP_MS + 4 * bindings * WAKE_MS)
    // One step for each that may be at work, and one in which the quiet one has its turn.
    expect(waitMs, `seed ${seed}: ${shapes}`).toBeLessThan((Math.min(tenants.length, WORKERS) + 2) * STEP_MS)
    expect(decided, `seed ${seed}: ${shapes}`).toBeGreaterThan(5)
  }
})
