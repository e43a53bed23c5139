// Live lists beside the watches. One list of all ClusterSPIFFEIDs that began after their deletes tells every binding that
// waits for one whether anything is left of it (contract §8); and a new leader lists everything once, since its caches
// may lag behind what the last one wrote.
import type { JsonRecord } from '@kleym/shared/core/json.ts'
import type { ClusterSpiffeId } from '@kleym/shared/core/objects/clusterspiffeid.ts'
import type { Api } from '@kleym/shared/kube/api.ts'
import { isAtMost } from '@kleym/shared/kube/resource-version.ts'
import { objectKey, type Cached } from '@kleym/shared/kube/store.ts'
import { cachedOutput } from './read.ts'
import type { KindCache } from './caches.ts'

/** Lists a kind and brings its cache up to that state, wherever its watch is. Rejects as the list does. */
export async function catchUp<T extends Cached>(
  api: Pick<Api, 'pages'>,
  { resource, store }: KindCache<T>,
  read: (value: JsonRecord) => T,
): Promise<void> {
  const before = [...store.values()]
  const listed = new Set<string>()
  let version = ''
  for await (const page of api.pages(resource)) {
    for (const raw of page.items) {
      const object = read(raw)
      listed.add(uidKey(object))
      store.observe(object)
    }
    version = page.resourceVersion
  }
  // What was there before the list, in a version no newer than it, and is not in it, was deleted.
  for (const object of before) {
    if (!listed.has(uidKey(object)) && isAtMost(object.meta.resourceVersion, version))
      store.confirmGone(object.meta)
  }
}

function uidKey({ meta }: Cached): string {
  return `${objectKey(meta)} ${meta.uid ?? ''}`
}

export class LiveLists {
  readonly #api: Pick<Api, 'pages'>
  readonly #outputs: KindCache<ClusterSpiffeId>
  /** The list that has not begun yet: whoever comes now may share it. */
  #next: Promise<void> | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(api: Pick<Api, 'pages'>, outputs: KindCache<ClusterSpiffeId>) {
    this.#api = api
    this.#outputs = outputs
  }

  /** Resolves when a list that began after this call is in the cache. Rejects as the list does. */
  afterNow(): Promise<void> {
    this.#next ??= this.#begin()
    return this.#next
  }

  async #begin(): Promise<void> {
    // Whoever comes while a list runs cannot use it, and waits for the one after it.
    await this.#running.catch(() => undefined)
    this.#next = undefined
    this.#running = catchUp(this.#api, this.#outputs, cachedOutput)
    await this.#running
  }
}
