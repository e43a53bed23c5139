// An operator's indexes without an API server, for tests that count their work. Each of their hooks is called as it is done.
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { CONFIG, K8S_GROUP, perVariant, pool } from '@kleym/testing/manifests.ts'
import { createCaches } from '../../src/caches/caches.ts'
import { ClaimRegister } from '../../src/claims/claim-register.ts'
import { Compiler } from '../../src/claims/compiler.ts'
import { seenReferences } from '../../src/claims/held-references.ts'
import { Indexes } from '../../src/claims/indexes.ts'
import { Ledger } from '../../src/claims/ledger.ts'

/** What a test hears of the work. */
export interface CountedWork {
  readonly clock: Clock
  /** A key is asked for. */
  readonly wake: (key: string) => void
  /** Timers and I/O have their turn. */
  readonly pause: () => Promise<void>
  /** A binding is about to be compiled. */
  readonly compiles: (key: string) => void
  /** A label set, or the place of a claim, was looked at for whom to wake. */
  readonly looked?: () => void
}

/** Indexes over empty caches that are synced; the pools are those of the GA group, and there are no objectives. */
export function countedIndexes({ clock, wake, pause, compiles, looked }: CountedWork) {
  const caches = createCaches({
    onError: (error) => {
      throw error
    },
  })
  class CountedCompiler extends Compiler {
    override recompile(...args: Parameters<Compiler['recompile']>) {
      compiles(args[0].key)
      return super.recompile(...args)
    }
  }
  class CountedRegister extends ClaimRegister {
    override *wakeTouched(namespace: string) {
      for (const _ of super.wakeTouched(namespace)) {
        looked?.()
        yield
      }
    }
  }
  const seen = seenReferences(caches)
  const compiler = new CountedCompiler({ seen, config: CONFIG })
  const onTouched = (namespace: string): void => indexes.wakePeers(namespace)
  const register = new CountedRegister({ wake, onTouched })
  const installs = { isOther: () => false }
  const indexes = new Indexes({ caches, seen, clock, compiler, register, installs, wake, pause })
  for (const cache of [caches.bindings, caches.outputs, ...caches.pools.values()]) {
    cache.setSyncState({ kind: 'synced' })
  }
  for (const cache of caches.objectives.values()) cache.setSyncState({ kind: 'absent' })
  const pools = caches.pools.get(K8S_GROUP)
  if (pools === undefined) throw new Error('there is a cache for each group of pools')
  let version = 0
  /** As the API server would store it now. */
  const stored = (raw: JsonRecord): JsonRecord => {
    version += 1
    const metadata = { ...Object(raw['metadata']), uid: 'uid', generation: version }
    return { ...raw, metadata: { ...metadata, resourceVersion: String(version) } }
  }
  return {
    caches,
    indexes,
    ledger: new Ledger({ caches, compiler, indexes, register }),
    setBinding: (options: Parameters<typeof perVariant>[0]) => {
      caches.bindings.store.apply('MODIFIED', caches.bindings.read(stored(perVariant(options))))
    },
    setPool: (options: Parameters<typeof pool>[0]) => {
      pools.store.apply('MODIFIED', pools.read(stored(pool(options))))
    },
  }
}
