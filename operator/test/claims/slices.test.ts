// What one change sets going is worked in by slices, and reads a pool once, however many bindings name it.
import { expect, test } from 'vitest'
import type { JsonRecord } from '@kleym/shared/core/json.ts'
import { namespaceWritten } from '@kleym/shared/core/namespaced-name.ts'
import { ANNOTATION_BINDING, ANNOTATION_BINDING_UID } from '@kleym/shared/core/names.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { CONFIG, K8S_GROUP, perVariant, pool } from '@kleym/testing/manifests.ts'
import { createCaches } from '../../src/caches/caches.ts'
import { ClaimRegister } from '../../src/claims/claim-register.ts'
import { Compiler } from '../../src/claims/compiler.ts'
import { seenReferences } from '../../src/claims/held-references.ts'
import { Indexes, SLICE } from '../../src/claims/indexes.ts'

const BINDINGS = 400
/** The namespace of all of them. */
const NAMESPACE = 'team-a'

/** An operator's indexes over bindings of one pool, and what is counted of their work. */
function indexesOfOnePool() {
  const caches = createCaches({
    onError: (error) => {
      throw error
    },
  })
  const compiled: string[] = []
  const woken: string[] = []
  const wake = (key: string): void => void woken.push(key)
  class CountingCompiler extends Compiler {
    override recompile(...args: Parameters<Compiler['recompile']>) {
      compiled.push(args[0].key)
      return super.recompile(...args)
    }
  }
  const seen = seenReferences(caches)
  const compiler = new CountingCompiler({ seen, config: CONFIG })
  const clock = new FakeClock()
  let atPause: (() => void) | undefined
  const pause = async (): Promise<void> => atPause?.()
  const register = new ClaimRegister({ wake })
  const indexes = new Indexes({
    caches,
    seen,
    clock,
    compiler,
    register,
    installs: { isOther: () => false },
    wake,
    pause,
  })
  for (const cache of [caches.bindings, caches.outputs, ...caches.pools.values()]) {
    cache.setSyncState({ kind: 'synced' })
  }
  for (const cache of caches.objectives.values()) cache.setSyncState({ kind: 'absent' })
  const poolCache = caches.pools.get(K8S_GROUP)
  if (poolCache === undefined) throw new Error('there is a cache for each group of pools')
  return {
    caches,
    compiled,
    woken,
    indexes,
    clock,
    /** Hears of each turn that is left to timers and I/O. */
    onPause: (hear: () => void) => {
      atPause = hear
    },
    addBindings: () => {
      for (let at = 0; at < BINDINGS; at++) {
        const raw = versioned(perVariant({ name: `b-${at}` }), at + 1)
        caches.bindings.store.apply('ADDED', caches.bindings.read(raw))
      }
    },
    setPool: (spec: JsonRecord, version: number) => {
      poolCache.store.apply('MODIFIED', poolCache.read(versioned(pool({ spec }), version)))
    },
  }
}

function versioned(raw: JsonRecord, version: number): JsonRecord {
  const metadata = raw['metadata']
  const fields = typeof metadata === 'object' ? metadata : {}
  return {
    ...raw,
    metadata: { ...fields, uid: 'uid', resourceVersion: String(version), generation: version },
  }
}

test('bindings that a pool concerns are compiled in slices, with a pause before each', async () => {
  const { indexes, addBindings, setPool, compiled, onPause } = indexesOfOnePool()
  addBindings()
  await indexes.workIn(NAMESPACE)
  compiled.length = 0
  setPool({ selector: { matchLabels: { app: 'llama' } } }, 1_000)
  const slices: number[] = []
  onPause(() => {
    slices.push(compiled.length)
    compiled.length = 0
  })
  await indexes.workIn(NAMESPACE)
  expect(slices.reduce((sum, count) => sum + count) + compiled.length).toBe(BINDINGS)
  expect(Math.max(...slices)).toBe(SLICE)
  // Nothing is left for a decision to do at once.
  compiled.length = 0
  indexes.finish(NAMESPACE)
  expect(compiled).toEqual([])
})

test('a replica that stands by compiles nothing and keeps nothing, whatever statuses change', () => {
  const { caches, indexes, addBindings, compiled } = indexesOfOnePool()
  addBindings()
  const name = 'kleym-team-a-b-0-llama-0123456789abcdef0123'
  const annotations = { [ANNOTATION_BINDING]: `${NAMESPACE}/b-0`, [ANNOTATION_BINDING_UID]: 'uid' }
  const output = { metadata: { name, uid: 'uid', resourceVersion: '1', annotations }, spec: {} }
  caches.outputs.store.apply('ADDED', caches.outputs.read(output))
  const [first] = caches.bindings.store.values()
  const raw = versioned({ ...perVariant({ name: 'b-0' }), status: { observedGeneration: 1 } }, 1)
  const metadata = { ...Object(raw['metadata']), resourceVersion: '1000' }
  caches.bindings.store.apply('MODIFIED', caches.bindings.read({ ...raw, metadata }))
  expect(caches.bindings.store.get(`${NAMESPACE}/b-0`)).not.toBe(first)
  expect(compiled).toEqual([])
  expect(indexes.outputs.get(name)).toBeUndefined()
})

test('what has changed in one namespace is not worked in for a decision of another', async () => {
  const { indexes, addBindings, compiled } = indexesOfOnePool()
  addBindings()
  await indexes.workIn('team-b')
  expect(compiled).toEqual([])
})

test('edits of a pool that come faster than they are worked in coalesce: a rest follows that is as long', async () => {
  const { indexes, addBindings, setPool, compiled, clock, onPause } = indexesOfOnePool()
  addBindings()
  await indexes.workIn(NAMESPACE)
  compiled.length = 0
  const edit = (version: number): void => {
    setPool({ selector: { matchLabels: { app: `v${version}` } } }, version)
  }
  edit(1_000)
  // Each slice takes 10 ms, and the pool is edited in each.
  let edits = 1_000
  onPause(() => {
    clock.advance(10)
    edit((edits += 1))
  })
  await indexes.workIn(NAMESPACE)
  expect(compiled).toHaveLength(BINDINGS)
  // It rests, whoever asks.
  onPause(() => clock.advance(10))
  clock.advance(50)
  await indexes.workIn(NAMESPACE)
  expect(compiled).toHaveLength(BINDINGS)
  clock.advance(50)
  await indexes.workIn(NAMESPACE)
  expect(compiled).toHaveLength(2 * BINDINGS)
})

test('a change of a pool is taken in while each binding that names it waits for the API server, also after a rest', async () => {
  const { indexes, addBindings, setPool, woken, compiled, clock } = indexesOfOnePool()
  addBindings()
  await indexes.workIn(NAMESPACE)
  const inHand = new Set(woken)
  for (const version of [1_000, 1_001]) {
    woken.length = 0
    compiled.length = 0
    setPool({ selector: { matchLabels: { app: `v${version}` } } }, version)
    clock.advance(1)
    const free = woken.filter((key) => !inHand.has(key)).map(namespaceWritten)
    expect(free).toEqual([NAMESPACE])
    for (const namespace of free) await indexes.workIn(namespace)
    expect(compiled).toHaveLength(BINDINGS)
  }
})

test('the members of a collision are woken once, however many of them one change concerns', async () => {
  const { indexes, addBindings, setPool, woken } = indexesOfOnePool()
  addBindings()
  setPool({ selector: { matchLabels: { app: 'llama' } } }, 1_000)
  await indexes.workIn(NAMESPACE)
  woken.length = 0
  setPool({ selector: { matchLabels: { app: 'mistral' } } }, 1_001)
  await indexes.workIn(NAMESPACE)
  // Once as what names the pool, once as peers under the new labels; nobody has the old ones. And the one that takes the change in.
  expect(woken).toHaveLength(2 * BINDINGS + 1)
})

test("a pool's selector is read once per version, however many bindings name the pool", async () => {
  const { indexes, addBindings, setPool, compiled } = indexesOfOnePool()
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
  setPool({ selector: { matchLabels } }, 1_000)
  expect(reads).toBe(1)
  addBindings()
  await indexes.workIn(NAMESPACE)
  expect(compiled).toHaveLength(BINDINGS)
  expect(reads).toBe(1)
})
