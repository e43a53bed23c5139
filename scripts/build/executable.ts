// A program as one executable in dist/ that needs nothing else: esbuild bundles it, Bun or Node takes the bundle in.
import { spawnSync } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rename, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { BuildError } from './build-error.ts'
import { compile, executableName, orderOf } from './bun.ts'
import { bundle } from './bundle.ts'
import { compileForNode } from './node.ts'

const COPY = 'copy'

/** A program to build. */
export interface BuiltProgram {
  /** The name of its executable, which its stacks show too. */
  readonly name: string
  /** Its composition root, from the root of the project; it must answer `--version`. */
  readonly entry: string
  /** Bun starts at once; Node runs long with less. */
  readonly runtime: 'bun' | 'node'
}

/** Builds a program for this platform. A build that fails leaves the last one as it was. */
export async function buildExecutable(root: string, { name, entry, runtime }: BuiltProgram): Promise<void> {
  const began = new Date()
  const dist = join(root, 'dist')
  const outfile = executableName(name)
  await mkdir(dist, { recursive: true })
  const folder = await mkdtemp(join(dist, '.build-'))
  try {
    const module = `${name}.mjs`
    // Node takes one file.
    await bundle(root, { entry: join(root, entry), outfile: join(folder, module), split: runtime === 'bun' })
    const compilation = { folder, bundle: module, outfile }
    const made = join(folder, outfile)
    if (runtime === 'bun') compile(root, compilation)
    else compileForNode(compilation)
    expectToStart(made)
    if (runtime === 'bun') compile(root, { ...compilation, order: orderOf(root, made, folder) })
    // A copy, as an install makes one: Linux keeps a file that was written in large pieces in large pages, and then counts
    // 30 MiB more of it as resident in every process.
    await copyFile(join(folder, outfile), join(folder, COPY))
    // As old as the sources that it was made of: one that is edited during the build is newer.
    await utimes(join(folder, COPY), began, began)
    await rename(join(folder, COPY), join(dist, outfile))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** What was built must run here: on the wrong CPU or C library it does not even start. */
function expectToStart(outfile: string): void {
  const { status, signal, stderr, error } = spawnSync(outfile, ['--version'], { encoding: 'utf8', env: {} })
  if (status === 0) return
  throw new BuildError('what was built does not start', {
    why: stderr?.trim() || error?.message || `it ended by ${signal ?? `exit code ${status}`}`,
    fix: 'report it as a bug, with the name of the system and the CPU',
  })
}
