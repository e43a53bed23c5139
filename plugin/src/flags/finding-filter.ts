// `--code` and `--severity`: which findings an answer shows. They filter the output only: the exit code counts everything,
// and the first line says how many are not shown.
import {
  isAtLeast,
  type Finding,
  codeOfReason,
  FINDING_CODES,
  findingCodeOf,
  type FindingCode,
  type Severity,
} from '@kleym/shared/core/findings/index.ts'
import { REASON_NAMES } from '@kleym/shared/core/decide/index.ts'
import { didYouMean } from '@kleym/shared/core/base/text/suggest.ts'
import { KleymError } from '../io/errors.ts'

/** Which findings are shown. */
export interface FindingFilter {
  /** Undefined: those of any code. */
  readonly codes: ReadonlySet<FindingCode> | undefined
  /** This severity and worse; undefined: any. */
  readonly severity: Severity | undefined
}

/** The filter that the flags ask for; undefined where they ask for none. Throws a usage error for a code that does not exist. */
export function findingFilter(
  codes: readonly string[] | undefined,
  severity: Severity | undefined,
): FindingFilter | undefined {
  if (codes === undefined && severity === undefined) return undefined
  return { codes: codes === undefined ? undefined : new Set(codes.map(requireCode)), severity }
}

/** Whether a filter lets a finding through. */
export function passes({ codes, severity }: FindingFilter, one: Finding): boolean {
  return (
    (codes === undefined || codes.has(one.code)) &&
    (severity === undefined || isAtLeast(one.severity, severity))
  )
}

/** The code that a word means: `KLM201` in any case of letters, or the condition reason `UnsafeSelector`; undefined for none. */
export function codeMeant(written: string): FindingCode | undefined {
  const reason = REASON_NAMES.find((name) => name.toLowerCase() === written.toLowerCase())
  return findingCodeOf(written) ?? (reason === undefined ? undefined : codeOfReason(reason))
}

function requireCode(written: string): FindingCode {
  const fix =
    didYouMean(written, [...FINDING_CODES, ...REASON_NAMES]) ?? 'see them all: kubectl kleym explain KLM'
  return codeMeant(written) ?? failNoCode('usage', `--code ${written}`, fix)
}

/** Throws the error for a word that means no code. */
export function failNoCode(code: 'usage' | 'not-found', where: string, fix: string): never {
  throw new KleymError(code, {
    what: 'there is no such finding code',
    where,
    why: `the codes are ${FINDING_CODES[0] ?? ''} to ${FINDING_CODES.at(-1) ?? ''}, with gaps`,
    fix,
  })
}
