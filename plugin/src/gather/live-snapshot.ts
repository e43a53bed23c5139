// A snapshot of objects together with what is known of a cluster beside them: what it does not serve, what was listed as
// a whole, and which namespaces were looked into.
import type { Ignorance } from '@kleym/shared/core/unknown-reason.ts'
import { NO_PACE, type Pace } from '@kleym/shared/core/on-progress.ts'
import type { RawObject } from '@kleym/shared/core/objects/raw.ts'
import { readSnapshot, type Snapshot } from '@kleym/shared/core/snapshot/snapshot.ts'
import type { LiveSide } from '../cluster/live-side.ts'

export interface Beside {
  readonly gaps: ReadonlyMap<string, Ignorance>
  /** Undefined where no cluster was asked. */
  readonly side: LiveSide | undefined
  readonly pace?: Pace
  /** The namespaces in question; undefined: all of them. */
  readonly within?: ReadonlySet<string> | undefined
}

/** Reads objects. */
export function liveSnapshot(
  objects: readonly RawObject[],
  { gaps, side, pace = NO_PACE, within }: Beside,
): Snapshot {
  if (side === undefined) return readSnapshot({ objects, gaps, pace, ...(within && { within }) })
  const { absentKinds, listedKinds, namespacesRead } = side
  return readSnapshot({
    objects,
    gaps,
    absentKinds,
    listedKinds,
    pace,
    ...(namespacesRead === undefined ? {} : { namespacesRead }),
  })
}
