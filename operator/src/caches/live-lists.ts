// Live lists of all ClusterSPIFFEIDs beside their watch: one that began after their deletes shows every binding that waits
// for one whether anything is left of it (docs/contract.md §8).
import type { Api } from '@kleym/shared/kube/api.ts'
import type { Caches } from './caches.ts'

export interface LiveListsOptions {
  readonly api: Pick<Api, 'pages'>
  readonly caches: Pick<Caches, 'outputs'>
}

export class LiveLists {
  readonly #options: LiveListsOptions
  /** The list that has not begun yet: every caller until then shares it. */
  #next: Promise<void> | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(options: LiveListsOptions) {
    this.#options = options
  }

  /** Resolves when a list that began after this call is in the cache. Rejects as the list does. */
  afterNow(): Promise<void> {
    this.#next ??= this.#begin()
    return this.#next
  }

  async #begin(): Promise<void> {
    const { api, caches } = this.#options
    // A list that runs began before its later callers deleted anything: they wait for the one after it.
    await this.#running.catch(() => undefined)
    this.#next = undefined
    this.#running = caches.outputs.catchUp(api)
    await this.#running
  }
}
