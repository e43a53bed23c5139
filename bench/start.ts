// `npm run bench:start`: how long the plugin takes as a whole process, beside `kubectl version --client`: both in turn, many
// times, and the median of the ratios. `-- --runs N` (120), `-- --executable PATH` for another build as well, as often as
// there are builds. Nothing is asserted; it fails where a command does not answer.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { ensureBinaries } from '../test/control-plane/binaries.ts'
import { EXECUTABLE } from './live/measure.ts'
import { machineLine } from './machine.ts'

const ROOT = join(import.meta.dirname, '..')
const ESTATE = ['--offline', '-R', '-f', 'examples/estate']

interface Command {
  readonly name: string
  readonly args: readonly string[]
  /** 1 is an answer with findings. */
  readonly codes: readonly number[]
}

const COMMANDS: readonly Command[] = [
  { name: 'completion of a word', args: ['__complete', 'exp'], codes: [0] },
  { name: '--help', args: ['--help'], codes: [0] },
  {
    name: 'explain, one team',
    args: ['explain', '-n', 'team-a', '--offline', '-f', 'examples/estate/team-a'],
    // Its answer takes for granted what its settings leave open.
    codes: [0],
  },
  { name: 'explain, one of the estate', args: ['explain', 'team-a/chat', ...ESTATE], codes: [0] },
  { name: 'explain, all of the estate', args: ['explain', '-A', ...ESTATE], codes: [0, 1] },
]

/** The milliseconds of one run to its end; its output goes nowhere. */
function timeOf(program: string, { name, args, codes }: Command): number {
  const from = performance.now()
  const { status, error } = spawnSync(program, args, { cwd: ROOT, stdio: 'ignore' })
  const took = performance.now() - from
  if (error !== undefined) throw error
  if (status === null || !codes.includes(status)) throw new Error(`${program}: ${name} ended with ${status}`)
  return took
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2
}

function row(name: string, cells: readonly string[]): string {
  return `${name.padEnd(30)}${cells.map((cell) => cell.padStart(10)).join('')}\n`
}

function rowOf(name: string, times: readonly number[], base: readonly number[]): string {
  const ratios = times.map((time, at) => time / (base[at] ?? Number.NaN))
  return row(name, [Math.min(...times).toFixed(1), median(times).toFixed(1), median(ratios).toFixed(2)])
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string', default: '120' },
      executable: { type: 'string', multiple: true, default: [] },
    },
  })
  const runs = Number(values.runs)
  if (!Number.isSafeInteger(runs) || runs < 1) throw new RangeError(`--runs ${values.runs}: a number from 1`)
  const binaries = await ensureBinaries()
  if (!binaries.available) throw new Error(`there is no kubectl: ${binaries.why}; ${binaries.fix}`)
  const builds = [EXECUTABLE, ...values.executable].map((program) => ({
    program,
    commands: COMMANDS.map((command) => ({ command, times: [] as number[] })),
  }))
  const { kubectl } = binaries.programs
  const version = { name: 'version --client', args: ['version', '--client'], codes: [0] }
  const base: number[] = []
  // The first round only warms the file caches.
  for (let round = 0; round <= runs; round++) {
    const began = timeOf(kubectl, version)
    if (round > 0) base.push(began)
    for (const { program, commands } of builds)
      for (const { command, times } of commands) {
        const took = timeOf(program, command)
        if (round > 0) times.push(took)
      }
  }
  process.stdout.write(
    `${machineLine()}\n${runs} runs each, in turn\n\n${row('', ['min ms', 'median', 'ratio'])}`,
  )
  process.stdout.write(rowOf('kubectl version --client', base, base))
  for (const { program, commands } of builds) {
    if (builds.length > 1) process.stdout.write(`${program}\n`)
    for (const { command, times } of commands) process.stdout.write(rowOf(command.name, times, base))
  }
}

await main()
