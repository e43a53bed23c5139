// What `map` is asked. Apart from run.ts, which reads: the command line does not.
import type { CommonOptions } from '../../flags/options.ts'

/** What `map` is asked. */
export interface MapOptions extends CommonOptions {
  /** A label selector as written. */
  readonly selector: string | undefined
  /** Only what has to do with this ID. */
  readonly spiffeId: string | undefined
  /** The files and folders of the desired state that the files of `-f` are compared with; none: nothing is compared. */
  readonly compare: readonly string[]
}
