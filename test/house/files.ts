// The files of the repository, as git tracks them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { printedBy } from '@kleym/testing/child-process.ts'

export const ROOT = join(import.meta.dirname, '../..')

/** Paths from the root, with forward slashes. */
export const TRACKED: readonly string[] = printedBy('git', ['ls-files', '-z'], { cwd: ROOT })
  .split('\0')
  .filter((path) => path !== '')

/** What is shipped: the core, the clients of a cluster, and the two programs. */
export const SOURCES: readonly string[] = TRACKED.filter((path) =>
  /^(shared|plugin|operator)\/src\/.*\.tsx?$/.test(path),
)

/** The tracked files with one of these endings, without the dot. */
export function withEnding(...endings: readonly string[]): readonly string[] {
  return TRACKED.filter((path) => endings.some((ending) => path.endsWith(`.${ending}`)))
}

/** The text of a tracked file. */
export function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}
