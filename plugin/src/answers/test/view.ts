// How `test` looks: the sum first, then what fails, then what is not known; what passes is counted, and named with -o wide.
import type { Layout } from '../../text/layout.ts'
import { BLANK, line, MARKS, span, type Block, type Mark } from '../../text/line.ts'
import { wrap } from '../../text/wrap.ts'
import { assertionName, countOutcomes, type AssertionResult } from './model.ts'

/** The whole view. */
export function viewTests(results: readonly AssertionResult[], layout: Layout): Block {
  const failed = results.filter(({ outcome }) => outcome.state === 'failed')
  const unknown = results.filter(({ outcome }) => outcome.state === 'unknown')
  const passed = layout.wide ? results.filter(({ outcome }) => outcome.state === 'passed') : []
  return [
    headline(results),
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

function headline(results: readonly AssertionResult[]): Block[number] {
  const { passed, failed, unknown } = countOutcomes(results)
  const mark: Mark = failed > 0 ? 'bad' : unknown > 0 ? 'warn' : 'ok'
  const parts = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(unknown > 0 ? [`${unknown} not known`] : []),
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

function viewResult(one: AssertionResult, { width }: Layout): Block {
  const { outcome, assertion } = one
  const isFailed = outcome.state === 'failed'
  const rows = [outcome.why, ...outcome.evidence].filter((text) => text !== '')
  return [
    ...wrap(
      line(
        isFailed ? MARKS.bad : MARKS.warn,
        ' ',
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
