// What the caches say of the objects that a binding names, for one compilation.
import type { ObjectiveGroup, PoolGroup } from '@kleym/shared/core/kinds.ts'
import type { Compiled } from '@kleym/shared/core/compile/compile.ts'
import type { Lookup, References } from '@kleym/shared/core/compile/references.ts'
import type { DeclaredObjective, DeclaredPool } from '@kleym/shared/core/objects/inference.ts'
import type { FollowedKind } from '@kleym/shared/kube/followed-kind.ts'
import { resourceName } from '@kleym/shared/kube/resources.ts'
import { objectKey, type Cached } from '@kleym/shared/kube/store.ts'
import type { Caches } from '../caches/caches.ts'
import type { ConfirmedAbsences, MissingRef } from './missing-refs.ts'

export interface CacheReferencesOptions {
  readonly caches: Pick<Caches, 'pools' | 'objectives'>
  readonly absences: ConfirmedAbsences
}

/** One list for all compilations without missing references, which are most. */
const NONE: readonly MissingRef[] = []

/** The lookups of one compilation, which also notes what it could not be sure of. */
export class CacheReferences implements References {
  readonly #options: CacheReferencesOptions
  readonly #missingPools: MissingRef[] = []
  readonly #missingObjectives: MissingRef[] = []
  #waits = false

  constructor(options: CacheReferencesOptions) {
    this.#options = options
  }

  /** Whether the compilation asked a cache whose first list is still to come. */
  get waits(): boolean {
    return this.#waits
  }

  /**
   * The references that live reads must look for before the result may be believed. A kind that lacks a name matters only
   * where no other kind holds it.
   */
  unverified(result: Compiled['result']): readonly MissingRef[] {
    if (result.kind !== 'refused') return NONE
    if (result.check === 'pool found') return this.#missingPools
    return result.check === 'objective found' ? this.#missingObjectives : NONE
  }

  pool(group: PoolGroup, namespace: string, name: string): Lookup<DeclaredPool> {
    const cache = this.#options.caches.pools.get(group)
    const ref = { kind: 'pool', group, namespace, name } as const
    return this.#lookup(cache, ref, this.#missingPools)
  }

  objective(group: ObjectiveGroup, namespace: string, name: string): Lookup<DeclaredObjective> {
    const cache = this.#options.caches.objectives.get(group)
    const ref = { kind: 'objective', group, namespace, name } as const
    return this.#lookup(cache, ref, this.#missingObjectives)
  }

  #lookup<T extends Cached>(
    cache: FollowedKind<T> | undefined,
    ref: MissingRef,
    missing: MissingRef[],
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
        const object = cache.store.get(objectKey(ref))
        if (object !== undefined) return { state: 'found', object }
        if (!this.#options.absences.has(ref)) missing.push(ref)
        return { state: 'absent' }
      }
    }
  }
}
