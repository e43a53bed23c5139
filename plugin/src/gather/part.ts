// Of files, the namespaces that an answer is about are worked out first, as they are of a cluster: all files have been read
// by then, but most of the work comes after that. The rest follows where it may change the answer.
import type { Analysis } from '@kleym/shared/core/analysis.ts'
import { reachesBeyond, within } from '@kleym/shared/core/findings/beyond.ts'
import type { RuleSource } from '@kleym/shared/core/objects/access-rule.ts'
import { pathStart } from '@kleym/shared/core/policies/near.ts'
import { wantingByPath } from '@kleym/shared/core/policies/wanting.ts'
import type { Snapshot } from '@kleym/shared/core/snapshot.ts'
import { NAMESPACES_MAX, type Question } from './question.ts'

/** The part that is enough to begin with; undefined: everything. */
export function partOf(snapshot: Snapshot, { about }: Question): Snapshot | undefined {
  // What could not be read may be of any namespace.
  if (about === undefined || snapshot.gaps.size > 0) return undefined
  const namespaces = new Set(about(snapshot.bindings).map(({ meta }) => meta.namespace))
  if (namespaces.size === 0 || namespaces.size > NAMESPACES_MAX) return undefined
  const part = within(snapshot, namespaces)
  return sizeOf(part) === sizeOf(snapshot) ? undefined : part
}

/** Whether the answer of a part is the answer of everything. */
export function isEnough(part: Analysis): boolean {
  return !reachesBeyond(part) && !mayNameNeighbours(part)
}

function sizeOf({ bindings, pods, templates }: Snapshot): number {
  return bindings.length + pods.length + templates.length
}

/** Whether a policy names an ID that a binding here asks for and does not give: what is like it may be anywhere. */
function mayNameNeighbours(part: Analysis): boolean {
  const wanting = wantingByPath(part)
  const isWanted = (source: RuleSource): boolean =>
    source.kind === 'SPIFFE' && wanting.has(source.spiffeId.slice(pathStart(source.spiffeId)))
  return (
    wanting.size > 0 &&
    part.snapshot.accessPolicies.some(({ rules }) => rules.some(({ sources }) => sources.some(isWanted)))
  )
}
