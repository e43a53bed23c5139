// `npm test`: everything that must hold, in one go. The last line counts it all; a skipped test counts as failed, so that
// nothing looks green that was not run.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import { ensureBinaries, type NoBinaries } from '../test/control-plane/binaries.ts'
import { ensureClient } from '../test/control-plane/client-binaries.ts'
import { ensureSpire } from '../test/control-plane/spire-binaries.ts'
import { cgroupPlace } from '../test/svid/agent/cgroup.ts'

const ROOT = join(import.meta.dirname, '..')
const BIN = join(ROOT, 'node_modules', '.bin')

interface Step {
  readonly name: string
  readonly command: readonly [program: string, ...args: string[]]
}

/** What is checked before the tests run, and after: each counts as one. */
const BEFORE: readonly Step[] = [
  { name: 'types', command: ['tsc'] },
  { name: 'types of the page', command: ['tsc', '-p', 'plugin/src/answers/map/page'] },
  { name: 'types of what a browser runs', command: ['tsc', '-p', 'test/browser'] },
  { name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  { name: 'format', command: ['oxfmt', '--check'] },
  // It builds what `npm run build` builds, and all that is shipped of it.
  { name: 'release (dry run)', command: ['node', 'scripts/release.ts', '--dry-run'] },
]
const AFTER: readonly Step[] = [
  { name: 'demo', command: ['node', 'scripts/demo.ts', '--quiet'] },
  { name: 'bench (small sizes, for its exit code only)', command: ['node', 'bench/run.ts', '--quick'] },
]

interface Tally {
  passed: number
  failed: number
}

/** What vitest's JSON reporter writes, as far as it is read here. */
interface VitestReport {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
}

function run([program, ...args]: Step['command']): boolean {
  const path = `${BIN}${delimiter}${process.env['PATH'] ?? ''}`
  const { status } = spawnSync(program, args, {
    cwd: ROOT,
    stdio: 'inherit',
    shell: process.platform === 'win32',
    env: { ...process.env, PATH: path },
  })
  return status === 0
}

function runSteps(steps: readonly Step[], tally: Tally): void {
  for (const { name, command } of steps) {
    process.stdout.write(`\n== ${name}\n`)
    const passed = run(command)
    tally[passed ? 'passed' : 'failed']++
    process.stdout.write(passed ? `== ${name}: passed\n` : `== ${name}: FAILED (${command.join(' ')})\n`)
  }
}

/** The projects of vitest.config.ts. */
type Project = 'anywhere' | 'control-plane' | 'svid' | 'agent'

const TITLES: Readonly<Record<Project, string>> = {
  anywhere: 'tests',
  'control-plane': 'tests on a real control plane',
  svid: 'tests against the real SPIRE controller manager',
  agent: 'tests with a real spire-agent',
}

function runTests(project: Project, tally: Tally): void {
  const title = TITLES[project]
  process.stdout.write(`\n== ${title}\n`)
  const folder = mkdtempSync(join(tmpdir(), 'kleym-test-'))
  const file = join(folder, 'report.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const passed = run(['vitest', 'run', `--project=${project}`, ...reporters])
  const report = readReport(file)
  rmSync(folder, { recursive: true, force: true })
  if (report === undefined) {
    process.stdout.write(`== ${title}: FAILED, vitest wrote no report\n`)
    tally.failed++
    return
  }
  const skipped = report.numPendingTests + report.numTodoTests
  if (skipped > 0) process.stdout.write(`== ${title}: ${skipped} skipped, which counts as failed\n`)
  tally.passed += report.numPassedTests
  // vitest also fails for errors outside of tests.
  tally.failed += report.numFailedTests + skipped + (passed || report.numFailedTests > 0 ? 0 : 1)
}

/** A group of tests that needs programs which not every machine has or can build. */
interface Equipped {
  readonly project: Project
  readonly ensure: () => Promise<{ readonly available: true } | NoBinaries>
  /** What is missing without it, for the very end. */
  readonly notRun: readonly string[]
  /** Only root can run it: without root it is no failure of CI that it does not run. */
  readonly needsRoot?: true
}

const EQUIPPED: readonly Equipped[] = [
  {
    project: 'control-plane',
    ensure: () => ensureBinaries(),
    notRun: [
      'NOT RUN: every test on a real control plane (test/control-plane).',
      'Nothing above says that the operator works on an API server.',
    ],
  },
  {
    project: 'svid',
    ensure: async () => {
      const controlPlane = await ensureBinaries()
      return controlPlane.available ? ensureSpire() : controlPlane
    },
    notRun: [
      'NOT RUN: every test against the real SPIRE controller manager (test/svid).',
      'Nothing above says that the predictions of who gets which identity are right.',
    ],
  },
  {
    project: 'agent',
    ensure: async () => {
      const place = cgroupPlace()
      if (!place.available) return place
      const controlPlane = await ensureBinaries()
      const spire = controlPlane.available ? await ensureSpire() : controlPlane
      if (spire.available) await ensureClient('spire-agent')
      return spire
    },
    notRun: [
      'NOT RUN: every test with a real spire-agent (test/svid/agent).',
      'Nothing above says that containers get the SVIDs that the entries of the server give them.',
    ],
    // A workflow runs it as root in a step of its own (npm run test:agent).
    needsRoot: true,
  },
]

/** Runs a group; where its programs cannot be, returns the lines that say so at the very end. */
async function runEquipped(
  { project, ensure, notRun, needsRoot }: Equipped,
  tally: Tally,
): Promise<readonly string[]> {
  const binaries = await ensure().catch((error: unknown) => {
    process.stdout.write(`== the programs of ${TITLES[project]}: FAILED, ${String(error)}\n`)
    tally.failed++
    return undefined
  })
  if (binaries?.available === true) runTests(project, tally)
  if (binaries?.available !== false) return []
  const inCi = process.env['CI'] === 'true' && (needsRoot !== true || process.getuid?.() === 0)
  if (inCi) tally.failed++
  return [
    ...notRun,
    `  why:  ${binaries.why}`,
    `  fix:  ${binaries.fix}`,
    ...(inCi ? ['  This counts as failed, because CI=true.'] : []),
  ]
}

function readReport(file: string): VitestReport | undefined {
  try {
    const report: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return {
      numPassedTests: numberAt(report, 'numPassedTests'),
      numFailedTests: numberAt(report, 'numFailedTests'),
      numPendingTests: numberAt(report, 'numPendingTests'),
      numTodoTests: numberAt(report, 'numTodoTests'),
    }
  } catch {
    return undefined
  }
}

/** A number that must be there: a report without it is no report. */
function numberAt(report: unknown, key: string): number {
  const value =
    typeof report === 'object' && report !== null
      ? Object.entries(report).find(([name]) => name === key)
      : undefined
  if (typeof value?.[1] !== 'number') throw new TypeError(`vitest's report has no ${key}`)
  return value[1]
}

const tally: Tally = { passed: 0, failed: 0 }
process.stdout.write(`Node ${process.version}\n`)
runSteps(BEFORE, tally)
runTests('anywhere', tally)
const notRun: string[] = []
for (const group of EQUIPPED) notRun.push(...(await runEquipped(group, tally)))
runSteps(AFTER, tally)
if (notRun.length > 0) process.stdout.write(`\n${notRun.join('\n')}\n`)
process.stdout.write(`\n${tally.passed} passed, ${tally.failed} failed\n`)
process.exitCode = tally.failed === 0 ? 0 : 1
