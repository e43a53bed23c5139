// npm, run the way npm runs: with its own Node and without a shell, as it says in its scripts' environment.
import { spawnSync } from 'node:child_process'
import { BuildError } from '../build/build-error.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** How to run npm. */
export interface NpmRun {
  /** The working directory. */
  readonly folder: string
  readonly env: Environment
  /** For the error: what cannot be done without it. */
  readonly what: string
}

/** Runs npm and returns its standard output; throws a BuildError with what it says where it fails. */
export function npm(args: readonly string[], { folder, env, what }: NpmRun): string {
  const [program, ...first] =
    env['npm_execpath'] === undefined ? ['npm'] : [env['npm_node_execpath'] ?? 'node', env['npm_execpath']]
  const all = [...first, ...args, '--ignore-scripts', '--loglevel=error']
  const { status, stdout, stderr, error } = spawnSync(program, all, { cwd: folder, env, encoding: 'utf8' })
  if (status === 0) return stdout
  throw new BuildError(what, {
    why: stderr?.trim() || error?.message || `npm ${args[0] ?? ''} failed`,
    fix: 'see what npm says; an installation needs the network once',
  })
}
