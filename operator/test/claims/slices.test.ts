// What one change sets going is worked in by slices, and reads a pool once, however many bindings name it.
import { expect, test } from 'vitest'
import type { JsonRecord } from '@kleym/shared/core/json.ts'
import { binding, CONFIG, K8S_GROUP, pool } from '@kleym/testing/manifests.ts'
import { createCaches } from '../../src/caches/caches.ts'
import { ClaimRegister } from '../../src/claims/claim-register.ts'
import { Compiler } from '../../src/claims/compiler.ts'
import { Indexes } from '../../src/claims/indexes.ts'

const BINDINGS = 400
/** The most bindings that are compiled without a pause. */
const SLICE = 50

const wake = (): void => {}

/** An operator's indexes over bindings of one pool, and what is counted of their work. */
function indexesOfOnePool() {
  const caches = createCaches({
    onError: (error) => {
      throw error
    },
  })
  const compiled: string[] = []
  class CountingCompiler extends Compiler {
    override recompile(...args: Parameters<Compiler['recompile']>) {
      compiled.push(args[0].key)
      return super.recompile(...args)
    }
  }
  const compiler = new CountingCompiler({ caches, config: CONFIG })
  const indexes = new Indexes({ caches, compiler, register: new ClaimRegister({ wake }), wake })
  for (const cache of [caches.bindings, caches.outputs, ...caches.pools.values()]) {
    cache.setSyncState({ kind: 'synced' })
  }
  for (const cache of caches.objectives.values()) cache.setSyncState({ kind: 'absent' })
  const poolCache = caches.pools.get(K8S_GROUP)
  if (poolCache === undefined) throw new Error('there is a cache for each group of pools')
  return {
    compiled,
    indexes,
    addBindings: () => {
      for (let at = 0; at < BINDINGS; at++) {
        const raw = versioned(binding({ name: `b-${at}` }), at + 1)
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

test('bindings that a pool concerns are compiled in slices, with a pause after each', async () => {
  const { indexes, addBindings, setPool, compiled } = indexesOfOnePool()
  addBindings()
  await indexes.workInSlices(async () => {})
  setPool({ selector: { matchLabels: { app: 'llama' } } }, 1_000)
  compiled.length = 0
  const slices: number[] = []
  let before = 0
  await indexes.workInSlices(async () => {
    slices.push(compiled.length - before)
    before = compiled.length
  })
  expect(compiled).toHaveLength(BINDINGS)
  expect(slices).toEqual(Array.from({ length: BINDINGS / SLICE - 1 }, () => SLICE))
  // Nothing is left for a decision to do in one go.
  compiled.length = 0
  indexes.bringUpToDate()
  expect(compiled).toEqual([])
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
  await indexes.workInSlices(async () => {})
  expect(compiled).toHaveLength(BINDINGS)
  expect(reads).toBe(1)
})
