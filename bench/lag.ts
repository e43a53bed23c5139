// `npm run bench:lag`: how long the operator's one thread is blocked by one tenant's pool: a selector of 1.25 MB, or 64 keys
// of 20 KB, that many bindings name and that somebody edits. It asserts nothing about time: docs/performance.md holds the aim.
import process from 'node:process'
import { setImmediate } from 'node:timers/promises'
import type { JsonRecord } from '@kleym/shared/core/json.ts'
import { X_GROUP, CONFIG, binding, pool } from '@kleym/testing/manifests.ts'
import { createCaches } from '../operator/src/caches/caches.ts'
import { ClaimRegister } from '../operator/src/claims/claim-register.ts'
import { Compiler } from '../operator/src/claims/compiler.ts'
import { Indexes } from '../operator/src/claims/indexes.ts'
import { machineLine } from './machine.ts'

/** How often the pool is edited. */
const EDITS = 20

interface Hostility {
  readonly name: string
  readonly bindings: number
  readonly labels: Readonly<Record<string, string>>
}

const SHAPES: readonly Hostility[] = [
  { name: '1.25 MB of labels', bindings: 400, labels: labelsOf(60_000, (at) => `label-${at}`) },
  { name: '64 keys of 20 KB', bindings: 1500, labels: labelsOf(64, (at) => `${'k'.repeat(20_000)}${at}`) },
  { name: 'two labels', bindings: 10_000, labels: { app: 'llama', tier: 'gold' } },
]

const wake = (): void => {}

function labelsOf(count: number, key: (at: number) => string): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [key(at), 'x']))
}

/** The longest between two turns of the event loop while the pool is edited, in milliseconds. */
interface Lag {
  readonly wall: number
  /** CPU of the thread, which a busy machine stretches less. */
  readonly cpu: number
}

async function longestLag({ bindings, labels }: Hostility): Promise<Lag> {
  const caches = createCaches({
    onError: (error) => {
      throw error
    },
  })
  const compiler = new Compiler({ caches, config: CONFIG })
  const indexes = new Indexes({ caches, compiler, register: new ClaimRegister({ wake }), wake })
  for (const cache of caches.pools.values()) cache.setSyncState({ kind: 'synced' })
  for (const cache of caches.objectives.values()) cache.setSyncState({ kind: 'synced' })
  let version = 0
  const next = (raw: JsonRecord): string => {
    version++
    const { metadata } = raw
    const fields = typeof metadata === 'object' ? metadata : {}
    return JSON.stringify({
      ...raw,
      metadata: { ...fields, uid: 'uid', generation: version, resourceVersion: String(version) },
    })
  }
  for (let at = 0; at < bindings; at++) {
    const text = next(binding({ name: `binding-${at}` }))
    caches.bindings.store.apply('ADDED', caches.bindings.read(parsed(text)))
  }
  const pools = caches.pools.get(X_GROUP)
  if (pools === undefined) throw new Error('there is a cache for each group of pools')
  let lag: Lag = { wall: 0, cpu: 0 }
  let since = now()
  const turn = async (): Promise<void> => {
    const { wall, cpu } = now()
    lag = { wall: Math.max(lag.wall, wall - since.wall), cpu: Math.max(lag.cpu, cpu - since.cpu) }
    await setImmediate()
    since = now()
  }
  for (let edit = 0; edit < EDITS; edit++) {
    const text = next(pool({ group: X_GROUP, labels }))
    since = now()
    // From the text, as a watch event comes.
    pools.store.apply('MODIFIED', pools.read(parsed(text)))
    await indexes.workInSlices(turn)
    await turn()
  }
  return lag
}

function now(): Lag {
  const { user, system } = process.threadCpuUsage()
  return { wall: performance.now(), cpu: (user + system) / 1000 }
}

function parsed(text: string): JsonRecord {
  const value: JsonRecord = JSON.parse(text)
  return value
}

process.stdout.write(`${machineLine()}\n\n`)
for (const shape of SHAPES) {
  const { wall, cpu } = await longestLag(shape)
  process.stdout.write(
    `${shape.name.padEnd(20)}${String(shape.bindings).padStart(8)} bindings  longest lag ${wall.toFixed(0)} ms, CPU ${cpu.toFixed(0)} ms\n`,
  )
}
