// What `npm run release -- --dry-run` leaves in dist/release, made when a source is newer than it, by the first test file
// that needs it. It takes a minute of CPU, which `npm run gate` spends before these tests.
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { CHECKSUMS } from '../../scripts/release/artefacts.ts'
import { isThisPlatform, PLATFORMS, type Platform } from '../../scripts/release/platforms.ts'
import { archiveName } from '../../scripts/release/plugin-archives.ts'
import { stringAt } from '../../shared/src/core/base/json.ts'
import { printedBy } from '@kleym/testing/child-process.ts'
import { withLock } from '@kleym/testing/process-lock.ts'
import { newest, ROOT } from '../e2e/plugin.ts'

export const RELEASE = join(ROOT, 'dist/release')
export const VERSION = stringAt(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')), 'version') ?? ''

const SOURCES = [
  'plugin/src',
  'operator/src',
  'shared/src',
  'scripts',
  'krew',
  'charts',
  'docs/CHANGELOG.md',
  'package-lock.json',
]

/** For `beforeAll(released, RELEASE_MAX_MS)`: on a busy machine, with Bun for five platforms to download. */
export const RELEASE_MAX_MS = 900_000
/** What making it alone, and the wait for another test file's, may take. */
const RELEASE_MS = 420_000

/** Makes the release unless it is newer than every source. */
export async function released(): Promise<void> {
  mkdirSync(join(ROOT, 'dist'), { recursive: true })
  await withLock(
    join(ROOT, 'dist/.release-lock'),
    () => undefined,
    async () => {
      if (isFresh()) return
      printedBy(process.execPath, [join(ROOT, 'scripts/release.ts'), '--dry-run'], {
        cwd: ROOT,
        ms: RELEASE_MS,
      })
    },
    RELEASE_MS,
  )
}

/** A file of the release. */
export function artefact(name: string): Buffer {
  return readFileSync(join(RELEASE, name))
}

/** The path of a platform's archive. */
export function archivePath(platform: Platform): string {
  return join(RELEASE, archiveName(VERSION, platform))
}

/** The platform that this test runs on, of those that the plugin ships for. */
export function thisPlatform(): Platform {
  const found = PLATFORMS.find(isThisPlatform)
  if (found === undefined) throw new Error(`kleym does not ship for ${process.platform}-${process.arch}`)
  return found
}

function isFresh(): boolean {
  const made = statSync(join(RELEASE, CHECKSUMS), { throwIfNoEntry: false })?.mtimeMs ?? 0
  return SOURCES.every((path) => newest(join(ROOT, path)) < made)
}
