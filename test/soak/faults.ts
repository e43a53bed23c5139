// What networks and servers do to an operator, at random from one seed: connections and watches are cut or fall silent, answers are
// lost, late or failures, and writes overtake each other; operators, the API server and etcd are killed, paused and started again.
import type { Dice } from '../../operator/test/simulation/dice.ts'
import { pauseFor } from '@kleym/testing/wait.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import type { FaultProxy } from '../control-plane/fault-proxy.ts'
import type { Fault, Injection } from '../control-plane/fault-rules.ts'
import type { Replica } from './replica.ts'

/** The longest that a write is held back: far less than a Lease lasts, or a dead leader's POST might come after its successor's. */
const HELD_MS = 4_000
/** The longest that watches are silent: longer than the operator puts up with (docs/reliability.md). */
const SILENT_MS = 60_000

export class Faults {
  readonly #cp: ControlPlane
  readonly #dice: Dice
  readonly #replicas: readonly Replica[]
  readonly #done = new Map<string, number>()
  /** What is under way and has an end. */
  readonly #running = new Set<Promise<void>>()

  constructor(cp: ControlPlane, dice: Dice, replicas: readonly Replica[]) {
    this.#cp = cp
    this.#dice = dice
    this.#replicas = replicas
  }

  /** How often each sort of fault was made. */
  get done(): ReadonlyMap<string, number> {
    return this.#done
  }

  /** Something happens to the network of one replica. It goes on beside the caller. */
  network(): void {
    const { proxy } = this.#replica()
    const faults: readonly (readonly [name: string, weight: number, act: () => Promise<void>])[] = [
      ['connections cut', 2, async () => proxy.dropConnections()],
      ['watches cut', 3, async () => proxy.watches().drop()],
      ['watches ended', 2, async () => proxy.watches().end()],
      ['watches silent', 2, () => this.#silence(proxy)],
      ['failures', 5, () => this.#inject(proxy, this.#failure(), 20)],
      ['requests lost', 4, () => this.#inject(proxy, { kind: 'drop' }, 8)],
      ['answers lost', 4, () => this.#inject(proxy, { kind: 'drop answer' }, 8)],
      ['requests late', 4, () => this.#inject(proxy, { kind: 'hold' }, 8)],
      ['answers late', 4, () => this.#inject(proxy, { kind: 'hold answer' }, 8)],
    ]
    this.#begin(faults)
  }

  /** Something happens to a program; resolves when all of them run again. */
  async program(): Promise<void> {
    const { replica, cp } = { replica: this.#replica(), cp: this.#cp }
    const away = this.#dice.below(10_000)
    this.#begin([
      ['operator killed', 3, () => replica.kill()],
      ['operator stopped', 1, () => replica.stop()],
      ['operator paused', 2, () => replica.pauseFor(away * 3)],
      ...this.#serverFaults(cp, away),
    ])
    await this.settled()
  }

  /** The same, but for the operators, which live on. */
  async server(): Promise<void> {
    this.#begin(this.#serverFaults(this.#cp, this.#dice.below(10_000)))
    await this.settled()
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#running)
  }

  #serverFaults(
    cp: ControlPlane,
    awayMs: number,
  ): readonly (readonly [name: string, weight: number, act: () => Promise<void>])[] {
    return [
      ['API server killed', 2, () => restartApiServer(cp, awayMs)],
      ['API server paused', 2, () => pauseApiServer(cp, awayMs)],
      ['etcd killed', 2, () => cp.restartEtcd()],
    ]
  }

  #begin(faults: readonly (readonly [name: string, weight: number, act: () => Promise<void>])[]): void {
    const fault = this.#dice.weighted(faults.map((one) => [one, one[1]] as const))
    if (fault === undefined) return
    const [name, , act] = fault
    this.#done.set(name, (this.#done.get(name) ?? 0) + 1)
    const running = act()
    this.#running.add(running)
    void running.finally(() => this.#running.delete(running)).catch(() => undefined)
  }

  async #silence(proxy: FaultProxy): Promise<void> {
    const watches = proxy.watches()
    watches.stall()
    await pauseFor(this.#dice.below(SILENT_MS))
    // Either they are heard again, or they are gone; the operator may have given them up.
    if (this.#dice.chance(0.5)) watches.resume()
    else watches.drop()
  }

  /** A fault that hits some requests of the next seconds: writes, or whatever comes. */
  async #inject(proxy: FaultProxy, fault: Fault, most: number): Promise<void> {
    const count = 1 + this.#dice.below(most)
    const onlyWrites = this.#dice.chance(0.6)
    // The Lease is spared here: it would be lost every time. Pauses and cuts hit it.
    const injection: Injection = proxy.inject({
      fault,
      count,
      when: ({ method, path, isWatch }) =>
        !isWatch && !path.includes('/leases') && (!onlyWrites || method !== 'GET'),
    })
    await pauseFor(500 + this.#dice.below(HELD_MS))
    injection.remove()
    injection.release(this.#dice.chance(0.8) ? 'forward' : 'drop')
  }

  #failure(): Fault {
    const status = this.#dice.pick([409, 429, 500, 503, 504]) ?? 500
    const asks = (status === 429 || status === 503) && this.#dice.chance(0.5)
    return { kind: 'answer', status, ...(asks && { retryAfterSeconds: 1 + this.#dice.below(3600) }) }
  }

  #replica(): Replica {
    const replica = this.#dice.pick(this.#replicas)
    if (replica === undefined) throw new TypeError('there is no replica')
    return replica
  }
}

async function restartApiServer(cp: ControlPlane, awayMs: number): Promise<void> {
  await cp.killApiServer()
  await pauseFor(awayMs)
  await cp.restartApiServer()
}

async function pauseApiServer(cp: ControlPlane, awayMs: number): Promise<void> {
  await cp.pauseApiServer()
  await pauseFor(awayMs * 2)
  await cp.resumeApiServer()
}
