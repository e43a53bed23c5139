// A snapshot with its bindings compiled: what all states of it have in common, whatever outputs are there.
import type { OpenSettings } from './assumptions.ts'
import type { Compiled, Config } from '../../decide/index.ts'
import type { PodIndex } from '../../model/objects/pod-index.ts'
import type { Pod } from '../../model/objects/pod.ts'
import type { ScmSettings } from '../../model/objects/scm-settings.ts'
import type { Snapshot } from '../../snapshot/index.ts'

/** A snapshot, the settings that it is read with, and what its bindings compile to. */
export interface CompiledSnapshot {
  readonly snapshot: Snapshot
  readonly config: Config
  readonly settings: ScmSettings
  /** What of these settings was not given. */
  readonly openSettings: OpenSettings
  /** In the order of `snapshot.bindings`. */
  readonly compiled: readonly Compiled[]
  /** The pods that questions are about: existing ones, and those of templates that none represents. */
  readonly podsInQuestion: readonly Pod[]
  /** The same pods by their labels. Indexed at the first call. */
  readonly pods: () => PodIndex
}
