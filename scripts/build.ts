// `npm run build`: leaves in dist/ what ships.
import { join } from 'node:path'
import process from 'node:process'
import { BuildError } from './build/build-error.ts'
import { buildExecutable, type BuiltProgram } from './build/executable.ts'

const ROOT = join(import.meta.dirname, '..')
const PROGRAMS: readonly BuiltProgram[] = [
  { name: 'kubectl-kleym', entry: 'plugin/src/main.ts', runtime: 'bun' },
  { name: 'kleym-operator', entry: 'operator/src/main.ts', runtime: 'node' },
]

try {
  for (const program of PROGRAMS) await buildExecutable(ROOT, program)
} catch (error) {
  // esbuild has printed what it found already; a bug of the build keeps its stack.
  if (!(error instanceof BuildError)) throw error
  process.stderr.write(`error: ${error.message}\n  why:  ${error.why}\n  fix:  ${error.fix}\n`)
  process.exitCode = 1
}
