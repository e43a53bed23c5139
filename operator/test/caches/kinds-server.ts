// An API server as `KindKeeper` sees it: discovery, lists and watches, of which each can be made to fail, lag or wait from one
// moment to the next, which no real server can be made to do in time. When time passes is its test's business.
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import type {
  Api,
  CallOptions,
  Listing,
  Resource,
  WatchEvent,
  WatchCallOptions,
} from '@kleym/shared/kube/api.ts'
import type { Discoverer } from '@kleym/shared/kube/discovery.ts'
import { ApiError, ConnectionError } from '@kleym/shared/kube/errors.ts'
import { groupVersionPath, resourceName } from '@kleym/shared/kube/resources.ts'
import { metadataOf } from '../simulation/cluster.ts'

/** One watch that is open. */
interface Stream {
  readonly due: WatchEvent[]
  /** Has it go on: something is due, or it is broken. */
  wake: () => void
  broken: Error | undefined
}

/** What the server has of one kind. */
class Kind {
  isServed = true
  /** The version in which it is served in place of its own. */
  otherVersion: string | undefined
  /** Whether lists and watches are refused, and how. */
  refusal: ApiError | undefined
  /** Whether it has forgotten what was before now: watches must begin with a list. */
  isCompacted = false
  /** What its lists wait for. */
  gate: PromiseWithResolvers<void> | undefined
  readonly objects = new Map<string, JsonRecord>()
  readonly streams = new Set<Stream>()
}

export class KindsServer {
  /** What discovery fails with; it answers where this is undefined. */
  discoveryFault: ApiError | undefined
  /** When a discovery asked for a group version, and which. */
  readonly discoveries: { readonly path: string; readonly ms: number }[] = []
  /** The kinds that were listed, in order. */
  readonly lists: string[] = []
  readonly api: Api & Discoverer
  readonly #now: () => number
  readonly #kinds = new Map<string, Kind>()
  readonly #served: readonly Resource[]
  /** Groups that `/apis` names although nothing in them is found. */
  readonly #hollow = new Set<string>()
  #version = 100

  /** `served`: all kinds that it may serve, and serves at first. `now`: in milliseconds. */
  constructor(served: readonly Resource[], now: () => number) {
    this.#served = served
    this.#now = now
    this.api = {
      raw: async (_, path) => this.#discover(path),
      pages: (resource, options) => this.#pages(resource, options),
      watch: (resource, options) => this.#watch(resource, options),
      get: unwanted,
      list: unwanted,
      create: unwanted,
      update: unwanted,
      patch: unwanted,
      delete: unwanted,
    }
  }

  /** Serves a kind from now on, with nothing in it; discovery says so at once. */
  serve(resource: Resource): void {
    this.#of(resource).isServed = true
    this.#hollow.delete(resource.group)
  }

  /** Does not serve a kind any more: its objects are gone, and its watches end. */
  withdraw(resource: Resource): void {
    this.vanish(resource)
    this.#break(this.#of(resource), unserved())
  }

  /** As `withdraw`, but the watches hang. */
  vanish(resource: Resource): void {
    const kind = this.#of(resource)
    kind.isServed = false
    kind.objects.clear()
  }

  /** Serves a kind in another version alone: its objects stay, and its watches end. Undefined: in its own again. */
  serveIn(resource: Resource, version: string | undefined): void {
    const kind = this.#of(resource)
    kind.otherVersion = version
    kind.isServed = version === undefined
    if (version !== undefined) this.#break(kind, unserved())
  }

  /** Names the group of a kind that is not served, as a server does while a CRD comes or goes. */
  hollow({ group }: Resource): void {
    this.#hollow.add(group)
  }

  /** Refuses lists and watches of a kind, also those that are open; undefined: no more. */
  refuse(resource: Resource, refusal: ApiError | undefined): void {
    const kind = this.#of(resource)
    kind.refusal = refusal
    if (refusal !== undefined) this.#break(kind, refusal)
  }

  /** The next watch of a kind is told that its version has expired. */
  compact(resource: Resource): void {
    this.#of(resource).isCompacted = true
  }

  /** Creates or changes an object; with `tells: false` the watch lags. */
  write(resource: Resource, object: JsonRecord, { tells = true } = {}): void {
    const kind = this.#of(resource)
    const name = String(metadataOf(object)['name'])
    const before = kind.objects.get(name)
    this.#version += 1
    const { uid = `uid-${this.#version}` } = metadataOf(before ?? {})
    const metadata = { ...metadataOf(object), uid, resourceVersion: String(this.#version) }
    const now = { ...object, metadata }
    kind.objects.set(name, now)
    if (tells) this.#tell(kind, { type: before === undefined ? 'ADDED' : 'MODIFIED', object: now })
  }

  /** Deletes an object; with `tells: false` the watch lags. */
  remove(resource: Resource, name: string, { tells = true } = {}): void {
    const kind = this.#of(resource)
    const before = kind.objects.get(name)
    if (before === undefined) return
    kind.objects.delete(name)
    this.#version += 1
    const metadata = { ...metadataOf(before), resourceVersion: String(this.#version) }
    if (tells) this.#tell(kind, { type: 'DELETED', object: { ...before, metadata } })
  }

  /** Lists of a kind that begin from now on are answered, with what is there when they begin, after `letListsGo`. */
  holdLists(resource: Resource): void {
    this.#of(resource).gate = Promise.withResolvers()
  }

  letListsGo(resource: Resource): void {
    const kind = this.#of(resource)
    kind.gate?.resolve()
    kind.gate = undefined
  }

  #of(resource: Resource): Kind {
    const name = resourceName(resource)
    const kind = this.#kinds.get(name) ?? new Kind()
    this.#kinds.set(name, kind)
    return kind
  }

  #discover(path: string): JsonRecord {
    if (path !== '/apis') this.discoveries.push({ path, ms: this.#now() })
    if (this.discoveryFault !== undefined) throw this.discoveryFault
    const served = this.#served.flatMap((resource) => {
      const { isServed, otherVersion: version } = this.#of(resource)
      return version === undefined ? (isServed ? [resource] : []) : [{ ...resource, version }]
    })
    const hollow = this.#served.filter(({ group }) => this.#hollow.has(group))
    if (path === '/apis') return { groups: [...served, ...hollow].map(groupRow) }
    const found = served.filter((resource) => groupVersionPath(resource) === path)
    if (found.length === 0) throw unserved()
    return { resources: found.map(({ plural, kind }) => ({ name: plural, kind })) }
  }

  async *#pages(resource: Resource, { signal }: CallOptions = {}): AsyncGenerator<Listing> {
    const kind = this.#of(resource)
    this.lists.push(resourceName(resource))
    const listing = { items: [...kind.objects.values()], resourceVersion: String(this.#version) }
    if (kind.gate !== undefined) await Promise.race([kind.gate.promise, aborted(signal)])
    this.#admit(kind)
    yield listing
  }

  async *#watch(resource: Resource, { signal, onOpen }: WatchCallOptions): AsyncGenerator<WatchEvent> {
    const kind = this.#of(resource)
    if (kind.isCompacted) {
      kind.isCompacted = false
      throw answer(410, 'Expired')
    }
    this.#admit(kind)
    onOpen?.()
    const stream: Stream = { due: [], wake: () => {}, broken: undefined }
    kind.streams.add(stream)
    const end = aborted(signal)
    try {
      while (stream.broken === undefined) {
        for (let event = stream.due.shift(); event !== undefined; event = stream.due.shift()) yield event
        const woken = Promise.withResolvers<void>()
        stream.wake = woken.resolve
        if (stream.broken === undefined && stream.due.length === 0) await Promise.race([woken.promise, end])
      }
      throw stream.broken
    } finally {
      kind.streams.delete(stream)
    }
  }

  #admit({ isServed, refusal }: Kind): void {
    if (!isServed) throw unserved()
    if (refusal !== undefined) throw refusal
  }

  #break({ streams }: Kind, error: Error): void {
    for (const stream of streams) {
      stream.broken = error
      stream.wake()
    }
  }

  #tell({ streams }: Kind, event: WatchEvent): void {
    for (const stream of streams) {
      stream.due.push(event)
      stream.wake()
    }
  }
}

/** The CRD of a kind. */
export function crdOf({ plural, group }: Resource): JsonRecord {
  return { metadata: { name: `${plural}.${group}` } }
}

/** A failure that the API server answers with. */
export function answer(status: number, reason: string): ApiError {
  return new ApiError({ status, reason, message: `answered ${status}` })
}

/** `404 page not found`: nothing of that group, version or plural. */
function unserved(): ApiError {
  return answer(404, 'NotFound')
}

function groupRow({ group, version }: Resource): JsonRecord {
  return { name: group, versions: [{ version }] }
}

async function unwanted(): Promise<never> {
  throw new TypeError('filling caches takes discovery, lists and watches, and nothing else')
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const end = (): void => reject(new ConnectionError('aborted', 'ended', { neverSent: false }))
    signal?.addEventListener('abort', end, { once: true })
  })
}
