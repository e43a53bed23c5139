// Objects together with what is known of a cluster beside them: what it does not serve, what was listed as a whole, and
// which namespaces were looked into.
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import { NO_DOUBTS, type Doubts, type SnapshotSource } from '@kleym/shared/core/snapshot/index.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import type { LiveSide } from '../cluster/live-side.ts'

/** What a snapshot needs to know beside its objects. */
export interface Beside {
  readonly gaps: ReadonlyMap<string, UnknownReason>
  /** None: what was read could all be understood. */
  readonly doubts?: Doubts
  /** Undefined where no cluster was asked. */
  readonly side: LiveSide | undefined
  /** The namespaces in question; undefined: all of them. */
  readonly onlyNamespaces?: ReadonlySet<string> | undefined
  readonly asksForMentions?: boolean
}

/** What a snapshot of these objects is made from. */
export function snapshotSource(
  objects: readonly RawObject[],
  { gaps, doubts = NO_DOUBTS, side, onlyNamespaces, asksForMentions = false }: Beside,
): SnapshotSource {
  if (side === undefined)
    return { objects, gaps, doubts, asksForMentions, ...(onlyNamespaces && { onlyNamespaces }) }
  const { absentKinds, listedKinds, namespacesRead } = side
  return {
    objects,
    gaps,
    doubts,
    asksForMentions,
    absentKinds,
    listedKinds,
    ...(namespacesRead === undefined ? {} : { namespacesRead }),
  }
}
