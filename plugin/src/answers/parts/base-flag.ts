// The flag `--base` of `diff`, and what it contradicts. Apart from `base.ts`, which reads files: the command line does not.
import type { CommonOptions } from '../../flags/options.ts'
import { KleymError } from '../../io/errors.ts'
import { STDIN_ARGUMENT } from '../../sources/stdin.ts'

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

/** Throws a usage error for a `--base` beside sources that it contradicts. */
export function requireBase({ base, sources }: DiffOptions): void {
  const [first] = base
  if (first === undefined) return
  const refuse = (what: string, why: string, fix: string): KleymError =>
    new KleymError({
      code: 'usage',
      what,
      where: `--base ${first}`,
      why,
      fix,
      docs: 'kubectl kleym diff --help',
    })
  if (!sources.offline) {
    const why = 'it compares two folders, and without --offline the files are compared with the cluster'
    throw refuse('--base stands beside a cluster', why, 'add --offline, or leave --base out')
  }
  if (sources.live !== undefined) {
    const why =
      '--base is a desired state, --live a dump of live objects; the files can be compared with one of them'
    throw refuse('--base stands beside --live', why, 'leave one of them out')
  }
  const { files } = sources.files
  if ([...base, ...files].filter((file) => file === STDIN_ARGUMENT).length > 1)
    throw refuse('stdin is given twice', 'it can be read only once', 'write - once, for one of the two sides')
}
