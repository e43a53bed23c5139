// One run: a cluster, its users, and operators that live and die, with everything that can happen in an order that a seed
// decides. After that faults and users stop, and what is left must be what the core says.
import type { Config } from '@kleym/shared/core/compile/config.ts'
import { CONFIG } from '@kleym/testing/manifests.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { settled } from '../build/fake-time.ts'
import { Calls, callText, WRITES, type SimulatedCall, type CallFate } from './calls.ts'
import { Dice } from './dice.ts'
import type { LaggingWatch } from './lagging-watch.ts'
import { Life } from './life.ts'
import { differences } from './oracle.ts'
import { SimulatedCluster } from './cluster.ts'
import { ACT_WEIGHTS, COLLIDING_WEIGHTS, Users, type Act } from './users.ts'
import { Watchdog } from './watchdog.ts'

/** More steps than any run takes until nothing is left to do. */
const QUIET_STEPS_MAX = 100_000
/** Longer than any backoff of the operator, in milliseconds of the cluster's time. */
const QUIET_MS = 1_500_000

/** The share of operators beside which another one stands by. */
const STANDBYS = 0.5

/** The share of restarts that bring another label key of variants, perhaps the same. */
const NEW_SETTINGS = 0.3
/** `tier` is a label of pools too. */
const LABEL_KEYS = [CONFIG.variantLabelKey, 'llm-d.ai/role', 'tier'] as const

/** How likely each thing is in a run: some have slow caches, some a bad network, some restless users. */
interface Temper {
  readonly acts: number
  readonly steps: number
  readonly weights: Readonly<Record<Doing, number>>
  /** The share of requests that go wrong. */
  readonly faults: number
}

const DOINGS = ['act', 'carry out', 'answer', 'see', 'relist', 'time', 'crash', 'blind', 'sight'] as const
type Doing = (typeof DOINGS)[number]

const FAULTS: readonly (readonly [CallFate, number])[] = [
  ['answer lost', 4],
  ['failed after', 2],
  ['request lost', 3],
  ['never sent', 2],
  ['conflict', 3],
  ['throttled', 2],
  ['failed', 2],
  ['forbidden', 1],
] as const

/** What does not happen while everything else does. */
export interface HeldBack {
  /** Requests that do not reach the server yet. */
  readonly holds?: (call: SimulatedCall) => boolean
  /** A kind, `Kind.group`, whose cache sees nothing. */
  readonly blocks?: string
}

/** What a run has come to. */
export interface SimulationResult {
  readonly seed: number
  /** What was wrong; empty where nothing was. */
  readonly problems: readonly string[]
  /** What happened, step by step. */
  readonly trace: readonly string[]
  readonly writes: number
  readonly acts: number
}

/** Runs one seed to its end. */
export async function simulate(seed: number): Promise<SimulationResult> {
  return new Simulation(seed).run()
}

/** A cluster with its operators; `simulate` drives one by chance, scenarios drive one by hand. */
export class Simulation {
  readonly dice: Dice
  readonly server = new SimulatedCluster()
  readonly clock = new FakeClock()
  readonly lives: Life[] = []
  readonly calls: Calls
  readonly watchdog: Watchdog
  readonly users: Users
  readonly trace: string[] = []
  readonly #seed: number
  readonly #collide: boolean
  /** Follows the cluster, as late as it likes, and writes nothing before it takes over. */
  #standby: Life | undefined
  /** What operators that start now are set to. */
  #config: Config = CONFIG
  #made = 0
  #step = 0
  #acts = 0
  #disturbances = 0

  constructor(seed: number) {
    this.#seed = seed
    this.#collide = seed % 2 === 0
    this.dice = new Dice(seed)
    this.watchdog = new Watchdog(this.server, this.lives, () => this.#step)
    this.calls = new Calls({
      server: this.server,
      step: () => this.#step,
      sent: (call) => {
        this.trace.push(`${this.#step}   sent ${callText(call)}`)
        this.watchdog.sent(call)
      },
    })
    this.users = new Users(this.server, this.dice, { collide: this.#collide })
    this.server.onChange((change) => {
      for (const watch of this.#watches()) watch.hear(change)
    })
    this.server.onKind((resource) => {
      for (const watch of this.#watches()) watch.hearKind(resource)
    })
  }

  /** The operator that lives now. */
  get life(): Life {
    const life = this.lives.at(-1)
    if (life === undefined) throw new Error('no operator has started')
    return life
  }

  #watches(): readonly LaggingWatch[] {
    const living = this.lives.at(-1)?.isAlive === true ? [this.life] : []
    const all = this.#standby === undefined ? living : [...living, this.#standby]
    return all.flatMap(({ watches }) => watches)
  }

  async run(): Promise<SimulationResult> {
    const temper = this.#temper()
    this.users.settle()
    this.users.arrive()
    await this.start()
    if (this.dice.chance(STANDBYS)) await this.standBy()
    for (let step = 0; step < temper.steps && this.problems().length === 0; step++)
      await this.#doSomething(temper)
    if (this.problems().length === 0) this.users.relent()
    const problems = [...this.problems(), ...(this.problems().length === 0 ? await this.#end() : [])]
    return { seed: this.#seed, problems, trace: this.trace, writes: this.watchdog.writes, acts: this.#acts }
  }

  /** A new operator, with caches that are filled before or after it leads. */
  async start({ leadsFirst = this.dice.chance(0.5), workers = 1 + this.dice.below(4) } = {}): Promise<void> {
    const life = this.#make(workers)
    this.lives.push(life)
    for (const watch of life.watches) watch.start()
    if (leadsFirst) life.lead()
    else {
      for (const watch of life.watches) watch.deliver()
      life.lead()
    }
    await this.#after(`operator #${life.id} starts, ${leadsFirst ? 'leading at once' : 'its caches filled'}`)
  }

  /** A second operator, whose caches are filled once and lag from then on. */
  async standBy(workers = 1 + this.dice.below(4)): Promise<void> {
    const standby = this.#make(workers)
    this.#standby = standby
    for (const watch of standby.watches) watch.start()
    for (const watch of standby.watches) watch.deliver()
    await this.#after(`operator #${standby.id} stands by`)
  }

  /** The standby leads, with caches that lag as they do. */
  async takeOver(): Promise<void> {
    const standby = this.#standby
    if (standby === undefined) throw new Error('nobody stands by')
    this.#standby = undefined
    this.lives.push(standby)
    standby.takeOver()
    await this.#after(`operator #${standby.id} takes over`)
  }

  #make(workers: number): Life {
    const { server, calls, clock, dice } = this
    this.#made += 1
    return new Life({ id: this.#made, server, calls, clock, dice, config: this.#config, workers })
  }

  /** What follows on the operator that has died: the one that stands by, or a new one. */
  async #succeed(): Promise<void> {
    if (this.#standby === undefined) await this.start()
    else await this.takeOver()
    if (this.dice.chance(STANDBYS)) await this.standBy()
  }

  /** The operator dies; what it sent may still arrive, or not. */
  async crash(isLost: (call: SimulatedCall) => boolean): Promise<void> {
    this.life.crash()
    for (const call of this.calls.answers) this.calls.drop(call)
    for (const call of this.calls.requests) if (isLost(call)) this.calls.drop(call)
    await this.#after(`operator #${this.life.id} dies`)
  }

  /** The server gets a request; for one of a dead operator that is all. */
  async carryOut(call: SimulatedCall, fate: CallFate = 'carried out'): Promise<void> {
    this.watchdog.during(call, fate, () => this.calls.carryOut(call, fate))
    if (call.life !== this.life.id || !this.life.isAlive) this.calls.drop(call)
    await this.#after(`${fate}: ${callText(call)}`)
  }

  async answer(call: SimulatedCall): Promise<void> {
    this.calls.deliver(call)
    await this.#after(`answered: ${callText(call)}`)
  }

  /** Lets the operator's cache of a kind see what comes next. */
  async see(kind: string): Promise<void> {
    await this.#see(this.life.watches.find((watch) => watch.kind === kind))
  }

  async #see(watch: LaggingWatch | undefined): Promise<void> {
    watch?.deliver()
    const by = watch === undefined || this.life.watches.includes(watch) ? '' : ' by the standby'
    await this.#after(`seen${by}: ${watch?.kind ?? 'nothing'}`)
  }

  async advance(ms: number): Promise<void> {
    this.clock.advance(ms)
    await this.#after(`${ms} ms pass`)
  }

  /** Lets everything happen until nothing does but timers, and these for `ms` milliseconds; false if it never ends. */
  async runUntilQuiet(ms = QUIET_MS, { holds, blocks }: HeldBack = {}): Promise<boolean> {
    const until = this.clock.monotonicMs() + ms
    for (let steps = 0; steps < QUIET_STEPS_MAX; steps++) {
      const request = this.calls.requests.find((call) => holds?.(call) !== true)
      const [answer] = this.calls.answers
      const watch = this.life.watches.find(({ waits, kind }) => waits && kind !== blocks)
      const next = this.clock.nextIn
      if (request !== undefined) await this.carryOut(request)
      else if (answer !== undefined) await this.answer(answer)
      else if (watch !== undefined) await this.see(watch.kind)
      else if (next !== undefined && this.clock.monotonicMs() + next <= until) await this.advance(next)
      else {
        await this.advance(until - this.clock.monotonicMs())
        return true
      }
      if (this.watchdog.violations.length > 0 || this.life.failures.length > 0) return true
    }
    return false
  }

  /** What has gone wrong so far. */
  problems(): readonly string[] {
    return [
      ...this.watchdog.violations,
      ...this.lives.flatMap(({ failures }) =>
        failures.map((error) => `thrown: ${error instanceof Error ? error.stack : String(error)}`),
      ),
      ...this.lives.flatMap(({ lines }) =>
        lines
          .filter(({ level }) => level === 'error')
          .map(({ message, keys }) => `${message} ${JSON.stringify(keys)}`),
      ),
    ]
  }

  #temper(): Temper {
    const { dice } = this
    const one = (...values: readonly number[]): number => dice.pick(values) ?? 0
    if (this.#collide) {
      return {
        acts: one(16, 32),
        steps: one(120, 240),
        faults: one(0, 0.1, 0.3),
        weights: {
          act: one(2, 4, 8),
          'carry out': one(2, 6, 20),
          answer: one(2, 6, 20),
          see: one(5, 20, 60),
          relist: one(0, 0.3),
          time: one(0.3, 1),
          crash: one(0, 0, 0.3),
          blind: 0,
          sight: 0,
        },
      }
    }
    return {
      acts: one(6, 12, 24),
      steps: one(80, 160, 320),
      faults: one(0, 0, 0.05, 0.25),
      weights: {
        act: one(2, 4, 8),
        'carry out': one(4, 12, 30),
        answer: one(4, 12, 30),
        see: one(2, 8, 25),
        relist: one(0, 0.2),
        time: one(1, 4),
        crash: one(0, 0.3, 1),
        blind: one(0, 0, 0.3),
        sight: 2,
      },
    }
  }

  async #doSomething({ weights, acts, faults }: Temper): Promise<void> {
    const { dice, calls, life } = this
    const request = dice.pick(calls.requests)
    const answer = dice.pick(calls.answers)
    const watch = dice.pick(this.#watches().filter(({ waits }) => waits))
    const possible: Readonly<Record<Doing, number>> = {
      ...weights,
      act: this.#acts < acts ? weights.act : 0,
      'carry out': request === undefined ? 0 : weights['carry out'],
      answer: answer === undefined ? 0 : weights.answer,
      see: watch === undefined ? 0 : weights.see,
      sight: life.watches.some(({ isBlind }) => isBlind) ? weights.sight : 0,
    }
    const doing = dice.weighted(DOINGS.map((one) => [one, possible[one]]))
    if (doing === 'act') await this.#act()
    else if (doing === 'carry out' && request !== undefined)
      await this.carryOut(request, this.#fate(request, faults))
    else if (doing === 'answer' && answer !== undefined) await this.answer(answer)
    else if (doing === 'see' && watch !== undefined) await this.#see(watch)
    else if (doing === 'time') await this.#passTime()
    else if (doing === 'crash') await this.#restart()
    else await this.#disturb(doing)
  }

  async #act(): Promise<void> {
    const act = this.dice.weighted<Act>(this.#collide ? COLLIDING_WEIGHTS : ACT_WEIGHTS)
    this.#acts += 1
    if (act !== undefined) await this.#after(`user: ${this.users.act(act)}`)
  }

  #fate(call: SimulatedCall, faults: number): CallFate {
    if (!this.dice.chance(faults)) return 'carried out'
    this.#disturbances += 1
    const fate = this.dice.weighted(FAULTS) ?? 'carried out'
    return fate === 'conflict' && !WRITES.includes(call.verb) ? 'failed' : fate
  }

  async #passTime(): Promise<void> {
    const next = this.clock.nextIn
    await this.advance(next !== undefined && this.dice.chance(0.7) ? next : this.dice.below(3_000))
  }

  async #restart(): Promise<void> {
    this.#disturbances += 1
    await this.crash(() => this.dice.chance(0.5))
    // Before the next one starts, what is on its way may arrive, and users go on.
    for (const call of this.calls.requests) if (this.dice.chance(0.3)) await this.carryOut(call)
    while (this.dice.chance(0.4)) await this.#act()
    // A dead leader's late status, which no event wakes anybody for (docs/contract.md §8, "Quiet and fair"), stays until a
    // resync.
    for (const call of this.calls.requests) if (call.verb === 'update status') this.calls.drop(call)
    if (this.dice.chance(NEW_SETTINGS)) this.#changeLabelKey()
    await this.#succeed()
  }

  /** Its install is upgraded, with another pod label for variants; who stood by with the old one is gone too. */
  #changeLabelKey(): void {
    const variantLabelKey = this.dice.pick(LABEL_KEYS)
    this.#config = variantLabelKey === undefined ? CONFIG : { ...CONFIG, variantLabelKey }
    this.#standby = undefined
    this.trace.push(`${this.#step} the label key of variants is ${this.#config.variantLabelKey ?? ''}`)
  }

  async #disturb(doing: Doing | undefined): Promise<void> {
    const { watches } = this.life
    this.#disturbances += 1
    if (doing === 'relist') this.dice.pick(watches)?.relist()
    if (doing === 'blind') this.dice.pick(watches)?.blind()
    if (doing === 'sight') watches.find(({ isBlind }) => isBlind)?.start()
    await this.#after(doing ?? 'nothing')
  }

  /** Faults and users stop: what is there now must be what the core says, and must stay so. */
  async #end(): Promise<readonly string[]> {
    for (const watch of this.life.watches) if (watch.isBlind) watch.start()
    do {
      if (!(await this.runUntilQuiet())) return ['it never comes to rest']
      // What a webhook's finalizer held without our annotations, nobody else lets go of.
      this.users.release()
    } while (this.users.clearTheWay() > 0 && this.problems().length === 0)
    const wrong = [...this.problems(), ...differences(this.server, this.life.config)]
    const budget = 40 + 30 * (this.#acts + this.#disturbances)
    if (this.watchdog.writes > budget) wrong.push(`${this.watchdog.writes} writes, more than ${budget}`)
    return wrong.length > 0 ? wrong : this.#stayingQuiet()
  }

  /** Neither time nor a restart makes it write again. */
  async #stayingQuiet(): Promise<readonly string[]> {
    const before = this.watchdog.writes
    await this.runUntilQuiet(QUIET_MS)
    if (this.watchdog.writes !== before) return ['it writes although nothing has changed']
    await this.crash(() => true)
    const how = this.#standby === undefined ? 'a restart' : 'a take-over by a standby that lags'
    await this.#succeed()
    await this.runUntilQuiet(QUIET_MS)
    const more = this.watchdog.writes - before
    return [...this.problems(), ...(more === 0 ? [] : [`${how} makes ${more} writes`])]
  }

  async #after(what: string): Promise<void> {
    this.trace.push(`${this.#step} ${what}`)
    await settled()
    this.watchdog.look()
    this.#step += 1
  }
}
