// The SPIFFE IDs of a map as boxes: who certainly holds each, who perhaps does, and whether that is all.
import { Holdings, openVerdicts, type Analysis } from '@kleym/shared/core/analysis/index.ts'
import { distinct } from '@kleym/shared/core/base/text/bytes.ts'
import {
  givenBy,
  mayBeGiven,
  mayHold,
  templatesOf,
  type GivenId,
  type PodAnswer,
} from '../parts/pod-answers.ts'
import { BARE, type HoldsEdge, type IdentityNode, type MapChange } from './graph.ts'
import { identityId } from './ids.ts'
import type { PodParts } from './pods.ts'

/** The boxes, in byte order; `isOpen`: whether something that no line shows may give the ID to a container here. */
export function identityNodes(
  spiffeIds: readonly string[],
  { nodes, holds }: Pick<PodParts, 'nodes' | 'holds'>,
  isOpen: (spiffeId: string) => boolean,
): readonly IdentityNode[] {
  const counts = new Map(nodes.flatMap((node) => (node.kind === 'container' ? [[node.id, node.count]] : [])))
  const byId = Map.groupBy(holds, ({ to }) => to)
  return distinct(spiffeIds).map((spiffeID) => {
    const id = identityId(spiffeID)
    const edges = byId.get(id) ?? []
    const sum = (isMeant: (edge: HoldsEdge) => boolean): number =>
      edges.reduce((all, edge) => all + (isMeant(edge) ? (counts.get(edge.from) ?? 0) : 0), 0)
    const holders = sum(({ certain, change }) => certain && change !== 'removed')
    const perhaps = sum(({ certain, change }) => !certain && change !== 'removed')
    const without = isOpen(spiffeID) ? 'unknown' : 'unheld'
    return {
      kind: 'identity',
      id,
      label: spiffeID,
      ...BARE,
      change: changeOfIdentity(edges),
      spiffeID,
      state: holders > 0 ? 'held' : perhaps > 0 ? 'perhaps' : without,
      holders,
      perhaps,
    }
  })
}

function changeOfIdentity(edges: readonly HoldsEdge[]): MapChange | null {
  const changes = new Set(edges.map(({ change }) => change))
  const [only] = changes
  if (changes.size === 0 || (changes.size === 1 && only === null)) return null
  return changes.size === 1 && only !== undefined ? only : 'changed'
}

/**
 * Tells whether a registration of these containers may give an ID that it does not name: kleym does not follow its template, or
 * the ID that it gives is known but for placeholders.
 */
export function mayHoldBeside(
  analysis: Analysis,
  answers: readonly PodAnswer[],
): (spiffeId: string) => boolean {
  const templates = templatesOf(analysis)
  const given = new Map<string, GivenId>()
  const holdings = new Holdings(analysis.settled, openVerdicts(analysis))
  for (const { pod, containers } of answers)
    for (const { container, registrations } of containers) {
      // No line shows what a pod will be given once its node is there.
      for (const later of holdings.onceScheduled(pod, container)) {
        const one = givenBy(later, templates)
        given.set(`${one.id}\n${one.template}`, one)
      }
      for (const registration of registrations.filter(mayHold)) {
        const one = givenBy(registration, templates)
        if (one.id === undefined || one.id.includes('<')) given.set(`${one.id}\n${one.template}`, one)
      }
    }
  return (spiffeId) => [...given.values()].some((one) => mayBeGiven(one, spiffeId))
}
