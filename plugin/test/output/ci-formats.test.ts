// The formats for CI systems with names that mean harm: nothing that a cluster or a file holds becomes syntax of the
// format, a command of a CI system, or an invisible character.
import { describe, expect, test } from 'vitest'
import { finding, type Subject } from '@kleym/shared/core/findings/finding.ts'
import type { FindingCode } from '@kleym/shared/core/registry/findings.ts'
import { escapeTerminal } from '../../src/io/escape.ts'
import type { CiResult } from '../../src/output/ci.ts'
import { toGithub } from '../../src/output/github.ts'
import { toJson } from '../../src/output/json.ts'
import { toJunit } from '../../src/output/junit.ts'
import { toMermaid } from '../../src/output/mermaid.ts'
import { escapeSarif, toSarif, uriOf } from '../../src/output/sarif.ts'
import { withRemarks } from '../../src/frame/diagram.ts'
import { parseXml, type Element } from './well-formed.ts'

const HOSTILE = [
  'plain',
  '::error file=a,line=1::boo',
  'a\n::error::boo\r\n::stop-commands::x',
  '%0A::error::boo%25',
  'a,line=9,title=x::y',
  '##[error]boo ##vso[task.complete]x',
  ']]></failure></testcase></testsuite>',
  '<failure message="x" a=\'b\'>&amp; &lt; &#10; &nope;',
  '"]:::bad; n0 --> evil["x"]; click n0 "javascript:alert(1)"',
  '`graph` %%{init: {"theme":"x"}}%% end subgraph <br/><img src=x onerror=y>',
  '[click](http://evil.example) {0} \\[x\\]',
  '\u001b[31mred\u009b2J\u0000\u0007',
  'a\u202eb\u2066c\u200b\ufeff\u2028',
  '\ud800 lone \udfff\uffff',
  '../../etc/passwd?x#y z\\w',
] as const

const UNSAFE =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\uffff]|\p{Surrogate}/u

interface Parts {
  readonly code?: FindingCode
  readonly subject?: Partial<Subject>
}

function resultWith(text: string, { code = 'KLM301', subject }: Parts = {}): CiResult {
  const about = { kind: 'InferenceIdentityBinding', namespace: text, name: text, container: text, ...subject }
  const one = finding(code, {
    subject: about,
    related: [{ kind: 'ClusterSPIFFEID', namespace: '', name: text }],
    summary: text,
    evidence: [text, text],
    fix: text,
  })
  return {
    kind: 'ConflictsReport',
    version: '1.2.3',
    threshold: 'error',
    findings: [one, one],
    suppressed: [
      { finding: one, suppression: { by: 'annotation', text, reason: text } },
      { finding: one, suppression: { by: 'flag', text, reason: undefined } },
    ],
    differences: [text],
    unknowns: [text],
    placeOf: ({ kind }) => (kind === 'ClusterSPIFFEID' ? undefined : { file: text, line: 7 }),
    exitCode: 4,
  }
}

const COMPLETE: CiResult = {
  ...resultWith('x'),
  findings: [],
  suppressed: [],
  differences: [],
  unknowns: [],
  exitCode: 0,
}

describe('-o github', () => {
  test.each(HOSTILE)('%j is data alone', (text) => {
    const output = toGithub(resultWith(text))
    expect(output).not.toMatch(UNSAFE)
    expect(output).not.toMatch(/##(?:\[|vso\[)/)
    const lines = output.split('\n').slice(0, -1)
    const commands = lines.filter((line) => /^\s*::/.test(line))
    // One for what is not known, two findings, one difference: no more, whatever the names hold.
    expect(commands).toHaveLength(4)
    for (const line of commands)
      expect(line).toMatch(/^::(?:error|warning|notice) (?:file=[^,:]*,line=7,)?title=[^,:]*::/)
    expect(lines.at(-1)).toBe(
      'kleym ConflictsReport: 2 errors, 0 warnings, 0 info; 1 difference; 2 suppressed; the answer is not complete; exit code 4',
    )
  })

  test('the runner gives the message back with its lines', () => {
    const [, line = ''] = toGithub(resultWith('50% a:b, c')).split('\n')
    const [, properties = '', message = ''] = /^::error (.*?)::(.*)$/.exec(line) ?? []
    const data = message.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%')
    expect(data.split('\n').slice(0, 3)).toEqual([
      'InferenceIdentityBinding/50% a:b, c/50% a:b, c:50% a:b, c: 50% a:b, c',
      '50% a:b, c',
      '50% a:b, c',
    ])
    expect(properties).toBe('file=50%25 a%3Ab%2C c,line=7,title=KLM301%3A identity collision')
  })

  test.each<[FindingCode, string]>([
    ['KLM301', 'error'],
    ['KLM402', 'warning'],
    ['KLM412', 'notice'],
  ])('%s is the command %s', (code, command) => {
    expect(toGithub(resultWith('x', { code }))).toMatch(
      new RegExp(`^::${command} file=x,line=7,title=${code}%3A `, 'm'),
    )
  })

  test('an answer with nothing to say is its last line', () => {
    expect(toGithub(COMPLETE)).toBe(
      'kleym ConflictsReport: 0 errors, 0 warnings, 0 info; 0 suppressed; exit code 0\n',
    )
  })
})

function casesOf(document: string): readonly Element[] {
  const [suite] = parseXml(document).children
  return (suite?.children ?? []).filter(({ name }) => name === 'testcase')
}

describe('-o junit', () => {
  test.each(HOSTILE)('%j is text alone', (text) => {
    const document = toJunit(resultWith(text))
    expect(document).not.toMatch(UNSAFE)
    expect(document).not.toMatch(/^\s*::/m)
    expect(document).not.toMatch(/##(?:\[|vso\[)/)
    const cases = casesOf(document)
    expect(cases.map(({ children }) => children.map(({ name }) => name))).toEqual([
      ['error'],
      ['failure'],
      ['failure'],
      ['skipped'],
      ['skipped'],
      ['failure'],
    ])
    const [, first] = cases
    expect(first?.attributes['classname']).toContain(
      escapeTerminal(text).replaceAll(/##(?=\[|vso\[)/g, String.raw`#\x23`),
    )
    // GitLab drops the second of two of one name.
    expect(new Set(cases.map(({ attributes }) => JSON.stringify(attributes))).size).toBe(cases.length)
  })

  test('its counts are those of its cases', () => {
    const { attributes, children } = parseXml(toJunit(resultWith('x')))
    expect(attributes).toMatchObject({ tests: '6', failures: '3', errors: '1', skipped: '2' })
    expect(children[0]?.attributes).toEqual(attributes)
  })

  test('what is below the threshold is skipped with its words', () => {
    const [, one] = casesOf(toJunit(resultWith('x', { code: 'KLM402' })))
    expect(one?.children[0]).toMatchObject({
      name: 'skipped',
      attributes: { message: 'warning, below --fail-on error: x' },
    })
  })

  test('nothing fails with --fail-on never, and what is not known is an error all the same', () => {
    const names = casesOf(toJunit({ ...resultWith('x'), threshold: undefined, differences: [] })).flatMap(
      ({ children }) => children.map(({ name }) => name),
    )
    expect(names).toEqual(['error', 'skipped', 'skipped', 'skipped', 'skipped'])
  })

  test('a complete answer without findings is one green test: an empty report is an error to Jenkins', () => {
    expect(
      casesOf(toJunit(COMPLETE)).map(({ attributes, children }) => [attributes['name'], children]),
    ).toEqual([['the answer is complete', []]])
  })
})

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
  test.each(HOSTILE)('%j is text alone, also once the JSON is read', (text) => {
    const { results } = runOf(resultWith(text))
    expect(results).toHaveLength(4)
    for (const { message, locations, relatedLocations = [], suppressions = [] } of results) {
      const texts = [message.text, ...suppressions.map(({ justification }) => justification)]
      for (const one of texts) expect(one.replaceAll('\n', '')).not.toMatch(UNSAFE)
      // An embedded link is a closing bracket that touches an opening one.
      for (const one of texts) expect(one).not.toMatch(/\]\(/)
      for (const { physicalLocation } of [...locations, ...relatedLocations])
        expect(physicalLocation.artifactLocation.uri).toMatch(/^(?:[\w.~!*'()/-]|%[0-9A-F]{2})+$/)
    }
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
    expect(runOf(COMPLETE).invocations).toMatchObject([{ executionSuccessful: true, exitCode: 0 }])
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

describe('-o mermaid', () => {
  test.each(HOSTILE)('%j is a label alone', (text) => {
    const graph = {
      nodes: [
        { key: 'a', lines: [text, text], look: 'bad' as const },
        { key: 'b', lines: [text], look: 'plain' as const },
      ],
      edges: [
        { from: 'a', to: 'b', label: text },
        { from: 'b', to: 'a', label: '', dotted: true as const },
      ],
    }
    const chart = toMermaid(withRemarks(graph, resultWith(text)), 'a comment')
    expect(chart).not.toMatch(UNSAFE)
    const label = `"(?:[^"#;<>{}[\\]()|\`%\\\\]|#\\d+;|<br/>)*"`
    const line = new RegExp(
      [
        '^%% a comment$',
        '^flowchart LR$',
        `^ {2}n\\d+\\[${label}\\](?::::[a-z]+)?$`,
        `^ {2}n\\d+ (?:-->|-\\.->)(?:\\|${label}\\|)? n\\d+$`,
        '^ {2}classDef [a-z]+ [a-z0-9:#,-]+$',
      ].join('|'),
    )
    const lines = chart.split('\n').slice(0, -1)
    expect(lines.filter((one) => !line.test(one))).toEqual([])
    expect(lines.filter((one) => / --?>|-\.->/.test(one))).toHaveLength(2)
  })

  test('nodes of one key are one node, and an edge to a node that is not there is left out', () => {
    const node = { key: 'a', lines: ['x'], look: 'plain' as const }
    expect(toMermaid({ nodes: [node, node], edges: [{ from: 'a', to: 'b', label: '' }] }, 'c')).toBe(
      '%% c\nflowchart LR\n  n0["x"]\n',
    )
  })

  test('shows each finding once, what is suppressed, and what is not known', () => {
    const chart = toMermaid(withRemarks({ nodes: [], edges: [] }, resultWith('x')), 'c')
    expect(chart.match(/× error KLM301/g)).toHaveLength(1)
    expect(chart.match(/· suppressed error KLM301/g)).toHaveLength(2)
    expect(chart).toContain('‼ the answer is not complete<br/>not known: x')
  })
})
