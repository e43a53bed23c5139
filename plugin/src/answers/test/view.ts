// How `test` looks: the sum first, then what fails, then what is not known; what passes is counted, and named with -o wide.
import type { Finding } from '@kleym/shared/core/findings/index.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import type { Answer } from '../../text/answer.ts'
import type { Layout } from '../../text/layout.ts'
import { apart, line, MARKS, span, type Block } from '../../text/line.ts'
import { namesText } from '../../text/names.ts'
import { wrap } from '../../text/wrap.ts'
import { problemText, type InputProblem } from '../../sources/problem.ts'
import { assertionName, countOutcomes, type AssertionResult } from '../parts/assertions.ts'
import { placeText, viewResult } from '../parts/assertion-view.ts'

/** What stands below the answer; `shown` are the findings that are not suppressed, one for each assertion that fails. */
export function viewTests(
  results: readonly AssertionResult[],
  shown: readonly Finding[],
  layout: Layout,
): Block {
  const failed = failing(results, shown)
  const unknown = results.filter(({ outcome }) => outcome.state === 'unknown')
  const passed = layout.wide ? results.filter(({ outcome }) => outcome.state === 'passed') : []
  return apart([
    ...[...failed, ...unknown].map((one) => viewResult(one, layout)),
    passed.flatMap((one) =>
      wrap(line(MARKS.ok, ` ${one.outcome.claim}`, span(`  ${placeText(one)}`, 'dim')), layout.width, 2),
    ),
  ])
}

/** The assertions that fail and are not suppressed. */
function failing(results: readonly AssertionResult[], kept: readonly Finding[]): readonly AssertionResult[] {
  const counting = new Set(kept.map(({ subject }) => subject.name))
  return results.filter((one) => one.outcome.state === 'failed' && counting.has(assertionName(one)))
}

/** The first lines: how many assertions failed, are not known or passed, and which; `kept` as for `viewTests`. */
export function testsAnswer(
  results: readonly AssertionResult[],
  kept: readonly Finding[],
  { faults }: { readonly faults: readonly InputProblem[] },
): Answer {
  const [fault] = faults
  const wrong =
    fault === undefined
      ? []
      : [[`${counted(faults.length, 'fault')} in the test files: ${problemText(fault)}`]]
  if (results.length === 0)
    return { mark: 'warn', text: [span('no assertion was run', 'bold')], reasons: wrong }
  const failed = failing(results, kept)
  const unknown = results.filter(({ outcome }) => outcome.state === 'unknown')
  const { passed, failed: all } = countOutcomes(results)
  const suppressed = all - failed.length
  const open = failed.length > 0 ? failed : unknown
  const [count, what] =
    failed.length > 0
      ? [failed.length, 'failed']
      : unknown.length > 0
        ? [unknown.length, unknown.length === 1 ? 'is not known' : 'are not known']
        : [passed, 'passed']
  const total = counted(results.length, 'assertion')
  const also = [
    ...(failed.length > 0 && unknown.length > 0 ? [`${unknown.length} not known`] : []),
    ...(suppressed > 0 ? [`${suppressed} suppressed`] : []),
  ]
  return {
    mark: unknown.length > 0 ? 'warn' : 'ok',
    text: [span(`${count === results.length ? total : `${count} of ${total}`} ${what}`, 'bold')],
    reasons: [
      ...(open.length === 0 ? [] : [[namesText(open.map(assertionName))]]),
      ...(also.length === 0 ? [] : [[also.join(', ')]]),
      ...wrong,
    ],
  }
}
