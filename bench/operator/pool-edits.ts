// `npm run bench:pool-edits`: what a tenant who edits a pool that many bindings name does to everybody else, on a real API
// server: how long a new binding in another namespace takes to be ready, and whether the Lease is kept. `-- --executable PATH`
// takes another operator (a .ts file runs on this Node). It asserts nothing: docs/performance.md holds the figures.
import process from 'node:process'
import { parseArgs } from 'node:util'
import { createTenants, readyBesideEdits, type PoolEdits } from '../../test/control-plane/pool-edits.ts'
import { startLeading, startOperatorPlane, type OperatorOptions } from '../../test/control-plane/operator.ts'
import { machineLine } from '../machine.ts'
import { usageOf } from './usage.ts'

const SECONDS = 20
const ROWS: readonly PoolEdits[] = [
  { bindings: 300, editsPerSecond: 14, labels: 64, seconds: SECONDS },
  { bindings: 2_000, editsPerSecond: 2, labels: 64, seconds: SECONDS },
  { bindings: 2_000, editsPerSecond: 40, labels: 64, seconds: SECONDS },
]

const { values: options } = parseArgs({ options: { executable: { type: 'string' } } })
process.stdout.write(
  `${machineLine()}\n\nbindings  edits/s  new elsewhere  ready after, ms: median  longest\n`,
)
for (const row of ROWS) process.stdout.write(`${await lineOf(row)}\n`)

async function lineOf(row: PoolEdits): Promise<string> {
  const cp = await startOperatorPlane({ controllers: [] })
  try {
    await createTenants(cp, row)
    const operator = await startLeading(cp, operatorOf(options.executable))
    const times = (await readyBesideEdits(cp, row)).toSorted((a, b) => a - b)
    const how = operator.program.ended()
    const cells = [row.bindings, row.editsPerSecond, times.length, median(times), times.at(-1) ?? Number.NaN]
    const line = cells.map((cell) => cell.toFixed(0).padStart(9)).join('')
    return how === undefined
      ? `${line}  CPU ${usageOf(operator.program.pid).cpu.toFixed(0)} s`
      : `${line}  ended: ${how}`
  } finally {
    await cp.stop()
  }
}

function median(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function operatorOf(executable: string | undefined): OperatorOptions {
  if (executable === undefined) return {}
  return { command: executable.endsWith('.ts') ? [process.execPath, executable] : [executable] }
}
