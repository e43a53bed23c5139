// A client of which a test says what each call answers, per kind and namespace; calls are kept in order.
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { Listing, ListOptions, Resource } from '@kleym/shared/kube/api.ts'
import type { Client } from '@kleym/shared/kube/client.ts'
import { ApiError, ConnectionError, type ConnectionFailure } from '@kleym/shared/kube/errors.ts'
import { resourceName } from '@kleym/shared/kube/resources.ts'

/** A page of objects, or the error in its place. */
export type Page = readonly JsonRecord[] | Error
/** The pages of one try of a list. */
export type Answer = readonly Page[]

export interface Answers {
  /** The groups of `/apis` with their versions; an error in their place. Absent: every group in every version. */
  readonly groups?: Readonly<Record<string, readonly string[]>> | Error
  /** Per path of a group version: the kinds in it. */
  readonly kinds?: Readonly<Record<string, readonly Resource[]>>
  /** What `/apis` answers, in place of `groups`. */
  readonly discovery?: JsonRecord
  /** Per `Kind.group`, or `Kind.group namespace`: the tries of the list, the last of them for ever. */
  readonly lists?: Readonly<Record<string, readonly Answer[]>>
  /** Per `Kind.group namespace/name`. */
  readonly objects?: Readonly<Record<string, JsonRecord | Error>>
}

const EVERY_GROUP = [
  'kleym.sonda.red v1alpha1',
  'spire.spiffe.io v1alpha1',
  'inference.networking.k8s.io v1',
  'inference.networking.x-k8s.io v1alpha2',
  'llm-d.ai v1alpha2',
  'apps v1',
  'batch v1',
  'leaderworkerset.x-k8s.io v1',
  'coordination.k8s.io v1',
  'apiextensions.k8s.io v1',
  'agentic.networking.x-k8s.io v1alpha1',
]

export class FakeClient {
  /** `list Pod team-a app=x limit=0`, `get Lease.coordination.k8s.io kleym/op`, `GET /apis`. */
  readonly calls: string[] = []
  readonly #answers: Answers
  readonly #tries = new Map<string, number>()

  constructor(answers: Answers = {}) {
    this.#answers = answers
  }

  /** As the plugin takes it: whatever a test does not expect to be called is not there. */
  get client(): Client {
    return {
      raw: (method, path) => this.#raw(method, path),
      get: (resource, ref) => this.#get(resource, ref),
      pages: (resource, options = {}) => this.#pages(resource, options),
      list: absent,
      create: absent,
      update: absent,
      patch: absent,
      delete: absent,
      watch: absent,
      close: () => {},
    }
  }

  async #raw(method: string, path: string): Promise<JsonRecord> {
    this.calls.push(`${method} ${path}`)
    const { groups, discovery } = this.#answers
    if (groups instanceof Error) throw groups
    if (discovery !== undefined && path === '/apis') return discovery
    const listed = groups === undefined ? EVERY_GROUP.map((row) => row.split(' ')) : Object.entries(groups)
    if (path === '/apis')
      return {
        groups: listed.map(([name, versions]) => ({
          name,
          versions: [versions].flat().map((version) => ({ version })),
        })),
      }
    return {
      resources: (this.#answers.kinds?.[path] ?? []).map(({ plural, kind }) => ({ name: plural, kind })),
    }
  }

  async #get(
    resource: Resource,
    { namespace, name }: { readonly namespace?: string | undefined; readonly name: string },
  ): Promise<JsonRecord> {
    const key = `${resourceName(resource)} ${namespace === undefined ? '' : `${namespace}/`}${name}`
    this.calls.push(`get ${key}`)
    const found = this.#answers.objects?.[key] ?? notFound(resource, name)
    if (found instanceof Error) throw found
    return found
  }

  async *#pages(resource: Resource, options: ListOptions): AsyncGenerator<Listing> {
    const { namespace, labelSelector, limit } = options
    const name = resourceName(resource)
    const more = [namespace, labelSelector, limit === undefined ? undefined : `limit=${limit}`]
    this.calls.push(['list', name, ...more.filter((one) => one !== undefined)].join(' '))
    const key = `${name} ${namespace ?? ''}`
    const answers = this.#answers.lists?.[key.trim()] ?? this.#answers.lists?.[name] ?? [[]]
    const tries = this.#tries.get(key) ?? 0
    this.#tries.set(key, tries + 1)
    for (const page of answers[Math.min(tries, answers.length - 1)] ?? []) {
      if (page instanceof Error) throw page
      yield { items: page, resourceVersion: '1' }
    }
  }
}

/** What `/apis` of a server with aggregated discovery answers that serves these and nothing else. */
export function discoveryOf(resources: readonly Resource[]): JsonRecord {
  const groups = Map.groupBy(resources, ({ group }) => group)
  return {
    kind: 'APIGroupDiscoveryList',
    items: [...groups].map(([name, rows]) => ({
      metadata: { name },
      versions: [...Map.groupBy(rows, ({ version }) => version)].map(([version, each]) => ({
        version,
        freshness: 'Current',
        resources: each.map(({ plural, kind }) => ({ resource: plural, responseKind: { kind } })),
      })),
    })),
  }
}

/** An answer of the API server; without details of an object, a 404 is of the kind. */
export function api(status: number, details?: JsonRecord): ApiError {
  return new ApiError({ status, reason: '', message: `status ${status}`, ...(details && { details }) })
}

/** As kube-apiserver says that an object is not there. */
export function notFound({ plural, group }: Resource, name: string): ApiError {
  const details = { name, group, kind: plural }
  return new ApiError({ status: 404, reason: 'NotFound', message: `${name} not found`, details })
}

/** No answer. */
export function broken(failure: ConnectionFailure, cause?: unknown): ConnectionError {
  return new ConnectionError(failure, `GET https://host: ${failure}`, { neverSent: false, cause })
}

function absent(): never {
  throw new Error('the test expects no such call')
}
