// `npm run bench:scale`: one operator and many bindings. The API server's side is played, with whole bodies, so that the size is not what a
// real one on this machine can hold (`bench:operator` has a real one). `-- --sizes 10000,100000` names the numbers of bindings. For each: a start over bindings that
// wait, the status writes of an SCM that has 10 pods for each binding, a binding that is created then, and a restart over what is settled.
// It asserts nothing about time; it fails only where it cannot measure.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { pauseFor } from '@kleym/testing/wait.ts'
import { stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { ensureBinaries } from '../../test/control-plane/binaries.ts'
import { CRD_NAMES, readCrd } from '../../test/control-plane/crds.ts'
import { EXECUTABLE, TRUST_DOMAIN } from '../../test/control-plane/operator.ts'
import { freePorts } from '../../test/control-plane/ports.ts'
import { estate, poolOnly } from '../../test/control-plane/objects.ts'
import { machineLine } from '../machine.ts'
import { SHAPES } from '../operator/shapes.ts'
import { usageOf } from '../operator/usage.ts'
import { PlayedApiServer, type Asked } from './api-server.ts'
import { playedKubeconfig } from '../played-kubeconfig.ts'

const SIZES = [1_000, 10_000, 100_000]
/** Pods behind each binding: a million behind 100,000. */
const PODS = 10
const OUTPUTS = 'spire.spiffe.io/clusterspiffeids'
const LOOK_MS = 250
const MAX_MS = 3_600_000

const { values: options } = parseArgs({
  options: { sizes: { type: 'string' }, executable: { type: 'string', default: EXECUTABLE } },
})

/** What one phase has cost. */
interface Phase {
  readonly seconds: number
  readonly cpu: number
  /** In bytes. */
  readonly peak: number
  readonly asked: Asked
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

  static async start(server: PlayedApiServer, port: number, folder: string): Promise<Operator> {
    const kubeconfig = join(folder, 'kubeconfig')
    writeFileSync(kubeconfig, playedKubeconfig(port))
    const [probes = 0, metrics = 0] = await freePorts(2)
    server.asked()
    const child = spawn(
      options.executable,
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

  /** Resolves when so many bindings have a metric's value and nothing waits; tells what that has cost since the last phase. */
  async until(metric: string, labels: string, count: number, from = this.#from): Promise<Phase> {
    for (;;) {
      if (this.#child.exitCode !== null) throw new Error(`the operator has ended: ${this.#child.exitCode}`)
      const text = await fetch(`http://127.0.0.1:${this.#metrics}/metrics`).then(
        (answer) => answer.text(),
        () => '',
      )
      const waiting =
        valueOf(text, 'workqueue_depth', '') + valueOf(text, 'workqueue_unfinished_work_seconds', '')
      if (valueOf(text, metric, labels) >= count && waiting === 0) break
      if (performance.now() - from > MAX_MS)
        throw new Error(`not settled: ${valueOf(text, metric, labels)} of ${count}`)
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

function valueOf(metrics: string, name: string, labels: string): number {
  return metrics
    .split('\n')
    .filter((line) => line.startsWith(name) && /[{ ]/.test(line.charAt(name.length)) && line.includes(labels))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}

/** What SCM writes of an output that reaches `PODS` pods. */
const STATS: JsonRecord = {
  stats: {
    namespacesSelected: 1,
    namespacesIgnored: 0,
    podsSelected: PODS,
    podEntryRenderFailures: 0,
    entriesMasked: 0,
    entriesToSet: PODS,
    entryFailures: 0,
  },
}

interface Measured {
  readonly cold: Phase
  readonly statuses: Phase
  readonly one: Phase
  readonly restart: Phase
}

async function measure(count: number, crds: readonly JsonRecord[]): Promise<Measured> {
  const server = new PlayedApiServer()
  const port = await server.listen()
  const folder = mkdtempSync(join(tmpdir(), 'kleym-scale-'))
  const say = (line: string): void => void process.stderr.write(`${count}: ${line}\n`)
  try {
    for (const crd of crds) server.put(crd)
    const shape = SHAPES[1]
    if (shape === undefined) throw new Error('there is no shape')
    const { references, bindings } = shape.estate(count, 'bench')
    for (const object of [...references, ...bindings]) server.put(object)
    say('cold start')
    const operator = await Operator.start(server, port, folder)
    const cold = await operator.until('kleym_identity_bindings', 'reason="Reconciled"', count)
    say('statuses of SCM')
    const from = performance.now()
    // SCM writes one status after the other at the end of a pass.
    for (const [at, key] of server.keys(OUTPUTS).entries()) {
      server.setStatus(OUTPUTS, key, STATS)
      // So that requests of the operator are answered in between.
      if (at % 20 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    const statuses = await operator.until(
      'kleym_identity_bindings_in_force',
      'reason="Registered"',
      count,
      from,
    )
    say('one more')
    const since = performance.now()
    for (const object of [...estate('elsewhere'), poolOnly('elsewhere', 'one')])
      if (stringAt(object, 'kind') !== 'Namespace') server.put(object)
    const one = await operator.until('kleym_identity_bindings', 'reason="Reconciled"', count + 1, since)
    await operator.stop()
    say('restart')
    const again = await Operator.start(server, port, folder)
    const restart = await again.until('kleym_identity_bindings', 'reason="Reconciled"', count + 1)
    await again.stop()
    return { cold, statuses, one, restart }
  } finally {
    server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const ROWS: readonly (readonly [label: string, phase: keyof Measured])[] = [
  ['cold start to settled', 'cold'],
  ['SCM writes the status of each output', 'statuses'],
  ['one more binding', 'one'],
  ['restart to settled', 'restart'],
]

const binaries = await ensureBinaries()
if (!binaries.available) throw new Error(binaries.why)
const crds = CRD_NAMES.map((name) => readCrd(name, binaries.crds))
const sizes = options.sizes?.split(',').map(Number) ?? SIZES
process.stdout.write(`${machineLine()}\n`)
for (const size of sizes) {
  const measured = await measure(size, crds)
  process.stdout.write(`\n${size} bindings\n`)
  for (const [label, name] of ROWS) {
    const { seconds, cpu, peak, asked } = measured[name]
    const each = (count: number): string => (count / size).toFixed(2)
    const cells = [
      `${seconds.toFixed(1)} s`,
      `CPU ${cpu.toFixed(1)} s`,
      `${((cpu / size) * 1000).toFixed(2)} ms each`,
      `peak ${(peak / 2 ** 20).toFixed(0)} MiB`,
      `${asked.writes} writes (${each(asked.writes)})`,
      `${asked.refused} refused`,
      `${asked.pages} pages`,
      `${asked.gets} gets`,
      `${(asked.bytes / 2 ** 20).toFixed(0)} MiB`,
    ]
    process.stdout.write(`  ${label.padEnd(38)}${cells.map((cell) => cell.padStart(23)).join('')}\n`)
  }
}
