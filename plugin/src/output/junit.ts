// `-o junit`: the form of JUnit's XML that GitLab and Jenkins read, valid by the schema of Jenkins' xUnit plugin
// (https://github.com/jenkinsci/xunit-plugin, junit-10.xsd), which knows no place of a test case. A finding at the threshold is a failure, one below it
// or a suppressed one is skipped with its words, and whatever is not known is an error: none of them is ever green.
import { isAtLeast, type Finding, findingEntry } from '@kleym/shared/core/findings/index.ts'
import { subjectText } from '@kleym/shared/core/model/objects/subject.ts'
import {
  ordinals,
  findingLines,
  placeOfFinding,
  suppressionText,
  type CiResult,
  type FilePlace,
} from './ci.ts'
import { escapeXml, neutraliseCommands } from '../io/escape.ts'

type Verdict = 'passed' | 'failure' | 'error' | 'skipped'

interface TestCase {
  readonly classname: string
  readonly name: string
  readonly verdict: Verdict
  /** One line for lists. */
  readonly message: string
  readonly type: string
  readonly lines: readonly string[]
  readonly place: FilePlace | undefined
}

/** The whole document. */
export function toJunit(result: CiResult): string {
  const cases = casesOf(result)
  const numbers = ordinals(cases.map(({ classname, name }) => JSON.stringify([classname, name])))
  const count = (verdict: Verdict): number => cases.filter((one) => one.verdict === verdict).length
  const counts = `tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}" time="0"`
  const name = `name="kleym ${printable(result.kind)}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${name} ${counts}>`,
    `  <testsuite ${name} ${counts} skipped="${count('skipped')}">`,
    '    <properties>',
    property('version', result.version),
    property('exitCode', String(result.exitCode)),
    property('fail-on', result.threshold ?? 'never'),
    property('suppressed', String(result.suppressed.length)),
    ...(result.assuming === undefined ? [] : [property('assuming', result.assuming)]),
    '    </properties>',
    ...cases.flatMap((one, at) => caseLines(one, numbers[at] ?? 1)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function casesOf(result: CiResult): readonly TestCase[] {
  return [
    ...completeness(result),
    ...findingCases(result),
    ...suppressedCases(result),
    ...differenceCases(result),
    ...passedCases(result),
  ]
}

/** One green test says that the answer is complete; where it is not, each unknown is an error in its place. */
function completeness({ unknowns, kind }: CiResult): readonly TestCase[] {
  const base = { classname: kind, place: undefined, type: 'incomplete' }
  if (unknowns.length === 0)
    return [{ ...base, name: 'the answer is complete', verdict: 'passed', message: '', lines: [] }]
  return unknowns.map((text) => ({
    ...base,
    name: `not known: ${text}`,
    verdict: 'error',
    message: `not known: ${text}`,
    lines: ['The answer is not complete: what could not be read may hide a finding.'],
  }))
}

function findingCases(result: CiResult): readonly TestCase[] {
  const { findings, threshold } = result
  return findings.map((one) => {
    const { severity, summary } = one
    const isFailing = threshold !== undefined && isAtLeast(severity, threshold)
    return {
      ...caseOf(one, result),
      verdict: isFailing ? 'failure' : 'skipped',
      message: isFailing ? summary : `${severity}, below --fail-on ${threshold ?? 'never'}: ${summary}`,
    }
  })
}

function suppressedCases(result: CiResult): readonly TestCase[] {
  return result.suppressed.map(({ finding, suppression }) => ({
    ...caseOf(finding, result),
    verdict: 'skipped',
    message: `${finding.severity}, ${suppressionText(suppression)}`,
  }))
}

function differenceCases({ differences, kind }: CiResult): readonly TestCase[] {
  return differences.map((text) => ({
    classname: kind,
    name: text,
    verdict: 'failure',
    message: text,
    type: 'difference',
    lines: [],
    place: undefined,
  }))
}

function passedCases({ passed, placeOf }: CiResult): readonly TestCase[] {
  return passed.map(({ subject, text }) => ({
    classname: subjectText(subject),
    name: text,
    verdict: 'passed',
    message: '',
    type: 'passed',
    lines: [],
    place: placeOf(subject),
  }))
}

function caseOf(finding: Finding, result: CiResult): Omit<TestCase, 'verdict' | 'message'> {
  const { code, subject, severity } = finding
  return {
    classname: subjectText(subject),
    name: `${code} ${findingEntry(code).title}`,
    type: `${code} ${severity}`,
    lines: findingLines(finding),
    place: placeOfFinding(finding, result),
  }
}

/** GitLab keeps the first of several cases of one name, so the others are numbered. */
function caseLines(one: TestCase, number: number): readonly string[] {
  const name = number === 1 ? one.name : `${one.name} (${number})`
  const head = `    <testcase classname="${printable(one.classname)}" name="${printable(name)}" time="0"`
  if (one.verdict === 'passed') return [`${head}/>`]
  // Neither GitLab nor Jenkins shows the body of what is skipped: its message says it all.
  const type = one.verdict === 'skipped' ? '' : ` type="${printable(one.type)}"`
  const open = `      <${one.verdict} message="${printable(one.message)}"${type}>`
  const place = one.place === undefined ? [] : [`at ${one.place.file}:${one.place.line}`]
  const body = [...place, ...one.lines].map(printable)
  return [`${head}>`, `${open}${body.join('\n')}</${one.verdict}>`, '    </testcase>']
}

/** For content and attributes; the whole may end up in the log of a CI system. */
function printable(text: string): string {
  return neutraliseCommands(escapeXml(text))
}

function property(name: string, value: string): string {
  return `      <property name="${name}" value="${printable(value)}"/>`
}
