// `npm run release -- --dry-run`: makes everything that a release consists of in dist/release, and says what it made. It never
// uploads anything. Without --dry-run it makes the same, but only in CI, from the tag of this version.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { stringAt } from '../shared/src/core/base/json.ts'
import { BuildError } from './build/build-error.ts'
import { makeRelease } from './release/artefacts.ts'
import { notesOf } from './release/changelog.ts'
import { docsOf, imageOf, refusal, repositoryOf } from './release/terms.ts'

const ROOT = join(import.meta.dirname, '..')
const MIB = 1024 * 1024
const DRY_RUN = '--dry-run'

function git(...args: readonly string[]): string {
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : ''
}

/** The commit's time, so that the same commit gives the same bytes; https://reproducible-builds.org/specs/source-date-epoch/ */
function timeOfFiles(): number {
  return Number(process.env['SOURCE_DATE_EPOCH'] ?? (git('log', '-1', '--format=%ct') || '0'))
}

function build(): void {
  const { status } = spawnSync(process.execPath, [join(ROOT, 'scripts/build.ts')], { stdio: 'inherit' })
  if (status !== 0)
    throw new BuildError('there is nothing to release', {
      why: 'the build failed',
      fix: 'see what it says above',
    })
}

async function release(isDryRun: boolean): Promise<void> {
  const manifest: unknown = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const version = stringAt(manifest, 'version') ?? ''
  const notes = notesOf(readFileSync(join(ROOT, 'docs/CHANGELOG.md'), 'utf8'), version)
  const isDirty = git('status', '--porcelain') !== ''
  const why = isDryRun ? undefined : refusal({ version, notes, isDirty, env: process.env })
  if (why !== undefined)
    throw new BuildError('this is not released', {
      why,
      fix: `npm run release -- ${DRY_RUN} makes all of it to look at`,
    })
  // What the programs cite: `npm run build` outside of a release leaves the paths in the clone.
  process.env['KLEYM_DOCS_URL'] ??= docsOf(process.env, version)
  build()
  const folder = mkdtempSync(join(ROOT, 'dist', '.release-'))
  const began = performance.now()
  try {
    await makeRelease(
      {
        root: ROOT,
        version,
        notes: notes?.text ?? `There are no notes for ${version}.`,
        repository: repositoryOf(process.env),
        made: timeOfFiles(),
        image: imageOf(process.env),
        env: process.env,
        say: (name, bytes) => process.stdout.write(`${size(bytes)}  ${name}\n`),
      },
      folder,
    )
    const target = join(ROOT, 'dist', 'release')
    rmSync(target, { recursive: true, force: true })
    chmodSync(folder, 0o755)
    renameSync(folder, target)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const seconds = Math.round((performance.now() - began) / 1000)
  process.stdout.write(
    `all of it is in dist/release, with SHA256SUMS, after ${seconds} s; nothing was uploaded\n`,
  )
}

/** Mebibytes, as wide as the largest. */
function size(bytes: number): string {
  return `${(bytes / MIB).toFixed(2).padStart(8)} MiB`
}

const args = process.argv.slice(2)
if (args.some((arg) => arg !== DRY_RUN)) {
  process.stderr.write(`error: there is only ${DRY_RUN}\n  fix:  npm run release -- ${DRY_RUN}\n`)
  process.exitCode = 2
} else {
  try {
    mkdirSync(join(ROOT, 'dist'), { recursive: true })
    await release(args.includes(DRY_RUN))
  } catch (error) {
    if (!(error instanceof BuildError)) throw error
    process.stderr.write(`error: ${error.message}\n  why:  ${error.why}\n  fix:  ${error.fix}\n`)
    process.exitCode = 1
  }
}
