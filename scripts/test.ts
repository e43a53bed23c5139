// `npm test`: everything that must hold, in one go. The last line counts it all; a skipped test counts as failed, so that
// nothing looks green that was not run.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import { ensureBinaries, type NoBinaries } from '../test/control-plane/binaries.ts'
import { ensureClient } from '../test/control-plane/client-binaries.ts'
import { ensureMinor, OLDER_MINORS } from '../test/control-plane/older-kubernetes.ts'
import { ensureSpire } from '../test/control-plane/spire-binaries.ts'
import { pathOf, QUICK } from './versions/suites.ts'
import { cgroupPlace } from '../test/svid/agent/cgroup.ts'

const ROOT = join(import.meta.dirname, '..')
const BIN = join(ROOT, 'node_modules', '.bin')
/** The oldest minor of Kubernetes that the chart takes. */
const [OLDEST] = OLDER_MINORS

interface Step {
  readonly name: string
  readonly command: readonly [program: string, ...args: string[]]
}

/** What is checked before the tests run, and after: each counts as one. */
const BEFORE: readonly Step[] = [
  { name: 'types', command: ['tsc'] },
  { name: 'types of the page', command: ['tsc', '-p', 'plugin/src/answers/map/page'] },
  { name: 'types of what a browser runs', command: ['tsc', '-p', 'test/browser'] },
  { name: 'types of the site', command: ['tsc', '-p', 'scripts/site'] },
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

function run([program, ...args]: Step['command'], variables: Variables = {}): boolean {
  const path = `${BIN}${delimiter}${process.env['PATH'] ?? ''}`
  const { status } = spawnSync(program, args, {
    cwd: ROOT,
    stdio: 'inherit',
    shell: process.platform === 'win32',
    env: { ...process.env, ...variables, PATH: path },
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

/** Tests of one project, all of them or those of some files. */
interface TestRun {
  readonly title: string
  readonly project: Project
  /** From the root of the project; absent: all. */
  readonly files?: readonly string[]
}

/** Variables of the environment beside those of this process. */
type Variables = Readonly<Record<string, string>>

function runTests({ title, project, files = [] }: TestRun, tally: Tally, variables: Variables = {}): void {
  process.stdout.write(`\n== ${title}\n`)
  const folder = mkdtempSync(join(tmpdir(), 'kleym-test-'))
  const file = join(folder, 'report.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const passed = run(['vitest', 'run', `--project=${project}`, ...reporters, ...files], variables)
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
interface Equipped extends TestRun {
  readonly ensure: () => Promise<{ readonly available: true; readonly variables?: Variables } | NoBinaries>
  /** What is missing without it, for the very end. */
  readonly notRun: readonly string[]
  /** Only root can run it: without root it is no failure of CI that it does not run. */
  readonly needsRoot?: true
}

const EQUIPPED: readonly Equipped[] = [
  {
    title: 'tests on a real control plane',
    project: 'control-plane',
    ensure: () => ensureBinaries(),
    notRun: [
      'NOT RUN: every test on a real control plane (test/control-plane).',
      'Nothing above says that the operator works on an API server.',
    ],
  },
  {
    title: `tests on the oldest Kubernetes, ${OLDEST}`,
    project: 'control-plane',
    files: QUICK.map(pathOf),
    ensure: async () => {
      const servers = await ensureMinor(OLDEST)
      return servers.available
        ? { available: true, variables: { KUBEBUILDER_ASSETS: servers.folder } }
        : servers
    },
    notRun: [
      `NOT RUN: every test on Kubernetes ${OLDEST}.`,
      'Nothing above says that kleym works on the oldest Kubernetes that its chart takes.',
    ],
  },
  {
    title: 'tests against the real SPIRE controller manager',
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
    title: 'tests with a real spire-agent',
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
async function runEquipped(group: Equipped, tally: Tally): Promise<readonly string[]> {
  const binaries = await group.ensure().catch((error: unknown) => {
    process.stdout.write(`== the programs of ${group.title}: FAILED, ${String(error)}\n`)
    tally.failed++
    return undefined
  })
  if (binaries?.available === true) runTests(group, tally, binaries.variables)
  if (binaries?.available !== false) return []
  const inCi = process.env['CI'] === 'true' && (group.needsRoot !== true || process.getuid?.() === 0)
  if (inCi) tally.failed++
  return [
    ...group.notRun,
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
runTests({ title: 'tests', project: 'anywhere' }, tally)
const notRun: string[] = []
for (const group of EQUIPPED) notRun.push(...(await runEquipped(group, tally)))
runSteps(AFTER, tally)
if (notRun.length > 0) process.stdout.write(`\n${notRun.join('\n')}\n`)
process.stdout.write(`\n${tally.passed} passed, ${tally.failed} failed\n`)
process.exitCode = tally.failed === 0 ? 0 : 1
