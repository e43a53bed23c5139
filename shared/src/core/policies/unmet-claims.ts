// Bindings that ask for an ID and do not give it: refused ones, and those about which nothing is decided yet.
import type { Binding } from '../objects/binding.ts'
import { verdictOf } from '../plan/status.ts'
import type { Judgement } from '../plan/plan.ts'
import type { PolicyContext } from './policy-context.ts'

/** A binding that asks for an ID and does not give it. */
export interface UnmetClaim {
  /** `namespace/name`. */
  readonly binding: string
  /** `refused (TargetObjectiveNotFound)`. */
  readonly why: string
  /** It may give it yet. */
  readonly isOpen: boolean
}

const WORDS: Readonly<Record<Exclude<Judgement['state'], 'ready'>, string>> = {
  refused: 'refused',
  waiting: 'waiting',
  undetermined: 'not decided',
  deleting: 'being deleted',
}

/** By the path of the ID that they ask for, as far as their fields can be read. */
export function unmetClaimsByPath({
  compiled,
  settled,
}: PolicyContext): ReadonlyMap<string, readonly UnmetClaim[]> {
  const wanting = compiled.flatMap(({ binding }) => {
    const judgement = settled.judgements.get(binding.key)
    const path = pathOf(binding)
    if (judgement === undefined || judgement.state === 'ready' || path === undefined) return []
    const reason = verdictOf(judgement)?.reason
    const why = `${WORDS[judgement.state]}${reason === undefined ? '' : ` (${reason})`}`
    const isOpen = judgement.state === 'waiting' || judgement.state === 'undetermined'
    return [{ path, binding: binding.key, why, isOpen }]
  })
  return Map.groupBy(wanting, ({ path }) => path)
}

/** The path of the ID that a binding asks for; undefined where its fields cannot be read. */
export function pathOf({ meta, mode, poolRef, objectiveRef }: Binding): string | undefined {
  if (!mode.ok) return undefined
  if (mode.value === 'PoolOnly')
    return poolRef.ok ? `/ns/${meta.namespace}/pool/${poolRef.value.name}` : undefined
  return objectiveRef.ok && objectiveRef.value !== undefined
    ? `/ns/${meta.namespace}/objective/${objectiveRef.value.name}`
    : undefined
}
