// `npm run bench:large`: what one tenant's large objects take of the operator's memory, with the shipped executable on a real API
// server, beside ordinary bindings of others. `-- --objects 300`, `-- --ordinary 1000`, `-- --only TEXT` (contents whose names hold
// it, several with `|` between them), `-- --admitted 2` (how many go through the API server; the others are copies of them in etcd),
// `-- --seconds 240` (how long the operator may write for them after each start), `-- --executable PATH`. For each content: the objects are there
// and the operator starts and writes for each, then they are edited all the time, then the operator is restarted; all along bindings
// elsewhere are created and must become ready. Each content begins with the same etcd and an API server that has just started; each
// phase is bounded, and what fails is a reason beside the row, which is printed when its content has ended. Nothing is asserted:
// docs/reliability.md holds the aims, docs/performance.md the figures.
import process from 'node:process'
import { parseArgs } from 'node:util'
import { stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from '../../test/control-plane/control-plane.ts'
import { namespace, pool, poolOnly, untilReason } from '../../test/control-plane/objects.ts'
import { startOperator, startOperatorPlane } from '../../test/control-plane/operator.ts'
import { idOf } from '../../test/control-plane/rest.ts'
import { pauseFor, until } from '@kleym/testing/wait.ts'
import { machineLine } from '../machine.ts'
import { createAll, createEstate, untilSettled } from '../operator/measure.ts'
import { POOL_PER_NAMESPACE } from '../operator/shapes.ts'
import { processNamed, usageOf } from '../operator/usage.ts'
import { CONTENTS, type Content } from './contents.ts'
import { admit, assertServedAlike, copy, type AdmittedObject } from './copies.ts'
import { watchOperator, type WatchedOperator } from './watched-operator.ts'

const { values: options } = parseArgs({
  options: {
    objects: { type: 'string', default: '300' },
    ordinary: { type: 'string', default: '1000' },
    admitted: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '240' },
    only: { type: 'string', default: '' },
    executable: { type: 'string' },
  },
})

/** How long the large objects are edited without a pause, in milliseconds. */
const EDITING_MS = 10_000
/** Who edits, and who copies, at the same time. */
const EDITORS = 2
/** How long the operator may take until it has read everything, in milliseconds. */
const READ_MS = 600_000
const ELSEWHERE = 'elsewhere'
const PAUSE_BETWEEN_PROBES_MS = 1_000
/** The fewest probes of a phase. */
const PROBES = 3
/** What the API server keeps its heap below: it holds each large object several times, and below 5 GiB collected garbage all the time. */
const API_SERVER_MEMORY = '14GiB'
const ETCD_BYTES = 8 * 2 ** 30

interface PhaseFigures {
  /** The most resident memory of the operator in this life so far, in MiB. */
  readonly peak: number
  /**
   * From the start of the operator until it has read everything and come to an outcome for all ordinary bindings, in milliseconds;
   * undefined in other phases.
   */
  readonly reading: number | undefined
  /**
   * The longest from the answer to the POST of a binding elsewhere to its being ready, of all that were created after
   * that, in milliseconds; NaN where one was not ready within a minute.
   */
  readonly slowest: number
  /** The longest that the API server took beside: until its cache showed the binding to any reader, and for three small writes. */
  readonly serverTime: number
  readonly lag: string
}

const count = wholeNumber(options.objects)
const ordinary = wholeNumber(options.ordinary)
const seconds = wholeNumber(options.seconds)
const admitted = Math.min(wholeNumber(options.admitted), count)
const start = options.executable === undefined ? {} : { command: [options.executable] as const }

/** A whole number of the command line from 1 on; throws for what is none. */
function wholeNumber(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`${text} is no whole number from 1 on`)
  return Number(text)
}

function say(line: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`)
}

async function eachOf<T>(
  items: readonly T[],
  workers: number,
  act: (item: T) => Promise<unknown>,
): Promise<void> {
  const queue = items.values()
  const work = async (): Promise<void> => {
    for (const item of queue) await act(item)
  }
  await Promise.all(Array.from({ length: workers }, work))
}

/** Resolves when the API server's cache, which serves all watches, has come as far as an object. */
async function untilShown(cp: ControlPlane, made: JsonRecord): Promise<void> {
  const version = stringAt(made, 'metadata', 'resourceVersion') ?? ''
  const query = `limit=1&resourceVersion=${version}&resourceVersionMatch=NotOlderThan`
  const path = `/apis/kleym.sonda.red/v1alpha1/namespaces/default/inferenceidentitybindings?${query}`
  await until(async () => {
    const { status } = await cp.admin.request({ method: 'GET', path })
    return status === 200
  }, 'the cache of the API server to show a binding')
}

/** Binding after binding elsewhere, until `isOver` and at least three. */
async function probe(
  cp: ControlPlane,
  operator: WatchedOperator,
  probes: { made: number },
  isOver: () => boolean,
): Promise<Omit<PhaseFigures, 'reading'>> {
  const times: number[] = []
  let serverTime = 0
  for (let at = 0; at < PROBES || !isOver(); at++) {
    const name = `probe-${String(probes.made).padStart(4, '0')}`
    try {
      const made = await cp.admin.create(poolOnly(ELSEWHERE, name))
      probes.made += 1
      const from = performance.now()
      const shown = untilShown(cp, made).then(() => performance.now() - from)
      shown.catch(() => {})
      await untilReason(cp, ELSEWHERE, name, 'Reconciled')
      times.push(performance.now() - from)
      const then = performance.now()
      for (let write = 0; write < 3; write++)
        await cp.admin.patch(idOf(pool(ELSEWHERE, 'llama', {})), {
          metadata: { annotations: { probe: `${name}-${write}` } },
        })
      serverTime = Math.max(serverTime, (await shown) + performance.now() - then)
    } catch (error) {
      say(`  ${String(error)}`)
      times.push(Number.NaN)
      if (at >= PROBES) break
    }
    await pauseFor(PAUSE_BETWEEN_PROBES_MS)
  }
  return { peak: operator.peak(), slowest: Math.max(...times), serverTime, lag: await operator.lag() }
}

/** One content, from a settled cluster to its row. */
async function measure(cp: ControlPlane, content: Content): Promise<string> {
  const space = 'large'
  const notes: string[] = []
  const note = (error: unknown): void => {
    say(`  ${String(error)}`)
    notes.push(String(error).split('\n')[0] ?? '')
  }
  const probes = { made: 0 }
  await cp.apply([namespace(space), pool(space, 'llama', { app: 'llama' })])
  say('  a few go through the API server')
  const templates: AdmittedObject[] = []
  const from = performance.now()
  for (let at = 0; at < admitted; at++) templates.push(await admit(cp, content, space, at))
  const each = (performance.now() - from) / admitted / 1000
  const [template] = templates
  if (template === undefined) throw new Error('none was admitted')
  const bytes = Buffer.byteLength(template.stored)
  const phases: (PhaseFigures | undefined)[] = []
  say('  the others are copied')
  const numbers = Array.from({ length: count }, (_, at) => at)
  await createAll(
    cp,
    numbers.flatMap((at) => content.beside?.(space, at) ?? []),
  )
  await cp.killApiServer()
  await eachOf(numbers.slice(admitted), EDITORS, (at) => copy(cp, template, content.large(space, at)))
  await cp.restartApiServer()
  await assertServedAlike(cp, template, content.large(space, count - 1))
  let started = performance.now()
  let operator = await watchOperator(cp, start)
  /** Waits until the operator leads, has read everything and come to an outcome for all ordinary bindings. */
  const ordinaryOnes = async (): Promise<void> => {
    await operator.leads()
    await until(
      async () => {
        const { decided } = await operator.progress()
        if (decided >= ordinary) return true
        throw new Error(`${decided} of ${ordinary} bindings have an outcome`)
      },
      'the ordinary bindings to have an outcome',
      READ_MS,
    )
  }
  /** Waits for the large ones too, for a while. */
  const settled = async (): Promise<void> => {
    await until(
      async () => {
        const { decided, idle } = await operator.progress()
        const expected = ordinary + count + probes.made
        if (idle && decided >= expected) return true
        throw new Error(`${decided} of ${expected} bindings have an outcome`)
      },
      'all bindings to have an outcome',
      seconds * 1000,
    ).catch((error: unknown) => {
      const left = /\d+ of \d+ bindings/.exec(String(error))?.[0] ?? String(error)
      say(`    ${left} have an outcome after ${seconds} s`)
      notes.push(`${left} had an outcome`)
    })
  }
  /** Probes while `act` is at work; in a start, once everything is read. */
  const phase = async (name: string, act: () => Promise<unknown>, begins?: number): Promise<void> => {
    say(`  ${name}`)
    if (begins !== undefined) await ordinaryOnes()
    const reading = begins === undefined ? undefined : performance.now() - begins
    let isOver = false
    const acting = act()
      .catch(note)
      .finally(() => {
        isOver = true
      })
    const figures = await probe(cp, operator, probes, () => isOver)
    await acting
    phases.push({ ...figures, reading, peak: operator.peak() })
    say(`    ${cell(phases.at(-1))}`)
  }
  try {
    await phase('start', settled, started)
    await phase('edited all the time', () => edit(cp, content, space))
    await operator.stop()
    notes.push(...operator.deaths.map((how) => `ended before the restart: ${how}`))
    started = performance.now()
    operator = await watchOperator(cp, start)
    await phase('restart', settled, started)
    notes.push(...operator.deaths.map((how) => `ended after the restart: ${how}`))
  } catch (error) {
    note(error)
  } finally {
    await operator.stop().catch(note)
  }
  const apiServer = usageOf(processNamed(cp.pids(), 'kube-apiserver')).peak / 2 ** 20
  const cells = Array.from({ length: 3 }, (_, at) => cell(phases[at]))
  return (
    `${content.name.padEnd(42)}${(bytes / 1e6).toFixed(2)} MB ${each.toFixed(1).padStart(5)} s${cells.join('')}` +
    `${apiServer.toFixed(0).padStart(8)} MiB ${notes.length === 0 ? '' : `(${notes.join('; ')})`}`
  )
}

function cell(figures: PhaseFigures | undefined): string {
  if (figures === undefined) return '-'.padStart(42)
  const { peak, reading, slowest, serverTime, lag } = figures
  const [read, ready, writes] = [reading, slowest, serverTime].map((ms) =>
    (ms === undefined ? '' : `${Number.isNaN(ms) ? '>60' : (ms / 1000).toFixed(2)} s`).padStart(9),
  )
  return `${peak.toFixed(0).padStart(6)} MiB${read}${ready}${writes}${`<${lag}`.padStart(6)}`
}

async function edit(cp: ControlPlane, { large }: Content, space: string): Promise<void> {
  const endMs = performance.now() + EDITING_MS
  let at = 0
  const editor = async (): Promise<void> => {
    while (performance.now() < endMs) {
      at++
      const change = { metadata: { annotations: { edit: String(at) } } }
      await cp.admin
        .patch(idOf(large(space, at % count)), change)
        .catch((error: unknown) => say(`  ${String(error)}`))
    }
  }
  await Promise.all(Array.from({ length: EDITORS }, editor))
  say(`    ${at} edits`)
}

/** The ordinary bindings with all that the operator writes for them, as every content finds them. */
async function prepare(cp: ControlPlane): Promise<void> {
  say(`${ordinary} ordinary bindings`)
  await createEstate(cp, POOL_PER_NAMESPACE.estate(ordinary, 'team'))
  await cp.apply([namespace(ELSEWHERE), pool(ELSEWHERE, 'llama', { app: 'llama' })])
  const operator = await startOperator(cp, start)
  await untilSettled(operator, 'Reconciled', ordinary, 1_000)
  await operator.stop()
  await cp.backUpEtcd()
}

const names = options.only.split('|')
const chosen = CONTENTS.filter(({ name }) => names.some((text) => name.includes(text)))
if (chosen.length === 0) throw new Error(`no content is called ${options.only}`)
process.stdout.write(
  `${machineLine()}\n${count} large objects, ${admitted} of them admitted and the others copies, beside ${ordinary} bindings\n` +
    'each phase: most memory; what reading everything takes; slowest new binding elsewhere until Ready; what the API server takes for any client; lag of the event loop\n\n' +
    `${'content'.padEnd(42)}each: size, time${'start'.padStart(24)}${'edited'.padStart(42)}${'restart'.padStart(42)}${'API server'.padStart(28)}\n`,
)
const cp = await startOperatorPlane({
  controllers: [],
  etcdQuota: ETCD_BYTES,
  auditBodies: false,
  apiServerMemory: API_SERVER_MEMORY,
})
try {
  await prepare(cp)
  for (const content of chosen) {
    say(content.name)
    await cp.restoreEtcd()
    await cp.restartApiServer()
    const row = await measure(cp, content).catch(
      (error: unknown) => `${content.name.padEnd(42)}${String(error)}`,
    )
    process.stdout.write(`${row}\n`)
  }
} finally {
  await cp.stop()
}
