// `-o openreports`: which report a finding stands in, and what it becomes there. The CRDs: test/control-plane/open-reports.test.ts.
import { expect, test } from 'vitest'
import { dig, listAt } from '@kleym/shared/core/base/json.ts'
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

test('a finding stands in the report of its namespace, and what is not known in every one', () => {
  const own = resultWith('team-a', { subject: { namespace: 'team-a' } })
  const others = resultWith('team-b', { code: 'KLM402', subject: { namespace: 'team-b' } })
  const global = resultWith('x', { code: 'KLM412', subject: { kind: 'ClusterSPIFFEID', namespace: '' } })
  const findings = [own, others, global].flatMap((one) => one.findings.slice(0, 1))
  expect(reportsOf({ ...own, findings, suppressed: own.suppressed.slice(0, 1) })).toEqual([
    ['ClusterReport', undefined, ['complete error', 'KLM412 warn']],
    ['Report', 'team-a', ['complete error', 'KLM301 fail', 'KLM301 skip']],
    ['Report', 'team-b', ['complete error', 'KLM402 warn']],
  ])
})

test('a finding about a registration of the whole cluster stands in the report of each namespace whose pods show it, as far as they do', () => {
  const result = resultWith('x', { code: 'KLM405', subject: { kind: 'ClusterSPIFFEID', namespace: '' } })
  const findings = result.findings.slice(0, 1).map((one) => ({
    ...one,
    namespaces: new Set(['a', 'b']),
    within: {
      of: (wanted: ReadonlySet<string>) => ({
        summary: `in ${[...wanted].join()}`,
        evidence: [],
        insteadOf: 2,
      }),
    },
  }))
  const reports = toOpenReports({ ...COMPLETE_RESULT, findings })
  expect(
    listAt(reports, 'items').map((each) => [
      dig(each, 'metadata', 'namespace'),
      listAt(each, 'results').map((entry) => dig(entry, 'message')),
    ]),
  ).toEqual([
    [undefined, ['ClusterSPIFFEID/x:x: x']],
    ['a', ['ClusterSPIFFEID/x:x: in a']],
    ['b', ['ClusterSPIFFEID/x:x: in b']],
  ])
})

test('an answer without findings and without doubts is no report', () => {
  expect(reportsOf(COMPLETE_RESULT)).toEqual([])
  expect(reportsOf({ ...COMPLETE_RESULT, assuming: 'the defaults' })).toEqual([
    ['ClusterReport', undefined, ['complete skip']],
  ])
})

test('a report fits into an object of the API server, counts all, and says what it has no room for', () => {
  const one = resultWith('ü'.repeat(1_000), { subject: { namespace: 'team-a' } })
  const findings = Array.from({ length: 500 }, () => one.findings).flat()
  const [report] = listAt(toOpenReports({ ...one, findings, suppressed: [], unknowns: [] }), 'items')
  const results = listAt(report, 'results')
  expect(Buffer.byteLength(JSON.stringify(report))).toBeLessThan(1_100_000)
  expect(dig(report, 'summary', 'fail')).toBe(findings.length)
  expect(dig(results.at(-1), 'message')).toBe(
    `no room for ${findings.length - results.length + 1} more results: ask kubectl kleym`,
  )
})

test.each(HOSTILE_TEXTS)('%j is data alone', (text) => {
  const output = toJson(toOpenReports(resultWith(text)))
  expect(output.replaceAll('\n', '')).not.toMatch(UNSAFE_CHARACTERS)
})
