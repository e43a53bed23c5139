// Why a container may be cut off by its consumers, in the first lines of `rename` and `migrate`.
import type { CutOff } from '@kleym/shared/core/answers/index.ts'

/** The first few, each in a line of its own. */
export function cutOffLines(cutOffs: readonly CutOff[]): readonly (readonly string[])[] {
  return cutOffs.slice(0, REASONS).map(({ text, isOpen }) => [`${isOpen ? 'not known' : 'cut off'}: ${text}`])
}

/** More reasons than these are in the report alone. */
const REASONS = 5
