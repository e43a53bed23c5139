// One operator and many bindings, on an API server that is played with whole bodies: so the size is not what a real one on this machine can
// hold. For each size: a start over bindings that wait, beside an SCM that has 10 pods for each output; new counters for each output; one
// binding more, and many more; and a restart over what is settled.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { pauseFor } from '@kleym/testing/wait.ts'
import { stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { ensureBinaries } from '../../test/control-plane/binaries.ts'
import { CRD_NAMES, readCrd } from '../../test/control-plane/crds.ts'
import { TRUST_DOMAIN } from '../../test/control-plane/operator.ts'
import { freePorts } from '../../test/control-plane/ports.ts'
import { metricOf } from '../operator/measure.ts'
import { POOL_PER_NAMESPACE, type BenchEstate } from '../operator/shapes.ts'
import { usageOf } from '../operator/usage.ts'
import { PlayedApiServer, type Asked } from './api-server.ts'
import { playedKubeconfig } from '../played-kubeconfig.ts'
import { PlayedScm, statusOf } from './scm.ts'
import { settledObjects } from './settled.ts'

/** Pods behind each binding: a million behind 100,000. */
const PODS = 10
/** Bindings that come beside all others: what one costs more, whatever the size. */
const MORE = 1_000
/** How often the operator is asked how far it is: it pays for each answer. */
const LOOK_MS = 500
/** After how many looks it is said how far it is: half a minute. */
const LOOKS = 60
const MAX_MS = 3_600_000

/** What is waited for, as a sample of a metric. */
const WAITED = {
  ready: ['kleym_identity_bindings', 'reason="Reconciled"'],
  'in force': ['kleym_identity_bindings_in_force', 'reason="Registered"'],
} as const

/** What one phase has cost. */
interface Phase {
  readonly seconds: number
  readonly cpu: number
  /** In bytes. */
  readonly peak: number
  readonly asked: Asked
}

/** Where an operator is started. */
interface Stage {
  readonly server: PlayedApiServer
  readonly port: number
  readonly folder: string
  readonly executable: string
}

/** An operator that runs on a played API server. */
class Operator {
  readonly #child: ChildProcess
  readonly #metrics: number
  readonly #server: PlayedApiServer
  readonly #from = performance.now()
  #cpu = 0

  private constructor(child: ChildProcess, metrics: number, server: PlayedApiServer) {
    this.#child = child
    this.#metrics = metrics
    this.#server = server
  }

  static async start({ server, port, folder, executable }: Stage): Promise<Operator> {
    const kubeconfig = join(folder, 'kubeconfig')
    writeFileSync(kubeconfig, playedKubeconfig(port))
    const [probes = 0, metrics = 0] = await freePorts(2)
    server.asked()
    const child = spawn(
      executable,
      [
        `--trust-domain=${TRUST_DOMAIN}`,
        `--kubeconfig=${kubeconfig}`,
        '--leader-election-namespace=kleym-system',
        `--health-probe-bind-address=127.0.0.1:${probes}`,
        `--metrics-bind-address=127.0.0.1:${metrics}`,
        // What is measured is the operator, not how long its limits make it wait.
        '--writes-per-second=0',
      ],
      { stdio: ['ignore', 'ignore', 'ignore'] },
    )
    return new Operator(child, metrics, server)
  }

  /**
   * Resolves when so many bindings are ready, or in force by counters that add up to `entries`, and nothing waits; says what that has cost
   * since the last phase.
   */
  async until(
    what: keyof typeof WAITED,
    { count, entries }: { readonly count: number; readonly entries?: number },
    from = this.#from,
  ): Promise<Phase> {
    const [metric, labels] = WAITED[what]
    for (let looks = 1; ; looks++) {
      if (this.#child.exitCode !== null) throw new Error(`the operator has ended: ${this.#child.exitCode}`)
      const text = await fetch(`http://127.0.0.1:${this.#metrics}/metrics`).then(
        (answer) => answer.text(),
        () => '',
      )
      const waiting = metricOf(text, 'workqueue_depth') + metricOf(text, 'workqueue_unfinished_work_seconds')
      const isCounted = entries === undefined || metricOf(text, 'kleym_identity_entries') === entries
      if (metricOf(text, metric, labels) >= count && isCounted && waiting === 0) break
      if (looks % LOOKS === 0) {
        const { cpu, peak } = usageOf(this.#child.pid ?? 0)
        const soFar = `${metricOf(text, metric, labels)} of ${count} ${what}`
        process.stderr.write(`${soFar}, CPU ${cpu.toFixed(0)} s, peak ${mib(peak)} MiB\n`)
      }
      if (performance.now() - from > MAX_MS)
        throw new Error(`not settled: ${metricOf(text, metric, labels)} of ${count}`)
      await pauseFor(LOOK_MS)
    }
    const { cpu, peak } = usageOf(this.#child.pid ?? 0)
    const phase = {
      seconds: (performance.now() - from) / 1000,
      cpu: cpu - this.#cpu,
      peak,
      asked: this.#server.asked(),
    }
    this.#cpu = cpu
    return phase
  }

  stop(): Promise<unknown> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill('SIGTERM')
    return ended
  }
}

/** Takes one size through its phases, and writes what each has cost as soon as it has ended. */
async function measure(
  count: number,
  { executable, settled }: PlayedOptions,
  crds: readonly JsonRecord[],
): Promise<void> {
  const server = new PlayedApiServer()
  const port = await server.listen()
  const folder = mkdtempSync(join(tmpdir(), 'kleym-scale-'))
  const scm = new PlayedScm(server)
  const stage = { server, port, folder, executable }
  const all = count + 1 + MORE
  const putAll = ({ references, bindings }: BenchEstate): void => {
    for (const object of [...references, ...bindings]) server.put(object)
  }
  try {
    for (const crd of crds) server.put(crd)
    const estate = POOL_PER_NAMESPACE.estate(count, 'bench')
    if (settled) putSettled(server, estate)
    else putAll(estate)
    const operator = await Operator.start(stage)
    if (!settled) scm.start(PODS)
    const start = await operator.until('in force', { count, entries: count * PODS })
    scm.stop()
    writeRow(settled ? 'start over what is settled' : 'cold start until all are in force', count, start)
    let from = performance.now()
    await scm.pass(PODS - 1)
    const counted = await operator.until('in force', { count, entries: count * (PODS - 1) }, from)
    writeRow('SCM counts other pods of each', count, counted)
    from = performance.now()
    putAll(POOL_PER_NAMESPACE.estate(1, 'one'))
    writeRow('one more binding', 1, await operator.until('ready', { count: count + 1 }, from))
    from = performance.now()
    putAll(POOL_PER_NAMESPACE.estate(MORE, 'more'))
    writeRow(`${MORE} more`, MORE, await operator.until('ready', { count: all }, from))
    from = performance.now()
    await scm.pass(PODS - 1)
    const first = await operator.until('in force', { count: all, entries: all * (PODS - 1) }, from)
    writeRow('SCM counts those for the first time', MORE, first)
    await operator.stop()
    const again = await Operator.start(stage)
    writeRow('restart to settled', all, await again.until('ready', { count: all }))
    await again.stop()
  } finally {
    scm.stop()
    server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function spaceOf(object: JsonRecord): string {
  return stringAt(object, 'metadata', 'namespace') ?? ''
}

/** Puts an estate as an operator and SCM have left it, one namespace after the other. */
function putSettled(server: PlayedApiServer, { references, bindings }: BenchEstate): void {
  const bindingsOf = Map.groupBy(bindings, spaceOf)
  for (const [space, own] of Map.groupBy(references, spaceOf)) {
    const estate = { namespaces: [], references: own, bindings: bindingsOf.get(space) ?? [] }
    for (const object of [...own, ...settledObjects(estate, statusOf(PODS))]) server.put(object)
  }
}

export interface PlayedOptions {
  readonly executable: string
  /** Whether what the operator starts over is settled already, which leaves the cold start out. */
  readonly settled: boolean
}

/** Writes the table of each size. */
export async function playedTables(sizes: readonly number[], options: PlayedOptions): Promise<void> {
  const binaries = await ensureBinaries()
  if (!binaries.available) throw new Error(binaries.why)
  const crds = CRD_NAMES.map((name) => readCrd(name, binaries.crds))
  for (const size of sizes) {
    process.stdout.write(`\n${size} bindings\n`)
    await measure(size, options, crds)
  }
}

function writeRow(label: string, each: number, phase: Phase): void {
  process.stdout.write(`  ${label.padEnd(36)}${cellsOf(phase, each)}\n`)
}

function cellsOf({ seconds, cpu, peak, asked }: Phase, each: number): string {
  return [
    `${seconds.toFixed(1)} s`,
    `CPU ${cpu.toFixed(1)} s`,
    `${((cpu / each) * 1000).toFixed(2)} ms each`,
    `${(each / cpu).toFixed(0)} a CPU second`,
    `peak ${mib(peak)} MiB`,
    `${(asked.writes / each).toFixed(2)} writes each`,
    `${asked.refused} refused`,
    `${asked.pages} pages`,
    `${asked.gets} gets`,
    `${(asked.bytes / each / 2 ** 10).toFixed(1)} KiB each`,
  ]
    .map((cell) => cell.padStart(19))
    .join('')
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0)
}
