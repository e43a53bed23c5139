// Whether the datastore was restored from a backup: time goes back, and versions that were seen come again for other content.
// What counts as a sign, and what follows: docs/contract.md §6.
import { stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { Api, Listing, ListOptions, Resource } from '@kleym/shared/kube/api.ts'
import { pause, type Clock } from '@kleym/shared/kube/clock.ts'
import { ConnectionError } from '@kleym/shared/kube/errors.ts'
import { isNewer } from '@kleym/shared/kube/resource-version.ts'
import { LEASES } from '@kleym/shared/kube/resources.ts'

/** Longer than a leader takes to renew the Lease, and a standby to see it, in milliseconds. */
const RENEWED_MS = 5_000
/** How often a list that waits for that looks, in milliseconds. */
const LOOK_MS = 200
/** A label selector that no object matches: the answer is as long as its version. */
const MATCHES_NOTHING = 'kleym,!kleym'

export interface DatastoreHistoryOptions {
  readonly clock: Clock
  /** The version up to which a kind has been seen. */
  readonly seen: (resource: Resource) => string | undefined
  /** Whether this process has seen a restore already, and reads the Lease: then lists of the history before are refused. */
  readonly isLater: boolean
  /** Called when a sign is seen, with the resource that shows it. */
  readonly onRestored: (resource: Resource) => void
  /** Called once, when the API server answers a list of the history before. */
  readonly onOldList: (resource: Resource) => void
}

/** The calls of an election. */
type LeaseCalls = Pick<Api, 'get' | 'create' | 'update'>

/** The versions of one history, and whether they go back. */
export class DatastoreHistory {
  readonly #options: DatastoreHistoryOptions
  /** The newest version of the Lease, which is always read from the datastore itself. */
  #lease: string | undefined
  /** The kinds whose watch cache was shown to be of this history. */
  readonly #proven = new Set<Resource>()
  #hasToldOfOldLists = false

  constructor(options: DatastoreHistoryOptions) {
    this.#options = options
  }

  /** The same calls. A list that shows a sign, or is of the history before, rejects with a `ConnectionError`. */
  watchedApi(api: Api): Api {
    return { ...api, pages: (resource, options) => this.#pages(api, resource, options) }
  }

  /** The calls of an election, which show how far the datastore has come. */
  watchedLeases(api: LeaseCalls): LeaseCalls {
    const compared = async (call: Promise<JsonRecord>): Promise<JsonRecord> => {
      const answer = await call
      const version = stringAt(answer, 'metadata', 'resourceVersion')
      if (isNewer(this.#lease, version)) this.#options.onRestored(LEASES)
      else this.#lease = version
      return answer
    }
    return {
      get: (...call) => compared(api.get(...call)),
      create: (...call) => compared(api.create(...call)),
      update: (...call) => compared(api.update(...call)),
    }
  }

  async *#pages(api: Api, resource: Resource, options?: ListOptions): AsyncGenerator<Listing> {
    const seen = this.#options.seen(resource)
    let isFirst = true
    for await (const page of api.pages(resource, options)) {
      // Later pages are of the state of the first one.
      if (isFirst && isNewer(seen, page.resourceVersion)) {
        this.#options.onRestored(resource)
        throw otherHistory('the list shows that the datastore was restored')
      }
      if (isFirst) await this.#mustBeOfThisHistory(api, resource)
      isFirst = false
      yield page
    }
  }

  /**
   * An API server that was not restarted with its datastore goes on from its watch caches, which are ahead of the datastore, as
   * a true one never is: it answers lists from them, or (Kubernetes 1.30) only sends what happened in the other history.
   */
  async #mustBeOfThisHistory(api: Api, resource: Resource): Promise<void> {
    const { clock, isLater, onOldList } = this.#options
    if (!isLater || this.#proven.has(resource)) return
    const cached = await api.list(resource, {
      metadataOnly: true,
      limit: 1,
      labelSelector: MATCHES_NOTHING,
      fromWatchCache: true,
    })
    const untilMs = clock.monotonicMs() + RENEWED_MS
    while (!isNewer(this.#lease, cached.resourceVersion)) {
      if (clock.monotonicMs() < untilMs) {
        await pause(clock, LOOK_MS)
        continue
      }
      if (!this.#hasToldOfOldLists) onOldList(resource)
      this.#hasToldOfOldLists = true
      throw otherHistory('the API server answers a list from before the datastore was restored')
    }
    this.#proven.add(resource)
  }
}

function otherHistory(message: string): ConnectionError {
  return new ConnectionError('aborted', message, { neverSent: false })
}
