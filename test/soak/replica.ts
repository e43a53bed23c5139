// One replica of the operator behind a network of its own, kept alive as a kubelet would, and what it uses through its lives.
import { pauseFor } from '@kleym/testing/wait.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { startFaultProxy, type FaultProxy } from '../control-plane/fault-proxy.ts'
import type { OPERATOR, OPERATOR_B } from '../control-plane/operator-access.ts'
import { startOperator, type RunningOperator } from '../control-plane/operator.ts'

/** What a process uses at one moment. */
export interface Sample {
  /** Since the process was started, in milliseconds. */
  readonly ageMs: number
  /** Resident memory, in MiB. */
  readonly rss: number
  /** Open file descriptors, sockets among them. */
  readonly fds: number
  readonly timers: number
}

/** One process from its start to its end. */
export interface Life {
  readonly startedMs: number
  readonly samples: Sample[]
}

/** How long a kubelet waits before it starts a container again, at first. */
const RESTART_MS = 1_000
/** How many requests the proxy remembers: nobody asks it. */
const REMEMBERED = 100

export class Replica {
  readonly proxy: FaultProxy
  readonly lives: Life[] = []
  readonly #cp: ControlPlane
  readonly #user: typeof OPERATOR | typeof OPERATOR_B
  #operator: RunningOperator | undefined
  #isWanted = true

  static async start(cp: ControlPlane, user: typeof OPERATOR | typeof OPERATOR_B): Promise<Replica> {
    const replica = new Replica(cp, user, await startFaultProxy(cp, REMEMBERED))
    await replica.#begin()
    return replica
  }

  private constructor(cp: ControlPlane, user: typeof OPERATOR | typeof OPERATOR_B, proxy: FaultProxy) {
    this.#cp = cp
    this.#user = user
    this.proxy = proxy
  }

  /** Starts it again where it has ended, by whatever cause. To be called every second or so. */
  async keepAlive(): Promise<void> {
    if (!this.#isWanted || this.#operator?.program.ended() === undefined) return
    this.#operator = undefined
    await pauseFor(RESTART_MS)
    await this.#begin()
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    await this.#operator?.kill()
  }

  /** SIGTERM. */
  async stop(): Promise<void> {
    await this.#operator?.stop()
  }

  /** SIGSTOP, and SIGCONT after so long. */
  async pauseFor(ms: number): Promise<void> {
    const operator = this.#operator
    await operator?.pause()
    await pauseFor(ms)
    await operator?.resume()
  }

  /** Notes what it uses now; nothing where it does not answer. */
  async sample(): Promise<void> {
    const life = this.lives.at(-1)
    const text = await this.#operator?.metrics().catch(() => undefined)
    if (life === undefined || text === undefined) return
    const valueOf = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0)
    life.samples.push({
      ageMs: performance.now() - life.startedMs,
      rss: valueOf('process_resident_memory_bytes') / 2 ** 20,
      fds: valueOf('process_open_fds'),
      timers: valueOf('nodejs_active_resources\\{type="Timeout"\\}'),
    })
  }

  /** Lets it end, for good. */
  async end(): Promise<void> {
    this.#isWanted = false
    await this.#operator?.kill()
    await this.proxy.stop()
  }

  async #begin(): Promise<void> {
    this.lives.push({ startedMs: performance.now(), samples: [] })
    this.#operator = await startOperator(this.#cp, {
      user: this.#user,
      name: this.#user,
      server: this.proxy.server,
    })
  }
}
