// InferencePools and InferenceObjectives as their caches keep them.
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { ObjectiveGroup, PoolGroup } from '@kleym/shared/core/model/kinds.ts'
import {
  readObjective,
  readPool,
  type Objective,
  type Pool,
} from '@kleym/shared/core/model/objects/inference.ts'
import { keptMeta, withReadMeta, type KeptMeta } from './kept-meta.ts'

/** An InferencePool of one group, with its selector, decoded once for all bindings that name it. */
export interface CachedPool extends Pick<Pool, 'group' | 'selector'> {
  readonly meta: KeptMeta
}

/** An InferenceObjective of one group, with its pool references as found. */
export interface CachedObjective extends Pick<Objective, 'group' | 'poolRef' | 'poolRefs'> {
  readonly meta: KeptMeta
}

/** The reader of the InferencePools of a group. */
export function cachedPool(group: PoolGroup): (value: JsonRecord) => CachedPool {
  return (value) => {
    const { meta, selector } = readPool({ value: withReadMeta(value) }, group)
    return { meta: keptMeta(meta), group, selector }
  }
}

/** The reader of the InferenceObjectives of a group. */
export function cachedObjective(group: ObjectiveGroup): (value: JsonRecord) => CachedObjective {
  return (value) => {
    const { meta, poolRef, poolRefs } = readObjective({ value: withReadMeta(value) }, group)
    return { meta: keptMeta(meta), group, poolRef, poolRefs }
  }
}
