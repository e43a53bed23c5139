// The one way in which kleym talks to a cluster, as types: what the operator's writes, the reflector and the plugin's
// cluster source are written against. `client.ts` speaks it over HTTPS; simulations and fault tests speak it too.
import type { Kind } from '../core/model/kinds.ts'
import type { JsonRecord } from '../core/base/json.ts'

/** A kind as its REST path names it. */
export interface Resource extends Kind {
  readonly namespaced: boolean
}

/** One object of a resource. */
export interface ResourceRef {
  /** Absent for a cluster-scoped object. */
  readonly namespace?: string
  readonly name: string
}

export interface CallOptions {
  /** Ends the call; it then rejects with a `ConnectionError` of kind `aborted`. */
  readonly signal?: AbortSignal
}

export interface WriteOptions extends CallOptions {
  /** `metadata.managedFields[].manager` of the write. */
  readonly fieldManager?: string
  /** The server does everything but store the object, and answers as if it had. Of a create or update. */
  readonly dryRun?: boolean
}

export interface UpdateOptions extends WriteOptions {
  readonly subresource?: 'status'
}

/** How a patch body is to be read. */
export type PatchKind = 'json' | 'merge'

export interface PatchOptions extends UpdateOptions {
  readonly kind: PatchKind
}

export interface DeleteOptions extends CallOptions {
  /** The delete is refused with 409 Conflict where the object has another of these. */
  readonly uid?: string
  readonly resourceVersion?: string
}

/** The result of a DELETE: gone for good, or there until its finalizers are removed. */
export type Deletion =
  | { readonly state: 'gone' }
  | { readonly state: 'terminating'; readonly object: JsonRecord }

export interface ListOptions extends CallOptions {
  /** All namespaces when absent. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Items per page; 500 when absent. */
  readonly limit?: number
  /** A page of several items that is longer is asked for again with fewer; PAGE_BYTES when absent. */
  readonly pageBytes?: number
  /** Whether a page that is not answered in time is asked for again as a page of one. */
  readonly oneAfterTimeout?: boolean
  /** `PartialObjectMetadata` in place of whole objects. */
  readonly metadataOnly?: boolean
  /** What reads the text of a page: gives what JSON.parse gives, which is used when absent. */
  readonly parse?: (text: string) => unknown
  /** `resourceVersion=0`: what the API server's watch cache holds, however old. To look how far that cache is, and for nothing else. */
  readonly fromWatchCache?: boolean
}

export interface Listing {
  readonly items: readonly JsonRecord[]
  /** The state of the cluster that the list shows: where a watch goes on. */
  readonly resourceVersion: string
}

export interface WatchCallOptions extends CallOptions {
  readonly namespace?: string
  /** Events after this version are sent. */
  readonly resourceVersion: string
  /** After how many seconds the server ends the watch by itself. */
  readonly timeoutSeconds: number
  /** `PartialObjectMetadata` in place of whole objects. */
  readonly metadataOnly?: boolean
  /** Called once, when the server has accepted the watch: events may be long in coming. */
  readonly onOpen?: () => void
}

/** `ERROR` never comes out of a watch: it is thrown as the `ApiError` that it holds. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly object: JsonRecord
}

/**
 * Calls to one API server. All reject with an `ApiError` (the server answered with a failure) or a `ConnectionError`
 * (no answer, or none that can be read); none retries, except that an expired page token starts a list again.
 */
export interface Api {
  get(resource: Resource, ref: ResourceRef, options?: CallOptions): Promise<JsonRecord>
  /**
   * The pages of one list, one by one, all of the same state of the cluster, so that no caller needs to hold all raw
   * objects at once. It throws an `ApiError` 410 where the next page is no longer to be had: begin again.
   */
  pages(resource: Resource, options?: ListOptions): AsyncIterable<Listing>
  /** Reads all `pages`; unless the watch cache is asked for, what it shows is no older than the call. */
  list(resource: Resource, options?: ListOptions): Promise<Listing>
  /** POST. */
  create(resource: Resource, object: JsonRecord, options?: WriteOptions): Promise<JsonRecord>
  /** PUT; `metadata.uid` and `metadata.resourceVersion` in the object are preconditions (409 Conflict). */
  update(resource: Resource, object: JsonRecord, options?: UpdateOptions): Promise<JsonRecord>
  patch(resource: Resource, ref: ResourceRef, body: unknown, options: PatchOptions): Promise<JsonRecord>
  delete(resource: Resource, ref: ResourceRef, options?: DeleteOptions): Promise<Deletion>
  /** Bookmarks are asked for. The iteration ends when the server ends the watch; it throws when the watch breaks. */
  watch(resource: Resource, options: WatchCallOptions): AsyncIterable<WatchEvent>
}
