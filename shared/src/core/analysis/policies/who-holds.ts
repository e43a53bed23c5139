// Who holds one SPIFFE ID, asked by a person rather than by a policy: the same resolution, over the whole of a state.
import { compareBytes } from '../../base/text/bytes.ts'
import { editDistance } from '../../base/text/suggest.ts'
import type { PolicyContext } from './policy-context.ts'
import type { PolicyHolder, Resolution } from './resolution.ts'
import { Resolver } from './resolve.ts'

/** What becomes of an ID in a state, and similar IDs if nothing gives it. */
export interface WhoHolds {
  readonly resolution: Resolution
  /** IDs that are given and from which it differs by a few letters, the nearest first; at most three. */
  readonly near: readonly string[]
}

/** Looks an ID up: the containers that hold it, the registrations that give it to no container, and similar IDs. */
export function whoHolds(context: PolicyContext, spiffeId: string): WhoHolds {
  const source = { kind: 'SPIFFE', field: '--spiffe-id', spiffeId } as const
  const resolver = new Resolver(context, [source])
  const resolution = resolver.resolve(source)
  const isNothing = resolution.state === 'dangling' || resolution.state === 'foreign'
  return { resolution, near: isNothing ? nearIds(spiffeId, resolver.givenIds()) : [] }
}

/** The containers that certainly hold each of these IDs; one pass over all pods. */
export function holdersOfIds(
  context: PolicyContext,
  spiffeIds: readonly string[],
): ReadonlyMap<string, readonly PolicyHolder[]> {
  return new Map(
    resolutionsOf(context, spiffeIds).flatMap(([spiffeId, resolution]) =>
      resolution.state === 'resolved' ? [[spiffeId, resolution.holders] as const] : [],
    ),
  )
}

/** Those of some IDs that a container perhaps holds: a registration that may give one is not certain. */
export function perhapsHeld(context: PolicyContext, spiffeIds: readonly string[]): ReadonlySet<string> {
  return new Set(
    resolutionsOf(context, spiffeIds).flatMap(([spiffeId, resolution]) =>
      resolution.state === 'unknown' && resolution.because === 'prediction' ? spiffeId : [],
    ),
  )
}

/** Those of some IDs that certainly nothing gives. */
export function givenByNothing(context: PolicyContext, spiffeIds: readonly string[]): readonly string[] {
  return resolutionsOf(context, spiffeIds).flatMap(([spiffeId, { state }]) =>
    state === 'dangling' || state === 'foreign' ? spiffeId : [],
  )
}

function resolutionsOf(
  context: PolicyContext,
  spiffeIds: readonly string[],
): readonly (readonly [spiffeId: string, resolution: Resolution])[] {
  const sources = [...new Set(spiffeIds)].map(
    (spiffeId) => ({ kind: 'SPIFFE', field: '', spiffeId }) as const,
  )
  const resolver = new Resolver(context, sources)
  return sources.map((source) => [source.spiffeId, resolver.resolve(source)] as const)
}

const NEAR_MAX = 3
/** More edits than this make another name. */
const EDITS_MAX = 3

/** Segment by segment: a whole ID is too long for the distance of words. */
function nearIds(spiffeId: string, given: Iterable<string>): readonly string[] {
  const wanted = spiffeId.split('/')
  const near = [...new Set(given)].flatMap((id) => {
    const segments = id.split('/')
    if (segments.length !== wanted.length || id === spiffeId) return []
    const edits = segments.reduce(
      (sum, segment, at) => (sum > EDITS_MAX ? sum : sum + editDistance(segment, wanted[at] ?? '')),
      0,
    )
    return edits <= EDITS_MAX ? [{ id, edits }] : []
  })
  return near
    .toSorted((a, b) => a.edits - b.edits || compareBytes(a.id, b.id))
    .slice(0, NEAR_MAX)
    .map(({ id }) => id)
}
