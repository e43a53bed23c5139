// The executable that ships, in its own process, as people run it. It is built when a source is newer than it, by the
// first test file that needs it.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { requireValidReport } from '../../plugin/test/support/report-check.ts'
import { executableName } from '../../scripts/build/bun.ts'

export const ROOT = join(import.meta.dirname, '../..')
/** The executable; there once `built` has run. */
export const PLUGIN = join(ROOT, 'dist', executableName('kubectl-kleym'))

/** The estate of the examples, as its only source. */
export const ESTATE = ['--offline', '-R', '-f', 'examples/estate'] as const

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
 * JSON that is not as its schema says: so every report of every test is held against it.
 */
export async function kleym(args: readonly string[], options: RunOptions = {}): Promise<Run> {
  const child = start(args, options)
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.stdin ?? '')
  const ended = new Promise<Pick<Run, 'code' | 'signal'>>((settle) => {
    child.once('close', (code, signal) => settle({ code, signal }))
  })
  const [stdout, stderr, end] = await Promise.all([textOf(child.stdout), textOf(child.stderr), ended])
  requireValidReport(stdout)
  return { ...end, stdout, stderr }
}

/** Starts the plugin; the caller sees to its streams and its end. */
export function start(
  args: readonly string[],
  { cwd = ROOT, env = {} }: RunOptions = {},
): ReturnType<typeof spawn> & { stdin: NodeJS.WritableStream; stdout: Stream; stderr: Stream } {
  return spawn(PLUGIN, args, { cwd, env: { PATH: process.env['PATH'] ?? '', ...env }, stdio: 'pipe' })
}

type Stream = NonNullable<ReturnType<typeof spawn>['stdout']>

async function textOf(stream: AsyncIterable<unknown>): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of stream) if (part instanceof Buffer) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}

/** For `beforeAll(built, BUILD_MAX_MS)`: a build takes seconds, and one test file waits for that of another. */
export const BUILD_MAX_MS = 120_000

/** Builds the plugin unless it is newer than every source. Test files run side by side, so one of them does it. */
export async function built(): Promise<void> {
  const lock = join(tmpdir(), `kleym-e2e-build-${Buffer.from(ROOT).toString('hex').slice(-24)}`)
  const until = Date.now() + BUILD_MAX_MS
  while (!taken(lock)) {
    if (Date.now() > until) throw new Error(`another test has been building for too long; remove ${lock}`)
    await delay(20)
  }
  try {
    if (isFresh()) return
    const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts', 'build.ts')], {
      cwd: ROOT,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`the build failed:\n${stderr}`)
  } finally {
    rmSync(lock, { recursive: true })
  }
}

function taken(lock: string): boolean {
  try {
    mkdirSync(lock)
    return true
  } catch {
    return false
  }
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
