// Whether the API server is there at all. A watch whose network has gone says nothing for minutes, so a small request
// goes out every few seconds: what is shown must not look current when it is not.
import { ApiError } from '@kleym/shared/kube/errors.ts'
import type { Client } from '@kleym/shared/kube/client.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'

/** Every authenticated user may read it (the cluster role system:public-info-viewer). */
export const PROBE_PATH = '/version'
/** Between an answer and the next question. */
const WHILE_CONNECTED_MS = 5_000
const WHILE_LOST_MS = 2_000
/** An API server that takes longer counts as unreachable. */
const ANSWER_MS = 5_000

/** Whom to ask and whom to tell. */
export interface ConnectionMonitorOptions {
  readonly api: Pick<Client, 'raw'>
  readonly clock: Clock
  /** The connection was lost, or is there again. */
  readonly onChange: () => void
}

/** Sends a small request every few seconds, and tells when answers stop or come again. */
export class ConnectionMonitor {
  readonly #options: ConnectionMonitorOptions
  #lastAnswer: Date
  #isLost = false
  #stopped = false
  #asking: AbortController | undefined
  #cancelWait: () => void = () => {}

  /** To be made right after an answer of the API server: that counts as the last one. */
  constructor(options: ConnectionMonitorOptions) {
    this.#options = options
    this.#lastAnswer = options.clock.now()
  }

  /** When the API server answered last, if it does not answer now. */
  get lostSince(): Date | undefined {
    return this.#isLost ? this.#lastAnswer : undefined
  }

  start(): void {
    this.#askAfter(WHILE_CONNECTED_MS)
  }

  /** Asks now: something has failed. */
  askNow(): void {
    if (this.#asking === undefined && !this.#stopped) void this.#ask()
  }

  stop(): void {
    this.#stopped = true
    this.#cancelWait()
    this.#asking?.abort()
  }

  #askAfter(ms: number): void {
    this.#cancelWait()
    if (!this.#stopped) this.#cancelWait = this.#options.clock.after(ms, () => void this.#ask())
  }

  async #ask(): Promise<void> {
    this.#cancelWait()
    const call = new AbortController()
    this.#asking = call
    const cancelLimit = this.#options.clock.after(ANSWER_MS, () => call.abort())
    const answered = await this.#isAnswered(call.signal)
    cancelLimit()
    this.#asking = undefined
    if (this.#stopped) return
    const wasLost = this.#isLost
    this.#isLost = !answered
    if (answered) this.#lastAnswer = this.#options.clock.now()
    this.#askAfter(answered ? WHILE_CONNECTED_MS : WHILE_LOST_MS)
    if (wasLost !== this.#isLost) this.#options.onChange()
  }

  /** A refusal (4xx) is an answer; a 5xx may come from a proxy in front of a server that is down. */
  async #isAnswered(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#options.api.raw('GET', PROBE_PATH, undefined, { signal })
      return true
    } catch (error) {
      return error instanceof ApiError && error.status < 500
    }
  }
}
