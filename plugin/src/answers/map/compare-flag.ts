// The flag `--compare` of `map`, and what it contradicts: the same as `--base` of `diff`, in its own words.
import { KleymError } from '../../io/errors.ts'
import { STDIN_ARGUMENT } from '../../sources/stdin.ts'
import type { MapOptions } from './options.ts'

/** Throws a usage error for a `--compare` beside sources that it contradicts. */
export function requireComparable({ compare, sources }: MapOptions): void {
  const [first] = compare
  if (first === undefined) return
  const refuse = (what: string, why: string, fix: string): KleymError =>
    new KleymError({
      code: 'usage',
      what,
      where: `--compare ${first}`,
      why,
      fix,
      docs: 'kubectl kleym map --help',
    })
  if (!sources.offline) {
    const why = 'it compares two folders, and without --offline the cluster is read'
    throw refuse('--compare stands beside a cluster', why, 'add --offline, or leave --compare out')
  }
  if (sources.live !== undefined) {
    const why = '--compare is a desired state, --live a dump of live objects'
    throw refuse('--compare stands beside --live', why, 'leave one of them out')
  }
  const { files, kustomize } = sources.files
  if (files.length === 0 && kustomize.length === 0) {
    const why = 'there is nothing to compare it with'
    throw refuse('--compare stands alone', why, 'name the other desired state: -R -f DIR')
  }
  if ([...compare, ...files].filter((file) => file === STDIN_ARGUMENT).length > 1)
    throw refuse('stdin is given twice', 'it can be read only once', 'write - once, for one of the two sides')
}
