// Whether the datastore was restored from a backup: time goes back, and versions that were seen come again for other content.
// Versions are compared within one history only. What counts as a sign, and what never does: docs/contract.md §6.
import { stringAt, type JsonRecord } from '@kleym/shared/core/json.ts'
import type { Api, CallOptions, Listing, ListOptions, Resource } from '@kleym/shared/kube/api.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { ConnectionError } from '@kleym/shared/kube/errors.ts'
import { testedAt, VERSION_PATH } from '@kleym/shared/kube/json-patch.ts'
import { isNewer } from '@kleym/shared/kube/resource-version.ts'
import { LEASES, resourceName } from '@kleym/shared/kube/resources.ts'
import type { Caches } from './caches.ts'

/**
 * For how long after a sign a list is refused whose version is not below what had been seen before, where no Lease tells how
 * far the new history has come: an API server that was not restarted with its datastore answers lists from its cache of the
 * old history. Not for ever, since the new history comes that far too.
 */
const OLD_LISTS_MS = 30_000
const LEASE = resourceName(LEASES)
/** A label selector that no object matches: the answer is as long as its version. */
const MATCHES_NOTHING = 'kleym,!kleym'

export interface DatastoreHistoryOptions {
  readonly clock: Clock
  /** Called at once when a sign is seen, with the resource that showed it; everything must be listed anew. */
  readonly onRestored: (resource: Resource) => void
  /** Called once for each restore, when the API server answers a list of the history before it. */
  readonly onOldList: (resource: Resource) => void
}

/** The calls of an election. */
type LeaseCalls = Pick<Api, 'get' | 'create' | 'update'>

/** What one request is compared with. */
interface Began {
  readonly restores: number
  readonly known: string | undefined
}

/** The versions that one process has seen, and whether they went back. */
export class DatastoreHistory {
  readonly #options: DatastoreHistoryOptions
  /** The newest version that was seen of each resource in this history. */
  #known = new Map<string, string>()
  /** The same of the history before, at the moment of the sign. */
  #before: ReadonlyMap<string, string> = new Map()
  #restoredMs = Number.NEGATIVE_INFINITY
  #restores = 0
  #hasToldOfOldLists = false

  constructor(options: DatastoreHistoryOptions) {
    this.#options = options
  }

  /** How often the datastore was restored since this process has started. */
  get restores(): number {
    return this.#restores
  }

  /**
   * The same calls. One that shows a sign, or that began in another history than the one in which it ends, rejects with a
   * `ConnectionError`, refusals and 404s included: what it was answered may not be compared with anything, and a write may
   * have been carried out.
   */
  watchedApi(api: Api): Api {
    const guarded = async <T>(resource: Resource, call: () => Promise<T>): Promise<T> => {
      const { restores } = this.#begin(resource)
      const answer = await this.#inOneHistory(restores, call)
      this.#mustBe(restores)
      return answer
    }
    const written = async (
      resource: Resource,
      sent: string | undefined,
      call: () => Promise<JsonRecord>,
    ): Promise<JsonRecord> => {
      const began = this.#begin(resource)
      const answer = await this.#inOneHistory(began.restores, call)
      this.#compare(resource, began, { version: versionIn(answer), sent })
      this.#mustBe(began.restores)
      return answer
    }
    return {
      get: (resource, ...call) => guarded(resource, () => api.get(resource, ...call)),
      pages: (resource, options) => this.#pages(api, resource, options),
      list: async (resource, options) => {
        const began = this.#begin(resource)
        const listing = await this.#inOneHistory(began.restores, () => api.list(resource, options))
        this.#compareList(resource, began, listing)
        await this.#mustWatchThisHistory(api, resource, listing, options)
        return listing
      },
      watch: (resource, options) => this.#watch(api, resource, options),
      create: (resource, object, ...rest) =>
        written(resource, undefined, () => api.create(resource, object, ...rest)),
      update: (resource, object, ...rest) =>
        written(resource, versionIn(object), () => api.update(resource, object, ...rest)),
      patch: (resource, ref, body, options) =>
        written(resource, versionPatched(body), () => api.patch(resource, ref, body, options)),
      delete: (resource, ...call) => guarded(resource, () => api.delete(resource, ...call)),
    }
  }

  /** The calls of an election: they show signs, and go on after one, since the Lease alone may be written then. */
  watchedLeases(api: LeaseCalls): LeaseCalls {
    const compared = async (resource: Resource, call: () => Promise<JsonRecord>): Promise<JsonRecord> => {
      const began = this.#begin(resource)
      const answer = await call()
      this.#compare(resource, began, { version: versionIn(answer), sent: undefined })
      return answer
    }
    return {
      get: (resource, ...call) => compared(resource, () => api.get(resource, ...call)),
      create: (resource, ...call) => compared(resource, () => api.create(resource, ...call)),
      update: (resource, ...call) => compared(resource, () => api.update(resource, ...call)),
    }
  }

  async *#pages(api: Api, resource: Resource, options?: ListOptions): AsyncGenerator<Listing> {
    const began = this.#begin(resource)
    let isFirst = true
    try {
      for await (const page of api.pages(resource, options)) {
        // Later pages are of the state of the first one, which may be older than what was seen meanwhile.
        if (isFirst) {
          this.#compareList(resource, began, page)
          await this.#mustWatchThisHistory(api, resource, page, options)
        } else this.#mustBe(began.restores)
        isFirst = false
        yield page
      }
    } catch (error) {
      this.#mustBe(began.restores)
      throw error
    }
  }

  async *#watch(
    api: Api,
    resource: Resource,
    options: Parameters<Api['watch']>[1],
  ): ReturnType<Api['watch']> {
    const began = this.#begin(resource)
    for await (const event of api.watch(resource, options)) {
      this.#mustBe(began.restores)
      this.#note(resource, versionIn(event.object))
      yield event
    }
  }

  /** A failure tells something of the history in which it ends too: what a 404 does not find may be back since. */
  async #inOneHistory<T>(restores: number, call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } catch (error) {
      this.#mustBe(restores)
      throw error
    }
  }

  #begin(resource: Resource): Began {
    return { restores: this.#restores, known: this.#known.get(resourceName(resource)) }
  }

  #compareList(resource: Resource, began: Began, { resourceVersion }: Listing): void {
    this.#mustBe(began.restores)
    if (this.#isOld(resource, resourceVersion)) this.#refuseOld(resource)
    this.#compare(resource, began, { version: resourceVersion, sent: undefined })
    this.#mustBe(began.restores)
  }

  /**
   * Rejects where the API server's watch cache is of the history before, though its lists are not (Kubernetes 1.30 lists from the
   * datastore itself): a watch that began at this list would be sent what happened in that history. Such a cache is ahead of the
   * datastore, which a true one never is. Asked for until this history has come as far as the one before.
   */
  async #mustWatchThisHistory(
    api: Api,
    resource: Resource,
    { resourceVersion }: Listing,
    options: ListOptions = {},
  ): Promise<void> {
    const isAhead = [...this.#before.values()].every((version) => isNewer(resourceVersion, version))
    if (isAhead) return
    const restores = this.#restores
    const where = { ...options, metadataOnly: true, limit: 1 }
    const cached = await this.#inOneHistory(restores, () =>
      api.list(resource, { ...where, labelSelector: MATCHES_NOTHING, fromWatchCache: true }),
    )
    const [now] = await this.#inOneHistory(restores, () => firstOf(api.pages(resource, where)))
    this.#mustBe(restores)
    if (now !== undefined && isNewer(cached.resourceVersion, now.resourceVersion)) this.#refuseOld(resource)
  }

  #refuseOld(resource: Resource): never {
    if (!this.#hasToldOfOldLists) this.#options.onOldList(resource)
    this.#hasToldOfOldLists = true
    throw otherHistory('the API server answers a list from before the datastore was restored')
  }

  /** Whether a list comes from a cache of the history before: this history has not come as far as its version. */
  #isOld(resource: Resource, version: string): boolean {
    const before = this.#before.get(resourceName(resource))
    if (before === undefined || isNewer(before, version)) return false
    // A Lease is always read from the datastore itself.
    const now = this.#known.get(LEASE)
    if (now !== undefined) return isNewer(before, now)
    return this.#options.clock.monotonicMs() - this.#restoredMs < OLD_LISTS_MS
  }

  #compare(
    resource: Resource,
    { restores, known }: Began,
    { version, sent }: { readonly version: string | undefined; readonly sent: string | undefined },
  ): void {
    if (restores !== this.#restores || version === undefined) return
    // A write that changes nothing is answered with the version that it was sent with.
    if (known !== undefined && version !== sent && isNewer(known, version)) this.#restored(resource)
    this.#note(resource, version)
  }

  #note(resource: Resource, version: string | undefined): void {
    const name = resourceName(resource)
    if (version !== undefined && isNewer(version, this.#known.get(name))) this.#known.set(name, version)
  }

  #restored(resource: Resource): void {
    this.#restores += 1
    this.#before = this.#known
    this.#known = new Map()
    this.#hasToldOfOldLists = false
    this.#restoredMs = this.#options.clock.monotonicMs()
    this.#options.onRestored(resource)
  }

  #mustBe(restores: number): void {
    if (restores !== this.#restores) throw otherHistory('the datastore was restored meanwhile')
  }
}

/**
 * Whether bindings and outputs come from lists of this history; always before the first restore. A kind that could not be
 * listed since is not: what is held of it is of another history, though its state says why it could not be read.
 */
export function isListedAnew({ bindings, outputs }: Pick<Caches, 'bindings' | 'outputs'>): boolean {
  return !bindings.store.isBetweenHistories && !outputs.store.isBetweenHistories
}

/**
 * The same calls; none is made while `isListed` is false: what was known is of another history, and what is read
 * now could not be taken in.
 */
export function heldUntilListed(api: Api, isListed: () => boolean): Api {
  const held = async <T>(call: () => Promise<T>): Promise<T> => {
    mustBeListed(isListed)
    return call()
  }
  return {
    get: (...call) => held(() => api.get(...call)),
    list: (...call) => held(() => api.list(...call)),
    pages: async function* pages(resource: Resource, options?: ListOptions & CallOptions) {
      mustBeListed(isListed)
      yield* api.pages(resource, options)
    },
    watch: (...call) => api.watch(...call),
    create: (...call) => held(() => api.create(...call)),
    update: (...call) => held(() => api.update(...call)),
    patch: (...call) => held(() => api.patch(...call)),
    delete: (...call) => held(() => api.delete(...call)),
  }
}

function mustBeListed(isListed: () => boolean): void {
  if (isListed()) return
  throw new ConnectionError('aborted', 'the datastore was restored: bindings and outputs are listed first', {
    neverSent: true,
  })
}

/** The first of what is iterated over, in a list of its own; the rest is not asked for. */
async function firstOf<T>(all: AsyncIterable<T>): Promise<readonly T[]> {
  for await (const one of all) return [one]
  return []
}

function versionIn(object: unknown): string | undefined {
  return stringAt(object, 'metadata', 'resourceVersion')
}

/** The version that a patch is for. */
function versionPatched(patch: unknown): string | undefined {
  const tested = testedAt(patch, VERSION_PATH)
  return typeof tested === 'string' ? tested : versionIn(patch)
}

function otherHistory(message: string): ConnectionError {
  return new ConnectionError('aborted', message, { neverSent: false })
}
