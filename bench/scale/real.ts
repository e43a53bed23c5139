// One operator and many bindings on the real kube-apiserver and etcd, from a start over bindings that wait to a restart over what is
// settled. Requests are what the operator itself counts: the audit log of so many writes would take longer to read than they took.
import process from 'node:process'
import type { ControlPlane } from '../../test/control-plane/control-plane.ts'
import { startOperator, startOperatorPlane, type RunningOperator } from '../../test/control-plane/operator.ts'
import { createEstate, metricOf, untilSettled } from '../operator/measure.ts'
import { POOL_PER_NAMESPACE } from '../operator/shapes.ts'
import { processNamed, usageOf } from '../operator/usage.ts'

const LOOK_MS = 1_000
const SERVERS = ['kube-apiserver', 'etcd'] as const

/** What one run of the operator has cost. */
interface Run {
  readonly seconds: number
  /** CPU seconds of the operator, and of the API server and etcd meanwhile. */
  readonly cpu: number
  readonly serverCpu: readonly number[]
  /** In bytes. */
  readonly peak: number
  readonly writes: number
  readonly refused: number
  readonly reads: number
}

/** Writes a line for the start and the restart of each size. */
export async function realTable(sizes: readonly number[], executable: string): Promise<void> {
  for (const size of sizes) {
    const say = (line: string): void => void process.stderr.write(`${size}: ${line}\n`)
    const cp = await startOperatorPlane({ controllers: [], auditBodies: false })
    try {
      say('creating')
      await createEstate(cp, POOL_PER_NAMESPACE.estate(size, 'bench'))
      process.stdout.write(`\n${size} bindings on a real API server\n`)
      for (const label of ['cold start to settled', 'restart to settled']) {
        say(label)
        process.stdout.write(`  ${label.padEnd(24)}${cellsOf(await run(cp, size, executable), size)}\n`)
      }
    } finally {
      await cp.stop()
    }
  }
}

async function run(cp: ControlPlane, count: number, executable: string): Promise<Run> {
  const before = serversCpu(cp)
  const from = performance.now()
  // What is measured is the operator, not how long its limits make it wait.
  const operator = await startOperator(cp, { command: [executable], flags: ['--writes-per-second=0'] })
  await untilSettled(operator, 'Reconciled', count, LOOK_MS)
  const seconds = (performance.now() - from) / 1000
  const { cpu, peak } = usageOf(operator.program.pid)
  const serverCpu = serversCpu(cp).map((now, at) => now - (before[at] ?? 0))
  const requests = await requestsOf(operator)
  await operator.stop()
  return { seconds, cpu, serverCpu, peak, ...requests }
}

function serversCpu(cp: ControlPlane): readonly number[] {
  return SERVERS.map((name) => usageOf(processNamed(cp.pids(), name)).cpu)
}

async function requestsOf(operator: RunningOperator): Promise<Pick<Run, 'writes' | 'refused' | 'reads'>> {
  const text = await operator.metrics()
  const count = (labels: string): number => metricOf(text, 'rest_client_requests_total', labels)
  const reads = count('method="GET"')
  // The first read of the Lease finds none.
  const refused = count('code="4') - count('code="404",method="GET"')
  return { writes: count('') - reads, refused, reads }
}

function cellsOf({ seconds, cpu, serverCpu, peak, writes, refused, reads }: Run, size: number): string {
  return [
    `${seconds.toFixed(1)} s`,
    `CPU ${cpu.toFixed(1)} s`,
    `${((cpu / size) * 1000).toFixed(2)} ms each`,
    ...serverCpu.map((one, at) => `${SERVERS[at]} ${one.toFixed(1)} s`),
    `peak ${(peak / 2 ** 20).toFixed(0)} MiB`,
    `${(writes / size).toFixed(2)} writes each`,
    `${refused} refused`,
    `${reads} reads`,
  ]
    .map((cell) => cell.padStart(24))
    .join('')
}
