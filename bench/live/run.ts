// `npm run bench:live`: what the plugin costs on a real API server: requests, bytes, memory, and time beside kubectl's.
// `-- --bindings N --pods M` says how large the cluster is (2,000 and 20,000), `-- --quick` is a small one and one run
// each. It prints a table, and the same as one line of JSON. Nothing is asserted about time or memory; it fails where
// `explain` of one binding takes more than 20 requests, or `conflicts -A` asks for anything but pages of lists.
import process from 'node:process'
import { parseArgs } from 'node:util'
import { startOperatorPlane } from '../../test/control-plane/operator.ts'
import { machineLine } from '../machine.ts'
import { sizeFrom, type EstateSize } from './estate.ts'
import { fill } from './fill.ts'
import { COMMANDS, measure, type CommandMeasurement } from './measure.ts'

const SIZE: EstateSize = { bindings: 2_000, pods: 20_000 }
const QUICK_SIZE: EstateSize = { bindings: 100, pods: 1_000 }
const RUNS = 3
/** A user of its own, so that the audit log tells its requests from the harness's. */
const USER = 'person'

const { values: options } = parseArgs({
  options: {
    bindings: { type: 'string' },
    pods: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})

const COLUMNS = [
  ['s', ({ seconds }) => seconds.toFixed(2)],
  ['x get pods', ({ seconds }, [, pods]) => ratio(seconds, pods)],
  ['x version', ({ seconds }, [version]) => ratio(seconds, version)],
  ['CPU s', ({ cpu }) => cpu.toFixed(2)],
  ['peak MiB', ({ peak }) => mib(peak)],
  ['sent MiB', ({ received }) => (received / 2 ** 20).toFixed(2)],
  ['requests', ({ requests }) => String(requests.total)],
  ['pages', ({ requests }) => String(requests.pages)],
] satisfies readonly (readonly [
  string,
  (one: CommandMeasurement, kubectl: readonly CommandMeasurement[]) => string,
])[]

function ratio(seconds: number, base: CommandMeasurement | undefined): string {
  return base === undefined ? '' : (seconds / base.seconds).toFixed(1)
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0)
}

function row(name: string, cells: readonly string[]): string {
  return `${name.padEnd(30)}${cells.map((cell) => cell.padStart(11)).join('')}\n`
}

function table(measured: readonly CommandMeasurement[]): string {
  const rows = measured.map((one) =>
    row(
      one.command,
      COLUMNS.map(([, cell]) => cell(one, measured)),
    ),
  )
  const asked = measured.map(
    ({ command, requests }) =>
      `${command}: ${requests.asked.map(({ what, count }) => `${count} ${what}`).join(', ')}\n`,
  )
  const head = row(
    '',
    COLUMNS.map(([name]) => name),
  )
  return `${head}${rows.join('')}\n${asked.join('')}`
}

async function main(): Promise<number> {
  const otherwise = options.quick ? QUICK_SIZE : SIZE
  const size = sizeFrom(options, otherwise)
  const from = performance.now()
  const say = (line: string): void =>
    void process.stderr.write(`${((performance.now() - from) / 1000).toFixed(0).padStart(5)} s: ${line}\n`)
  const cp = await startOperatorPlane({
    controllers: [],
    users: [{ name: USER, groups: ['system:masters'] }],
  })
  try {
    await fill(cp, size, say)
    const measured: CommandMeasurement[] = []
    for (const command of COMMANDS) {
      say(command.name)
      measured.push(await measure(cp, command, { user: USER, runs: options.quick ? 1 : RUNS }))
    }
    process.stdout.write(
      `${machineLine()}\n${size.bindings} bindings, ${size.pods} pods\n\n${table(measured)}`,
    )
    process.stdout.write(`${JSON.stringify({ size, measured })}\n`)
    const broken = measured.flatMap((one) => (one.broken === undefined ? [] : [one.broken]))
    for (const sentence of broken) process.stderr.write(`error: ${sentence}\n`)
    return broken.length === 0 ? 0 : 1
  } finally {
    await cp.stop()
  }
}

process.exitCode = await main()
