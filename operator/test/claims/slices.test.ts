// What one change sets going is worked in by slices, and reads a pool once, however many bindings name it.
import { expect, test } from 'vitest'
import { namespaceWritten } from '@kleym/shared/core/model/namespaced-name.ts'
import { ANNOTATION_BINDING, ANNOTATION_BINDING_UID } from '@kleym/shared/core/model/names.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { perVariant } from '@kleym/testing/manifests.ts'
import { SLICE, SLICE_MS } from '../../src/claims/indexes.ts'
import { countedIndexes } from '../build/counted-indexes.ts'

const BINDINGS = 400
/** The namespace of all of them. */
const NAMESPACE = 'team-a'

/** An operator's indexes over bindings of one pool, and what is counted of their work. */
function indexesOfOnePool({ compileMs = 0 } = {}) {
  const compiled: string[] = []
  const woken: string[] = []
  const clock = new FakeClock()
  let atPause: (() => void) | undefined
  let looked = 0
  const counted = countedIndexes({
    clock,
    wake: (key) => void woken.push(key),
    pause: async () => atPause?.(),
    compiles: (key) => {
      compiled.push(key)
      clock.advance(compileMs)
    },
    looked: () => {
      looked += 1
    },
  })
  return {
    ...counted,
    compiled,
    woken,
    clock,
    /** Hears of each turn that is left to timers and I/O, and of how many label sets were looked at since the last; says it now. */
    onPause: (hear: (looked: number) => void) => {
      looked = 0
      atPause = () => {
        hear(looked)
        looked = 0
      }
      return () => looked
    },
    addBindings: () => {
      for (let at = 0; at < BINDINGS; at++) counted.setBinding({ name: `b-${at}` })
    },
    /** Works in what has changed, and waits until all are woken whom that concerns. */
    workIn: async (namespace: string) => {
      await counted.indexes.workIn(namespace)
      while (counted.indexes.isBusy) await Promise.resolve()
    },
  }
}

test('bindings that a pool concerns are compiled in slices, with a pause before each', async () => {
  const { indexes, workIn, addBindings, setPool, compiled, onPause } = indexesOfOnePool()
  addBindings()
  await workIn(NAMESPACE)
  compiled.length = 0
  setPool({ labels: { app: 'llama' } })
  const slices: number[] = []
  onPause(() => {
    slices.push(compiled.length)
    compiled.length = 0
  })
  await workIn(NAMESPACE)
  expect(slices.reduce((sum, count) => sum + count) + compiled.length).toBe(BINDINGS)
  expect(Math.max(...slices)).toBe(SLICE)
  // Nothing is left for a decision to do at once.
  compiled.length = 0
  indexes.finish(NAMESPACE)
  expect(compiled).toEqual([])
})

test('a slice of slow work ends before it has its number', async () => {
  const { workIn, addBindings, compiled, clock, onPause } = indexesOfOnePool({ compileMs: 4 })
  addBindings()
  const slices: number[] = []
  let since = clock.monotonicMs()
  onPause(() => {
    slices.push(clock.monotonicMs() - since)
    since = clock.monotonicMs()
  })
  await workIn(NAMESPACE)
  expect(compiled.length).toBe(BINDINGS)
  expect(Math.max(...slices)).toBeLessThan(SLICE_MS + 4)
})

test('a replica that stands by compiles nothing and keeps nothing, whatever statuses change', () => {
  const { caches, indexes, addBindings, compiled } = indexesOfOnePool()
  addBindings()
  const name = 'kleym-team-a-b-0-llama-0123456789abcdef0123'
  const annotations = { [ANNOTATION_BINDING]: `${NAMESPACE}/b-0`, [ANNOTATION_BINDING_UID]: 'uid' }
  const output = { metadata: { name, uid: 'uid', resourceVersion: '1', annotations }, spec: {} }
  caches.outputs.store.apply('ADDED', caches.outputs.read(output))
  const [first] = caches.bindings.store.values()
  const raw = perVariant({ name: 'b-0', status: { observedGeneration: 1 } })
  const metadata = { ...Object(raw['metadata']), uid: 'uid', generation: 1, resourceVersion: '1000' }
  caches.bindings.store.apply('MODIFIED', caches.bindings.read({ ...raw, metadata }))
  expect(caches.bindings.store.get(`${NAMESPACE}/b-0`)).not.toBe(first)
  expect(compiled).toEqual([])
  expect(indexes.outputs.get(name)).toBeUndefined()
})

test('a replica that stands by keeps nothing of what has come and gone', () => {
  const { caches, indexes, addBindings, compiled } = indexesOfOnePool()
  addBindings()
  const outputs = Array.from({ length: BINDINGS }, (_, at) => ({
    metadata: {
      name: `kleym-team-a-b-${at}-pool-0123456789abcdef0123`,
      resourceVersion: String(at + 1),
      annotations: { [ANNOTATION_BINDING]: `${NAMESPACE}/b-${at}` },
    },
    spec: { workloadSelectorTemplates: ['k8s:ns:team-b'] },
  }))
  for (const output of outputs) caches.outputs.store.apply('ADDED', caches.outputs.read(output))
  for (const { meta } of caches.bindings.store.values()) caches.bindings.store.deleted(meta)
  for (const { meta } of caches.outputs.store.values()) caches.outputs.store.deleted(meta)
  expect([NAMESPACE, 'team-b'].filter((namespace) => indexes.isBehind(namespace))).toEqual([])
  expect(compiled).toEqual([])
})

test('what has changed in one namespace is not worked in for a decision of another', async () => {
  const { workIn, addBindings, compiled } = indexesOfOnePool()
  addBindings()
  await workIn('team-b')
  expect(compiled).toEqual([])
})

test('edits of a pool that come faster than they are worked in coalesce: a rest follows that is as long', async () => {
  const { workIn, addBindings, setPool, compiled, clock, onPause } = indexesOfOnePool()
  addBindings()
  await workIn(NAMESPACE)
  compiled.length = 0
  let edits = 0
  const edit = (): void => {
    edits += 1
    setPool({ labels: { app: `v${edits}` } })
  }
  edit()
  // Each slice takes 10 ms, and the pool is edited in each.
  onPause(() => {
    clock.advance(10)
    edit()
  })
  await workIn(NAMESPACE)
  expect(compiled).toHaveLength(BINDINGS)
  // It rests, whoever asks.
  onPause(() => clock.advance(10))
  clock.advance(50)
  await workIn(NAMESPACE)
  expect(compiled).toHaveLength(BINDINGS)
  clock.advance(50)
  await workIn(NAMESPACE)
  expect(compiled).toHaveLength(2 * BINDINGS)
})

test('a change of a pool is taken in while each binding that names it waits for the API server, also after a rest', async () => {
  const { workIn, addBindings, setPool, woken, compiled, clock } = indexesOfOnePool()
  addBindings()
  await workIn(NAMESPACE)
  const inHand = new Set(woken)
  for (const version of [1, 2]) {
    woken.length = 0
    compiled.length = 0
    setPool({ labels: { app: `v${version}` } })
    clock.advance(1)
    const free = woken.filter((key) => !inHand.has(key)).map(namespaceWritten)
    expect(free).toEqual([NAMESPACE])
    for (const namespace of free) await workIn(namespace)
    expect(compiled).toHaveLength(BINDINGS)
  }
})

test('the members of a collision are woken once, however many of them one change concerns', async () => {
  const { workIn, addBindings, setPool, woken } = indexesOfOnePool()
  addBindings()
  setPool({ labels: { app: 'llama' } })
  await workIn(NAMESPACE)
  woken.length = 0
  setPool({ labels: { app: 'mistral' } })
  await workIn(NAMESPACE)
  // Once as what names the pool, once as peers under the new labels; nobody has the old ones. And the one that takes the change in.
  expect(woken).toHaveLength(2 * BINDINGS + 1)
})

/** A binding, and as many others whose label sets have its labels and each one more. */
async function nestedBindings() {
  const made = indexesOfOnePool()
  const { setBinding, setPool, workIn, woken } = made
  setPool({ labels: { app: 'llama' } })
  setBinding({ name: 'wide' })
  for (let at = 0; at < BINDINGS; at++) {
    setPool({ name: `pool-${at}`, labels: { app: 'llama', shard: `${at}` } })
    setBinding({ name: `b-${at}`, spec: { poolRef: { name: `pool-${at}` } } })
  }
  await workIn(NAMESPACE)
  woken.length = 0
  return made
}

test('whom a reservation concerns is woken in slices, with a pause before each', async () => {
  const { ledger, woken, workIn, onPause } = await nestedBindings()
  const slices: number[] = []
  const lookedSince = onPause((looked) => slices.push(looked))
  ledger.reserve(`${NAMESPACE}/wide`, 'output').release()
  await workIn(NAMESPACE)
  expect(new Set(woken).size).toBe(BINDINGS)
  expect(Math.max(...slices, lookedSince())).toBeLessThanOrEqual(SLICE)
})

test('what is reserved while others are woken is heard of too', async () => {
  const { ledger, woken, workIn, onPause } = await nestedBindings()
  let pauses = 0
  onPause(() => {
    pauses += 1
    if (pauses === 2) ledger.reserve(`${NAMESPACE}/b-0`, 'another output')
  })
  ledger.reserve(`${NAMESPACE}/wide`, 'output')
  await workIn(NAMESPACE)
  expect(woken).toContain(`${NAMESPACE}/wide`)
})

test("a pool's selector is read once per version, however many bindings name the pool", async () => {
  const { workIn, addBindings, setPool, compiled } = indexesOfOnePool()
  let reads = 0
  const matchLabels = new Proxy(
    { app: 'llama', tier: 'gold' },
    {
      ownKeys: (target) => {
        reads++
        return Reflect.ownKeys(target)
      },
    },
  )
  setPool({ labels: matchLabels })
  expect(reads).toBe(1)
  addBindings()
  await workIn(NAMESPACE)
  expect(compiled).toHaveLength(BINDINGS)
  expect(reads).toBe(1)
})
