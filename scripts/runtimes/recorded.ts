// What of others is inside of our executables: Node and Bun, which come from npm packages. runtimes.json records the file, its
// package, its SHA-256, and the archive of the upstream release that holds the same file. The build takes no
// other file; upstream.ts compares the record with what upstream has published.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { BuildError } from '../build/build-error.ts'
import record from './runtimes.json' with { type: 'json' }

/** A runtime in one version. */
export interface RuntimeRelease {
  readonly name: string
  readonly version: string
  /** Where upstream serves the files of the release, without a last slash. */
  readonly release: string
  /** The name of upstream's file of SHA-256 sums there. */
  readonly checksums: string
  readonly executables: readonly RuntimeExecutable[]
}

/** The executable of a runtime for one platform. */
export interface RuntimeExecutable {
  /** The npm package that brings it. */
  readonly package: string
  /** The package's, as package-lock.json has it. */
  readonly integrity: string
  /** The path in the package. */
  readonly file: string
  /** Of that file, in hex. */
  readonly sha256: string
  /** The archive of the upstream release, and the path of the same file in it. */
  readonly archive: string
  readonly member: string
}

/** Everything that is recorded. */
export const RUNTIMES: readonly RuntimeRelease[] = record

/**
 * Reads the executable of a runtime. Throws a BuildError where it is not the recorded one, so that no other one can get into
 * what ships. Packages that are not recorded (a developer's own platform, for which nothing is released) are taken as they are.
 */
export function readRuntime(packageName: string, path: string): Buffer {
  const bytes = readFileSync(path)
  const recorded = RUNTIMES.flatMap(({ executables }) => executables).find(
    (one) => one.package === packageName,
  )
  const found = sha256Of(bytes)
  if (recorded !== undefined && recorded.sha256 !== found)
    throw new BuildError(`${packageName} is not what was recorded`, {
      why: `the SHA-256 of ${path} is ${found}, and scripts/runtimes/runtimes.json says ${recorded.sha256}`,
      fix: 'rm -rf node_modules && npm ci; after an upgrade of the package, record the new digest and compare it: npm run check:runtimes',
    })
  return bytes
}

/** In hex. */
export function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
