// What the caches say of the objects that a binding names. A cache that does not hold a name proves nothing: a reference
// is believed missing only after a live read has said so (contract §8).
import type { ObjectiveGroup, PoolGroup } from '@kleym/shared/core/kinds.ts'
import type { Compiled } from '@kleym/shared/core/compile/compile.ts'
import type { Lookup, References } from '@kleym/shared/core/compile/references.ts'
import type { Objective, Pool } from '@kleym/shared/core/objects/inference.ts'
import { resourceName } from '@kleym/shared/kube/resources.ts'
import { objectKey, type Cached } from '@kleym/shared/kube/store.ts'
import type { Caches } from '../caches/caches.ts'
import type { FollowedKind } from '@kleym/shared/kube/followed-kind.ts'

/** A name that a cache does not hold. */
export type Missing = { readonly namespace: string; readonly name: string } & (
  | { readonly kind: 'pool'; readonly group: PoolGroup }
  | { readonly kind: 'objective'; readonly group: ObjectiveGroup }
)

/** How many absences are remembered; the oldest are forgotten first, and looked up again when they are needed. */
const ABSENCES_MAX = 20_000

/** What live reads have said is not there, until an object of that name shows up. */
export class Absences {
  readonly #confirmed = new Set<string>()

  has(missing: Missing): boolean {
    return this.#confirmed.has(absenceKey(missing))
  }

  confirm(missing: Missing): void {
    this.#confirmed.add(absenceKey(missing))
    const [oldest] = this.#confirmed
    if (this.#confirmed.size > ABSENCES_MAX && oldest !== undefined) this.#confirmed.delete(oldest)
  }

  /** Somebody has seen an object of that name. */
  forget(missing: Missing): void {
    this.#confirmed.delete(absenceKey(missing))
  }
}

function absenceKey({ kind, group, namespace, name }: Missing): string {
  return `${kind} ${group} ${namespace}/${name}`
}

/** One for all: most bindings leave no doubt. */
const NONE: readonly Missing[] = []

/** The lookups of one compilation, which also notes what it could not be sure of. */
export class CacheReferences implements References {
  readonly #caches: Caches
  readonly #absences: Absences
  readonly #missedPools: Missing[] = []
  readonly #missedObjectives: Missing[] = []
  #waits = false

  constructor(caches: Caches, absences: Absences) {
    this.#caches = caches
    this.#absences = absences
  }

  /** Whether a cache was asked whose first list is still to come. */
  get waits(): boolean {
    return this.#waits
  }

  /**
   * What a live read has yet to look for before the result may be believed. A kind that misses a name proves nothing, but
   * matters only where no other kind holds it.
   */
  doubts(result: Compiled['result']): readonly Missing[] {
    if (result.kind !== 'refused') return NONE
    if (result.check === 'pool found') return this.#missedPools
    return result.check === 'objective found' ? this.#missedObjectives : NONE
  }

  pool(group: PoolGroup, namespace: string, name: string): Lookup<Pool> {
    const missing = { kind: 'pool', group, namespace, name } as const
    return this.#lookup(this.#caches.pools.get(group), missing, this.#missedPools)
  }

  objective(group: ObjectiveGroup, namespace: string, name: string): Lookup<Objective> {
    const missing = { kind: 'objective', group, namespace, name } as const
    return this.#lookup(this.#caches.objectives.get(group), missing, this.#missedObjectives)
  }

  #lookup<T extends Cached>(
    cache: FollowedKind<T> | undefined,
    missing: Missing,
    missed: Missing[],
  ): Lookup<T> {
    if (cache === undefined) return { state: 'kind absent' }
    const { syncState } = cache
    switch (syncState.kind) {
      case 'absent':
        return { state: 'kind absent' }
      case 'unknown':
        return { state: 'unknown', why: syncState.why }
      case 'waiting':
        this.#waits = true
        return {
          state: 'unknown',
          why: { verb: 'list', what: resourceName(cache.resource), cause: 'not given' },
        }
      case 'synced': {
        const object = cache.store.get(objectKey(missing))
        if (object !== undefined) return { state: 'found', object }
        if (!this.#absences.has(missing)) missed.push(missing)
        return { state: 'absent' }
      }
    }
  }
}
