// Whether two claims meet, worked out without the index.
import type { Claim } from '../../src/core/collide/claim.ts'
import { relationOf } from '../../src/core/collide/claim-index.ts'

/** Whether two claims provably reach one container of one pod. */
export function meet(one: Claim, other: Claim): boolean {
  return (
    one.namespace === other.namespace &&
    one.serviceAccountName === other.serviceAccountName &&
    one.containerName === other.containerName &&
    relationOf(one.labels, other.labels) !== undefined
  )
}
