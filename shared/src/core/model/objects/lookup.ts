// How one object is looked up, and what the answer may be.
import type { ObjectiveGroup, PoolGroup } from '../kinds.ts'
import type { UnknownReason } from '../unknown-reason.ts'
import type { DeclaredObjective, DeclaredPool } from './inference.ts'

/** The answer of a cache, a cluster or a folder about one object. */
export type Lookup<T> =
  | { readonly state: 'found'; readonly object: T }
  | { readonly state: 'absent' }
  | { readonly state: 'kind absent' }
  | { readonly state: 'unknown'; readonly why: UnknownReason }

/** Where references are looked up. */
export interface References {
  pool(group: PoolGroup, namespace: string, name: string): Lookup<DeclaredPool>
  objective(group: ObjectiveGroup, namespace: string, name: string): Lookup<DeclaredObjective>
}
