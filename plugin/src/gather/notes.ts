// What a person should know about what was read: sentences for stderr.
import type { Analysis } from '@kleym/shared/core/analysis/index.ts'
import { unknownReasonTexts, type UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import type { LiveSide } from '../cluster/live-side.ts'
import { missingRbacRules } from '../cluster/rbac.ts'
import type { LoadedFiles } from '../sources/load.ts'
import { namesText } from '../text/names.ts'

/**
 * What could not be read and does not matter enough to make the answer incomplete, and which rules would help; `needed`
 * matters all the same.
 */
export function unreadNotes(
  analysis: Analysis,
  side: LiveSide | undefined,
  needed: readonly UnknownReason[] = [],
): readonly string[] {
  if (side === undefined) return []
  const matter = new Set([...analysis.snapshot.rest.missing.values(), ...needed])
  return [
    ...unknownReasonTexts(
      [...side.gaps.values(), ...side.unverifiedRefs].filter((why) => !matter.has(why)),
    ).map((text) => `not read; what depends on it says so: ${text}`),
    ...missingRbacRules([...side.gaps.values(), ...side.unverifiedRefs]),
  ]
}

/** What no answer uses: documents by kind, and the files of those that are no objects. */
export function skippedNotes(loaded: readonly (LoadedFiles | undefined)[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const one of loaded)
    for (const [kind, count] of one?.skipped ?? []) counts.set(kind, (counts.get(kind) ?? 0) + count)
  const kinds = [...counts]
    .toSorted(([a], [b]) => compareBytes(a, b))
    .map(([kind, count]) => `${count} ${kind}`)
  const noObjects = loaded.flatMap((one) => one?.noObjects ?? [])
  const are = noObjects.length === 1 ? 'is not a Kubernetes object' : 'are not Kubernetes objects'
  return [
    ...(kinds.length === 0 ? [] : [`ignored, as no answer needs it: ${kinds.join(', ')}`]),
    ...(noObjects.length === 0
      ? []
      : [`ignored ${counted(noObjects.length, 'document')} that ${are} (${namesText(noObjects)})`]),
  ]
}
