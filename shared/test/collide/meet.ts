// Whether two claims meet, worked out without the index.
import { ANY, type Claim } from '../../src/core/decide/collide/claim.ts'
import { relationOf } from '../../src/core/decide/collide/claim-index.ts'

/** Whether two claims provably reach one container of one pod. */
export function meet(one: Claim, other: Claim): boolean {
  return (
    isCommon(one.namespace, other.namespace) &&
    isCommon(one.serviceAccountName, other.serviceAccountName) &&
    isCommon(one.containerName, other.containerName) &&
    relationOf(one.labels, other.labels) !== undefined
  )
}

function isCommon(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return one === other || one === ANY || other === ANY
}
