// `npm run gate`: everything that must hold. First `npm test`, so that a broken change fails in minutes; then the parts that need
// executables, a control plane, SPIRE and an agent. The last line counts it all.
//   --only NAME    one part alone (repeatable)
//   --shard I/N    of each group of suites, the I-th of N parts
import { spawn } from 'node:child_process'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { BUILD, mustRun, PARTS, type Part } from './gate/parts.ts'
import { ROOT, runSteps, runSuites, say, sayEnd, stopwatch, Tally } from './gate/run.ts'
import { runTestCommand } from './gate/test-command.ts'
import { join } from 'node:path'

const TEST = 'test'
const NAMES: readonly string[] = [TEST, ...PARTS.map(({ name }) => name)]
/** As many of the slowest suites are named at the end. */
const SLOWEST = 20

interface Options {
  readonly only: readonly string[]
  readonly shard?: string
}

/** The options, or what is wrong with them. */
function optionsOf(args: readonly string[]): Options | string {
  const { values } = parseArgs({
    args: [...args],
    options: { only: { type: 'string', multiple: true }, shard: { type: 'string' } },
  })
  const only = values.only ?? NAMES
  const stray = only.find((name) => !NAMES.includes(name))
  if (stray !== undefined) return `the gate has no part ${stray}\n  fix:  name one of ${NAMES.join(', ')}`
  const { shard } = values
  if (shard === undefined) return { only }
  const [, part = '0', of = '0'] = /^(\d+)\/(\d+)$/.exec(shard) ?? []
  const isPart = Number(part) >= 1 && Number(part) <= Number(of)
  return isPart ? { only, shard } : `--shard ${shard} is no part of a whole\n  fix:  name one such as 2/3`
}

/** Builds what is missing beside what runs; resolves when it ends. What it could not build, the part that needs it reports. */
function buildPrograms(): Promise<void> {
  const build = spawn(process.execPath, [join(ROOT, 'scripts/gate/programs.ts')], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return new Promise((resolve) => {
    build.once('error', () => resolve())
    build.once('exit', () => resolve())
  })
}

function isFirst(shard: string | undefined): boolean {
  return shard === undefined || shard.startsWith('1/')
}

/** The parts in their order: steps one after the other, and then all suites side by side, since those on a cluster often wait. */
function groupsOf(parts: readonly Part[]): readonly (readonly Part[])[] {
  const suites = parts.filter(({ project }) => project !== undefined)
  const alone = parts.filter(({ project }) => project === undefined).map((part) => [part])
  return suites.length === 0 ? alone : [...alone, suites]
}

/** A line for each thing that nobody knows because a part could not run. Empty if it can. */
async function whyNotRun({ title, needs }: Part, tally: Tally): Promise<readonly string[]> {
  if (needs === undefined) return []
  const found = await needs.ensure().catch((error: unknown) => ({
    available: false as const,
    why: String(error),
    fix: 'mend what is said above, and run the gate again',
    isBroken: true,
  }))
  if (found.available) return []
  const isFailure = mustRun(needs) || 'isBroken' in found
  if (isFailure) tally.fail(`${title}: not run, ${found.why}`)
  return [
    ...needs.otherwise,
    `  why:  ${found.why}`,
    `  fix:  ${found.fix}`,
    ...(isFailure ? ['  This counts as failed.'] : []),
  ]
}

/** Minutes and seconds: `4:05`. */
function clock(seconds: number): string {
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}

async function main(): Promise<number> {
  const options = optionsOf(process.argv.slice(2))
  if (typeof options === 'string') {
    process.stderr.write(`error: ${options}\n`)
    return 2
  }
  const { only, shard } = options
  const parts = PARTS.filter(({ name }) => only.includes(name))
  const tally = new Tally()
  const notRun: string[] = []
  const rows: string[] = []
  const whole = stopwatch()
  const programs = parts.some(({ needs }) => needs !== undefined) ? buildPrograms() : undefined
  if (only.includes(TEST)) {
    const seconds = stopwatch()
    runTestCommand(tally)
    rows.push(`${clock(seconds())}  npm test`)
  }
  // What is broken so plainly needs no hour to be told.
  const isBroken = tally.failed > 0
  const hasBuilt = only.includes('release') && isFirst(shard)
  if (!isBroken && parts.length > 0 && !hasBuilt) runSteps([BUILD], tally)
  for (const group of isBroken ? [] : groupsOf(parts)) {
    const seconds = stopwatch()
    const able: Part[] = []
    for (const part of group) {
      if (part.needs !== undefined) await programs
      const lines = await whyNotRun(part, tally)
      notRun.push(...lines)
      if (lines.length === 0) able.push(part)
    }
    // Steps are not divided: the first shard has them all.
    if (isFirst(shard)) for (const { steps = [] } of able) runSteps(steps, tally)
    const projects = able.flatMap(({ project }) => project ?? [])
    const titles = able.map(({ title }) => title).join('; ')
    if (projects.length > 0) runSuites(titles, { projects, ...(shard !== undefined && { shard }) }, tally)
    rows.push(`${clock(seconds())}  ${group.map(({ name }) => name).join(', ')}`)
  }
  if (isBroken && parts.length > 0)
    notRun.push(`NOT RUN, because npm test failed: ${parts.map(({ name }) => name).join(', ')}`)
  const slowest = tally.took.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST)
  say(`\nminutes by part:\n${[...rows, `${clock(whole())}  all`].join('\n')}`)
  say(`\nthe slowest:\n${slowest.map(({ name, seconds }) => `${clock(seconds)}  ${name}`).join('\n')}`)
  if (notRun.length > 0) say(`\n${notRun.join('\n')}`)
  sayEnd(tally)
  return tally.failed === 0 ? 0 : 1
}

// The builds that go on beside a broken change end with it.
process.exit(await main())
