// The shape of kleym's SPIFFE IDs (docs/contract.md §5). This is the only file that builds or parses the path behind the
// trust domain: a new identity boundary is a new mode in `names.ts`, and a new case in each function here.
import type { Mode } from '../../model/names.ts'
import type { DeclaredBinding } from '../../model/objects/binding.ts'
import { pathIn } from '../../model/spiffe-id.ts'

/** What an identity stands for: a boundary within one namespace. */
export type IdentityBoundary =
  | { readonly mode: 'PoolOnly'; readonly namespace: string; readonly pool: string }
  | {
      readonly mode: 'PerVariant'
      readonly namespace: string
      readonly pool: string
      readonly variant: string
    }
  | { readonly mode: 'PerObjective'; readonly namespace: string; readonly objective: string }

/** A variant as its pods show it: the label key of the install, and the value that the binding names. */
export interface VariantLabel {
  readonly key: string
  readonly value: string
}

/** The names in a SPIFFE ID, once the checks have established them. */
export interface BoundaryNames {
  readonly namespace: string
  readonly mode: Mode
  readonly poolName: string
  /** Set when the mode is PerObjective. */
  readonly objectiveName: string | undefined
  /** Set when the mode is PerVariant. */
  readonly variant: VariantLabel | undefined
}

/** The word that stands for a mode in the name of an output, and before its last name in a SPIFFE ID. */
export type BoundaryWord = 'pool' | 'variant' | 'objective'

const WORDS: Readonly<Record<Mode, BoundaryWord>> = {
  PoolOnly: 'pool',
  PerVariant: 'variant',
  PerObjective: 'objective',
}

/** The word of a mode. */
export function boundaryWord(mode: Mode): BoundaryWord {
  return WORDS[mode]
}

/** The boundary of the names that the checks have established. */
export function boundaryOf({
  namespace,
  mode,
  poolName,
  objectiveName,
  variant,
}: BoundaryNames): IdentityBoundary {
  switch (mode) {
    case 'PoolOnly':
      return { mode, namespace, pool: poolName }
    case 'PerVariant':
      return { mode, namespace, pool: poolName, variant: variant?.value ?? '' }
    case 'PerObjective':
      return { mode, namespace, objective: objectiveName ?? '' }
  }
}

/** The boundary that the fields of a binding declare; undefined where one of these fields is missing or malformed. */
export function declaredBoundary({
  meta: { namespace },
  mode,
  poolRef,
  objectiveRef,
  identityBoundary,
}: Pick<DeclaredBinding, 'meta' | 'mode' | 'poolRef' | 'objectiveRef' | 'identityBoundary'>):
  | IdentityBoundary
  | undefined {
  if (!mode.ok) return undefined
  switch (mode.value) {
    case 'PoolOnly':
      return poolRef.ok ? { mode: mode.value, namespace, pool: poolRef.value.name } : undefined
    case 'PerVariant':
      return poolRef.ok && identityBoundary.ok && identityBoundary.value !== undefined
        ? { mode: mode.value, namespace, pool: poolRef.value.name, variant: identityBoundary.value.variant }
        : undefined
    case 'PerObjective':
      return objectiveRef.ok && objectiveRef.value !== undefined
        ? { mode: mode.value, namespace, objective: objectiveRef.value.name }
        : undefined
  }
}

/**
 * The path of an identity's SPIFFE ID: `/ns/<namespace>/pool/<pool>`, `/ns/<namespace>/pool/<pool>/variant/<variant>` or
 * `/ns/<namespace>/objective/<objective>`.
 */
export function identityPath(boundary: IdentityBoundary): string {
  const namespace = `/ns/${boundary.namespace}`
  switch (boundary.mode) {
    case 'PoolOnly':
      return `${namespace}/pool/${boundary.pool}`
    case 'PerVariant':
      return `${namespace}/pool/${boundary.pool}/variant/${boundary.variant}`
    case 'PerObjective':
      return `${namespace}/objective/${boundary.objective}`
  }
}

/**
 * The boundary that a SPIFFE ID names: the inverse of `identityPath`, for the ID in any trust domain. Undefined for an ID
 * of another shape. Its characters are not checked: `spiffeIdProblem` does that.
 */
export function parseIdentity(spiffeId: string): IdentityBoundary | undefined {
  if (!/^spiffe:\/\/[^/]/.test(spiffeId)) return undefined
  const found = /^\/ns\/([^/]+)\/(?:pool\/([^/]+)(?:\/variant\/([^/]+))?|objective\/([^/]+))$/.exec(
    pathIn(spiffeId),
  )
  const [, namespace, pool, variant, objective] = found ?? []
  if (namespace === undefined) return undefined
  if (objective !== undefined) return { mode: 'PerObjective', namespace, objective }
  if (pool === undefined) return undefined
  return variant === undefined
    ? { mode: 'PoolOnly', namespace, pool }
    : { mode: 'PerVariant', namespace, pool, variant }
}
