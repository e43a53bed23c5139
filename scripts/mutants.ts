// Breaks the operator once for each rule that its promises rest on, and sees that the fast tests notice (docs/reliability.md,
// "How it is held"). It works on a copy of the sources, so that an interrupted run leaves nothing broken.
//
//   npm run mutants              all of them
//   npm run mutants -- orphan    those whose text or file holds a word
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { MUTANTS, type Mutant } from './mutants/list.ts'

const ROOT = resolve(import.meta.dirname, '..')
/** What the tests of the operator and of the core need. */
const COPIED = [
  'package.json',
  'vitest.config.ts',
  'tsconfig.json',
  'operator',
  'shared',
  'test/testing',
] as const
const VITEST = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'anywhere', '--bail', '1'] as const

/** The first seeds of those that the gate runs. */
const SIMULATE = `
  const { simulate } = await import('./operator/test/simulation/simulation.ts')
  for (let seed = 1; seed <= 150; seed++)
    if ((await simulate(seed)).problems.length > 0) process.exit(1)
`
/** Longer than each takes on a busy machine: one that hangs dies. On a quiet one they take 4 s and 10 s. */
const SIMULATION_MS = 90_000
const TESTS_MS = 150_000

const word = process.argv[2] ?? ''
const chosen = MUTANTS.filter((mutant) => `${mutant.breaks} ${mutant.file}`.includes(word))
const copy = mkdtempSync(join(tmpdir(), 'kleym-mutants-'))
try {
  copySources()
  const survivors: Mutant[] = []
  for (const mutant of chosen) if (await survives(mutant)) survivors.push(mutant)
  console.log(`${chosen.length - survivors.length} of ${chosen.length} mutants die`)
  process.exitCode = survivors.length === 0 ? 0 : 1
} finally {
  rmSync(copy, { recursive: true, force: true })
}

/** The sources as they are now, and the libraries by links; the workspaces must be those of the copy. */
function copySources(): void {
  for (const path of COPIED) {
    cpSync(join(ROOT, path), join(copy, path), { recursive: true, filter: isSource })
  }
  const modules = join(copy, 'node_modules')
  mkdirSync(join(modules, '@kleym'), { recursive: true })
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== '@kleym') symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }
  for (const name of ['operator', 'shared']) symlinkSync(join(copy, name), join(modules, '@kleym', name))
  symlinkSync(join(copy, 'test/testing'), join(modules, '@kleym/testing'))
}

/** Libraries are linked. */
function isSource(path: string): boolean {
  return !path.includes('node_modules')
}

async function survives({ file, find, replace, breaks, tests }: Mutant): Promise<boolean> {
  const path = join(copy, file)
  const source = readFileSync(path, 'utf8')
  const [before, after, ...rest] = source.split(find)
  if (before === undefined || after === undefined || rest.length > 0)
    throw new Error(
      `${file}: the text to change stands there ${rest.length + 1 - (after === undefined ? 1 : 0)} times: ${find}`,
    )
  const broken = `${before}${replace}${after}`
  // What cannot be parsed would die for no reason.
  stripTypeScriptTypes(broken)
  writeFileSync(path, broken)
  const beganMs = performance.now()
  const killer = await killerOf(file, tests)
  writeFileSync(path, source)
  const seconds = ((performance.now() - beganMs) / 1000).toFixed(1)
  const fate = killer === undefined ? 'SURVIVES' : `dies in the ${killer}`
  console.log(`${seconds.padStart(6)} s  ${fate}: ${breaks} (${file})`)
  return killer === undefined
}

/**
 * What notices. Most mutants of the operator die within a few seeds of the simulation, which starts at once; those of the core
 * and of the stores in tests of their own.
 */
async function killerOf(file: string, tests: readonly string[]): Promise<'simulation' | 'tests' | undefined> {
  const isOfOperator = file.startsWith('operator/')
  if (isOfOperator && (await diesInSimulation())) return 'simulation'
  if (await diesInTests(tests)) return 'tests'
  return !isOfOperator && (await diesInSimulation()) ? 'simulation' : undefined
}

async function diesInSimulation(): Promise<boolean> {
  return !(await succeeds(['--input-type=module', '--eval', SIMULATE], SIMULATION_MS))
}

async function diesInTests(tests: readonly string[]): Promise<boolean> {
  return !(await succeeds([...VITEST, ...tests], TESTS_MS))
}

/** Whether a program of the copy ends well in time. Its workers go with it, however busy they are. */
async function succeeds(args: readonly string[], ms: number): Promise<boolean> {
  const child = spawn(process.execPath, args, { cwd: copy, stdio: 'ignore', detached: true })
  const endAll = (): void => {
    // A group of its own, since it is detached.
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }
  const timer = setTimeout(endAll, ms)
  const [code] = await once(child, 'exit')
  clearTimeout(timer)
  return code === 0
}
