// The net change between two states: the writes that lead from the one to the other.
import type { Action } from '../../decide/index.ts'

/** Writes, all of them and by binding. */
export class Changes {
  /** In byte order of the names of the ClusterSPIFFEIDs. */
  readonly all: readonly Action[]
  #byBinding: ReadonlyMap<string, readonly Action[]> | undefined

  constructor(all: readonly Action[]) {
    this.all = all
  }

  /** Those on behalf of a binding, by `namespace/name`. */
  of(binding: string): readonly Action[] {
    this.#byBinding ??= Map.groupBy(this.all, (action) => action.binding)
    return this.#byBinding.get(binding) ?? []
  }
}

/** No change at all. */
export const NO_CHANGES = new Changes([])
