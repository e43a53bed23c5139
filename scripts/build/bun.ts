// A bundle as one file that runs alone, by Bun: its runtime, and the modules of the bundle as bytecode. Why Bun, and what it
// brings with it: docs/decisions/2026-11-21-single-executable.md. Flags: https://bun.com/docs/bundler/executables
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { readRuntime } from '../runtimes/recorded.ts'
import { BuildError } from './build-error.ts'

/** Bun's packages by the platform that they run on, as in package.json. */
const BUN_PACKAGES: ReadonlyMap<string, string> = new Map([
  ['linux-x64', 'bun-linux-x64'],
  ['linux-arm64', 'bun-linux-aarch64'],
  ['darwin-x64', 'bun-darwin-x64'],
  ['darwin-arm64', 'bun-darwin-aarch64'],
  ['win32-x64', 'bun-windows-x64'],
])

/** How many times longer than usual code runs before it is compiled: most of a run is code that runs once. */
const JIT_RELUCTANCE = 20

const FLAGS = [
  '--compile',
  '--bytecode',
  '--format=esm',
  // The modules of a bundle stay apart: a module that no other imports costs nothing at the start. Small ones are put
  // together, since each that is imported costs something too.
  '--splitting',
  '--min-chunk-size=32768',
  // Without these two, the executable obeys a .env and a bunfig.toml of the folder that it is started in.
  '--no-compile-autoload-dotenv',
  '--no-compile-autoload-bunfig',
  `--compile-jit-policy=${JIT_RELUCTANCE}`,
  // process.execve, by which the plugin begins anew, is experimental, and says so on stderr.
  '--compile-exec-argv=--disable-warning=ExperimentalWarning',
]

/** How the file of a program is called on this platform. */
export function executableName(name: string): string {
  return process.platform === 'win32' ? `${name}.exe` : name
}

/** The files of one compilation. */
export interface Compilation {
  /** Where all files are, and nothing else: Bun obeys a .env and a bunfig.toml of its working directory. */
  readonly folder: string
  /** The name of the bundle's first module in the folder. */
  readonly bundle: string
  /** The executable's name in the folder. */
  readonly outfile: string
  /** Absent: this platform. */
  readonly target?: BunTarget
  /** The paths of what `orderOf` has written; absent: the code stands in the order of the bundle. */
  readonly order?: readonly string[]
}

/** Another platform to compile for. */
export interface BunTarget {
  readonly name: `bun-${'linux' | 'darwin' | 'windows'}-${'x64' | 'arm64'}`
  /** The path of Bun's own executable for it, which the result begins with. */
  readonly executable: string
}

/**
 * Compiles a bundle; throws a BuildError where there is no Bun for this one, or Bun fails. The same bundle
 * gives the same bytes: the names are relative, as Bun writes them into the file.
 */
export function compile(root: string, { folder, bundle, outfile, target, order = [] }: Compilation): void {
  const forTarget =
    target === undefined ? [] : [`--target=${target.name}`, `--compile-executable-path=${target.executable}`]
  const laidOut = order.map((path) => `--bytecode-order=${path}`)
  const args = ['build', ...FLAGS, ...forTarget, ...laidOut, bundle, '--outfile', outfile]
  const { status, signal, stderr, error } = spawnSync(bunOf(root), args, { cwd: folder, encoding: 'utf8' })
  if (status === 0) return
  throw new BuildError('Bun cannot make the executable', {
    why: stderr?.trim() || error?.message || `it ended by ${signal ?? `exit code ${status}`}`,
    fix: NEEDS,
  })
}

/** Starts of the plugin whose code stands first in its executable, the most frequent first. */
const STARTS: readonly (readonly string[])[] = [
  ['--help'],
  ['explain', '-n', 'team-a', '--offline', '-f', 'examples/estate/team-a'],
  ...['explain', 'conflicts', 'who-selects'].map((command) => [
    command,
    '-A',
    '--offline',
    '-R',
    '-f',
    'examples/estate',
  ]),
]

/** Runs an executable of the plugin, and writes down in a folder in which order its code runs: then fewer pages of the file are read at a start. */
export function orderOf(root: string, executable: string, folder: string): readonly string[] {
  return STARTS.map((args, at) => {
    const path = join(folder, `order-${at}`)
    const { error } = spawnSync(executable, args, { cwd: root, env: { BUN_BYTECODE_ORDER_OUT: path } })
    if (error === undefined && existsSync(path)) return path
    throw new BuildError('the executable does not say in which order its code runs', {
      why: error?.message ?? `${args.join(' ')} left no ${path}`,
      fix: 'report it as a bug',
    })
  })
}

/** What a machine must have: Bun's usual builds are for glibc, and on x64 for CPUs since 2013. */
const NEEDS = 'build on Linux (glibc), macOS or Windows; an x64 CPU needs AVX2'

function bunOf(root: string): string {
  const platform = `${process.platform}-${process.arch}`
  const name = BUN_PACKAGES.get(platform)
  if (name === undefined)
    throw new BuildError('the executable cannot be built here', {
      why: `there is no Bun for ${platform}`,
      fix: NEEDS,
    })
  const bun = join(root, 'node_modules', '@oven', name, 'bin', executableName('bun'))
  if (!existsSync(bun))
    throw new BuildError('the executable cannot be built yet', {
      why: `@oven/${name} is not installed`,
      fix: 'npm ci --include=optional',
    })
  readRuntime(`@oven/${name}`, bun)
  return bun
}
