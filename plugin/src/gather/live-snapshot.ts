// A snapshot of objects together with what is known of a cluster beside them: what it does not serve, what was listed as
// a whole, and which namespaces were looked into.
import type { Ignorance } from '@kleym/shared/core/knowledge.ts'
import type { RawObject } from '@kleym/shared/core/objects/raw.ts'
import { readSnapshot, type Snapshot } from '@kleym/shared/core/snapshot.ts'
import type { LiveSide } from '../cluster/live-side.ts'

/** Reads objects; `side` is undefined where no cluster was asked. */
export function liveSnapshot(
  objects: readonly RawObject[],
  gaps: ReadonlyMap<string, Ignorance>,
  side: LiveSide | undefined,
): Snapshot {
  if (side === undefined) return readSnapshot({ objects, gaps })
  const { absentKinds, listedKinds, namespacesRead } = side
  return readSnapshot({
    objects,
    gaps,
    absentKinds,
    listedKinds,
    ...(namespacesRead === undefined ? {} : { namespacesRead }),
  })
}
