// What a deletion and a start wait for (docs/contract.md §8, "Quiet and fair").
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { FINALIZER } from '@kleym/shared/core/model/names.ts'
import type { Api } from '@kleym/shared/kube/api.ts'
import { ConnectionError } from '@kleym/shared/kube/errors.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { CONFIG, K8S_GROUP, perVariant, pool } from '@kleym/testing/manifests.ts'
import { createCaches } from '../../src/caches/caches.ts'
import { SLICE } from '../../src/claims/indexes.ts'
import { composeController } from '../../src/compose.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { keptLog } from '../build/log-lines.ts'

const TURNS = 50

function versioned(raw: JsonRecord, version: number, more: JsonRecord = {}): JsonRecord {
  const metadata = { ...Object(raw['metadata']), uid: 'uid', generation: version, ...more }
  return { ...raw, metadata: { ...metadata, resourceVersion: String(version) } }
}

function refused(): never {
  throw new ConnectionError('refused', 'nothing answers', { neverSent: true })
}

async function unanswered(): Promise<never> {
  return refused()
}

function bindingAt(at: number): JsonRecord {
  return perVariant({ name: `b-${at}` })
}

interface Stand {
  readonly caches: ReturnType<typeof createCaches>
  readonly controller: ReturnType<typeof composeController>
  readonly clock: FakeClock
  /** Names of what was patched. */
  readonly patched: readonly string[]
  readonly lists: () => number
  /** What was to be updated. */
  readonly updated: readonly JsonRecord[]
  /** Slices end no more. */
  readonly slow: () => void
}

/** A controller whose API server answers nothing, over caches that are filled. */
function stand({ writesPerSecond }: { readonly writesPerSecond?: number } = {}): Stand {
  const caches = createCaches({ onError: (error) => expect.fail(String(error)) })
  for (const cache of [caches.bindings, caches.outputs, ...caches.pools.values()])
    cache.setSyncState({ kind: 'synced' })
  for (const cache of caches.objectives.values()) cache.setSyncState({ kind: 'absent' })
  const clock = new FakeClock()
  let lists = 0
  let isSlow = false
  const patched: string[] = []
  const updated: JsonRecord[] = []
  const api: Api = {
    get: unanswered,
    list: unanswered,
    watch: refused,
    create: unanswered,
    update: async (_resource, object) => {
      updated.push(object)
      return refused()
    },
    patch: async (_resource, { name }) => {
      patched.push(name)
      return refused()
    },
    delete: unanswered,
    pages: () => {
      lists += 1
      return refused()
    },
  }
  const controller = composeController({
    api,
    caches,
    config: CONFIG,
    clock,
    random: () => 0.5,
    log: keptLog().log,
    metrics: createMetrics(),
    events: { record: () => {}, drain: async () => {} },
    writesPerSecond,
    bindingsPerNamespace: undefined,
    takeOver: new Set(),
    classlessIgnored: false,
    recheck: async () => {},
    workers: 4,
    resyncMs: undefined,
    pause: () => (isSlow ? new Promise(() => {}) : setImmediate()),
  })
  return { caches, controller, clock, patched, updated, lists: () => lists, slow: () => (isSlow = true) }
}

test('a deletion waits for no slice of what has changed in its namespace', async () => {
  const { caches, controller, lists, slow } = stand()
  for (let at = 0; at < 2 * SLICE; at++)
    caches.bindings.store.apply('ADDED', caches.bindings.read(versioned(bindingAt(at), at + 1)))
  void controller.lead()
  for (let turn = 0; turn < TURNS; turn++) await setImmediate()
  slow()
  const pools = caches.pools.get(K8S_GROUP)
  pools?.store.apply('ADDED', pools.read(versioned(pool({}), 1_000)))
  const deleted = versioned(bindingAt(0), 1_001, {
    deletionTimestamp: '2026-01-01T00:00:00Z',
    finalizers: [FINALIZER],
  })
  caches.bindings.store.apply('MODIFIED', caches.bindings.read(deleted))
  for (let turn = 0; turn < TURNS; turn++) await setImmediate()
  expect(lists()).toBe(1)
})

test('after a start no namespace waits for what is new in another', async () => {
  const { caches, controller, patched, slow } = stand()
  for (let at = 0; at < 2 * SLICE; at++)
    caches.bindings.store.apply('ADDED', caches.bindings.read(versioned(bindingAt(at), at + 1)))
  const pools = caches.pools.get(K8S_GROUP)
  pools?.store.apply('ADDED', pools.read(versioned(pool({ namespace: 'quiet' }), 1_000)))
  const quiet = perVariant({ namespace: 'quiet', name: 'chat' })
  caches.bindings.store.apply('ADDED', caches.bindings.read(versioned(quiet, 1_001)))
  slow()
  void controller.lead()
  for (let turn = 0; turn < TURNS; turn++) await setImmediate()
  expect(patched).toEqual(['chat'])
})

test('a binding that is deleted while it waits for its turn to write leaves its turn to others', async () => {
  const { caches, controller, clock } = stand({ writesPerSecond: 1 })
  const pools = caches.pools.get(K8S_GROUP)
  pools?.store.apply('ADDED', pools.read(versioned(pool({}), 1)))
  const bindings = [0, 1, 2].map((at) => versioned(bindingAt(at), at + 2, { uid: `uid-${at}` }))
  for (const raw of bindings) caches.bindings.store.apply('ADDED', caches.bindings.read(raw))
  void controller.lead()
  for (let turn = 0; turn < TURNS; turn++) await setImmediate()
  for (const raw of bindings) {
    const gone = versioned(raw, 10, {})
    caches.bindings.store.apply('DELETED', caches.bindings.read(gone))
  }
  for (let second = 0; second < 10; second++) {
    clock.advance(1_000)
    for (let turn = 0; turn < TURNS; turn++) await setImmediate()
  }
  expect(controller.isIdle).toBe(true)
})

test('a status keeps its output while a process that has just started cannot read outputs', async () => {
  const { caches, controller, updated } = stand()
  const clusterSPIFFEID = { name: 'kleym-team-a-b-0-llama-0123456789abcdef0123', uid: 'of-the-output' }
  const renderedSelectors = [{ spiffeID: 'spiffe://example.org/x', selectors: ['k8s:ns:team-a'] }]
  const status = { observedGeneration: 1, conditions: [], renderedSelectors, clusterSPIFFEID }
  const object = { ...versioned(bindingAt(0), 1), status }
  caches.bindings.store.apply('ADDED', caches.bindings.read(object))
  caches.outputs.setSyncState({
    kind: 'unknown',
    why: { verb: 'list', what: 'ClusterSPIFFEID.spire.spiffe.io', cause: 'forbidden' },
  })
  const pools = caches.pools.get(K8S_GROUP)
  pools?.store.apply('ADDED', pools.read(versioned(pool({}), 2)))
  void controller.lead()
  for (let turn = 0; turn < TURNS && updated.length === 0; turn++) await setImmediate()
  expect(updated[0]?.['status']).toMatchObject({ renderedSelectors, clusterSPIFFEID })
})
