// The published JSON Schema against everything that the tests print as JSON or YAML. Every answer of the executable is
// held against the zod schemas where it is run (test/e2e/plugin.ts); here are the goldens, and what no golden has.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isRecord, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { FINDING_CODES } from '@kleym/shared/core/findings/registry/findings.ts'
import { reportJsonSchema } from '../../src/answers/schema.ts'
import { PROJECT_ROOT } from '../support/estate.ts'
import { inProcess } from '../support/in-process.ts'
import { schemaProblems } from '../support/json-schema.ts'
import { reportProblems, requireValidReport } from '../support/report-check.ts'

const GOLDEN = join(PROJECT_ROOT, 'test/e2e/golden')
const ESTATE = ['--offline', '-R', '-f', 'examples/estate']

const PUBLISHED: unknown = JSON.parse(
  await readFile(join(PROJECT_ROOT, 'docs/reference/report.schema.json'), 'utf8'),
)
const GOLDENS = (await readdir(GOLDEN)).filter((name) => name.endsWith('.json')).toSorted()

function published(): JsonRecord {
  if (!isRecord(PUBLISHED)) throw new Error('the published schema is no mapping')
  return PUBLISHED
}

function problemsOf(report: unknown): readonly string[] {
  return [...reportProblems(report), ...schemaProblems(published(), report)]
}

async function goldenReport(name: string): Promise<JsonRecord> {
  const report: unknown = JSON.parse(await readFile(join(GOLDEN, name), 'utf8'))
  if (!isRecord(report)) throw new Error(`${name} is no mapping`)
  return report
}

test('what is published is what zod makes of the schemas', () => {
  expect(PUBLISHED).toEqual(JSON.parse(reportJsonSchema()))
})

describe('reports are as the schema says', () => {
  test('there are goldens to look at', () => {
    expect(GOLDENS.length).toBeGreaterThan(20)
  })

  test.each(GOLDENS)('%s', async (name) => {
    expect(problemsOf(await goldenReport(name))).toEqual([])
  })

  test.each([
    ['explain', ['explain', '-A', ...ESTATE]],
    ['the pages of all codes', ['explain', ...FINDING_CODES]],
    ['the page of a reason without a code', ['explain', 'NotHandled']],
    ['conflicts', ['conflicts', '-A', ...ESTATE]],
    ['suppressed findings', ['conflicts', '-A', ...ESTATE, '--suppress', 'KLM402=iib/*/*']],
    ['who-selects', ['who-selects', '-A', ...ESTATE]],
    ['registration entries', ['who-selects', '-A', '--entries', ...ESTATE]],
    ['policies', ['policies', '-A', ...ESTATE]],
    ['diff', ['diff', ...ESTATE]],
    ['verify', ['verify', '--entries', 'examples/server/entries.json', ...ESTATE]],
    ['why', ['why', 'deployment/llama', '-A', '--entries', 'examples/server/entries.json', ...ESTATE]],
    ['map', ['map', '-A', ...ESTATE]],
    [
      'a map that compares',
      [
        'map',
        '--offline',
        '--compare',
        'examples/pull-request/base',
        '-R',
        '-f',
        'examples/pull-request/head',
      ],
    ],
    ['an answer about nothing', ['explain', '--offline', '-f', 'examples/changes/narrow-pool', '-n', 'none']],
  ])('%s', async (_, args) => {
    const { stdout } = await inProcess([...args, '-o', 'json'], PROJECT_ROOT)
    expect(problemsOf(JSON.parse(stdout))).toEqual([])
  })
})

function without(report: JsonRecord, field: string): unknown {
  return Object.fromEntries(Object.entries(report).filter(([key]) => key !== field))
}

function withFinding(report: JsonRecord, parts: JsonRecord): unknown {
  const { findings } = report
  const [first] = Array.isArray(findings) ? findings.filter(isRecord) : []
  if (first === undefined) throw new Error('the golden has no finding')
  return { ...report, findings: [{ ...first, ...parts }] }
}

describe('the check can fail', () => {
  const broken: readonly [string, (report: JsonRecord) => unknown, RegExp][] = [
    ['a field that is missing', (report) => without(report, 'summary'), /summary/],
    ['a field of another type', (report) => ({ ...report, findings: 'none' }), /findings/],
    ['a severity that is none', (report) => withFinding(report, { severity: 'fatal' }), /severity/],
    ['a code that is none', (report) => withFinding(report, { code: 'X1' }), /code/],
    ['an exit code that no answer has', (report) => ({ ...report, exitCode: 2 }), /exitCode/],
    ['another version', (report) => ({ ...report, apiVersion: 'kleym.sonda.red/report/v2' }), /apiVersion/],
  ]

  test.each(broken)('%s', async (_, breakIt, named) => {
    const report = breakIt(await goldenReport('conflicts-lab.json'))
    expect(reportProblems(report).join('\n')).toMatch(named)
    expect(schemaProblems(published(), report).join('\n')).toMatch(named)
  })

  test('a kind that is none', async () => {
    const report = { ...(await goldenReport('conflicts-lab.json')), kind: 'OtherReport' }
    expect(reportProblems(report)).not.toEqual([])
    expect(schemaProblems(published(), report)).toEqual(['$: 0 of oneOf match'])
  })

  test('a field that the schema does not know: an error here, and no error to readers', async () => {
    const report = { ...(await goldenReport('conflicts-lab.json')), colour: 'red' }
    expect(reportProblems(report)).toEqual(['.colour: not in the schema'])
    expect(schemaProblems(published(), report)).toEqual([])
    expect(() => requireValidReport(`${JSON.stringify(report, null, 2)}\n`)).toThrow(
      '.colour: not in the schema',
    )
  })

  test('other texts are no reports', () => {
    expect(() => requireValidReport('{\n  "apiVersion": "v1"')).not.toThrow()
  })
})

test('a schema is loaded when a machine asks: zod is not on the start-up path of the plugin', async () => {
  const src = join(PROJECT_ROOT, 'plugin/src')
  const files = (await readdir(src, { recursive: true })).filter((name) => /\.tsx?$/.test(name))
  const importing = await Promise.all(
    files
      // The tools of `mcp` are loaded with its server, which needs zod.
      .filter((name) => !/(?:^|[-/])schema\.ts$|^answers\/mcp\/tools\.ts$/.test(name))
      .map(async (name) => [name, await readFile(join(src, name), 'utf8')] as const),
  )
  expect(importing.length).toBeGreaterThan(50)
  expect(
    importing
      .filter(([, text]) => /^import (?!type )[^;']*from '(?:zod|.*[-/]schema\.ts)'/m.test(text))
      .map(([name]) => name),
  ).toEqual([])
})
