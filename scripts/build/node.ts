// A bundle as one file that runs alone, by Node: its own runtime, and the bundle inside it. For a program that runs for
// months: Node needs half of Bun's CPU there, and is what the tests and the image run on (docs/performance.md).
// https://nodejs.org/docs/latest-v26.x/api/single-executable-applications.html
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { BuildError } from './build-error.ts'
import type { Compilation } from './bun.ts'
import { stripElf } from './strip-elf.ts'
import { readRuntime } from '../runtimes/recorded.ts'

/**
 * Memory before speed, as most of the time is the API server's: small young generations, a heap that grows in small steps,
 * and without the first compiler, whose code for each function is kept beside the later ones'.
 *
 * The compilers run on the main thread. One in a thread of its own that finds the heap full waits for the main thread to collect it,
 * and the main thread waits for that thread when the process exits: neither goes on (https://github.com/nodejs/node/issues/54918).
 * With a heap that is small on purpose that was one exit of 75 of the operator, also of one that had lost its Lease.
 */
export const NODE_FLAGS = [
  '--max-semi-space-size=2',
  '--heap-growing-percent=10',
  '--no-sparkplug',
  '--optimize-for-size',
  '--v8-pool-size=1',
  '--no-concurrent-recompilation',
] as const

const CONFIG = 'sea.json'

/** Node's npm package for this platform, as scripts/runtimes/runtimes.json names it. */
const NODE_PACKAGE = `node-${process.platform}-${process.arch}`
const RUNTIME = 'runtime'

/**
 * Compiles a bundle for this platform, on the Node that runs this; throws a BuildError where Node fails or is not the recorded
 * one. On Linux what is inside is stripped: the operator is 33 MB smaller by it.
 */
export function compileForNode({ folder, bundle, outfile }: Compilation): void {
  const runtime = readRuntime(NODE_PACKAGE, process.execPath)
  const bytes = process.platform === 'linux' ? stripElf(runtime) : runtime
  writeFileSync(join(folder, RUNTIME), bytes, { mode: 0o755 })
  const config = {
    main: bundle,
    mainFormat: 'module',
    output: outfile,
    executable: RUNTIME,
    disableExperimentalSEAWarning: true,
    execArgv: NODE_FLAGS,
    // NODE_OPTIONS of the environment must not reach into the program.
    execArgvExtension: 'none',
  }
  writeFileSync(join(folder, CONFIG), JSON.stringify(config))
  runIn(folder, [process.execPath, '--build-sea', CONFIG], {
    what: 'Node cannot make the executable',
    fix: 'run the build by `npm run build`, which brings the right Node',
  })
  if (process.platform === 'darwin') sign(folder, outfile)
}

/** macOS kills a program that was changed after it was signed, as Node's was by what is now inside it. */
function sign(folder: string, outfile: string): void {
  runIn(folder, ['codesign', '--sign', '-', '--force', outfile], {
    what: 'the executable cannot be signed',
    fix: "install Apple's command line tools: xcode-select --install",
  })
}

function runIn(
  cwd: string,
  [command, ...args]: readonly [string, ...string[]],
  { what, fix }: { readonly what: string; readonly fix: string },
): void {
  const { status, signal, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status === 0) return
  const why = stderr?.trim() || error?.message || `it ended by ${signal ?? `exit code ${status}`}`
  throw new BuildError(what, { why, fix })
}
