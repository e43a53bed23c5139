// Leader election on a `coordination.k8s.io/v1` Lease, with the rules and times of client-go's `tools/leaderelection`.
// Two promises keep two leaders apart, each by a monotonic clock of its own:
// - a leader counts as one only until `RENEW_DEADLINE_MS` after it *sent* the last renewal that was confirmed, by its wall
//   clock too, since a monotonic clock stands still while a machine is suspended;
// - no process takes a Lease over before `LEASE_DURATION_MS` after it *saw* the Lease change. Times written by others count for
//   nothing, so clocks may differ; their rates may too, as long as 10 s here never last longer than 15 s there.
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { ApiError, ConnectionError } from '@kleym/shared/kube/errors.ts'
import { LeaseRecord, type LeaseApi, type LeaseName } from './lease.ts'
import { errorClass, type Log } from '../telemetry/log.ts'

/** How long after its last change a Lease is another process's, in milliseconds. */
const LEASE_DURATION_MS = 15_000
/** How long after its last renewal a leader is one, in milliseconds; less than the lease duration. */
const RENEW_DEADLINE_MS = 10_000
/** The time between two tries, in milliseconds. */
const RETRY_PERIOD_MS = 2_000

/** Standbys spread their tries by up to this part of the retry period. */
const JITTER = 0.2

export interface ElectionOptions {
  readonly api: LeaseApi
  readonly clock: Clock
  /** From 0 up to but without 1. */
  readonly random: () => number
  readonly log: Log
  readonly lease: LeaseName
  /** Names this process and no other, not even an earlier one in the same pod. */
  readonly identity: string
  /** Called once, when this process has become the leader. */
  readonly onElected: () => void
  /** Called once and at once, when it no longer is, with the reason in words; it never will be again. Not on release. */
  readonly onLost: (reason: string) => void
}

type ElectionState = 'standby' | 'leading' | 'lost' | 'ended'

/** Who may write: asked before every write. */
export interface Leadership {
  /** Needs no `this`. */
  readonly isLeader: () => boolean
}

export class Election implements Leadership {
  readonly #options: ElectionOptions
  readonly #record: LeaseRecord
  #state: ElectionState = 'standby'
  /** Until when this process leads, in monotonic milliseconds. */
  #leadsUntilMs = Number.NEGATIVE_INFINITY
  /** The same by the wall clock: the monotonic one of Linux stands still while the machine is suspended. */
  #leadsUntilDateMs = Number.NEGATIVE_INFINITY
  /** Whether the last record that was seen can be written as it is: its resource version is the newest known. */
  #fresh = false
  #cancelTry: () => void = () => {}
  #cancelDeadline: () => void = () => {}
  #attempt: Promise<void> = Promise.resolve()
  /** The class of the last failed try, which is logged once. */
  #failing: string | undefined

  constructor(options: ElectionOptions) {
    this.#options = options
    this.#record = new LeaseRecord(options.api, options.clock, options.lease, {
      identity: options.identity,
      durationMs: LEASE_DURATION_MS,
    })
  }

  /** Starts trying; the first try begins at once. */
  start(): void {
    this.#attempt = this.#tryAndGoOn()
  }

  /**
   * Whether this process may write now. It looks at the clocks itself, because a process that was stopped wakes up with timers
   * that are late; a deadline that has passed by either clock is a loss from here on. A date that is set back shortens nothing,
   * one that is set forward by more than what is left costs the Lease.
   */
  readonly isLeader = (): boolean => {
    if (this.#state !== 'leading') return false
    const { clock } = this.#options
    if (clock.monotonicMs() < this.#leadsUntilMs && clock.now().getTime() < this.#leadsUntilDateMs)
      return true
    this.#lose(`the Lease was not renewed for ${RENEW_DEADLINE_MS / 1000} s`)
    return false
  }

  /**
   * Ends the election, to be called when the last write has ended; until then renewals go on. A held Lease is given up, so
   * that a standby takes over at its next try. Never rejects for what the API server says: the Lease then runs out.
   */
  async release(): Promise<void> {
    if (!this.#isTrying()) return
    this.#state = 'ended'
    this.#cancelTry()
    this.#cancelDeadline()
    await this.#attempt
    // A try that got no answer may have taken the Lease too: reading it shows that.
    if (this.#fresh || this.#failing !== undefined) await this.#giveUp()
  }

  /**
   * Ends the election where writes are still under way, and leaves the Lease as it is: a standby takes over when it has run out,
   * as after a kill. From here on this process does not lead.
   */
  abandon(): void {
    if (!this.#isTrying()) return
    const wasLeader = this.isLeader()
    this.#state = 'ended'
    this.#cancelTry()
    this.#cancelDeadline()
    if (wasLeader)
      this.#options.log.warn('writes are still under way; the Lease is not given up and runs out by itself')
  }

  async #giveUp(): Promise<void> {
    const { log } = this.#options
    try {
      await this.#limited(async (signal) => {
        await this.#record.read(signal)
        if (!this.#record.isOurs()) return
        await this.#record.release(signal)
        log.info('gave the Lease up')
      })
    } catch (error) {
      if (!isFailure(error)) throw error
      log.warn('could not give the Lease up; it runs out by itself', { error })
    }
  }

  async #tryAndGoOn(): Promise<void> {
    if (!this.#isTrying()) return
    try {
      await this.#try()
      this.#failing = undefined
    } catch (error) {
      if (!isFailure(error)) throw error
      this.#fresh = false
      this.#note(error)
    }
    if (!this.#isTrying()) return
    this.#cancelTry = this.#options.clock.after(this.#pauseMs(), () => {
      this.#attempt = this.#tryAndGoOn()
    })
  }

  /** A renewal; or a look at the Lease and one write where it is ours to write. Rejects as `Api` does. */
  async #try(): Promise<void> {
    // The usual renewal needs no read: the resource version of the last one is still right.
    if (this.#fresh && this.isLeader() && (await this.#write())) return
    if (!(await this.#look()) || !this.#record.isFree()) return
    // The race for a Lease has one winner; a leader that comes too late learns so at once.
    if (!(await this.#write()) && this.isLeader()) await this.#look()
  }

  /** Reads the Lease. False where that ends the try. */
  async #look(): Promise<boolean> {
    await this.#limited((signal) => this.#record.read(signal))
    if (!this.#isTrying()) return false
    if (!this.isLeader() || !this.#record.isAnothers()) return true
    this.#lose('another process holds the Lease')
    return false
  }

  #isTrying(): boolean {
    return this.#state === 'standby' || this.isLeader()
  }

  /** Writes us as the holder. False on a conflict, after which the Lease must be read. */
  async #write(): Promise<boolean> {
    const sentMs = this.#options.clock.monotonicMs()
    const sentDateMs = this.#options.clock.now().getTime()
    try {
      await this.#limited((signal) => this.#record.take(signal))
    } catch (error) {
      this.#fresh = false
      if (error instanceof ApiError && error.status === 409) return false
      throw error
    }
    this.#fresh = true
    this.#hold(sentMs, sentDateMs)
    return true
  }

  #hold(sentMs: number, sentDateMs: number): void {
    const { clock, onElected, log } = this.#options
    const untilMs = sentMs + RENEW_DEADLINE_MS
    const untilDateMs = sentDateMs + RENEW_DEADLINE_MS
    const wasStandby = this.#state === 'standby'
    // A renewal that was confirmed too late renews nothing; a first one is repeated at the next try.
    const isOver = clock.monotonicMs() >= untilMs || clock.now().getTime() >= untilDateMs
    if (wasStandby ? isOver : !this.isLeader()) return
    this.#state = 'leading'
    this.#leadsUntilMs = untilMs
    this.#leadsUntilDateMs = untilDateMs
    this.#cancelDeadline()
    this.#watchDeadline()
    if (!wasStandby || !this.isLeader()) return
    log.info('became the leader', { holder: this.#options.identity })
    onElected()
  }

  /** Timers count whole milliseconds and may be a little early: the clock decides, and is looked at until it has. */
  #watchDeadline(): void {
    if (!this.isLeader()) return
    const { clock } = this.#options
    const leftMs = Math.ceil(this.#leadsUntilMs - clock.monotonicMs())
    this.#cancelDeadline = clock.after(leftMs, () => this.#watchDeadline())
  }

  #lose(reason: string): void {
    this.#state = 'lost'
    this.#cancelTry()
    this.#cancelDeadline()
    this.#options.onLost(reason)
  }

  /** Runs a call that ends after half of the renew deadline, so that a stalled one leaves time for another. */
  async #limited<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController()
    const cancel = this.#options.clock.after(RENEW_DEADLINE_MS / 2, () => controller.abort())
    try {
      return await call(controller.signal)
    } finally {
      cancel()
    }
  }

  #pauseMs(): number {
    if (this.#state === 'leading') return RETRY_PERIOD_MS
    const spreadMs = RETRY_PERIOD_MS * (1 + JITTER * this.#options.random())
    return Math.min(spreadMs, this.#record.heldForMs() ?? spreadMs)
  }

  #note(error: unknown): void {
    const failing = errorClass(error)
    if (failing === this.#failing) return
    this.#failing = failing
    this.#options.log.warn('could not read or write the Lease', { error })
  }
}

function isFailure(error: unknown): error is ApiError | ConnectionError {
  return error instanceof ApiError || error instanceof ConnectionError
}
