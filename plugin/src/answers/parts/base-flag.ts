// The flag that names the manifests before a change, `--base` of `diff` and `--compare` of `map`, and what it contradicts. Apart from
// `base.ts`, which reads files: the command line does not.
import * as Flags from '@oclif/core/flags'
import type { CommonOptions } from '../../flags/options.ts'
import { REPEATABLE } from '../../flags/repeatable.ts'
import { wrongUsage, type KleymError } from '../../io/errors.ts'
import { requireStdinOnce } from '../../sources/stdin.ts'

/** What `diff` is asked. */
export interface DiffOptions extends CommonOptions {
  /** The files and folders of the desired state that the files of `-f` are compared with; none: what is live. */
  readonly base: readonly string[]
  /** Names of bindings (`chat`, `team-a/chat`) to which the text is narrowed; empty: all. */
  readonly bindings: readonly string[]
  /** A label selector of bindings as written, which narrows the text too. */
  readonly selector: string | undefined
  /** The files and folders of the identity tests that are run on both sides. */
  readonly tests: readonly string[]
}

/** The flag, under either name. */
export const baseFlag = Flags.string({
  helpValue: 'FILE|DIR',
  description: 'With --offline: the manifests before the change, read as -f is; -f is after it. Repeatable.',
  ...REPEATABLE,
})

/** The command, its name of the flag, and why it contradicts a cluster and `--live`. */
export interface BaseWords {
  readonly command: string
  readonly flag: string
  readonly besideCluster: string
  readonly besideLive: string
}

/** Throws a usage error for a desired state before a change beside sources that it contradicts. */
export function requireBase(
  base: readonly string[],
  { sources }: CommonOptions,
  { command, flag, besideCluster, besideLive }: BaseWords,
): void {
  const [first] = base
  if (first === undefined) return
  const refuse = (what: string, why: string, fix: string): KleymError =>
    wrongUsage(command, { what, where: `${flag} ${first}`, why, fix })
  if (!sources.offline)
    throw refuse(
      `${flag} cannot be used with a cluster`,
      besideCluster,
      `add --offline, or leave ${flag} out`,
    )
  if (sources.live !== undefined)
    throw refuse(`${flag} cannot be used with --live`, besideLive, 'leave one of them out')
  const fix = 'write - once, for one of the two sides'
  requireStdinOnce(command, [...base, ...sources.files.files], fix, `${flag} ${first}`)
}
