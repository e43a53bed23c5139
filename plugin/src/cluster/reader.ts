// Lists from a cluster, side by side and page by page, with what could not be had as a reason: each read that fails
// costs only the answers that need it (docs/cluster.md, "What may not be read").
import { dig, isRecord, listAt, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import type { ListOptions, Resource } from '@kleym/shared/kube/api.ts'
import type { Client } from '@kleym/shared/kube/client.ts'
import {
  inServedVersion,
  isGroupServed,
  isStale,
  discover,
  servedGroups,
  type ServedGroups,
} from '@kleym/shared/kube/discovery.ts'
import { ApiError } from '@kleym/shared/kube/errors.ts'
import { connectionError, ignoranceOf, isNotFound, mayBeKindAbsent } from '@kleym/shared/kube/failures.ts'
import { PAGE_SIZE } from '@kleym/shared/kube/paging.ts'
import { BINDINGS, resourceName } from '@kleym/shared/kube/resources.ts'
import { BodyTooLarge } from '@kleym/shared/kube/transport.ts'
import { KleymError } from '../io/errors.ts'
import { KEPT_MAX, overLimit } from './kept-size.ts'
import { AlikeItems } from '../sources/alike-items.ts'
import { Sharing } from '../sources/sharing.ts'
import { unreachable } from './unreachable.ts'

/** What is left of an object after reading: what the answer uses of it. `sharing` is that of one list. */
export type Trim = (object: JsonRecord, sharing?: Sharing) => JsonRecord

/** How a kind is read. */
export interface ListRequest {
  readonly resource: Resource
  /** In which namespaces; undefined: in all. A cluster-scoped kind has none. */
  readonly namespaces?: readonly string[] | undefined
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly trim?: Trim
  /** Objects per page; the client's own number when undefined. */
  readonly limit?: number | undefined
}

/** What one read came to. */
export type Reading =
  | { readonly state: 'read'; readonly objects: readonly RawObject[] }
  /** The API server does not serve the kind. */
  | { readonly state: 'absent' }
  | {
      readonly state: 'unknown'
      /** What was read all the same, in other namespaces. */
      readonly objects: readonly RawObject[]
      readonly why: UnknownReason
    }

/** Told of every page: how many objects of a kind have come with it. */
export type OnPage = (resource: Resource, added: number) => void

const { kind: BINDING_KIND } = BINDINGS
/** By how much pages shrink where one is too large to be read. */
const SHRINK = 10

/** How often a list is begun whose next page is no longer to be had; the last try asks for all at once: it cannot expire. */
const TRIES = 3

/** Reads kinds of one cluster. */
export class ClusterReader {
  readonly #client: Client
  readonly #name: string
  readonly #onPage: OnPage
  #groups: ServedGroups | undefined
  readonly #kept = nothingKept()

  /** `name` is how errors call the cluster. */
  constructor(client: Client, name: string, onPage: OnPage = () => {}) {
    this.#client = client
    this.#name = name
    this.#onPage = onPage
  }

  /**
   * Asks which groups are served: the first request, and the one that tells whether the cluster can be reached at all. Throws a
   * KleymError if the cluster cannot be reached or refuses the credentials.
   */
  async open(): Promise<void> {
    if (this.#groups !== undefined) return
    try {
      this.#groups = await servedGroups(this.#client)
    } catch (error) {
      const fatal = unreachable(error, this.#name)
      if (fatal !== undefined) throw fatal
    }
  }

  /** The resource in a version in which it is served, its own first; itself where that is not known, or in none. */
  servedAs(resource: Resource): Resource {
    return (this.#groups === undefined ? undefined : inServedVersion(this.#groups, resource)) ?? resource
  }

  /**
   * Reads one kind. Rejects for nothing that the API server or the network says, but with a KleymError where the cluster is
   * more than kleym takes in.
   */
  async read(want: ListRequest): Promise<Reading> {
    const { resource, namespaces } = want
    if (this.#groups !== undefined && !isGroupServed(this.#groups, resource)) {
      if (inServedVersion(this.#groups, resource) === undefined) return { state: 'absent' }
      const [served] = await discover(this.#client, [resource])
      if (served?.state === 'absent') return served
      if (served?.state === 'unknown') return { ...served, objects: [] }
    }
    if (!resource.namespaced || namespaces === undefined) return this.#list(want, undefined)
    const readings = await Promise.all(namespaces.map((namespace) => this.#list(want, namespace)))
    return combined(readings)
  }

  /** Reads one object by name; no objects where it is not there. */
  async get(resource: Resource, name: string, namespace?: string): Promise<Reading> {
    try {
      const ref = namespace === undefined ? { name } : { name, namespace }
      const value = await this.#client.get(resource, ref)
      // What else answers is no word on whether the object is there.
      if (!isCalled(value, name, namespace)) throw connectionError('malformed', name, { neverSent: false })
      return { state: 'read', objects: [{ value }] }
    } catch (error) {
      if (isNotFound(error, resource, name)) return { state: 'read', objects: [] }
      return this.#failed(error, 'get', resource, namespace)
    }
  }

  /** The schema of a kind as its group publishes it, which every user may read; undefined: it cannot be had. */
  async schemaOf({ group, version, kind }: Resource): Promise<JsonRecord | undefined> {
    try {
      const answer = await this.#client.raw('GET', `/openapi/v3/apis/${group}/${version}`)
      const schemas = dig(answer, 'components', 'schemas')
      return Object.values(isRecord(schemas) ? schemas : {})
        .filter(isRecord)
        .find((schema) =>
          listAt(schema, 'x-kubernetes-group-version-kind').some(
            (one) => stringAt(one, 'group') === group && stringAt(one, 'kind') === kind,
          ),
        )
    } catch {
      // It explains what is missing elsewhere, and is missed by nothing.
      return undefined
    }
  }

  async #list(want: ListRequest, namespace: string | undefined): Promise<Reading> {
    let { limit } = want
    for (let tries = 1; ; tries += 1) {
      const own = nothingKept()
      try {
        const asked = tries === TRIES ? 0 : limit
        return { state: 'read', objects: await this.#pages({ ...want, limit: asked }, namespace, own) }
      } catch (error) {
        if (error instanceof KleymError) throw error
        // What was read is thrown away; other lists go on meanwhile.
        for (const count of COUNTS) this.#kept[count] -= own[count]
        const isExpired = error instanceof ApiError && error.status === 410
        const isTooLarge = error instanceof BodyTooLarge && limit !== 1 && tries < TRIES
        if (isTooLarge) {
          limit = Math.max(1, Math.floor((limit ?? PAGE_SIZE) / SHRINK))
          tries = 0
        } else if (!isExpired || tries === TRIES) return this.#failed(error, 'list', want.resource, namespace)
      }
    }
  }

  async #pages(
    { resource, labelSelector, fieldSelector, trim = (item) => ({ ...item }), limit }: ListRequest,
    namespace: string | undefined,
    own: Kept,
  ): Promise<RawObject[]> {
    const alike = new AlikeItems()
    const options: ListOptions = {
      parse: (text) => alike.parse(text),
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
      ...(limit !== undefined && { limit }),
    }
    const { group, version, kind } = resource
    const apiVersion = group === '' ? version : `${group}/${version}`
    const objects: RawObject[] = []
    const sharing = new Sharing()
    for await (const { items } of this.#client.pages(resource, options)) {
      // The items of a list do not say what they are.
      for (const item of items) {
        const value = trim(Object.assign(item, { apiVersion, kind }), sharing)
        this.#keep(value, sharing.sizeOf(value), own)
        objects.push({ value })
      }
      this.#onPage(resource, items.length)
    }
    return objects
  }

  /** Counts an object that is kept, with its size. Throws a KleymError where it is one too many: pages can follow each other without end. */
  #keep(value: JsonRecord, size: number, own: Kept): void {
    const kept = this.#kept
    for (const one of [kept, own]) {
      one.objects += 1
      if (value['kind'] === BINDING_KIND) one.bindings += 1
      one.size += size
    }
    const why =
      overLimit('objects', kept.objects) ??
      overLimit('bindings', kept.bindings) ??
      (kept.size > KEPT_MAX
        ? `what an answer uses of it is more than ${KEPT_MAX / 1024 / 1024} MiB`
        : undefined)
    if (why === undefined) return
    throw new KleymError('input', {
      what: 'cannot take in all of the cluster',
      where: this.#name,
      why,
      fix: 'ask about one namespace with -n, or answer from files with --offline',
    })
  }

  async #failed(
    error: unknown,
    verb: 'get' | 'list',
    resource: Resource,
    namespace: string | undefined,
  ): Promise<Reading> {
    if (mayBeKindAbsent(error) && this.#groups !== undefined && !isStale(this.#groups, resource)) {
      const [served] = await discover(this.#client, [resource])
      if (served?.state === 'absent') return { state: 'absent' }
    }
    const why = ignoranceOf(error, verb, resourceName(resource))
    return {
      state: 'unknown',
      objects: [],
      why: namespace === undefined ? why : { ...why, namespace },
    }
  }
}

/** What is kept of lists. */
interface Kept {
  objects: number
  bindings: number
  /** As KEPT_MAX counts. */
  size: number
}

const COUNTS = ['objects', 'bindings', 'size'] as const

function nothingKept(): Kept {
  return { objects: 0, bindings: 0, size: 0 }
}

function combined(readings: readonly Reading[]): Reading {
  if (readings.length > 0 && readings.every(({ state }) => state === 'absent')) return { state: 'absent' }
  const objects = readings.flatMap((one) => (one.state === 'absent' ? [] : one.objects))
  const unknown = readings.find((one) => one.state === 'unknown')
  return unknown === undefined ? { state: 'read', objects } : { state: 'unknown', objects, why: unknown.why }
}

function isCalled(object: JsonRecord, name: string, namespace: string | undefined): boolean {
  const meta = readMeta(object)
  return meta.name === name && (namespace === undefined || meta.namespace === namespace)
}
