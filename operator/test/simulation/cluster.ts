// What an API server holds and how it treats a write, in memory and at once: versions, UIDs, generations, the status
// subresource, preconditions, finalizers, kinds that are not served. When a request reaches it is not its business.
// Semantics: kube-apiserver's `registry/generic/registry/store.go` and `registry/rest/{create,update,delete}.go`.
import {
  dig,
  digPath,
  isRecord,
  listAt,
  own,
  stringAt,
  type JsonRecord,
  deepEqual,
} from '@kleym/shared/core/base/json.ts'
import type {
  DeleteOptions,
  Deletion,
  Listing,
  ResourceRef,
  Resource,
  UpdateOptions,
  WriteOptions,
} from '@kleym/shared/kube/api.ts'
import { ApiError } from '@kleym/shared/kube/errors.ts'
import { FINALIZERS_PATH } from '@kleym/shared/kube/json-patch.ts'
import { resourceName } from '@kleym/shared/kube/resources.ts'

/** Who writes: a user, or an operator, by the number of its life. */
export type Author = 'user' | number

/** What a write has come to. */
export interface ServerChange {
  readonly resource: Resource
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: JsonRecord
  /** The object before; undefined for one that is new. */
  readonly before: JsonRecord | undefined
  readonly by: Author
}

/** Sees each object before it is stored: returns what to store instead, or throws an `ApiError`. */
export type Admission = (resource: Resource, object: JsonRecord, by: Author) => JsonRecord

/** The datastore of one moment. */
export interface Backup {
  readonly version: number
  readonly kinds: ReadonlyMap<string, ReadonlyMap<string, JsonRecord>>
  readonly absent: ReadonlySet<string>
}

export class SimulatedCluster {
  /** Changed by scenarios: a webhook, a quota. */
  admission: Admission = (_, object) => object
  /** A write makes a new map of its kind, so that a backup costs nothing. */
  readonly #kinds = new Map<string, ReadonlyMap<string, JsonRecord>>()
  readonly #absent = new Set<string>()
  /** The cache of an API server that was not restarted with its datastore: it goes on answering lists. */
  #oldCache: Backup | undefined
  readonly #listeners: ((change: ServerChange) => void)[] = []
  readonly #kindListeners: ((resource: Resource) => void)[] = []
  #version = 1000
  #uids = 0

  onChange(listener: (change: ServerChange) => void): void {
    this.#listeners.push(listener)
  }

  /** Calls `listener` when a kind comes or goes. */
  onKind(listener: (resource: Resource) => void): void {
    this.#kindListeners.push(listener)
  }

  serves(resource: Resource): boolean {
    return !this.#absent.has(resourceName(resource))
  }

  /** All objects of a kind, in the order of their keys. */
  all(resource: Resource): readonly JsonRecord[] {
    const kind = this.#kinds.get(resourceName(resource))
    return kind === undefined
      ? []
      : [...kind].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object)
  }

  /** The object, or undefined. */
  find(resource: Resource, ref: ResourceRef): JsonRecord | undefined {
    return this.#kinds.get(resourceName(resource))?.get(keyOf(ref))
  }

  get(resource: Resource, ref: ResourceRef): JsonRecord {
    this.#mustServe(resource)
    const object = this.find(resource, ref)
    if (object === undefined) throw notFound(resource, ref.name)
    return object
  }

  list(resource: Resource): Listing {
    this.#mustServe(resource)
    if (this.#oldCache !== undefined && this.listsOldHistory) {
      const kind = this.#oldCache.kinds.get(resourceName(resource))
      return { items: [...(kind?.values() ?? [])], resourceVersion: String(this.#oldCache.version) }
    }
    return { items: this.all(resource), resourceVersion: String(this.#version) }
  }

  create(
    resource: Resource,
    object: JsonRecord,
    by: Author,
    { dryRun = false }: WriteOptions = {},
  ): JsonRecord {
    this.#mustServe(resource)
    const ref = refOf(object)
    if (this.find(resource, ref) !== undefined) {
      throw failure(409, 'AlreadyExists', `${resource.plural} "${ref.name}" already exists`, ref.name)
    }
    this.#uids += 1
    const { status: _, ...rest } = this.admission(resource, object, by)
    const metadata = {
      ...metadataOf(rest),
      uid: `uid-${this.#uids}`,
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
    }
    const stored = { ...rest, metadata }
    if (dryRun) return stored
    return this.#store({ resource, type: 'ADDED', object: stored, before: undefined, by })
  }

  /** The status that is stored; throws for one that the API server refuses. It takes all of them unless a test says otherwise. */
  statusAdmission: (object: JsonRecord, before: JsonRecord) => unknown = ({ status }) => status

  /** PUT of the whole object, or of its status alone. */
  update(
    resource: Resource,
    object: JsonRecord,
    by: Author,
    { subresource, dryRun = false }: UpdateOptions = {},
  ): JsonRecord {
    const before = this.get(resource, refOf(object))
    const asked = metadataOf(object)
    mustMatch(resource, before, { uid: asked['uid'], resourceVersion: asked['resourceVersion'] })
    if (subresource === 'status') {
      return this.#change(resource, before, { ...before, status: this.statusAdmission(object, before) }, by)
    }
    const admitted = this.admission(resource, object, by)
    const { status: _, ...rest } = admitted
    const status = before['status'] === undefined ? {} : { status: before['status'] }
    const metadata = { ...metadataOf(admitted), ...serverFields(before) }
    const after = { ...rest, ...status, metadata }
    return dryRun ? after : this.#change(resource, before, after, by)
  }

  /** A merge patch of metadata, or a JSON Patch of finalizers, which is what users and kleym send. */
  patch(resource: Resource, ref: ResourceRef, body: unknown, by: Author): JsonRecord {
    const before = this.get(resource, ref)
    if (Array.isArray(body)) {
      return this.#change(resource, before, this.admission(resource, jsonPatched(before, body), by), by)
    }
    const patch = dig(body, 'metadata')
    if (!isRecord(patch)) throw failure(400, 'BadRequest', 'a patch of metadata is wanted', ref.name)
    mustMatch(resource, before, { uid: patch['uid'], resourceVersion: patch['resourceVersion'] })
    const metadata = { ...metadataOf(before), ...patch, ...serverFields(before) }
    return this.#change(resource, before, this.admission(resource, { ...before, metadata }, by), by)
  }

  delete(resource: Resource, ref: ResourceRef, options: DeleteOptions, by: Author): Deletion {
    const before = this.get(resource, ref)
    mustMatch(resource, before, options)
    if (listAt(before, 'metadata', 'finalizers').length === 0) {
      this.#store({ resource, type: 'DELETED', object: before, before, by })
      return { state: 'gone' }
    }
    if (isDeleting(before)) return { state: 'terminating', object: before }
    const metadata = {
      ...metadataOf(before),
      deletionTimestamp: '2026-01-01T00:00:00Z',
      generation: generationOf(before) + 1,
    }
    const object = this.#store({ resource, type: 'MODIFIED', object: { ...before, metadata }, before, by })
    return { state: 'terminating', object }
  }

  backup(): Backup {
    return { version: this.#version, kinds: new Map(this.#kinds), absent: new Set(this.#absent) }
  }

  /** Time goes back. No watch hears of it: the API server accepts one from a version that is yet to come. */
  restore({ version, kinds, absent }: Backup, { isRestarted }: { readonly isRestarted: boolean }): void {
    this.#oldCache = isRestarted ? undefined : this.backup()
    this.#version = version
    this.#kinds.clear()
    for (const [name, objects] of kinds) this.#kinds.set(name, objects)
    this.#absent.clear()
    for (const name of absent) this.#absent.add(name)
  }

  /** Whether the API server was not restarted with its datastore: it lists the old history until the new one has come as far. */
  get isToBeRestarted(): boolean {
    return this.#oldCache !== undefined
  }

  /** Whether lists are of the history before a restore. */
  get listsOldHistory(): boolean {
    return this.#oldCache !== undefined && this.#version < this.#oldCache.version
  }

  /** The API server is restarted, and knows its datastore again. */
  restartServer(): void {
    this.#oldCache = undefined
  }

  /** The CRD goes, and with it all objects. */
  removeKind(resource: Resource): void {
    for (const object of this.all(resource)) {
      this.#store({ resource, type: 'DELETED', object, before: object, by: 'user' })
    }
    this.#absent.add(resourceName(resource))
    for (const listener of this.#kindListeners) listener(resource)
  }

  restoreKind(resource: Resource): void {
    this.#absent.delete(resourceName(resource))
    for (const listener of this.#kindListeners) listener(resource)
  }

  #change(resource: Resource, before: JsonRecord, after: JsonRecord, by: Author): JsonRecord {
    if (deepEqual(before, after)) return before
    const held = listAt(before, 'metadata', 'finalizers')
    const wanted = listAt(after, 'metadata', 'finalizers')
    if (isDeleting(before) && wanted.some((finalizer) => !held.includes(finalizer))) {
      const why = 'no new finalizers can be added if the object is being deleted'
      throw failure(422, 'Invalid', `metadata.finalizers: Forbidden: ${why}`, refOf(before).name)
    }
    if (isDeleting(before) && wanted.length === 0) {
      return this.#store({ resource, type: 'DELETED', object: after, before, by })
    }
    const generation = generationOf(before) + (deepEqual(before['spec'], after['spec']) ? 0 : 1)
    const object = { ...after, metadata: { ...metadataOf(after), generation } }
    return this.#store({ resource, type: 'MODIFIED', object, before, by })
  }

  #store(change: ServerChange): JsonRecord {
    this.#version += 1
    const { resource, object } = change
    const metadata = { ...metadataOf(object), resourceVersion: String(this.#version) }
    const stored: JsonRecord = { ...object, metadata }
    const name = resourceName(resource)
    const kind = new Map(this.#kinds.get(name))
    this.#kinds.set(name, kind)
    if (change.type === 'DELETED') kind.delete(keyOf(refOf(stored)))
    else kind.set(keyOf(refOf(stored)), stored)
    for (const listener of this.#listeners) listener({ ...change, object: stored })
    return stored
  }

  #mustServe(resource: Resource): void {
    // As kube-apiserver answers for a path that it does not know: plain text, no details.
    if (!this.serves(resource)) throw pageNotFound()
  }
}

/** A text that says 404: kube-apiserver's for a path that it does not know, or a proxy's for any. */
export function pageNotFound(): ApiError {
  return new ApiError({ status: 404, isStatus: false, reason: '', message: '404 page not found' })
}

/** A failure Status about one object. */
export function failure(status: number, reason: string, message: string, name: string): ApiError {
  return new ApiError({ status, reason, message, details: { name } })
}

/** `metadata` of an object; empty where it has none. */
export function metadataOf(object: JsonRecord): JsonRecord {
  const metadata = object['metadata']
  return isRecord(metadata) ? metadata : {}
}

/** Where an object is found. */
export function refOf(object: JsonRecord): ResourceRef {
  const namespace = stringAt(object, 'metadata', 'namespace') ?? ''
  const name = stringAt(object, 'metadata', 'name') ?? ''
  return namespace === '' ? { name } : { namespace, name }
}

/** Whether an object has a deletion timestamp. */
export function isDeleting(object: JsonRecord): boolean {
  return stringAt(object, 'metadata', 'deletionTimestamp') !== undefined
}

/** An object after a JSON Patch; throws as kube-apiserver does where a test fails or a path is not there. */
function jsonPatched(object: JsonRecord, patch: readonly unknown[]): JsonRecord {
  const finalizers = [...listAt(object, 'metadata', 'finalizers')]
  for (const operation of patch) {
    const path = stringAt(operation, 'path') ?? ''
    const at = path.startsWith(`${FINALIZERS_PATH}/`) ? Number(path.slice(FINALIZERS_PATH.length + 1)) : -1
    const value = own(operation, 'value')
    switch (own(operation, 'op')) {
      case 'test':
        if (value !== (at >= 0 ? finalizers[at] : digPath(object, path.split('/').slice(1))))
          throw unprocessable(path)
        break
      case 'remove':
        if (at < 0 || at >= finalizers.length) throw unprocessable(path)
        finalizers.splice(at, 1)
        break
      case 'add':
        if (path === FINALIZERS_PATH && Array.isArray(value))
          finalizers.splice(0, finalizers.length, ...value)
        else if (path === `${FINALIZERS_PATH}/-` && finalizers.length > 0) finalizers.push(value)
        else throw unprocessable(path)
        break
      default:
        throw unprocessable(path)
    }
  }
  return { ...object, metadata: { ...metadataOf(object), finalizers } }
}

/** kube-apiserver's `applyJSPatch` (registry/rest's patch handler). */
function unprocessable(path: string): ApiError {
  const message = `the server rejected our request due to an error in our request: ${path}`
  return new ApiError({ status: 422, reason: 'Invalid', message })
}

function keyOf({ namespace, name }: ResourceRef): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

function generationOf(object: JsonRecord): number {
  const generation = dig(object, 'metadata', 'generation')
  return typeof generation === 'number' ? generation : 0
}

const SERVER_FIELDS: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
])

/** The metadata that no client sets. */
function serverFields(object: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(metadataOf(object)).filter(([name]) => SERVER_FIELDS.has(name)))
}

function mustMatch(
  resource: Resource,
  object: JsonRecord,
  wanted: { readonly uid?: unknown; readonly resourceVersion?: unknown },
): void {
  const { name } = refOf(object)
  for (const field of ['uid', 'resourceVersion'] as const) {
    if (wanted[field] === undefined || wanted[field] === metadataOf(object)[field]) continue
    throw failure(409, 'Conflict', `${resource.plural} "${name}": the ${field} has changed`, name)
  }
}

function notFound(resource: Resource, name: string): ApiError {
  const message = `${resource.plural} "${name}" not found`
  const details = { name, group: resource.group, kind: resource.plural }
  return new ApiError({ status: 404, reason: 'NotFound', message, details })
}
