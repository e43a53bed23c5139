// What access policies are resolved against: one state of the world, and what SPIRE makes of it.
import type { Compiled } from '../compile/compile.ts'
import type { Config } from '../compile/config.ts'
import type { Pod } from '../objects/pod.ts'
import type { ScmSettings } from '../objects/scm-settings.ts'
import type { Settled } from '../plan/settle.ts'
import type { Snapshot } from '../snapshot/snapshot.ts'
import type { Prediction } from '../spire/prediction.ts'

/** The part of an analysis that the resolution of policies reads. */
export interface PolicyContext {
  readonly snapshot: Snapshot
  readonly config: Config
  readonly settings: ScmSettings
  readonly compiled: readonly Compiled[]
  readonly settled: Settled
  readonly subjects: readonly Pod[]
  readonly prediction: () => Prediction
}
