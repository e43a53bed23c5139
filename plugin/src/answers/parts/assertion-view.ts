// An assertion for people.
import type { Layout } from '../../text/layout.ts'
import { line, MARKS, span, type Block } from '../../text/line.ts'
import { wrap } from '../../text/wrap.ts'
import { assertionName, FAILED, type AssertionResult } from '../parts/assertions.ts'

/** An assertion that fails or is not known, with the reason and its place. */
export function viewResult(one: AssertionResult, { width }: Layout): Block {
  const { outcome, assertion } = one
  const isFailed = outcome.state === 'failed'
  const rows = [outcome.why, ...outcome.evidence].filter((text) => text !== '')
  return [
    ...wrap(
      line(
        isFailed ? MARKS.bad : MARKS.warn,
        isFailed ? ` ${FAILED} ` : ' ',
        span(outcome.claim, 'bold'),
        isFailed ? '' : ': not known',
      ),
      width,
      2,
    ),
    ...(assertion.description === undefined ? [] : wrap(line(`  ${assertion.description}`), width, 2)),
    ...rows.flatMap((text) => wrap(line(`  ${text}`), width, 4)),
    ...(outcome.fix === undefined ? [] : wrap(line(`  fix: ${outcome.fix}`), width, 7)),
    ...wrap(line(span(`  ${placeText(one)}, ${assertionName(one)}`, 'dim')), width, 4),
  ]
}

/** Where an assertion stands. */
export function placeText({ place }: AssertionResult): string {
  const { file, line: row } = place()
  return `${file}:${row}`
}
