// The executable that ships, in its own process, as people run it. It is built when a source is newer than it, by the
// first test file that needs it.
import { spawn } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { ended, printedBy } from '@kleym/testing/child-process.ts'
import { withLock } from '@kleym/testing/process-lock.ts'
import { requireValidCiFormat } from '../../plugin/test/support/ci-formats.ts'
import { requireValidReport } from '../../plugin/test/support/report-check.ts'
import { executableName } from '../../scripts/build/bun.ts'

export const ROOT = join(import.meta.dirname, '../..')
/** The executable; there once `built` has run. */
export const PLUGIN = join(ROOT, 'dist', executableName('kubectl-kleym'))

/** The estate of the examples, as its only source. */
export const ESTATE = ['--offline', '-R', '-f', 'examples/estate'] as const

/** How the plugin ended, and what it printed. */
export interface Run {
  /** Null where a signal ended it. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly cwd?: string
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Runs the plugin to its end. The environment is empty but for PATH and what is given. Throws where it prints a report as
 * JSON, SARIF or JUnit that is not as its schema says: so every report of every test is held against it.
 */
export async function kleym(args: readonly string[], options: RunOptions = {}): Promise<Run> {
  const { status: code, ...rest } = await ended(start(args, options), options.stdin)
  requireValidReport(rest.stdout)
  requireValidCiFormat(rest.stdout)
  return { code, ...rest }
}

/** Starts the plugin; the caller sees to its streams and its end. */
export function start(
  args: readonly string[],
  { cwd = ROOT, env = {} }: RunOptions = {},
): ReturnType<typeof spawn> & { stdin: Writable; stdout: Readable; stderr: Readable } {
  return spawn(PLUGIN, args, { cwd, env: { PATH: process.env['PATH'] ?? '', ...env }, stdio: 'pipe' })
}

/** What the build alone, which takes seconds, and the wait for another test file's build may take. */
const BUILD_MS = 120_000

/** For `beforeAll(built)`: builds the plugin unless it is newer than every source. Test files run side by side, so one of them does it. */
export async function built(): Promise<void> {
  const lock = join(tmpdir(), `kleym-e2e-build-${Buffer.from(ROOT).toString('hex').slice(-24)}`)
  await withLock(lock, () => undefined, build, BUILD_MS)
}

async function build(): Promise<void> {
  if (isFresh()) return
  printedBy(process.execPath, [join(ROOT, 'scripts', 'build.ts')], { cwd: ROOT, ms: BUILD_MS })
}

function isFresh(): boolean {
  const made = statSync(PLUGIN, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return ['plugin/src', 'shared/src', 'scripts/build'].every((path) => newest(join(ROOT, path)) < made)
}

/** When the last file in a folder was written, in milliseconds since 1970. */
export function newest(path: string): number {
  const { mtimeMs } = statSync(path)
  if (!statSync(path).isDirectory()) return mtimeMs
  return Math.max(
    ...readdirSync(path, { recursive: true, encoding: 'utf8' }).map(
      (name) => statSync(join(path, name)).mtimeMs,
    ),
  )
}
