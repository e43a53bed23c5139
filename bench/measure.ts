// Runs one scenario at one size in this process, and prints what it took as one line of JSON. `run.ts` starts a process
// for each, so that the peak memory is that of one question and no scenario warms up another's code.
import { SCENARIOS } from './scenarios.ts'

/** What one process has measured. Times are seconds of CPU, user and system, of all threads of the process. */
export interface ScenarioMeasurement {
  /** From raw objects to snapshots. */
  readonly read: number
  /** From snapshots to the answer: the median of the runs after the first. */
  readonly answer: number
  /** The same in a process that has just started, before any code is optimised. */
  readonly cold: number
  /** Bytes of resident memory at the end of the first run, the made-up cluster included. */
  readonly peak: number
  readonly result: string
}

/** Enough to have a median, and not much more than this many seconds. */
const RUNS = 5
const SECONDS = 1

function measure(name: string, size: number): ScenarioMeasurement {
  const scenario = SCENARIOS.find((one) => one.name === name)
  if (scenario === undefined) throw new Error(`there is no scenario ${name}`)
  const question = scenario.ask(size)
  const first = runOnce(question)
  const peak = process.resourceUsage().maxRSS * 1024
  const runs = [runOnce(question)]
  let spent = runs[0]?.total ?? 0
  while (runs.length < RUNS && spent < SECONDS) {
    const run = runOnce(question)
    runs.push(run)
    spent += run.total
  }
  return {
    read: median(runs.map(({ read }) => read)),
    answer: median(runs.map(({ answer }) => answer)),
    cold: first.answer,
    peak,
    result: first.result,
  }
}

function runOnce({ read, answer }: ReturnType<(typeof SCENARIOS)[number]['ask']>): {
  readonly read: number
  readonly answer: number
  readonly total: number
  readonly result: string
} {
  const start = process.cpuUsage()
  const snapshots = read()
  const reading = secondsSince(start)
  const result = answer(snapshots)
  const total = secondsSince(start)
  return { read: reading, answer: total - reading, total, result }
}

function secondsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

const [name = '', size = ''] = process.argv.slice(2)
process.stdout.write(`${JSON.stringify(measure(name, Number(size)))}\n`)
