// Runs steps and suites in processes of their own, and counts what passed and what failed. A skipped test counts as failed, so
// that nothing looks green that was not run.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import { listAt, own, stringAt } from '../../shared/src/core/base/json.ts'
import { keepSuiteSeconds, SUITE_SECONDS_FILE } from '../../test/testing/src/suite-seconds.ts'

export const ROOT = join(import.meta.dirname, '..', '..')
const BIN = join(ROOT, 'node_modules', '.bin')

/** Variables of the environment beside those of this process. */
export type Variables = Readonly<Record<string, string>>

/** Something that is checked by one command: it counts as one. */
export interface Step {
  readonly name: string
  readonly command: readonly [program: string, ...args: string[]]
}

/** The projects of vitest.config.ts. */
export type Project = 'anywhere' | 'programs' | 'control-plane' | 'svid' | 'agent'

/** Tests of some projects: vitest.config.ts says which run side by side. */
export interface Suites {
  readonly projects: readonly Project[]
  /** From the root of the project; absent: all. */
  readonly files?: readonly string[]
  /** `2/3`: the second third of the files; absent: all of them. */
  readonly shard?: string
}

/** How long one step or one suite took, in seconds. */
export interface Took {
  readonly name: string
  readonly tests: number
  readonly seconds: number
}

/** What a process has counted, as it hands it on. */
export interface Counted {
  readonly passed: number
  readonly failed: number
  /** A line for each failure. */
  readonly failures: readonly string[]
  readonly took: readonly Took[]
}

/** What passed and what failed so far, and how long each part of it took. */
export class Tally {
  passed = 0
  failed = 0
  readonly failures: string[] = []
  readonly took: Took[] = []

  /** The line that ends a run, alone on its line. */
  get line(): string {
    return `${this.passed} passed, ${this.failed} failed`
  }

  /** Adds what another process has counted. */
  merge({ passed, failed, failures, took }: Counted): void {
    this.passed += passed
    this.failed += failed
    this.failures.push(...failures)
    this.took.push(...took)
  }

  /** Counts one thing as failed. The line says which and why; it is said again at the very end. */
  fail(line: string): void {
    this.failed += 1
    this.failures.push(line)
  }
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** The end of a run: each failure again, since its own words are far above, and the line that counts. */
export function sayEnd({ failures, line }: Tally): void {
  if (failures.length > 0) say(`\nwhat failed:\n${failures.map((each) => `  ${each}`).join('\n')}\n`)
  say(line)
}

/** Runs a command at the project's root, with the programs of its packages on the PATH; whether it ended with 0. */
export function runCommand([program, ...args]: Step['command'], variables: Variables = {}): boolean {
  const path = `${BIN}${delimiter}${process.env['PATH'] ?? ''}`
  const { status } = spawnSync(program, args, {
    cwd: ROOT,
    stdio: 'inherit',
    shell: process.platform === 'win32',
    env: { ...process.env, ...variables, PATH: path },
  })
  return status === 0
}

export function runSteps(steps: readonly Step[], tally: Tally): void {
  for (const { name, command } of steps) {
    say(`\n== ${name}`)
    const seconds = stopwatch()
    const passed = runCommand(command)
    const outcome = `${name}: ${passed ? 'passed' : `FAILED (${command.join(' ')})`}`
    if (passed) tally.passed += 1
    else tally.fail(outcome)
    tally.took.push({ name, tests: 1, seconds: seconds() })
    say(`== ${outcome}`)
  }
}

export function runSuites(title: string, suites: Suites, tally: Tally, variables: Variables = {}): void {
  const { projects, files = [], shard } = suites
  say(`\n== ${title}${shard === undefined ? '' : `, part ${shard}`}`)
  const folder = mkdtempSync(join(tmpdir(), 'kleym-test-'))
  const file = join(folder, 'report.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const part = shard === undefined ? [] : [`--shard=${shard}`]
  const ended = runCommand(
    ['vitest', 'run', ...projects.map((name) => `--project=${name}`), ...part, ...reporters, ...files],
    variables,
  )
  const report = readReport(file)
  rmSync(folder, { recursive: true, force: true })
  if (report === undefined) {
    tally.fail(`${title}: vitest wrote no report`)
    return
  }
  tally.merge(report)
  keepSuiteSeconds(SUITE_SECONDS_FILE, report.took)
  // vitest also fails for errors outside of tests.
  if (!ended && report.failed === 0)
    tally.fail(`${title}: an error outside of the tests, which is printed above`)
}

/** Reads what vitest's JSON reporter writes; undefined if there is none, or if it lacks a number: then it is no report. */
export function readReport(file: string): Counted | undefined {
  try {
    const report: unknown = JSON.parse(readFileSync(file, 'utf8'))
    const suites = listAt(report, 'testResults')
    const failures = suites.flatMap(failuresIn)
    return {
      passed: numberAt(report, 'numPassedTests'),
      failed: failures.length,
      failures,
      took: suites.map((suite) => ({
        name: nameOf(suite),
        tests: listAt(suite, 'assertionResults').length,
        seconds: (numberAt(suite, 'endTime') - numberAt(suite, 'startTime')) / 1000,
      })),
    }
  } catch {
    return undefined
  }
}

/** A line for each test of a file that did not pass. A file that failed as a whole has one. */
function failuresIn(suite: unknown): readonly string[] {
  const tests = listAt(suite, 'assertionResults').filter((each) => stringAt(each, 'status') !== 'passed')
  const lines = tests.map((each) => {
    const [message = `it was not run (${stringAt(each, 'status') ?? 'no status'})`] = listAt(
      each,
      'failureMessages',
    )
    return `${nameOf(suite)} > ${stringAt(each, 'fullName') ?? ''}: ${firstLine(message)}`
  })
  if (lines.length > 0 || stringAt(suite, 'status') === 'passed') return lines
  return [`${nameOf(suite)}: ${firstLine(stringAt(suite, 'message'))}`]
}

function nameOf(suite: unknown): string {
  return (stringAt(suite, 'name') ?? '').replace(`${ROOT}/`, '')
}

function firstLine(text: unknown): string {
  return String(text).split('\n', 1)[0] ?? ''
}

function numberAt(value: unknown, key: string): number {
  const number = own(value, key)
  if (typeof number !== 'number') throw new TypeError(`vitest's report has no ${key}`)
  return number
}

/** The seconds since this call. */
export function stopwatch(): () => number {
  const began = performance.now()
  return () => (performance.now() - began) / 1000
}
