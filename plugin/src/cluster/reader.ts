// Lists from a cluster, side by side and page by page, with what could not be had as a reason: each read that fails
// costs only the answers that need it (spec "Where the state comes from").
import type { JsonRecord } from '@kleym/shared/core/json.ts'
import type { UnknownReason } from '@kleym/shared/core/unknown-reason.ts'
import type { RawObject } from '@kleym/shared/core/objects/raw.ts'
import type { ListOptions, Resource } from '@kleym/shared/kube/api.ts'
import type { Client } from '@kleym/shared/kube/client.ts'
import {
  inServedVersion,
  isGroupServed,
  isStale,
  servedGroups,
  type ServedGroups,
} from '@kleym/shared/kube/discovery.ts'
import { ApiError } from '@kleym/shared/kube/errors.ts'
import { ignoranceOf, isKindAbsent } from '@kleym/shared/kube/failures.ts'
import { resourceName } from '@kleym/shared/kube/resources.ts'
import { Sharing } from './sharing.ts'
import { unreachable } from './unreachable.ts'

/** What is left of an object after reading: what the answer uses of it. `sharing` is that of one list. */
export type Trim = (object: JsonRecord, sharing?: Sharing) => JsonRecord

/** How a kind is read. */
export interface Want {
  readonly resource: Resource
  /** In which namespaces; undefined: in all. A cluster-scoped kind has none. */
  readonly namespaces?: readonly string[] | undefined
  readonly labelSelector?: string
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

/** How often a list is begun whose next page is no longer to be had; the last try asks for all at once: it cannot expire. */
const TRIES = 3

export class ClusterReader {
  readonly #client: Client
  readonly #name: string
  readonly #onPage: OnPage
  #groups: ServedGroups | undefined

  /** `name` is how errors call the cluster. */
  constructor(client: Client, name: string, onPage: OnPage = () => {}) {
    this.#client = client
    this.#name = name
    this.#onPage = onPage
  }

  /**
   * Asks which groups are served: the first request, and the one that tells whether the cluster can be reached at all.
   * Throws a KleymError where it cannot, or where it does not take our credentials.
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

  /** Reads one kind. Never rejects for what the API server or the network says. */
  async read(want: Want): Promise<Reading> {
    const { resource, namespaces } = want
    if (this.#groups !== undefined && !isGroupServed(this.#groups, resource)) return { state: 'absent' }
    if (!resource.namespaced || namespaces === undefined) return this.#list(want, undefined)
    const readings = await Promise.all(namespaces.map((namespace) => this.#list(want, namespace)))
    return combined(readings)
  }

  /** Reads one object by name; no objects where it is not there. */
  async get(resource: Resource, name: string, namespace?: string): Promise<Reading> {
    try {
      const ref = namespace === undefined ? { name } : { name, namespace }
      return { state: 'read', objects: [{ value: await this.#client.get(resource, ref) }] }
    } catch (error) {
      if (error instanceof ApiError && error.status === 404 && !isKindAbsent(error))
        return { state: 'read', objects: [] }
      return this.#failed(error, 'get', resource, namespace)
    }
  }

  async #list(want: Want, namespace: string | undefined): Promise<Reading> {
    for (let tries = 1; ; tries += 1) {
      try {
        return { state: 'read', objects: await this.#pages(want, namespace, tries === TRIES) }
      } catch (error) {
        const isExpired = error instanceof ApiError && error.status === 410
        if (!isExpired || tries === TRIES) return this.#failed(error, 'list', want.resource, namespace)
      }
    }
  }

  async #pages(
    { resource, labelSelector, trim, limit }: Want,
    namespace: string | undefined,
    atOnce: boolean,
  ): Promise<RawObject[]> {
    const options: ListOptions = {
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(limit !== undefined && { limit }),
      ...(atOnce && { limit: 0 }),
    }
    const { group, version, kind } = resource
    const apiVersion = group === '' ? version : `${group}/${version}`
    const objects: RawObject[] = []
    const sharing = new Sharing()
    for await (const { items } of this.#client.pages(resource, options)) {
      // The items of a list do not say what they are.
      for (const item of items) {
        const object = { ...item, apiVersion, kind }
        objects.push({ value: trim === undefined ? object : trim(object, sharing) })
      }
      this.#onPage(resource, items.length)
    }
    return objects
  }

  #failed(error: unknown, verb: 'get' | 'list', resource: Resource, namespace: string | undefined): Reading {
    // The group is served, and this kind is not in it.
    if (isKindAbsent(error) && this.#groups !== undefined && !isStale(this.#groups, resource))
      return { state: 'absent' }
    const why = ignoranceOf(error, verb, resourceName(resource))
    return {
      state: 'unknown',
      objects: [],
      why: namespace === undefined ? why : { ...why, namespace },
    }
  }
}

function combined(readings: readonly Reading[]): Reading {
  if (readings.length > 0 && readings.every(({ state }) => state === 'absent')) return { state: 'absent' }
  const objects = readings.flatMap((one) => (one.state === 'absent' ? [] : one.objects))
  const unknown = readings.find((one) => one.state === 'unknown')
  return unknown === undefined ? { state: 'read', objects } : { state: 'unknown', objects, why: unknown.why }
}
