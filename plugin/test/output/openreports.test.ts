// `-o openreports`: which report a finding stands in, and what it becomes there. The CRDs: test/control-plane/open-reports.test.ts.
import { expect, test } from 'vitest'
import { dig, listAt } from '@kleym/shared/core/json.ts'
import { toJson } from '../../src/output/json.ts'
import { toOpenReports } from '../../src/output/openreports.ts'
import { COMPLETE_RESULT, HOSTILE_TEXTS, resultWith, UNSAFE_CHARACTERS } from '../support/ci-results.ts'

/** Kind, namespace and the results of each report, as `POLICY OUTCOME`. */
function reportsOf(result: Parameters<typeof toOpenReports>[0]): readonly unknown[] {
  return listAt(toOpenReports(result), 'items').map((one) => [
    dig(one, 'kind'),
    dig(one, 'metadata', 'namespace'),
    listAt(one, 'results').map((each) => `${String(dig(each, 'policy'))} ${String(dig(each, 'result'))}`),
  ])
}

test('a finding stands in the report of its namespace alone, and what is not known in every one', () => {
  const own = resultWith('team-a', { subject: { namespace: 'team-a' } })
  const others = resultWith('team-b', { code: 'KLM402', subject: { namespace: 'team-b' } })
  const global = resultWith('x', { code: 'KLM412', subject: { kind: 'ClusterSPIFFEID', namespace: '' } })
  const findings = [own, others, global].flatMap((one) => one.findings.slice(0, 1))
  expect(reportsOf({ ...own, findings, suppressed: own.suppressed.slice(0, 1) })).toEqual([
    ['ClusterReport', undefined, ['KLM412 warn', 'complete error']],
    ['Report', 'team-a', ['KLM301 fail', 'KLM301 skip', 'complete error']],
    ['Report', 'team-b', ['KLM402 warn', 'complete error']],
  ])
})

test('an answer without findings and without doubts is no report', () => {
  expect(reportsOf(COMPLETE_RESULT)).toEqual([])
  expect(reportsOf({ ...COMPLETE_RESULT, assuming: 'the defaults' })).toEqual([
    ['ClusterReport', undefined, ['complete skip']],
  ])
})

test.each(HOSTILE_TEXTS)('%j is data alone', (text) => {
  const output = toJson(toOpenReports(resultWith(text)))
  expect(output.replaceAll('\n', '')).not.toMatch(UNSAFE_CHARACTERS)
})
