// What the caches say of the objects that a binding names, for one compilation.
import type { ObjectiveGroup, PoolGroup } from '@kleym/shared/core/model/kinds.ts'
import type { Compiled } from '@kleym/shared/core/decide/index.ts'
import type { Lookup, References } from '@kleym/shared/core/model/objects/lookup.ts'
import type { DeclaredObjective, DeclaredPool } from '@kleym/shared/core/model/objects/inference.ts'
import { resourceName } from '@kleym/shared/kube/resources.ts'
import type { Cached } from '@kleym/shared/kube/store.ts'
import type { SeenKind, SeenReferences } from './held-references.ts'
import type { ConfirmedAbsences, MissingRef } from './missing-refs.ts'

export interface CacheReferencesOptions {
  readonly seen: SeenReferences
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
    const kind = this.#options.seen.pools.get(group)
    const ref = { kind: 'pool', group, namespace, name } as const
    return this.#lookup(kind, ref, this.#missingPools)
  }

  objective(group: ObjectiveGroup, namespace: string, name: string): Lookup<DeclaredObjective> {
    const kind = this.#options.seen.objectives.get(group)
    const ref = { kind: 'objective', group, namespace, name } as const
    return this.#lookup(kind, ref, this.#missingObjectives)
  }

  #lookup<T extends Cached>(
    kind: SeenKind<T> | undefined,
    ref: MissingRef,
    missing: MissingRef[],
  ): Lookup<T> {
    if (kind === undefined) return { state: 'kind absent' }
    const { syncState, resource } = kind.cache
    switch (syncState.kind) {
      case 'absent':
        return { state: 'kind absent' }
      case 'unknown':
        return { state: 'unknown', why: syncState.why }
      case 'waiting':
        this.#waits = true
        return {
          state: 'unknown',
          why: { verb: 'list', what: resourceName(resource), cause: 'not given' },
        }
      case 'synced': {
        const object = kind.get(ref)
        if (object !== undefined) return { state: 'found', object }
        if (!this.#options.absences.has(ref)) missing.push(ref)
        return { state: 'absent' }
      }
    }
  }
}
