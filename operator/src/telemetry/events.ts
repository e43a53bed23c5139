// Events (`events.k8s.io/v1`), one per transition. They are not state: the recorder writes them in the background and gives
// up after a few tries; no reconcile waits for an event, and none fails because of one.
import { hash } from 'node:crypto'
import { listAt, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { MESSAGE_BYTES } from '@kleym/shared/core/model/names.ts'
import { cutToBytes } from '@kleym/shared/core/base/text/bytes.ts'
import type { Api } from '@kleym/shared/kube/api.ts'
import { backoffMs, jittered, type Backoff } from '@kleym/shared/kube/backoff.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { ApiError, ConnectionError } from '@kleym/shared/kube/errors.ts'
import { EVENTS } from '@kleym/shared/kube/resources.ts'
import { Turns } from '../queue/turns.ts'
import { errorClass, type Log } from './log.ts'
import type { EventResult } from './metrics.ts'
import { microTime } from '@kleym/shared/kube/micro-time.ts'

/** Who reports, in every event of ours. */
export const REPORTING_CONTROLLER = 'kleym.sonda.red/operator'

/** The limits of `reportingInstance`, `reason` and `action`, in bytes (apimachinery counts them so). */
const FIELD_BYTES = 128
/** How many bytes of the object's name go into the name of the event; a hash makes it unique. */
const NAME_BYTES = 200
/**
 * How many events wait at most. Where there are more, one is dropped, and counted, of the namespace that has most; and they are
 * written in turn, so that a namespace whose events pour loses its own and holds up no other's.
 */
const WAITING_MAX = 10_000
/** How many are written at the same time. */
const WRITERS = 4
const TRIES = 5
/** The waits between two tries, which an API server may lengthen up to the longest. */
const BACKOFF: Backoff = { firstMs: 250, maxMs: 10_000 }

export interface EventSubject {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly resourceVersion?: string | undefined
}

export interface EventNote {
  readonly regarding: EventSubject
  readonly type: 'Normal' | 'Warning'
  /** Why, in one word: the reason of a condition. */
  readonly reason: string
  /** What was done, in one word. */
  readonly action: string
  /** For a person; cut at 1,024 bytes. */
  readonly note: string
}

export interface EventRecorderOptions {
  readonly api: Pick<Api, 'create'>
  readonly clock: Clock
  /** From 0 up to but without 1. */
  readonly random: () => number
  readonly log: Log
  /** The pod, or another name of this process. */
  readonly instance: string
  /** Nothing is written by a process that does not lead. */
  readonly isLeader: () => boolean
  /** Hears once of each event, but for those that are dropped because their namespace or this process ends. */
  readonly ended?: (result: EventResult) => void
}

/** Takes the controller's events. */
export interface EventRecorder {
  /** Returns at once and never throws. */
  record(event: EventNote): void
  /** Takes no more events, and resolves when all are written or given up, or after `withinMs`. */
  drain(withinMs: number): Promise<void>
}

/** Writes events in the background. */
export function eventRecorder(options: EventRecorderOptions): EventRecorder {
  return new BackgroundRecorder(options)
}

class BackgroundRecorder implements EventRecorder {
  readonly #options: EventRecorderOptions
  readonly #waiting = new Turns<JsonRecord>()
  /** The classes of failures that were logged. */
  readonly #logged = new Set<string>()
  readonly #stop = new AbortController()
  #writers = 0
  #recorded = 0
  #drained: PromiseWithResolvers<void> | undefined

  constructor(options: EventRecorderOptions) {
    this.#options = options
  }

  record(event: EventNote): void {
    const { instance, clock, isLeader } = this.#options
    if (this.#drained !== undefined || !isLeader()) return
    const { namespace } = event.regarding
    if (this.#waiting.size >= WAITING_MAX) {
      this.#end('dropped', 'too many wait')
      if (this.#waiting.hasItsShare(namespace) || !this.#waiting.dropOne()) return
    }
    this.#recorded += 1
    const object = eventObject(event, { instance, at: clock.now(), serial: this.#recorded })
    this.#waiting.push(namespace, object)
    if (this.#writers < WRITERS) void this.#write()
  }

  async drain(withinMs: number): Promise<void> {
    if (this.#drained !== undefined) return this.#drained.promise
    const drained = Promise.withResolvers<void>()
    this.#drained = drained
    const cancel = this.#options.clock.after(withinMs, () => {
      this.#waiting.clear()
      this.#stop.abort()
      drained.resolve()
    })
    if (this.#writers === 0) drained.resolve()
    await drained.promise
    cancel()
  }

  async #write(): Promise<void> {
    this.#writers += 1
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift())
      await this.#post(event)
    this.#writers -= 1
    if (this.#writers === 0) this.#drained?.resolve()
  }

  async #post(event: JsonRecord): Promise<void> {
    const { api, isLeader } = this.#options
    for (let tries = 1; ; tries++) {
      if (this.#stop.signal.aborted || !isLeader()) return
      try {
        await api.create(EVENTS, event, { signal: this.#stop.signal })
        this.#end('recorded')
        return
      } catch (error) {
        // Anything else is a bug, but no event may stop the operator.
        const outcome = outcomeOf(error)
        if (outcome === 'recorded') this.#end('recorded')
        if (outcome === 'unwanted' || outcome === 'recorded') return
        if (outcome === 'failed' || tries === TRIES) {
          this.#end('failed', errorClass(error), error)
          return
        }
        await this.#pause(tries, error)
      }
    }
  }

  #pause(tries: number, error?: unknown): Promise<void> {
    const { clock, random } = this.#options
    const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0
    const ms = Math.min(Math.max(jittered(backoffMs(BACKOFF, tries), random), asked), BACKOFF.maxMs)
    const { signal } = this.#stop
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = (): void => {
        cancel()
        signal.removeEventListener('abort', wake)
        resolve()
      }
      const cancel = clock.after(ms, wake)
      signal.addEventListener('abort', wake)
    })
  }

  #end(result: EventResult, why?: string, error?: unknown): void {
    this.#options.ended?.(result)
    if (why === undefined || this.#logged.has(why)) return
    this.#logged.add(why)
    this.#options.log.warn('could not record an event; later ones like it are only counted', { why, error })
  }
}

type PostOutcome = 'recorded' | 'unwanted' | 'failed' | 'try again'

function outcomeOf(error: unknown): PostOutcome {
  if (error instanceof ConnectionError) return 'try again'
  if (!(error instanceof ApiError)) return 'failed'
  // A try without an answer was carried out after all: the name is this event's alone.
  if (error.status === 409 && error.reason === 'AlreadyExists') return 'recorded'
  if (error.status === 404 || isTerminating(error)) return 'unwanted'
  return error.status === 429 || error.status >= 500 ? 'try again' : 'failed'
}

/** The namespace is being deleted, and takes nothing new (admission plugin NamespaceLifecycle, which names the cause). */
function isTerminating({ details }: ApiError): boolean {
  return listAt({ details }, 'details', 'causes').some(
    (cause) => stringAt(cause, 'reason') === 'NamespaceTerminating',
  )
}

interface Reporter {
  readonly instance: string
  readonly at: Date
  /** Counts the events of this process. */
  readonly serial: number
}

function eventObject(event: EventNote, { instance, at, serial }: Reporter): JsonRecord {
  const { regarding } = event
  const parts = JSON.stringify([instance, serial, at.getTime(), regarding.uid, event.reason])
  const unique = hash('sha256', parts).slice(0, 16)
  return {
    apiVersion: `${EVENTS.group}/${EVENTS.version}`,
    kind: EVENTS.kind,
    metadata: {
      namespace: regarding.namespace,
      name: `${cutToBytes(regarding.name, NAME_BYTES).replace(/[-.]+$/, '')}.${unique}`,
    },
    eventTime: microTime(at),
    reportingController: REPORTING_CONTROLLER,
    reportingInstance: cutToBytes(instance, FIELD_BYTES),
    regarding: { ...regarding },
    type: event.type,
    reason: cutToBytes(event.reason, FIELD_BYTES),
    action: cutToBytes(event.action, FIELD_BYTES),
    note: cutToBytes(event.note, MESSAGE_BYTES),
  }
}
