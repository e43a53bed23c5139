// `-o sarif`: rules, places, fingerprints and suppressions as code scanning reads them.
import { describe, expect, test } from 'vitest'
import type { CiResult } from '../../src/output/ci.ts'
import { toJson } from '../../src/output/json.ts'
import { escapeSarif, toSarif, uriOf } from '../../src/output/sarif.ts'
import { sarifProblems } from '../support/sarif-schema.ts'
import { HOSTILE_TEXTS, UNSAFE_CHARACTERS, resultWith, COMPLETE_RESULT } from '../support/ci-results.ts'

interface Location {
  readonly physicalLocation: {
    readonly artifactLocation: { readonly uri: string; readonly uriBaseId?: string }
    readonly region?: { readonly startLine: number }
  }
}
interface Result {
  readonly ruleId: string
  readonly ruleIndex: number
  readonly level: string
  readonly message: { readonly text: string }
  readonly locations: readonly Location[]
  readonly relatedLocations?: readonly Location[]
  readonly partialFingerprints: { readonly primaryLocationLineHash: string }
  readonly suppressions?: readonly { readonly kind: string; readonly justification: string }[]
}
interface Run {
  readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } }
  readonly invocations: readonly { readonly executionSuccessful: boolean; readonly exitCode: number }[]
  readonly results: readonly Result[]
}

function runOf(result: CiResult): Run {
  const log: { readonly version: string; readonly runs: readonly Run[] } = JSON.parse(toJson(toSarif(result)))
  const [run, another] = log.runs
  if (run === undefined || another !== undefined || log.version !== '2.1.0') throw new Error('not one run')
  return run
}

function prints(result: CiResult): readonly string[] {
  return runOf(result).results.map(({ partialFingerprints }) => partialFingerprints.primaryLocationLineHash)
}

describe('-o sarif', () => {
  test.each(HOSTILE_TEXTS)('%j is text alone, also once the JSON is read', (text) => {
    const { results } = runOf(resultWith(text))
    expect(results).toHaveLength(4)
    for (const { message, locations, relatedLocations = [], suppressions = [] } of results) {
      const texts = [message.text, ...suppressions.map(({ justification }) => justification)]
      for (const one of texts) expect(one.replaceAll('\n', '')).not.toMatch(UNSAFE_CHARACTERS)
      // An embedded link is a closing bracket that touches an opening one.
      for (const one of texts) expect(one).not.toMatch(/\]\(/)
      for (const { physicalLocation } of [...locations, ...relatedLocations])
        expect(physicalLocation.artifactLocation.uri).toMatch(/^(?:[\w.~!*'()/-]|%[0-9A-F]{2})+$/)
    }
  })

  test.each(HOSTILE_TEXTS)('is valid with %j', (text) => {
    expect(sarifProblems(toJson(toSarif(resultWith(text))))).toEqual([])
  })

  test('results name their rule by id and index, and every rule is used', () => {
    const { results, tool } = runOf(resultWith('x'))
    const { rules } = tool.driver
    expect(results.map(({ ruleIndex }) => rules[ruleIndex]?.id)).toEqual(results.map(({ ruleId }) => ruleId))
    expect(new Set(results.map(({ ruleId }) => ruleId))).toEqual(new Set(rules.map(({ id }) => id)))
  })

  test('suppressed results say by whom and why; the others have no suppressions', () => {
    expect(
      runOf(resultWith('x')).results.map(({ suppressions }) => suppressions?.map(({ kind }) => kind)),
    ).toEqual([undefined, undefined, ['inSource'], ['external']])
  })

  test('what is not known makes the execution unsuccessful', () => {
    expect(runOf(resultWith('x')).invocations).toMatchObject([
      {
        executionSuccessful: false,
        exitCode: 4,
        toolExecutionNotifications: [{ level: 'error', message: { text: 'not known: x' } }],
      },
    ])
    expect(runOf(COMPLETE_RESULT).invocations).toMatchObject([{ executionSuccessful: true, exitCode: 0 }])
  })

  test('an object from a file has its line, one of the cluster a place below CLUSTER', () => {
    const [one] = runOf(resultWith('x')).results
    expect(one?.locations[0]?.physicalLocation).toEqual({
      artifactLocation: { uri: 'x', uriBaseId: '%SRCROOT%' },
      region: { startLine: 7 },
    })
    expect(one?.relatedLocations?.[0]?.physicalLocation).toEqual({
      artifactLocation: { uri: 'ClusterSPIFFEID/x', uriBaseId: 'CLUSTER' },
    })
  })

  test('a finding without a place of its own stands where a related object does', () => {
    const scattered: CiResult = {
      ...resultWith('x'),
      placeOf: ({ kind }) => (kind === 'ClusterSPIFFEID' ? { file: 'default.yaml', line: 3 } : undefined),
    }
    expect(runOf(scattered).results[0]?.locations[0]?.physicalLocation.region).toEqual({ startLine: 3 })
  })

  test('fingerprints are those of what it is about: lines, files and words change nothing, equals are numbered', () => {
    const before = prints(resultWith('x'))
    const reworded = resultWith('x')
    const moved: CiResult = {
      ...reworded,
      findings: reworded.findings.map((one) => ({ ...one, summary: 'other words' })),
      placeOf: () => ({ file: 'elsewhere.yaml', line: 99 }),
    }
    expect(prints(moved)).toEqual(before)
    expect(before.map((print) => print.split(':')[1])).toEqual(['1', '2', '3', '4'])
    expect(prints(resultWith('y'))[0]).not.toBe(before[0])
  })

  test.each([
    ['a/b.yaml', 'a/b.yaml'],
    ['./a/b.yaml', 'a/b.yaml'],
    ['a//b.yaml', 'a/b.yaml'],
    ['a b/ü#?%.yaml', 'a%20b/%C3%BC%23%3F%25.yaml'],
    ['/srv/a.yaml', 'file:///srv/a.yaml'],
    ['c:x', 'c%3Ax'],
  ])('%s as a URI', (path, uri) => {
    expect(uriOf(path)).toBe(uri)
  })

  test('a link in a message is none', () => {
    expect(escapeSarif('[x](http://evil.example)')).toBe('[x] (http://evil.example)')
  })
})
