// Outputs whose binding is gone: the operator deletes them after a live read has said that the binding is not there, or has
// another UID (docs/contract.md §8).
import { ANNOTATION_BINDING_UID } from '@kleym/shared/core/model/names.ts'
import type { Caches } from '../caches/caches.ts'
import type { Ledger } from '../claims/ledger.ts'
import type { OwnedOutput } from '../claims/output-index.ts'
import type { Log } from '../telemetry/log.ts'
import type { Writer } from '../write/writer.ts'
import { retry, NOTHING_TO_DO, type Next } from './next.ts'

export interface OrphansOptions {
  readonly caches: Caches
  readonly ledger: Ledger
  readonly writer: Writer
  readonly log: Log
}

export class Orphans {
  readonly #options: OrphansOptions

  constructor(options: OrphansOptions) {
    this.#options = options
  }

  /** Removes the outputs whose annotation names `key` and that are no living binding's. */
  async remove(key: string): Promise<Next> {
    const { caches, ledger, writer } = this.#options
    if (!ledger.orphans(key).some(isLive)) return NOTHING_TO_DO
    const [namespace = '', name = ''] = key.split('/')
    const seen = caches.bindings.store.get(key)
    const read = await writer.read(caches.bindings, { namespace, name })
    // Where the kind of bindings is not served, nothing is an orphan.
    if (read.kind === 'kind absent') return NOTHING_TO_DO
    if (read.kind === 'unknown') return retry(read)
    if (!read.found && seen !== undefined) caches.bindings.store.confirmGone(seen.meta)
    // The read may have shown that an output is no orphan.
    for (const orphan of ledger.orphans(key).filter(isLive)) {
      if (read.found && this.#isOfLivingBinding(key, orphan)) continue
      const next = await this.#removeOne(key, orphan)
      if (next !== undefined) return next
    }
    return NOTHING_TO_DO
  }

  async #removeOne(key: string, { output }: OwnedOutput): Promise<Next | undefined> {
    const { writer, log } = this.#options
    log.info('removing an orphan', { binding: key, clusterSPIFFEID: output.meta.name })
    const result = await writer.remove(output)
    // Also where another client's write came first: it may have changed nothing that wakes a binding.
    return result.kind === 'done' || result.kind === 'kind absent' ? undefined : retry(result)
  }

  #isOfLivingBinding(key: string, { output }: OwnedOutput): boolean {
    const uid = this.#options.caches.bindings.store.get(key)?.meta.uid
    return output.isWhole && uid === output.read().meta.annotations.get(ANNOTATION_BINDING_UID)
  }
}

function isLive({ output }: OwnedOutput): boolean {
  return output.meta.deletedAt === undefined
}
