// Bindings that ask for an ID and do not give it: refused ones, and those about which nothing is decided yet.
import { judgementWord, declaredBoundary, identityPath, verdictOf } from '../../decide/index.ts'
import type { NamespacedName } from '../../model/namespaced-name.ts'
import type { DeclaredBinding } from '../../model/objects/binding.ts'
import type { PolicyContext } from './policy-context.ts'

/** A binding that asks for an ID and does not give it. */
export interface UnmetClaim {
  /** `namespace/name`. */
  readonly binding: NamespacedName
  /** `refused (TargetObjectiveNotFound)`. */
  readonly why: string
  /** It may give it yet. */
  readonly isOpen: boolean
}

/** By the path of the ID that they ask for, as far as their fields can be read. */
export function unmetClaimsByPath({
  base,
  judgements,
}: PolicyContext): ReadonlyMap<string, readonly UnmetClaim[]> {
  const unmet = base.compiled.flatMap(({ binding }) => {
    const judgement = judgements.get(binding.key)
    const path = declaredPath(binding)
    if (judgement === undefined || judgement.state === 'ready' || path === undefined) return []
    const why = `${judgementWord(judgement.state)} (${verdictOf(judgement).reason})`
    const isOpen = judgement.state === 'waiting' || judgement.state === 'undetermined'
    return [{ path, binding: binding.key, why, isOpen }]
  })
  return Map.groupBy(unmet, ({ path }) => path)
}

/** The path of the ID that a binding asks for; undefined where its fields cannot be read. */
export function declaredPath(binding: DeclaredBinding): string | undefined {
  const boundary = declaredBoundary(binding)
  return boundary === undefined ? undefined : identityPath(boundary)
}
