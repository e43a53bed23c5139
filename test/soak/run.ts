// `npm run soak`: two replicas of the shipped operator on a real API server, 2,000 bindings that tenants edit, create and delete at
// random, and whatever networks and servers do. An oracle looks at the cluster every second. `-- --minutes 10`, `-- --bindings 2000`,
// `-- --seed 1`. SIGUSR2 ends it early, with its report. The last third of the time is without ends of operators, so that what a process uses can be seen to grow. Exit code 1
// where a rule was broken (docs/reliability.md holds them and the figures of a long run).
import process from 'node:process'
import { parseArgs } from 'node:util'
import { IN_FORCE_DELAY_MS } from '@kleym/shared/core/decide/in-force/in-force.ts'
import { Dice } from '../../operator/test/simulation/dice.ts'
import { pauseFor, until } from '@kleym/testing/wait.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { OPERATOR, OPERATOR_B } from '../control-plane/operator-access.ts'
import { startOperatorPlane, TRUST_DOMAIN } from '../control-plane/operator.ts'
import { Faults } from './faults.ts'
import { growthOf, timersOf } from './growth.ts'
import { Oracle } from './oracle.ts'
import { Replica } from './replica.ts'
import { isConnectionLost, Tenants } from './tenants.ts'

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    bindings: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
  },
})

/**
 * How long an old output may stay, and a binding may lack one, in milliseconds of a cluster that answers. A watch may be silent for
 * 45 s, an answer may ask for 30 s, a killed leader's Lease lasts 15 s and is tried for every 2 s, and a new fault may follow.
 */
const BOUND_MS = 120_000
/**
 * The most that counts of the time between two looks, in milliseconds: where they come later, the API server or the machine has stood
 * still, for the operator as well.
 */
const GAP_MS = 5_000
/** How long everything may take to be as it should be once nothing happens any more, in milliseconds. */
const CALM_MS = 180_000
const LOOK_EVERY_MS = 1_000
const EDIT_EVERY_MS = 150
const SAMPLE_EVERY_MS = 10_000
/** How often something happens to a network and to a program, from at least to at most. */
const NETWORK_MS = [2_000, 8_000] as const
const PROGRAM_MS = [30_000, 90_000] as const
/** From when on no operator is ended. */
const UNDISTURBED_SHARE = 2 / 3

const [minutes, bindings, seed] = [options.minutes, options.bindings, options.seed].map(Number)
if (minutes === undefined || bindings === undefined || seed === undefined || !(minutes > 0 && bindings > 0))
  throw new Error('give --minutes, --bindings and --seed as numbers')

function say(line: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`)
}

/** Looks at the cluster once a second; the time in which it does not answer does not count. */
class Watcher {
  readonly oracle = new Oracle({ boundMs: BOUND_MS, trustDomain: TRUST_DOMAIN })
  /** The longest between two looks, in milliseconds. */
  longestGapMs = 0
  /** How much of the time did not count, as no look came. */
  awayMs = 0
  readonly #cp: ControlPlane
  #lastMs = performance.now()
  #begunMs = performance.now()

  constructor(cp: ControlPlane) {
    this.#cp = cp
  }

  /** How long until the next look, a second after the last one began. */
  untilNextMs(): number {
    return Math.max(0, this.#begunMs + LOOK_EVERY_MS - performance.now())
  }

  async look(): Promise<void> {
    this.#begunMs = performance.now()
    const list = (apiVersion: string, kind: string) => this.#cp.admin.list({ apiVersion, kind })
    const found = await Promise.all([
      list('kleym.sonda.red/v1alpha1', 'InferenceIdentityBinding'),
      list('inference.networking.k8s.io/v1', 'InferencePool'),
      list('inference.networking.x-k8s.io/v1alpha2', 'InferenceObjective'),
      list('spire.spiffe.io/v1alpha1', 'ClusterSPIFFEID'),
    ]).catch(() => undefined)
    const now = performance.now()
    const gap = now - this.#lastMs
    this.#lastMs = now
    this.longestGapMs = Math.max(this.longestGapMs, gap)
    this.awayMs += found === undefined ? gap : Math.max(0, gap - GAP_MS)
    if (found === undefined) return
    const [all, pools, objectives, outputs] = found
    this.oracle.look({ bindings: all, pools, objectives, outputs }, now - this.awayMs)
  }
}

/** Does something again and again until `state` says otherwise, with a pause of so many milliseconds before each. */
async function again(
  state: { isOver: boolean },
  pauseMs: () => number,
  act: () => Promise<unknown> | void,
): Promise<void> {
  while (!state.isOver) {
    await pauseFor(pauseMs())
    if (state.isOver) return
    await act()
  }
}

function between(dice: Dice, [least, most]: readonly [number, number]): number {
  return least + dice.below(most - least)
}

async function untilRight(watcher: Watcher, what: string, ms: number): Promise<void> {
  await until(
    async () => {
      await watcher.look()
      if (watcher.oracle.open > 0)
        throw new Error(`${watcher.oracle.open} bindings or outputs are not as they should be`)
      return true
    },
    what,
    ms,
  )
}

async function soak(cp: ControlPlane): Promise<boolean> {
  const tenants = new Tenants(cp, new Dice(seed ?? 1), bindings ?? 0)
  const replicas = [await Replica.start(cp, OPERATOR), await Replica.start(cp, OPERATOR_B)]
  const dice = new Dice((seed ?? 1) + 1)
  const faults = new Faults(cp, dice, replicas)
  say(`${bindings} bindings are created`)
  await cp.apply(tenants.objects())
  // Starting from nothing takes as long as it takes; the oracle's clock begins afterwards.
  await untilRight(new Watcher(cp), 'all bindings to be in force', 900_000)
  const watcher = new Watcher(cp)
  say(`it begins: ${minutes} minutes from seed ${seed}`)
  const state = { isOver: false }
  const begun = performance.now()
  const totalMs = (minutes ?? 0) * 60_000
  const endsOperators = (): boolean => performance.now() - begun < totalMs * UNDISTURBED_SHARE
  const keepAlive = again(
    state,
    () => LOOK_EVERY_MS,
    async () => {
      for (const replica of replicas) await replica.keepAlive()
    },
  )
  const sampling = again(
    state,
    () => SAMPLE_EVERY_MS,
    async () => {
      for (const replica of replicas) await replica.sample()
    },
  )
  const looking = again(
    state,
    () => watcher.untilNextMs(),
    () => watcher.look(),
  )
  const storm = { isOver: false }
  const stormy = [
    again(
      storm,
      () => EDIT_EVERY_MS,
      () => tenants.edit(),
    ),
    again(
      storm,
      () => 60_000,
      () => tenants.putBack().catch(ignoreLost),
    ),
    again(
      storm,
      () => between(dice, NETWORK_MS),
      () => faults.network(),
    ),
    again(
      storm,
      () => between(dice, PROGRAM_MS),
      () => (endsOperators() ? faults.program() : faults.server()),
    ),
    again(
      storm,
      () => 60_000,
      () => say(progress(watcher, tenants, faults)),
    ),
  ]
  const ended = new Promise<void>((resolve) => process.once('SIGUSR2', resolve))
  await Promise.race([pauseFor(totalMs), ended, ...stormy, looking, keepAlive, sampling])
  storm.isOver = true
  await Promise.all(stormy)
  await faults.settled()
  say('calm')
  await tenants.putBack()
  const calmFrom = performance.now()
  const calm = await untilRight(watcher, 'everything to be as it should be', CALM_MS).then(
    () => performance.now() - calmFrom,
    (error: unknown) => String(error),
  )
  // What a process keeps that has nothing left to do: no SCM is here, so each new output, and each one after a take-over, is
  // looked at once more when SCM has had its minute.
  await pauseFor(IN_FORCE_DELAY_MS + SAMPLE_EVERY_MS * 2)
  state.isOver = true
  await Promise.all([keepAlive, sampling, looking])
  const growth = [
    ...replicas.flatMap(({ lives }) => lives.flatMap(({ samples }) => growthOf(samples))),
    ...replicas.flatMap(({ lives }) => timersOf(lives.at(-1)?.samples ?? [], bindings ?? 0)),
  ]
  say(progress(watcher, tenants, faults))
  report(watcher, { tenants, faults, replicas, calm, growth })
  for (const replica of replicas) await replica.end()
  const broken = [...watcher.oracle.broken, ...growth, ...(typeof calm === 'string' ? [calm] : [])]
  for (const sentence of broken.slice(0, 50)) say(`BROKEN: ${sentence}`)
  say(broken.length === 0 ? 'no rule was broken' : `${broken.length} rules were broken`)
  return broken.length === 0
}

function progress({ oracle }: Watcher, tenants: Tenants, faults: Faults): string {
  const [edits, made] = [tenants.done, faults.done].map((counts) =>
    [...counts.values()].reduce((sum, count) => sum + count, 0),
  )
  return `${edits} edits, ${made} faults, ${oracle.looks} looks, ${oracle.open} open, stale for ${Math.round(oracle.stale.longestMs / 1000)} s at most, late for ${Math.round(oracle.late.longestMs / 1000)} s, ${oracle.broken.length} broken`
}

interface Outcome {
  readonly tenants: Tenants
  readonly faults: Faults
  readonly replicas: readonly Replica[]
  /** After how many milliseconds of calm everything was right, or why not. */
  readonly calm: number | string
  readonly growth: readonly string[]
}

function report(watcher: Watcher, { tenants, faults, replicas, calm }: Outcome): void {
  const { oracle, longestGapMs, awayMs } = watcher
  for (const [what, counts] of [
    ['edits', tenants.done],
    ['faults', faults.done],
  ] as const)
    say(`${what}: ${[...counts].map(([name, count]) => `${name} ${count}`).join(', ')}`)
  for (const [what, spells] of [
    ['stale', oracle.stale],
    ['late', oracle.late],
  ] as const) {
    const sorted = spells.over.toSorted((a, b) => a - b)
    const at = (share: number): string => ((sorted[Math.floor(sorted.length * share)] ?? 0) / 1000).toFixed(1)
    say(
      `${what}: ${sorted.length} spells; half within ${at(0.5)} s, 99 of 100 within ${at(0.99)} s, the longest ${(spells.longestMs / 1000).toFixed(1)} s`,
    )
  }
  say(
    `${oracle.looks} looks, the longest gap ${(longestGapMs / 1000).toFixed(1)} s; ${Math.round(awayMs / 1000)} s do not count`,
  )
  say(
    `in calm, everything was right after ${typeof calm === 'number' ? `${(calm / 1000).toFixed(1)} s` : 'never'}`,
  )
  for (const [at, { lives }] of replicas.entries()) {
    const samples = lives.flatMap((life) => life.samples)
    const most = (of: (sample: (typeof samples)[number]) => number): number => Math.max(0, ...samples.map(of))
    const last = samples.at(-1)
    say(
      `replica ${at}: ${lives.length} lives; at most ${most(({ rss }) => rss).toFixed(0)} MiB, ${most(({ fds }) => fds)} descriptors, ${most(({ timers }) => timers)} timers; in the end ${last?.rss.toFixed(0)} MiB, ${last?.fds}, ${last?.timers}`,
    )
  }
}

function ignoreLost(error: unknown): void {
  if (!isConnectionLost(error)) say(`an apply has failed: ${String(error)}`)
}

// Nothing else ends it before its control plane is stopped.
const stop = Promise.withResolvers<never>()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => stop.reject(new Error(`ended by ${signal}`)))
const cp = await startOperatorPlane({ controllers: [] })
try {
  process.exitCode = (await Promise.race([soak(cp), stop.promise])) ? 0 : 1
} finally {
  await cp.stop()
}
