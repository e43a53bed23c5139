// Why a container may be cut off by its consumers, as `rename` and `migrate` say it.
import type { CutOff } from '@kleym/shared/core/answers/index.ts'
import type { Cause } from '../../frame/causes.ts'

/** Those that are not certain. */
export function openCutOffs(cutOffs: readonly CutOff[]): readonly Cause[] {
  return cutOffs.flatMap(({ text, isOpen }) => (isOpen ? [{ leaves: 'a statement', text }] : []))
}

/** The first few, each once and in a line of its own: several registrations may have one. */
export function cutOffLines(cutOffs: readonly CutOff[]): readonly (readonly string[])[] {
  const lines = cutOffs.map(({ text, isOpen }) => `${isOpen ? 'not known' : 'cut off'}: ${text}`)
  return [...new Set(lines)].slice(0, REASONS).map((text) => [text])
}

/** More reasons than these are in the report alone. */
const REASONS = 5
