// What access policies are resolved against: one state of a cluster, and what SPIRE does in it.
import type { UndecidedBindings } from '../holdings/undecided.ts'
import type { Judgement, LiveOutput } from '../../decide/index.ts'
import type { CompiledSnapshot } from '../settings/compiled-snapshot.ts'
import type { Prediction } from '../../predict/index.ts'

/** The part of a state that the resolution of policies reads. */
export interface PolicyContext {
  readonly base: Omit<CompiledSnapshot, 'pods'>
  /** By `namespace/name` of the binding. */
  readonly judgements: ReadonlyMap<string, Judgement>
  readonly outputs: readonly LiveOutput[]
  /** The names of the outputs that kleym must still create or update in the cluster. */
  readonly unwritten: ReadonlySet<string>
  /** The bindings that may get an output beside these. */
  readonly undecided: UndecidedBindings
  prediction(): Prediction
}
