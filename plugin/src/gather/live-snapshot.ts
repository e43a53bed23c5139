// A snapshot of objects together with what is known of a cluster beside them: what it does not serve, what was listed as
// a whole, and which namespaces were looked into.
import type { UnknownReason } from '@kleym/shared/core/unknown-reason.ts'
import { IGNORE_PROGRESS, type OnProgress } from '@kleym/shared/core/on-progress.ts'
import type { RawObject } from '@kleym/shared/core/objects/raw.ts'
import { readSnapshot, type Snapshot } from '@kleym/shared/core/snapshot/snapshot.ts'
import type { LiveSide } from '../cluster/live-side.ts'

export interface Beside {
  readonly gaps: ReadonlyMap<string, UnknownReason>
  /** Undefined where no cluster was asked. */
  readonly side: LiveSide | undefined
  readonly onProgress?: OnProgress
  /** The namespaces in question; undefined: all of them. */
  readonly within?: ReadonlySet<string> | undefined
}

/** Reads objects. */
export function liveSnapshot(
  objects: readonly RawObject[],
  { gaps, side, onProgress = IGNORE_PROGRESS, within }: Beside,
): Snapshot {
  if (side === undefined) return readSnapshot({ objects, gaps, onProgress, ...(within && { within }) })
  const { absentKinds, listedKinds, namespacesRead } = side
  return readSnapshot({
    objects,
    gaps,
    absentKinds,
    listedKinds,
    onProgress,
    ...(namespacesRead === undefined ? {} : { namespacesRead }),
  })
}
