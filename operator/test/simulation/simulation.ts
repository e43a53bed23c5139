// One run: a cluster, its users, and operators that live and die, with everything that can happen in an order that a seed
// decides. After that faults and users stop, and what is left must be what the core says.
import type { Config } from '@kleym/shared/core/decide/settings/config.ts'
import { LEASES } from '@kleym/shared/kube/resources.ts'
import { CONFIG } from '@kleym/testing/manifests.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { settled } from '../build/fake-time.ts'
import { Calls, callText, WRITES, type SimulatedCall, type CallFate } from './calls.ts'
import { Dice } from './dice.ts'
import type { LaggingWatch } from './lagging-watch.ts'
import { Life, LEASE } from './life.ts'
import { differences } from './oracle.ts'
import { metadataOf, SimulatedCluster, type Backup } from './cluster.ts'
import { ACT_WEIGHTS, CALM_WEIGHTS, COLLIDING_WEIGHTS, Users, type Act } from './users.ts'
import { Watchdog } from './watchdog.ts'

/** More steps than any run takes until nothing is left to do. */
const QUIET_STEPS_MAX = 100_000
/** Longer than any backoff of the operator, in milliseconds of the cluster's time. */
const QUIET_MS = 1_500_000

/** The share of operators beside which another one stands by. */
const STANDBYS = 0.5
/** In every which seed operators run for the Lease; in the others, who leads is decided for them. */
const ELECTIONS_EVERY = 8
/** In every which seed a namespace may have few outputs, and users forge kleym's finalizer; and how many it may have then. */
const FULL_EVERY = 5
const FEW = 2
/** Longer than the operator waits for a word of SCM. */
const CALM_MS = 400_000
/** How likely it is in each step that SCM gets to do its work. */
const SCM_ACTS = 0.3
/** Longer than it takes to see that the Lease has run out and to take it, in milliseconds, and longer than a renewal. */
const SUCCESSION_MS = 60_000
const RENEWED_MS = 5_000

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

const DOINGS = [
  'act',
  'carry out',
  'answer',
  'see',
  'relist',
  'silence',
  'time',
  'crash',
  'blind',
  'sight',
  'renew',
  'back up',
  'restore',
  'restart server',
  'suspend',
  'wake',
] as const
type Doing = (typeof DOINGS)[number]

const FAULTS: readonly (readonly [CallFate, number])[] = [
  ['answer lost', 4],
  ['failed after', 2],
  ['request lost', 3],
  ['given up', 3],
  ['never sent', 2],
  ['conflict', 3],
  ['throttled', 2],
  ['failed', 2],
  ['forbidden', 1],
  ['page', 1],
  ['page after', 1],
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
  readonly #hasElections: boolean
  readonly #bindingsPerNamespace: number | undefined
  /** Without it the operator looks at each new output again after a minute, which hides that nobody has woken it. */
  readonly #hasScm: boolean
  /** Follows the cluster, as late as it likes, and writes nothing before it takes over. */
  #standby: Life | undefined
  /** What operators that start now are set to. */
  #config: Config = CONFIG
  /** Whether the process that starts next has seen a restore of the datastore. */
  #isLater = false
  /** Led until its machine was suspended. */
  #suspended: Life | undefined
  #backups: { readonly backup: Backup; readonly atMs: number; readonly lease: unknown }[] = []
  /** Until when the leader's machine is not suspended. */
  #awakeUntilMs = 0
  #made = 0
  #step = 0
  #acts = 0
  #disturbances = 0

  constructor(
    seed: number,
    { elections, scm }: { readonly elections?: boolean; readonly scm?: boolean } = {},
  ) {
    this.#seed = seed
    this.#collide = seed % 2 === 0
    // As often among those that collide.
    this.#hasElections = elections ?? Math.floor(seed / 2) % ELECTIONS_EVERY === 0
    this.#hasScm = scm ?? seed % 3 !== 0
    this.#bindingsPerNamespace = seed % FULL_EVERY === 0 ? FEW : undefined
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
    const forge = this.#bindingsPerNamespace !== undefined
    this.users = new Users(this.server, this.dice, { collide: this.#collide, forge })
    this.server.onChange((change) => {
      for (const watch of this.#running().flatMap(({ watches }) => watches)) watch.hear(change)
    })
    this.server.onKind((resource) => {
      for (const watch of this.#running().flatMap(({ watches }) => watches)) watch.hearKind(resource)
    })
  }

  /** The operator that lives now. */
  get life(): Life {
    const life = this.lives.at(-1)
    if (life === undefined) throw new Error('no operator has started')
    return life
  }

  /** The operators that run: the one that leads, or led last, one that stands by. */
  #running(): readonly Life[] {
    const all = [this.lives.at(-1), this.#standby]
    return all.filter((life) => life?.isAlive === true).filter((life) => life !== undefined)
  }

  /** The watches whose events may reach their caches: what a machine misses while it is suspended waits for it. */
  #watches(): readonly LaggingWatch[] {
    return this.#running()
      .filter(({ isSuspended }) => !isSuspended)
      .flatMap(({ watches }) => watches)
  }

  /** The answers that may arrive: not on a machine that is suspended. */
  #answers(): readonly SimulatedCall[] {
    const suspended = this.#suspended?.id
    return this.calls.answers.filter(({ life }) => life !== suspended)
  }

  async run(): Promise<SimulationResult> {
    const temper = this.#temper()
    this.users.settle()
    this.users.arrive()
    await this.start()
    if (this.dice.chance(STANDBYS)) await this.standBy()
    for (let step = 0; step < temper.steps && this.problems().length === 0; step++) {
      // It has lost the Lease.
      if (!this.life.isAlive) await this.#succeed()
      await this.#doSomething(temper)
    }
    if (this.problems().length === 0) await this.#calmDown()
    const problems = [...this.problems(), ...(this.problems().length === 0 ? await this.#end() : [])]
    return { seed: this.#seed, problems, trace: this.trace, writes: this.watchdog.writes, acts: this.#acts }
  }

  /** A new operator, with caches that are filled before or after it leads. */
  async start({ leadsFirst = this.dice.chance(0.5), workers = 1 + this.dice.below(4) } = {}): Promise<void> {
    const life = this.#make(workers)
    this.lives.push(life)
    life.stand()
    for (const watch of life.watches) watch.start()
    if (!leadsFirst) for (const watch of life.watches) await watch.deliver()
    await life.renew()
    life.lead()
    await this.#after(`operator #${life.id} starts, ${leadsFirst ? 'leading at once' : 'its caches filled'}`)
  }

  /** A second operator, whose caches are filled once and lag from then on. */
  async standBy(workers = 1 + this.dice.below(4)): Promise<void> {
    const standby = this.#make(workers)
    this.#standby = standby
    standby.stand()
    for (const watch of standby.watches) watch.start()
    for (const watch of standby.watches) await watch.deliver()
    await this.#after(`operator #${standby.id} stands by`)
  }

  /** The standby leads, with caches that lag as they do. */
  async takeOver(): Promise<void> {
    const standby = this.#standby
    if (standby === undefined) throw new Error('nobody stands by')
    await standby.renew()
    // It has seen a restore.
    if (!standby.isAlive) return this.start()
    this.#lead(standby)
    await this.#after(`operator #${standby.id} takes over`)
  }

  #lead(standby: Life): void {
    this.#standby = undefined
    this.lives.push(standby)
    standby.takeOver()
  }

  #make(workers: number): Life {
    const { server, calls, clock: time, dice } = this
    this.#made += 1
    const step = (): number => this.#step
    const onElected = (): void => {
      this.trace.push(`${this.#step}   #${life.id} holds the Lease`)
      if (life === this.#standby) this.#lead(life)
    }
    const life: Life = new Life({
      id: this.#made,
      server,
      calls,
      time,
      dice,
      config: this.#config,
      workers,
      bindingsPerNamespace: this.#bindingsPerNamespace,
      step,
      onElected: this.#hasElections ? onElected : undefined,
      isLater: this.#isLater,
      onRestored: () => {
        this.#isLater = true
        this.#forget(life)
      },
    })
    return life
  }

  /** What follows on the operator that leads no more: the one that stands by, or a new one. */
  async #succeed(): Promise<void> {
    // A dead leader's late status, which no event wakes anybody for (docs/contract.md §8, "Quiet and fair"), stays until a
    // resync.
    for (const call of this.calls.requests)
      if (call.verb === 'update status' && call.life === this.life.id) this.calls.drop(call)
    if (this.#hasElections) await this.#elect()
    else if (this.#standby === undefined) await this.start()
    else await this.takeOver()
    if (this.#standby === undefined && this.dice.chance(STANDBYS)) await this.standBy()
  }

  /** The Lease runs out, and the one that stands by takes it. */
  async #elect(): Promise<void> {
    const { life } = this
    const until = this.clock.monotonicMs() + SUCCESSION_MS
    while (this.life === life && this.clock.monotonicMs() < until) {
      if (this.#standby === undefined) await this.standBy()
      await this.advance(Math.min(this.clock.nextIn ?? SUCCESSION_MS, RENEWED_MS))
    }
    if (this.life === life) this.watchdog.violations.push('nobody takes over')
  }

  /** The operator dies; what it sent may still arrive, or not. */
  async crash(isLost: (call: SimulatedCall) => boolean): Promise<void> {
    const { id } = this.life
    this.life.crash()
    this.#isLater = false
    this.#forget(this.life)
    for (const call of this.calls.requests) if (call.life === id && isLost(call)) this.calls.drop(call)
    await this.#after(`operator #${id} dies`)
  }

  /** No answer reaches it any more. */
  #forget(life: Life): void {
    this.trace.push(`${this.#step}   #${life.id} ends`)
    if (life === this.#standby) this.#standby = undefined
    for (const call of this.calls.answers) if (call.life === life.id) this.calls.drop(call)
  }

  /** The server gets a request; for one of a dead operator that is all. */
  async carryOut(call: SimulatedCall, fate: CallFate = 'carried out'): Promise<void> {
    this.watchdog.during(call, fate, () => this.calls.carryOut(call, fate))
    const isAwaited = [...this.lives, this.#standby].some((life) => life?.id === call.life && life.isAlive)
    if (!isAwaited || call.isGivenUp) this.calls.drop(call)
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
    await watch?.deliver()
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
      const [answer] = this.#answers()
      const watch = this.life.watches.find(({ waits, kind }) => waits && kind !== blocks)
      const next = this.clock.nextIn
      if (request !== undefined) await this.carryOut(request)
      else if (answer !== undefined) await this.answer(answer)
      else if (watch !== undefined) await this.see(watch.kind)
      else if (next !== undefined && this.clock.monotonicMs() + next <= until) await this.advance(next)
      else if (this.clock.monotonicMs() >= until) return true
      // SCM may register something at that very moment: that is seen too.
      else await this.advance(until - this.clock.monotonicMs())
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
    const goesBack = one(0, 0, 0.3)
    const common = {
      silence: one(0, 0.2),
      renew: 0.5,
      'back up': goesBack * 2,
      restore: goesBack,
      'restart server': 0.5,
      suspend: this.#hasElections ? one(0, 0.3) : 0,
      wake: 0.5,
    }
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
          ...common,
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
        ...common,
      },
    }
  }

  async #doSomething({ weights, acts, faults }: Temper): Promise<void> {
    const { dice, calls, life } = this
    const request = dice.pick(calls.requests)
    const answer = dice.pick(this.#answers())
    const watch = dice.pick(this.#watches().filter(({ waits }) => waits))
    const possible: Readonly<Record<Doing, number>> = {
      ...weights,
      act: this.#acts < acts ? weights.act : 0,
      'carry out': request === undefined ? 0 : weights['carry out'],
      answer: answer === undefined ? 0 : weights.answer,
      see: watch === undefined ? 0 : weights.see,
      sight: life.watches.some(({ isBlind }) => isBlind) ? weights.sight : 0,
      renew: this.#hasElections ? 0 : weights.renew,
      restore: this.#restorable().length === 0 ? 0 : weights.restore,
      'restart server': this.server.isToBeRestarted ? weights['restart server'] : 0,
      // Time that goes back takes renewals with it, of which a leader that sleeps would never hear: a restore takes longer.
      suspend:
        this.#suspended === undefined && life.isAlive && this.clock.monotonicMs() > this.#awakeUntilMs
          ? weights.suspend
          : 0,
      wake: this.#suspended === undefined ? 0 : weights.wake,
    }
    const doing = dice.weighted(DOINGS.map((one) => [one, possible[one]]))
    if (doing === 'act') await this.#act()
    else if (doing === 'carry out' && request !== undefined)
      await this.carryOut(request, this.#fate(request, faults))
    else if (doing === 'answer' && answer !== undefined) await this.answer(answer)
    else if (doing === 'see' && watch !== undefined) await this.#see(watch)
    else if (doing === 'time') await this.#passTime()
    else if (doing === 'crash') await this.#restart()
    else if (doing === 'back up') this.#backUp()
    else if (doing === 'restore') await this.#restore()
    else if (doing === 'restart server') await this.#restartServer()
    else if (doing === 'suspend') await this.#suspend()
    else if (doing === 'wake') await this.#wake()
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
    if (this.dice.chance(NEW_SETTINGS)) this.#changeLabelKey()
    await this.#succeed()
  }

  /** Its install is upgraded, with another pod label for variants; who stood by with the old one is gone too. */
  #changeLabelKey(): void {
    const variantLabelKey = this.dice.pick(LABEL_KEYS)
    this.#config = variantLabelKey === undefined ? CONFIG : { ...CONFIG, variantLabelKey }
    this.#standby?.crash()
    this.#standby = undefined
    this.trace.push(`${this.#step} the label key of variants is ${this.#config.variantLabelKey ?? ''}`)
  }

  #backUp(): void {
    const lease = metadataOf(this.server.find(LEASES, LEASE) ?? {})['resourceVersion']
    this.#backups.push({ backup: this.server.backup(), atMs: this.clock.monotonicMs(), lease })
  }

  /**
   * The backups that the Lease shows to be ones: it was renewed since, and whoever is there has looked at it. The API server
   * is of this history.
   */
  #restorable(): readonly Backup[] {
    if (this.server.isToBeRestarted || this.#suspended !== undefined) return []
    const now = metadataOf(this.server.find(LEASES, LEASE) ?? {})['resourceVersion']
    const old = this.#backups.filter(({ lease }) => !this.#hasElections || lease !== now)
    const untilMs = this.clock.monotonicMs() - (this.#hasElections ? RENEWED_MS : 0)
    return old.filter(({ atMs }) => atMs <= untilMs).map(({ backup }) => backup)
  }

  async #restore(): Promise<void> {
    const backup = this.dice.pick(this.#restorable())
    if (backup === undefined) return
    this.#disturbances += 3
    for (const life of this.#running()) await life.renew()
    const isRestarted = this.dice.chance(0.7)
    this.server.restore(backup, { isRestarted })
    this.#awakeUntilMs = this.clock.monotonicMs() + SUCCESSION_MS
    this.watchdog.restored()
    this.#backups = this.#backups.filter((other) => other.backup.version <= backup.version)
    const how = isRestarted ? '' : ', and the API server is not restarted'
    await this.#after(`the datastore is restored to version ${backup.version}${how}`)
  }

  /**
   * The API server is restarted, and with it the operators: what one that had started meanwhile was told of the history before,
   * it would believe on (docs/reliability.md).
   */
  async #restartServer(): Promise<void> {
    this.server.restartServer()
    await this.#after('the API server is restarted')
    this.#standby?.crash()
    this.#standby = undefined
    await this.crash(() => false)
    await this.#succeed()
  }

  /** The machine of the leader is suspended. For long, and another one leads. */
  async #suspend(): Promise<void> {
    const { life } = this
    this.#disturbances += 1
    this.#suspended = life
    life.isSuspended = true
    await this.#after(`the machine of #${life.id} is suspended`)
    if (this.dice.chance(0.7)) await this.#succeed()
    else await this.advance(this.dice.below(RENEWED_MS))
  }

  async #wake(): Promise<void> {
    const life = this.#suspended
    if (life === undefined) return
    this.#suspended = undefined
    life.isSuspended = false
    await this.#after(`the machine of #${life.id} goes on`)
  }

  async #disturb(doing: Doing | undefined): Promise<void> {
    const { watches } = this.life
    this.#disturbances += 1
    if (doing === 'relist') this.dice.pick(watches)?.relist()
    if (doing === 'silence') this.dice.pick(this.#watches())?.fallSilent({ relists: this.dice.chance(0.5) })
    if (doing === 'renew') for (const life of this.#running()) await life.renew()
    if (doing === 'blind') this.dice.pick(watches)?.blind()
    if (doing === 'sight') watches.find(({ isBlind }) => isBlind)?.start()
    await this.#after(doing ?? 'nothing')
  }

  /**
   * Faults stop, and everything settles. Then users do a little more: whoever is concerned must be woken by that alone, as no
   * timer is left that looks at a binding again.
   */
  async #calmDown(): Promise<void> {
    this.users.relent()
    if (this.server.isToBeRestarted) await this.#restartServer()
    if (this.#suspended !== undefined) await this.#wake()
    for (const life of this.#running()) await life.renew()
    await this.runUntilQuiet(CALM_MS)
    if (!this.life.isAlive || this.problems().length > 0) return
    for (let left = this.dice.below(4); left > 0; left--) {
      const act = this.dice.weighted<Act>(CALM_WEIGHTS)
      if (act !== undefined) await this.#after(`user: ${this.users.act(act)}`)
      await this.runUntilQuiet(0)
    }
  }

  /** Faults and users stop: what is there now must be what the core says, and must stay so. */
  async #end(): Promise<readonly string[]> {
    if (this.server.isToBeRestarted) await this.#restartServer()
    if (this.#suspended !== undefined) await this.#wake()
    for (const life of this.#running()) await life.renew()
    do {
      if (!this.life.isAlive) await this.#succeed()
      if (this.#hasScm) this.users.register()
      for (const watch of this.life.watches) if (watch.isBlind) watch.start()
      if (!(await this.runUntilQuiet())) return ['it never comes to rest']
      // What a webhook's finalizer held without our annotations, nobody else lets go of.
      this.users.release()
    } while (
      (!this.life.isAlive ||
        this.users.clearTheWay(this.life.config) > 0 ||
        (this.#hasScm && this.users.register() > 0)) &&
      this.problems().length === 0
    )
    const wrong = [...this.problems(), ...differences(this.server, this.life)]
    const budget = 40 + 30 * (this.#acts + this.#disturbances)
    if (this.watchdog.writes > budget) wrong.push(`${this.watchdog.writes} writes, more than ${budget}`)
    return wrong.length > 0 ? wrong : this.#stayingQuiet()
  }

  /** Neither time nor a restart makes it write again. */
  async #stayingQuiet(): Promise<readonly string[]> {
    const before = this.watchdog.sentWrites
    await this.runUntilQuiet(QUIET_MS)
    if (this.watchdog.sentWrites !== before) return ['it writes although nothing has changed']
    await this.crash(() => true)
    const how = this.#standby === undefined ? 'a restart' : 'a take-over by a standby that lags'
    await this.#succeed()
    await this.runUntilQuiet(QUIET_MS)
    const more = this.watchdog.sentWrites - before
    return [...this.problems(), ...(more === 0 ? [] : [`${how} makes ${more} writes`])]
  }

  async #after(what: string): Promise<void> {
    this.trace.push(`${this.#step} ${what}`)
    if (this.#hasScm && this.dice.chance(SCM_ACTS)) this.users.register()
    await settled()
    this.watchdog.look()
    this.#step += 1
  }
}
