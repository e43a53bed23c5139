// `--as-of`: when the entries of a server were dumped.
import { secondsOf } from '@kleym/shared/core/predict/index.ts'
import { wrongUsage } from '../../io/errors.ts'

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
