// `conflicts` as machines read it: the clashes are the findings that every report has, so only the counts are its own.
import type { Frame } from '../../frame/frame.ts'
import type { ConflictCounts } from './counts.ts'

/** The fields of a ConflictsReport. */
export function conflictsFields(
  counts: ConflictCounts,
  refused: { readonly count: number },
): ReturnType<Frame['fields']> {
  return { ...counts, refused: refused.count }
}
