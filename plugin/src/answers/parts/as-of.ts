// `--as-of`: when the entries of a server were dumped, and when the objects were read.
import { secondsOf } from '@kleym/shared/core/predict/index.ts'
import type { CommandContext } from '../../io/context.ts'
import { wrongUsage } from '../../io/errors.ts'
import { STDIN_ARGUMENT } from '../../sources/stdin.ts'
import type { ReadTimes } from './compare-entries.ts'

/** RFC 3339 with a zone: a time of day without one is another moment elsewhere. */
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/

/** The time in seconds since 1970; undefined where none is given. Throws a usage error for what is no time. */
export function asOfSeconds(asOf: string | undefined): number | undefined {
  if (asOf === undefined) return undefined
  const seconds = RFC_3339.test(asOf) ? secondsOf(asOf) : undefined
  if (seconds !== undefined) return seconds
  throw wrongUsage('verify', {
    what: `--as-of ${asOf} is no time`,
    why: 'it is written as in RFC 3339, with a zone',
    fix: 'write it as 2026-11-22T12:00:00Z: date -u +%FT%TZ',
  })
}

/** When both sides of a comparison were read; `asOf` is what was given. Beside a cluster, entries of stdin are those of now. */
export function readTimes(
  asOf: number | undefined,
  files: readonly string[],
  { isLive }: { readonly isLive: boolean },
  { clock }: Pick<CommandContext, 'clock'>,
): ReadTimes {
  const now = isLive ? Math.floor(clock.now().getTime() / 1000) : undefined
  const isOfNow = files.every((file) => file === STDIN_ARGUMENT)
  return { asOf: asOf ?? (isOfNow ? now : undefined), objectsAsOf: now }
}
