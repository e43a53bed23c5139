// A few namespaces were read, and then all of them, and not all of that could be had: what each reading knows is kept.
import { kindKey } from '@kleym/shared/core/model/kinds.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import { NAMESPACES, resourceName } from '@kleym/shared/kube/resources.ts'
import type { LiveSide } from '../cluster/live-side.ts'

/** The key of a gap that is about other namespaces alone: of those that were asked about, the kind is known. */
export const OTHER_NAMESPACES = 'other namespaces'

/**
 * Everything, with the objects of `few` for each kind that could be read in a few namespaces only. Outside of those,
 * what is not there is then not known.
 */
export function mergeReads(everything: LiveSide, few: LiveSide): LiveSide {
  const lost = new Map([...everything.gaps].filter(([kind]) => !few.gaps.has(kind)))
  const objects = [
    ...everything.objects,
    ...few.objects.filter(({ value }) => everything.gaps.has(kindKey(value))),
  ]
  const why = gapElsewhere(lost)
  if (why === undefined) return { ...everything, objects }
  const known = [...everything.gaps].filter(([kind]) => !lost.has(kind))
  return {
    ...everything,
    objects,
    gaps: new Map([...known, [OTHER_NAMESPACES, why]]),
    namespacesRead: few.namespacesRead,
  }
}

/** Without a list of Namespaces, only their labels are open, and that is judged by itself. */
function gapElsewhere(lost: ReadonlyMap<string, UnknownReason>): UnknownReason | undefined {
  return [...lost].find(([kind]) => kind !== resourceName(NAMESPACES))?.[1]
}
