// `npm run bench:lag`: how long the operator's one thread is blocked by one tenant's pool: a selector of 1.25 MB, or 64 keys
// of 20 KB, that many bindings name and that somebody edits; and by what concerns all of 10,000 bindings at once. It asserts
// nothing about time: docs/performance.md holds the aim.
import process from 'node:process'
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { systemClock } from '@kleym/shared/kube/clock.ts'
import { namespaceWritten } from '@kleym/shared/core/model/namespaced-name.ts'
import { X_GROUP, CONFIG, binding, pool } from '@kleym/testing/manifests.ts'
import { createCaches } from '../operator/src/caches/caches.ts'
import { ClaimRegister } from '../operator/src/claims/claim-register.ts'
import { Compiler } from '../operator/src/claims/compiler.ts'
import { seenReferences } from '../operator/src/claims/held-references.ts'
import { Indexes } from '../operator/src/claims/indexes.ts'
import { WorkQueue } from '../operator/src/queue/queue.ts'
import { machineLine } from './machine.ts'

/** How many bindings there are where something concerns all of them. */
const ALL = 10_000
/** How often the pool is edited. */
const EDITS = 20
/** Of all objects. */
const NAMESPACE = 'team-a'

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

function labelsOf(count: number, key: (at: number) => string): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [key(at), 'x']))
}

/** The longest between two turns of the event loop while the pool is edited, in milliseconds. */
interface Lag {
  readonly wall: number
  /** CPU of the thread, which a busy machine stretches less. */
  readonly cpu: number
}

/** The claims of an operator over so many bindings, and its queue, from which nobody takes. */
function operatorOver(bindings: number) {
  const caches = createCaches({
    onError: (error) => {
      throw error
    },
  })
  const queue = new WorkQueue({
    clock: systemClock,
    random: Math.random,
    groupOf: namespaceWritten,
    workers: Infinity,
  })
  const wake = (key: string): void => queue.add(key)
  const seen = seenReferences(caches)
  const compiler = new Compiler({ seen, config: CONFIG })
  const onTouched = (namespace: string): void => indexes.wakePeers(namespace)
  const register = new ClaimRegister({ wake, onTouched })
  const turn = { onPause: async (): Promise<void> => setImmediate() }
  const pause = (): Promise<void> => turn.onPause()
  const indexes = new Indexes({
    caches,
    seen,
    clock: systemClock,
    compiler,
    register,
    installs: { isOther: () => false },
    wake,
    pause,
  })
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
  const pools = caches.pools.get(X_GROUP)
  if (pools === undefined) throw new Error('there is a cache for each group of pools')
  const texts = Array.from({ length: bindings }, (_, at) => next(binding({ name: `binding-${at}` })))
  return {
    indexes,
    turn,
    /** All bindings at once, as a list brings them; `read` first, page by page. */
    read: () => texts.map((text) => caches.bindings.read(parsed(text))),
    list: (objects: ReturnType<typeof caches.bindings.read>[]) => {
      caches.bindings.store.replace(objects, String(version), caches.bindings.store.listBegins())
      caches.bindings.setSyncState({ kind: 'synced' })
    },
    editPool: (labels: Readonly<Record<string, string>>) => {
      const text = next(pool({ group: X_GROUP, labels }))
      // From the text, as a watch event comes.
      return () => pools.store.apply('MODIFIED', pools.read(parsed(text)))
    },
    /** Takes everything from the queue, as workers would. */
    drain: async () => {
      while (queue.state().depth > 0) {
        const key = await queue.take()
        if (key !== undefined) queue.done(key)
      }
    },
    kindGoes: () => pools.setSyncState({ kind: 'absent' }),
    kindComes: () => pools.setSyncState({ kind: 'synced' }),
  }
}

type Operator = ReturnType<typeof operatorOver>

/** The longest without a turn of the event loop while each of some things happens and is worked in. */
async function longestLag(
  { indexes, turn: loop }: Operator,
  happenings: Iterable<() => unknown>,
): Promise<Lag> {
  let lag: Lag = { wall: 0, cpu: 0 }
  let since = now()
  const turn = async (): Promise<void> => {
    const { wall, cpu } = now()
    lag = { wall: Math.max(lag.wall, wall - since.wall), cpu: Math.max(lag.cpu, cpu - since.cpu) }
    await setImmediate()
    since = now()
  }
  loop.onPause = turn
  for (const happen of happenings) {
    since = now()
    const began = since.wall
    happen()
    // What concerns references is held until the namespace has its turn.
    await indexes.workIn(NAMESPACE)
    do await turn()
    while (indexes.isBusy)
    // The next change would be held as long as this one is rested from.
    await setTimeout(now().wall - began)
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

function report(name: string, bindings: number, { wall, cpu }: Lag): void {
  process.stdout.write(
    `${name.padEnd(28)}${String(bindings).padStart(8)} bindings  longest lag ${wall.toFixed(0)} ms, CPU ${cpu.toFixed(0)} ms\n`,
  )
}

process.stdout.write(`${machineLine()}\n\n`)
for (const { name, bindings, labels } of SHAPES) {
  const operator = operatorOver(bindings)
  const { indexes, read, list, editPool } = operator
  list(read())
  await indexes.workIn(NAMESPACE)
  report(
    name,
    bindings,
    await longestLag(
      operator,
      Array.from({ length: EDITS }, () => editPool(labels)),
    ),
  )
}
const all = operatorOver(ALL)
const objects = all.read()
report('all bindings are listed', ALL, await longestLag(all, [() => all.list(objects)]))
all.editPool({ app: 'llama' })()
await all.indexes.workIn(NAMESPACE)
report('a kind goes and comes', ALL, await longestLag(all, [all.kindGoes, all.kindComes]))
await all.drain()
report('every binding is woken', ALL, await longestLag(all, [() => all.indexes.wakeAll()]))
