// Keeps a store in step with one kind on an API server, for as long as the process runs: a paged, consistent list,
// then watches that go on from where the last one ended. Nothing that a server, a network or a listener does ends it.
// What client-go's reflector does, and what it must survive: Kubernetes API concepts, "Efficient detection of changes".
import { listAt, stringAt, type JsonRecord } from '../core/base/json.ts'
import type { UnknownReason } from '../core/model/unknown-reason.ts'
import { readObjectVersion } from '../core/model/objects/meta.ts'
import type { Api, Resource, WatchEvent } from './api.ts'
import type { Clock } from './clock.ts'
import { ApiError, ConnectionError } from './errors.ts'
import { ignoranceOf } from './failures.ts'
import { SMALL_PAGES } from './paging.ts'
import { PAGE_LIMIT_MS, SHORT_WATCH_MS, WATCH_GRACE_MS, waitAfter, watchSeconds } from './reflector-timing.ts'
import { resourceName } from './resources.ts'
import type { Cached, Store } from './store.ts'

/**
 * What a reflector knows of its kind. `waiting`: no attempt has succeeded or failed yet. `synced`: the store follows
 * the server. `failing`: it does not; what the store holds is old (`synced`: a list came in before) or nothing.
 */
export type ReflectorState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'synced' }
  | { readonly kind: 'failing'; readonly why: UnknownReason; readonly synced: boolean }

export interface ReflectorOptions<T extends Cached> {
  readonly api: Pick<Api, 'pages' | 'watch'>
  readonly resource: Resource
  /** Fed by this reflector alone; others may observe and confirm. */
  readonly store: Store<T>
  /** Reads a raw object; undefined for one that is to be treated as not there. Keep nothing of the raw object. */
  readonly read: (object: JsonRecord) => T | undefined
  readonly clock: Clock
  /** From 0 to below 1. */
  readonly random: () => number
  /** Hears every change of `state`. */
  readonly onState?: (state: ReflectorState) => void
  /**
   * Hears what `read` or `onState` threw (a `read` that throws has read nothing), and every failed attempt;
   * must not throw itself.
   */
  readonly onError?: (error: unknown) => void
  /** Whether `read` gets `PartialObjectMetadata` in place of whole objects. */
  readonly metadataOnly?: boolean
}

export class Reflector<T extends Cached> {
  readonly #options: ReflectorOptions<T>
  #state: ReflectorState = { kind: 'waiting' }
  #running: Promise<void> | undefined
  #stopped = false
  #endCall: () => void = () => {}
  #endWait: () => void = () => {}
  /** Whether the next attempt is a list. */
  #mustList = true
  /** Failed attempts in a row. */
  #failures = 0
  /** Lists in a row that were called for because the server could not go on; without one watch event in between. */
  #restarts = 0

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
  }

  get state(): ReflectorState {
    return this.#state
  }

  /** Begins; once. */
  start(): void {
    this.#running ??= this.#run()
  }

  /** Ends it for good: nothing reaches the store or `onState` after the call. Settles when no request is under way. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#endCall()
    this.#endWait()
    await this.#running
  }

  /** Cuts a wait between two attempts short, for a caller who has learned that the next one may succeed. */
  retryNow(): void {
    this.#endWait()
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const wait = await this.#attempt()
      if (wait > 0 && !this.#stopped) await this.#wait(wait)
    }
  }

  /** Lists or watches once, and says how long to wait before the next attempt, in milliseconds. */
  async #attempt(): Promise<number> {
    const verb = this.#mustList ? 'list' : 'watch'
    try {
      return verb === 'list' ? await this.#list() : await this.#watch()
    } catch (error) {
      return this.#stopped ? 0 : this.#afterFailure(verb, error)
    }
  }

  async #list(): Promise<number> {
    const { api, resource, store, metadataOnly = false } = this.#options
    const began = store.listBegins()
    const items: T[] = []
    let version = ''
    await this.#call('a page of the list', PAGE_LIMIT_MS, async (signal, restartTimer) => {
      for await (const page of api.pages(resource, { metadataOnly, signal, ...SMALL_PAGES })) {
        restartTimer()
        for (const raw of page.items) {
          const item = this.#read(raw)
          if (item !== undefined) items.push(item)
        }
        version = page.resourceVersion
      }
    })
    if (this.#stopped) return 0
    store.replace(items, version, began)
    this.#mustList = false
    this.#failures = 0
    this.#become({ kind: 'synced' })
    return 0
  }

  async #watch(): Promise<number> {
    const { api, resource, store, clock, random, metadataOnly = false } = this.#options
    const timeoutSeconds = watchSeconds(random)
    const began = clock.monotonicMs()
    await this.#call(
      'the end of the watch',
      timeoutSeconds * 1000 + WATCH_GRACE_MS,
      async (signal, restartTimer) => {
        const resourceVersion = store.seen ?? ''
        const onOpen = (): void => {
          // The server counts the seconds of a watch from here.
          restartTimer()
          this.#follows()
        }
        const options = { resourceVersion, timeoutSeconds, metadataOnly, signal, onOpen }
        for await (const event of api.watch(resource, options)) {
          if (this.#stopped) return
          this.#restarts = 0
          this.#follows()
          this.#take(event)
        }
      },
    )
    if (this.#stopped || clock.monotonicMs() - began >= SHORT_WATCH_MS) {
      this.#failures = 0
      return 0
    }
    // A server that ends watches at once must not be asked in a hot loop.
    this.#failures += 1
    return waitAfter(this.#failures, undefined, random)
  }

  #take(event: WatchEvent): void {
    const { store } = this.#options
    const version = readObjectVersion(event.object)
    if (event.type === 'BOOKMARK') store.bookmark(version.resourceVersion)
    else if (event.type === 'DELETED') store.deleted(version)
    else if (!store.echoed(version)) {
      const object = this.#read(event.object)
      if (object === undefined) store.unreadable(version)
      else store.apply(event.type, object)
    }
  }

  /** The server has accepted the watch or sent an event. */
  #follows(): void {
    if (this.#stopped) return
    this.#failures = 0
    this.#become({ kind: 'synced' })
  }

  #afterFailure(verb: 'list' | 'watch', error: unknown): number {
    this.#report(error)
    const { random } = this.#options
    this.#failures += 1
    if (cannotGoOn(verb, error)) {
      this.#mustList = true
      this.#restarts += 1
      // The first time a new list is the cure; a server to which it happens again and again must not be flooded.
      if (this.#restarts === 1) return 0
      if (verb === 'list') this.#fail(verb, error)
      return waitAfter(this.#restarts - 1, error, random)
    }
    // That a watch breaks is normal, and the store as good as it was a moment ago: only a second failure counts.
    if (verb === 'list' || this.#failures > 1) this.#fail(verb, error)
    return waitAfter(this.#failures, error, random)
  }

  #fail(verb: 'list' | 'watch', error: unknown): void {
    const { resource, store } = this.#options
    this.#become({
      kind: 'failing',
      why: ignoranceOf(error, verb, resourceName(resource)),
      synced: store.listed,
    })
  }

  #become(state: ReflectorState): void {
    if (this.#stopped || isSameState(this.#state, state)) return
    this.#state = state
    try {
      this.#options.onState?.(state)
    } catch (error) {
      this.#report(error)
    }
  }

  #read(raw: JsonRecord): T | undefined {
    try {
      return this.#options.read(raw)
    } catch (error) {
      this.#report(error)
      return undefined
    }
  }

  #report(error: unknown): void {
    this.#options.onError?.(error)
  }

  /** Makes one call, which `stop` ends at once, and its timer after `limitMs` without a restart. */
  async #call(
    awaited: string,
    limitMs: number,
    make: (signal: AbortSignal, restartTimer: () => void) => Promise<void>,
  ): Promise<void> {
    const { clock } = this.#options
    const call = new AbortController()
    let stalled = false
    const startTimer = (): (() => void) =>
      clock.after(limitMs, () => {
        stalled = true
        call.abort()
      })
    let cancelTimer = startTimer()
    const restartTimer = (): void => {
      cancelTimer()
      cancelTimer = startTimer()
    }
    this.#endCall = () => call.abort()
    try {
      await make(call.signal, restartTimer)
      if (stalled) throw stallError(awaited, limitMs)
    } catch (error) {
      throw stalled ? stallError(awaited, limitMs, error) : error
    } finally {
      cancelTimer()
      this.#endCall = () => {}
    }
  }

  async #wait(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve)
      this.#endWait = () => {
        cancel()
        resolve()
      }
    })
    this.#endWait = () => {}
  }
}

/**
 * True where only a new list helps: the version or the page token is too old (410), the server has never come as far
 * as the version (a restored etcd), does not take it for one (400), or does not know the kind (any more).
 */
function cannotGoOn(verb: 'list' | 'watch', error: unknown): boolean {
  if (!(error instanceof ApiError)) return false
  if (error.status === 410 || error.reason === 'Expired' || error.reason === 'Gone') return true
  if (verb === 'list') return false
  return error.status === 400 || error.status === 404 || isFromTheFuture(error)
}

/** `NewTooLargeResourceVersionError` of apimachinery: a 504 Timeout with a cause of its own. */
function isFromTheFuture(error: ApiError): boolean {
  return listAt(error.details, 'causes').some(
    (cause) => stringAt(cause, 'reason') === 'ResourceVersionTooLarge',
  )
}

function stallError(awaited: string, limitMs: number, cause?: unknown): ConnectionError {
  const message = `${awaited} did not come within ${Math.round(limitMs / 1000)} s`
  return new ConnectionError('timed out', message, { cause, neverSent: false })
}

function isSameState(a: ReflectorState, b: ReflectorState): boolean {
  if (a.kind !== 'failing' || b.kind !== 'failing') return a.kind === b.kind
  return a.synced === b.synced && a.why.verb === b.why.verb && a.why.cause === b.why.cause
}
