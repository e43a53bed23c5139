// Objects together with what is known of a cluster beside them: what it does not serve, what was listed as a whole, and
// which namespaces were looked into.
import type { SnapshotSource } from '@kleym/shared/core/snapshot/index.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import type { LiveSide } from '../cluster/live-side.ts'

/** What a snapshot needs to know beside its objects. */
export interface Beside extends Pick<
  SnapshotSource,
  'gaps' | 'unread' | 'asksForMentions' | 'beside' | 'unreadBeside'
> {
  /** Undefined where no cluster was asked. */
  readonly side: LiveSide | undefined
  /** The namespaces in question; undefined: all of them. */
  readonly onlyNamespaces?: ReadonlySet<string> | undefined
}

/** What a snapshot of these objects is made from. */
export function snapshotSource(
  objects: readonly RawObject[],
  { side, onlyNamespaces, ...rest }: Beside,
): SnapshotSource {
  if (side === undefined) return { objects, ...rest, ...(onlyNamespaces && { onlyNamespaces }) }
  const { absentKinds, listedKinds, namespacesRead } = side
  return { objects, ...rest, absentKinds, listedKinds, ...(namespacesRead && { namespacesRead }) }
}
