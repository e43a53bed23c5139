// An API server of one kind, in memory, whose every answer waits until a test lets it go: with a history of versions,
// consistent lists in pages, watches that lag, compaction, and faults. The test decides the order of everything.
import { isRecord, type JsonRecord } from '../../src/core/base/json.ts'
import { readMeta } from '../../src/core/model/objects/meta.ts'
import type { Api, Listing, WatchEvent, WatchCallOptions } from '../../src/kube/api.ts'
import { ApiError, ConnectionError } from '../../src/kube/errors.ts'

/** Draws the next choice: an integer from 0 to below `count`. */
export type Choose = (count: number) => number

/** What a request that is let go comes to. */
export type RequestFate = 'answered' | 'reset' | 'stalled' | 'expired' | 'throttled' | 'failed' | 'ended'

interface Held {
  readonly release: (fate: RequestFate) => void
}

const PAGE_SIZE = 2

export class SimulatedServer implements Pick<Api, 'pages' | 'watch'> {
  /** Whether a watch that is let go sends all that is due: chance alone may hold an event back for ever. */
  isPrompt = false
  readonly #choose: Choose
  readonly #objects = new Map<string, JsonRecord>()
  readonly #history: { readonly version: number; readonly event: WatchEvent }[] = []
  readonly #held: Held[] = []
  #version = 100
  #compacted = 100
  #uids = 0

  constructor(choose: Choose) {
    this.#choose = choose
  }

  /** The live objects by name. */
  get objects(): ReadonlyMap<string, JsonRecord> {
    return this.#objects
  }

  /** The newest version. */
  get version(): string {
    return String(this.#version)
  }

  /** True where an object of that UID exists. */
  isAlive(uid: string): boolean {
    return [...this.#objects.values()].some((object) => readMeta(object).uid === uid)
  }

  /** How many requests wait to be let go. */
  get waiting(): number {
    return this.#held.length
  }

  /** Lets one waiting request go on, chosen by the test's own choices. */
  release(fate: RequestFate): void {
    const [held] = this.#held.splice(this.#choose(this.#held.length), 1)
    held?.release(fate)
  }

  /** Waits to be let go, as every request does; throws what its fate is. */
  async turn(signal?: AbortSignal): Promise<RequestFate> {
    const fate = await new Promise<RequestFate>((resolve, reject) => {
      const held: Held = {
        release: (released) => {
          // A stalled request is never heard of again, but for an abort.
          if (released !== 'stalled') resolve(released)
        },
      }
      const abort = (): void => {
        const at = this.#held.indexOf(held)
        if (at >= 0) this.#held.splice(at, 1)
        reject(new ConnectionError('aborted', 'the call was ended', { neverSent: false }))
      }
      if (signal?.aborted === true) abort()
      else {
        signal?.addEventListener('abort', abort, { once: true })
        this.#held.push(held)
      }
    })
    if (fate === 'reset') throw new ConnectionError('reset', 'the connection was reset', { neverSent: false })
    if (fate === 'throttled') throw refusal(429, 'TooManyRequests', 2000)
    if (fate === 'failed') throw refusal(500, 'InternalError')
    if (fate === 'expired') throw refusal(410, 'Expired')
    return fate
  }

  /** Creates or changes an object at once; a broken one is one that no reader understands. */
  write(name: string, broken = false): JsonRecord {
    const before = this.#objects.get(name)
    this.#version += 1 + this.#choose(3)
    const uid = readMeta(before).uid ?? `uid-${(this.#uids += 1)}`
    const object = {
      metadata: { name, namespace: 'ns', uid, resourceVersion: String(this.#version) },
      broken,
    }
    this.#objects.set(name, object)
    this.#record(before === undefined ? 'ADDED' : 'MODIFIED', object)
    return object
  }

  remove(name: string): void {
    const before = this.#objects.get(name)
    if (before === undefined) return
    this.#objects.delete(name)
    this.#version += 1
    const metadata = isRecord(before['metadata']) ? before['metadata'] : {}
    this.#record('DELETED', { ...before, metadata: { ...metadata, resourceVersion: String(this.#version) } })
  }

  /** Forgets the history so far: watches from before get 410, and so do the next pages of older lists. */
  compact(): void {
    this.#compacted = this.#version
  }

  async *pages(_: unknown, options: { readonly signal?: AbortSignal } = {}): AsyncIterable<Listing> {
    await this.turn(options.signal)
    const items = [...this.#objects.values()]
    const version = this.#version
    for (let at = 0; at === 0 || at < items.length; at += PAGE_SIZE) {
      if (at > 0) await this.turn(options.signal)
      if (at > 0 && version < this.#compacted) throw refusal(410, 'Expired')
      yield { items: items.slice(at, at + PAGE_SIZE), resourceVersion: String(version) }
    }
  }

  async *watch(_: unknown, options: WatchCallOptions): AsyncIterable<WatchEvent> {
    await this.turn(options.signal)
    let at = Number(options.resourceVersion)
    if (at < this.#compacted) throw refusal(410, 'Expired')
    if (this.#choose(2) === 0) options.onOpen?.()
    while ((await this.turn(options.signal)) !== 'ended') {
      if (at < this.#compacted && this.#choose(3) === 0) throw refusal(410, 'Expired')
      const latest = this.#version
      const due = this.#history.filter(({ version }) => version > at)
      const sent = this.isPrompt ? due : due.slice(0, this.#choose(due.length + 1))
      for (const { version, event } of sent) {
        yield event
        at = version
      }
      if (sent.length === due.length) at = latest
      if (this.#choose(3) === 0)
        yield { type: 'BOOKMARK', object: { metadata: { resourceVersion: String(at) } } }
    }
  }

  #record(type: WatchEvent['type'], object: JsonRecord): void {
    this.#history.push({ version: this.#version, event: { type, object } })
  }
}

function refusal(status: number, reason: string, retryAfterMs?: number): ApiError {
  const message = `the server answers ${status}`
  return new ApiError({ status, reason, message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) })
}
