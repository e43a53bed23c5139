// Outputs that no binding answers for: deleted after a live read has said that their binding is gone, or lives under
// another UID (contract §8).
import { ANNOTATION_BINDING_UID } from '@kleym/shared/core/names.ts'
import type { LiveOutput } from '@kleym/shared/core/plan/plan.ts'
import type { Log } from '../telemetry/log.ts'
import type { Ledger } from '../claims/ledger.ts'
import { retry, SETTLED, type Next } from './next.ts'
import { cachedBinding } from '../caches/read.ts'
import type { Caches } from '../caches/caches.ts'
import type { AnyFollowedKind } from '@kleym/shared/kube/followed-kind.ts'
import type { Writer } from '../write/writer.ts'

export interface OrphansOptions {
  readonly caches: Caches
  readonly ledger: Ledger
  readonly writer: Writer
  readonly log: Log
  /** Asks the API server again whether it serves a kind. */
  readonly recheck: (cache: AnyFollowedKind) => Promise<void>
}

export class Orphans {
  readonly #options: OrphansOptions

  constructor(options: OrphansOptions) {
    this.#options = options
  }

  /** Removes the outputs whose annotation names `key` and that are no living binding's. */
  async remove(key: string): Promise<Next> {
    const { caches, ledger, writer, recheck } = this.#options
    if (!ledger.orphans(key).some(isLive)) return SETTLED
    const [namespace = '', name = ''] = key.split('/')
    const seen = caches.bindings.store.get(key)
    const read = await writer.read(caches.bindings, { namespace, name }, cachedBinding)
    if (read.kind === 'kind absent') {
      await recheck(caches.bindings)
      return retry()
    }
    if (read.kind === 'unknown') return retry(read)
    if (!read.found && seen !== undefined) caches.bindings.store.confirmGone(seen.meta)
    // What the read has shown may make it no orphan.
    for (const orphan of ledger.orphans(key).filter(isLive)) {
      if (read.found && this.#isOfTheLiving(key, orphan)) continue
      const next = await this.#removeOne(key, orphan)
      if (next !== undefined) return next
    }
    return SETTLED
  }

  async #removeOne(key: string, orphan: LiveOutput): Promise<Next | undefined> {
    const { caches, writer, log, recheck } = this.#options
    log.info('removing an orphan', { binding: key, clusterSPIFFEID: orphan.object.meta.name })
    const result = await writer.remove(orphan)
    if (result.kind === 'kind absent') await recheck(caches.outputs)
    // Also where another's write came first: it may have changed nothing that the cache would wake anybody for.
    else if (result.kind !== 'done') return retry(result)
    return undefined
  }

  #isOfTheLiving(key: string, { object }: LiveOutput): boolean {
    const living = this.#options.caches.bindings.store.get(key)?.meta.uid
    return living === object.meta.annotations.get(ANNOTATION_BINDING_UID)
  }
}

function isLive({ object }: LiveOutput): boolean {
  return object.meta.deletedAt === undefined
}
