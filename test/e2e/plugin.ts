// The built plugin in its own process, as people run it. It is built when a source is newer than dist/, by the first
// test file that needs it.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

export const ROOT = join(import.meta.dirname, '../..')
const PLUGIN = join(ROOT, 'dist', 'kubectl-kleym')

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

/** Runs the plugin to its end. The environment is empty but for what is given. */
export async function kleym(args: readonly string[], options: RunOptions = {}): Promise<Run> {
  const child = start(args, options)
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.stdin ?? '')
  const ended = new Promise<Pick<Run, 'code' | 'signal'>>((settle) => {
    child.once('close', (code, signal) => settle({ code, signal }))
  })
  const [stdout, stderr, end] = await Promise.all([textOf(child.stdout), textOf(child.stderr), ended])
  return { ...end, stdout, stderr }
}

/** Starts the plugin; the caller sees to its streams and its end. */
export function start(
  args: readonly string[],
  { cwd = ROOT, env = {} }: RunOptions = {},
): ReturnType<typeof spawn> & { stdin: NodeJS.WritableStream; stdout: Stream; stderr: Stream } {
  const inherited = { PATH: process.env['PATH'] ?? '', XDG_CACHE_HOME: join(tmpdir(), 'kleym-e2e') }
  const child = spawn(PLUGIN, args, { cwd, env: { ...inherited, HOME: tmpdir(), ...env }, stdio: 'pipe' })
  return child
}

type Stream = NonNullable<ReturnType<typeof spawn>['stdout']>

async function textOf(stream: AsyncIterable<unknown>): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of stream) if (part instanceof Buffer) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}

/** Builds the plugin unless dist/ is newer than every source. Test files run side by side, so one of them does it. */
export async function built(): Promise<void> {
  const lock = join(tmpdir(), `kleym-e2e-build-${Buffer.from(ROOT).toString('hex').slice(-24)}`)
  const until = Date.now() + LOCK_MAX_MS
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

/** A build takes less than a second. */
const LOCK_MAX_MS = 20_000

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
  return ['plugin/src', 'shared/src', 'scripts/build.ts'].every((path) => newest(join(ROOT, path)) < made)
}

function newest(path: string): number {
  const { mtimeMs } = statSync(path)
  if (!statSync(path).isDirectory()) return mtimeMs
  return Math.max(
    ...readdirSync(path, { recursive: true, encoding: 'utf8' }).map(
      (name) => statSync(join(path, name)).mtimeMs,
    ),
  )
}
