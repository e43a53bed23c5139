// How `test` looks: the sum first, then what fails, then what is not known; what passes is counted, and named with -o wide.
import type { Finding } from '@kleym/shared/core/findings/finding.ts'
import type { Layout } from '../../text/layout.ts'
import { BLANK, line, MARKS, span, type Block, type Mark } from '../../text/line.ts'
import { wrap } from '../../text/wrap.ts'
import { assertionName, countOutcomes, FAILED, type AssertionResult } from './model.ts'

/** The whole view; `shown` are the findings that are not suppressed, one for each assertion that fails. */
export function viewTests(
  results: readonly AssertionResult[],
  shown: readonly Finding[],
  layout: Layout,
): Block {
  const counting = new Set(shown.map(({ subject }) => subject.name))
  const failed = results.filter((one) => one.outcome.state === 'failed' && counting.has(assertionName(one)))
  const unknown = results.filter(({ outcome }) => outcome.state === 'unknown')
  const passed = layout.wide ? results.filter(({ outcome }) => outcome.state === 'passed') : []
  return [
    headline(results, failed.length, layout),
    ...[...failed, ...unknown].flatMap((one) => [BLANK, ...viewResult(one, layout)]),
    ...(passed.length === 0 ? [] : [BLANK]),
    ...passed.flatMap((one) =>
      wrap(line(MARKS.ok, ` ${one.outcome.claim}`, span(`  ${placeText(one)}`, 'dim')), {
        width: layout.width,
        hang: 2,
      }),
    ),
  ]
}

function headline(
  results: readonly AssertionResult[],
  failed: number,
  { incomplete }: Layout,
): Block[number] {
  const { passed, failed: all, unknown } = countOutcomes(results)
  // Where nothing ran, or not everything was read, nothing is simply fine.
  const isOpen = unknown > 0 || incomplete === true || results.length === 0
  const mark: Mark = failed > 0 ? 'bad' : isOpen ? 'warn' : 'ok'
  const parts = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(unknown > 0 ? [`${unknown} not known`] : []),
    ...(all > failed ? [`${all - failed} suppressed`] : []),
    `${passed} passed`,
  ]
  const tests = new Set(results.map(({ test }) => test)).size
  return line(
    MARKS[mark],
    ' ',
    span(parts.join(', '), 'bold'),
    ` in ${tests === 1 ? '1 test' : `${tests} tests`}`,
  )
}

/** An assertion that fails or is not known, with why and where it stands. */
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
      { width, hang: 2 },
    ),
    ...(assertion.description === undefined
      ? []
      : wrap(line(`  ${assertion.description}`), { width, hang: 2 })),
    ...rows.flatMap((text) => wrap(line(`  ${text}`), { width, hang: 4 })),
    ...(outcome.fix === undefined ? [] : wrap(line(`  fix: ${outcome.fix}`), { width, hang: 7 })),
    ...wrap(line(span(`  ${placeText(one)}, ${assertionName(one)}`, 'dim')), { width, hang: 4 }),
  ]
}

function placeText({ place }: AssertionResult): string {
  const { file, line: row } = place()
  return `${file}:${row}`
}
