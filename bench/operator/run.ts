// `npm run bench:operator`: what the operator costs on a real API server, as tables. `-- --sizes 100,1000` names the numbers
// of bindings, `-- --quick` is the smallest size and short windows, `-- --only TEXT` the tables whose names hold TEXT,
// `-- --scm` puts a real SCM beside it, and `-- --executable PATH` takes another operator (a .mjs or .ts file runs on this
// Node). It asserts nothing about time: docs/performance.md holds the aims. It fails only where it cannot measure.
import process from 'node:process'
import { parseArgs } from 'node:util'
import { machineLine } from '../machine.ts'
import { measureBystanders, type Bystanders } from './bystanders.ts'
import { measureDeletions, type Deletions } from './deletions.ts'
import { measure, type OperatorMeasurement, type Start } from './measure.ts'
import { SHAPES } from './shapes.ts'

const SIZES = [100, 1_000, 5_000]
const IDLE_SECONDS = 60
const QUICK_IDLE_SECONDS = 6

const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    executable: { type: 'string' },
    scm: { type: 'boolean', default: false },
  },
})

type Rows<T> = readonly (readonly [label: string, cell: (measured: T, size: number) => string])[]

const ESTATE_ROWS: Rows<OperatorMeasurement> = [
  ['cold start to settled, s', ({ cold }) => cold.seconds.toFixed(1)],
  ['  the floor (the same writes), s', ({ floor }) => floor.seconds.toFixed(1)],
  ['  ratio', ({ cold, floor }) => (cold.seconds / floor.seconds).toFixed(2)],
  ['  writes per binding', ({ cold }, size) => (cold.requests.writes / size).toFixed(2)],
  ['  refused writes', ({ cold }) => String(cold.requests.refused)],
  ['  reads of single objects', ({ cold }) => String(cold.requests.reads)],
  ['  pages of lists', ({ cold }) => String(cold.requests.pages)],
  ['  operator CPU, s', ({ cold }) => cold.operator.cpu.toFixed(1)],
  ["  the floor's own CPU, s", ({ floor }) => floor.cpu.toFixed(1)],
  ['  API server CPU, s', ({ cold }) => cold.serverCpu.toFixed(1)],
  ['  API server CPU for the floor, s', ({ floor }) => floor.serverCpu.toFixed(1)],
  ['  peak RSS, MiB', ({ cold }) => mib(cold.operator.peak)],
  ['  of it anonymous at the end, MiB', ({ cold }) => mib(cold.operator.anonymous)],
  ["idle: the Lease's requests a minute", ({ idlePerMinute }) => idlePerMinute.lease.toFixed(0)],
  ['  other requests a minute', ({ idlePerMinute }) => idlePerMinute.others.toFixed(0)],
  ['  writes among them', ({ idlePerMinute }) => idlePerMinute.writes.toFixed(0)],
  ['restart to settled, s', ({ restart }) => restart.seconds.toFixed(1)],
  ["  writes but the Lease's", ({ restart }) => String(restart.requests.writes)],
  ['  pages of lists', ({ restart }) => String(restart.requests.pages)],
  ["  requests beside pages and the Lease's", ({ restart }) => String(restart.requests.besidePages)],
  ['  operator CPU, s', ({ restart }) => restart.operator.cpu.toFixed(1)],
  ['  API server CPU, s', ({ restart }) => restart.serverCpu.toFixed(1)],
  ['  peak RSS, MiB', ({ restart }) => mib(restart.operator.peak)],
  ['  of it anonymous at the end, MiB', ({ restart }) => mib(restart.operator.anonymous)],
]

/** The rows of SCM's part, with `--scm`. */
const SCM_ROWS: Rows<OperatorMeasurement> = [
  ['with SCM: every binding in force, s', ({ cold }) => cold.withInForce?.seconds.toFixed(1) ?? ''],
  [
    '  writes per binding',
    ({ cold }, size) => ((cold.withInForce?.requests.writes ?? Number.NaN) / size).toFixed(2),
  ],
]

const GROUP_ROWS: Rows<Bystanders> = [
  ['created and settled, s', ({ created }) => created.seconds.toFixed(1)],
  ['  writes per binding', ({ created }, size) => (created.writes / size).toFixed(2)],
  ['  operator CPU, s', ({ created }) => created.cpu.toFixed(1)],
  ['  API server CPU, s', ({ created }) => created.serverCpu.toFixed(1)],
  ['  new ones elsewhere', ({ created }) => String(created.elsewhereMs.length)],
  ['  ready after, median ms', ({ created }) => median(created.elsewhereMs).toFixed(0)],
  ['  ready after, longest ms', ({ created }) => Math.max(...created.elsewhereMs).toFixed(0)],
  ['one more joins: settled, s', ({ joined }) => joined.seconds.toFixed(1)],
  ['  writes', ({ joined }) => String(joined.writes)],
  ['  operator CPU, s', ({ joined }) => joined.cpu.toFixed(1)],
  ['  ready elsewhere after, median ms', ({ joined }) => median(joined.elsewhereMs).toFixed(0)],
  ['  ready elsewhere after, longest ms', ({ joined }) => Math.max(...joined.elsewhereMs).toFixed(0)],
  ['peak RSS, MiB', ({ operator }) => mib(operator.peak)],
]

const DELETION_ROWS: Rows<Deletions> = [
  ['bindings that came and went', ({ rounds }) => String(rounds)],
  ['  gone after, median ms', ({ goneMs }) => median(goneMs).toFixed(0)],
  ['  gone after, longest ms', ({ goneMs }) => Math.max(...goneMs).toFixed(0)],
  ['in s', ({ seconds }) => seconds.toFixed(1)],
  ['  pages of lists', ({ pages }) => String(pages)],
  ['  operator CPU, s', ({ cpu }) => cpu.toFixed(1)],
  ['  API server CPU, s', (measured) => measured.serverCpu.toFixed(1)],
  ['peak RSS, MiB', ({ operator }) => mib(operator.peak)],
]

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function sizesOf(text: string | undefined, quick: boolean): readonly number[] {
  const sizes = text === undefined ? (quick ? SIZES.slice(0, 1) : SIZES) : text.split(',').map(Number)
  if (sizes.every((size) => Number.isInteger(size) && size > 0)) return sizes
  throw new Error(`--sizes ${String(text)}: give whole numbers with commas between them, e.g. 100,1000`)
}

function startOf(executable: string | undefined): Start {
  if (executable === undefined) return {}
  return { command: /\.[mt]s$/.test(executable) ? [process.execPath, executable] : [executable] }
}

function lineOf(label: string, cells: readonly string[]): string {
  return `${label.padEnd(40)}${cells.map((cell) => cell.padStart(9)).join('')}\n`
}

/** One table: a column for each size. What is going on is said on the other stream. */
async function table<T>(
  name: string,
  rows: Rows<T>,
  one: (size: number, say: (line: string) => void) => Promise<T>,
): Promise<void> {
  if (!name.includes(options.only)) return
  const sizes = sizesOf(options.sizes, options.quick)
  const measured: T[] = []
  for (const size of sizes)
    measured.push(await one(size, (line) => void process.stderr.write(`${name}, ${size}: ${line}\n`)))
  process.stdout.write(`\n${name}\n${lineOf('bindings', sizes.map(String))}`)
  for (const [label, cell] of rows)
    process.stdout.write(
      lineOf(
        label,
        measured.map((of, at) => cell(of, sizes[at] ?? Number.NaN)),
      ),
    )
}

const start = startOf(options.executable)
const idleSeconds = options.quick ? QUICK_IDLE_SECONDS : IDLE_SECONDS
process.stdout.write(`${machineLine()}\n`)
const { scm } = options
for (const shape of SHAPES)
  await table(shape.name, scm ? [...ESTATE_ROWS, ...SCM_ROWS] : ESTATE_ROWS, (count, say) =>
    measure({ shape, count, start, scm, idleSeconds, say }),
  )
if (!scm) {
  await table('one collision group of all', GROUP_ROWS, (count, say) => measureBystanders(count, start, say))
  await table('deletions beside so many outputs', DELETION_ROWS, (count, say) =>
    measureDeletions(count, start, say),
  )
}
