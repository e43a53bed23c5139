// The shape of kleym's SPIFFE IDs (docs/contract.md §5). This is the only file that builds or parses the path behind the
// trust domain: a new identity boundary is a new mode in `names.ts`, and a new case in each function here.
import type { Mode } from '../names.ts'
import type { DeclaredBinding } from '../objects/binding.ts'
import { pathIn } from '../spire/spiffe-id.ts'

/** What an identity stands for: a boundary within one namespace. */
export type IdentityBoundary =
  | { readonly mode: 'PoolOnly'; readonly namespace: string; readonly pool: string }
  | { readonly mode: 'PerObjective'; readonly namespace: string; readonly objective: string }

/** The names of which a SPIFFE ID is made, once the checks have established them. */
export interface BoundaryNames {
  readonly namespace: string
  readonly mode: Mode
  readonly poolName: string
  /** Set when the mode is PerObjective. */
  readonly objectiveName: string | undefined
}

/** The word that stands for a mode in a SPIFFE ID and in the name of an output. */
export type BoundaryWord = 'pool' | 'objective'

/** The word of a mode. */
export function boundaryWord(mode: Mode): BoundaryWord {
  return mode === 'PoolOnly' ? 'pool' : 'objective'
}

/** The boundary of the names that the checks have established. */
export function boundaryOf({ namespace, mode, poolName, objectiveName }: BoundaryNames): IdentityBoundary {
  return mode === 'PoolOnly'
    ? { mode, namespace, pool: poolName }
    : { mode, namespace, objective: objectiveName ?? '' }
}

/** The boundary that the fields of a binding declare; undefined where one of these fields is missing or malformed. */
export function declaredBoundary({
  meta: { namespace },
  mode,
  poolRef,
  objectiveRef,
}: Pick<DeclaredBinding, 'meta' | 'mode' | 'poolRef' | 'objectiveRef'>): IdentityBoundary | undefined {
  if (!mode.ok) return undefined
  if (mode.value === 'PoolOnly')
    return poolRef.ok ? { mode: mode.value, namespace, pool: poolRef.value.name } : undefined
  return objectiveRef.ok && objectiveRef.value !== undefined
    ? { mode: mode.value, namespace, objective: objectiveRef.value.name }
    : undefined
}

/** The path of an identity's SPIFFE ID: `/ns/<namespace>/pool/<pool>` or `/ns/<namespace>/objective/<objective>`. */
export function identityPath(boundary: IdentityBoundary): string {
  const name = boundary.mode === 'PoolOnly' ? boundary.pool : boundary.objective
  return `/ns/${boundary.namespace}/${boundaryWord(boundary.mode)}/${name}`
}

/**
 * The boundary that a SPIFFE ID names: the inverse of `identityPath`, for the ID in any trust domain. Undefined for an ID
 * of another shape. Its characters are not checked: `spiffeIdProblem` does that.
 */
export function parseIdentity(spiffeId: string): IdentityBoundary | undefined {
  if (!/^spiffe:\/\/[^/]/.test(spiffeId)) return undefined
  const found = /^\/ns\/([^/]+)\/(pool|objective)\/([^/]+)$/.exec(pathIn(spiffeId))
  const [, namespace, word, name] = found ?? []
  if (namespace === undefined || name === undefined) return undefined
  return word === 'pool'
    ? { mode: 'PoolOnly', namespace, pool: name }
    : { mode: 'PerObjective', namespace, objective: name }
}
