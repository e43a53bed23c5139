// Identity tests from files: each document of the kind, its assertions, and where in the file each field stands.
import {
  IDENTITY_TEST_GROUP,
  IDENTITY_TEST_API_VERSION,
  IDENTITY_TEST_KIND,
} from '@kleym/shared/core/model/names.ts'
import {
  fieldText,
  readIdentityTest,
  testName,
  type FieldPath,
  type IdentityTest,
  type TestReading,
} from '@kleym/shared/core/answers/index.ts'
import { listAt, stringAt } from '@kleym/shared/core/base/json.ts'
import { groupOfApiVersion } from '@kleym/shared/core/model/kinds.ts'
import { editDistance } from '@kleym/shared/core/base/text/suggest.ts'
import { lazy } from '@kleym/shared/core/base/lazy.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import { KleymError } from '../../io/errors.ts'
import type { SourceIo } from '../../io/context.ts'
import type { FilePlace } from '../../output/ci.ts'
import { decodeUtf8 } from '../../sources/decode.ts'
import { BudgetSpent } from '../../sources/budget.ts'
import type { ParsedDocument, ParsedFile } from '../../sources/document.ts'
import { fieldLines } from './field-lines.ts'
import { collect, findFiles, readBounded } from '../../sources/files.ts'
import { parse, STDIN } from '../../sources/load.ts'
import { placeText, spentProblem, type InputProblem } from '../../sources/problem.ts'
import { STDIN_ARGUMENT } from '../../sources/stdin.ts'

/** A document that is a test, and its file. */
export interface LoadedTest {
  readonly test: IdentityTest
  /** The line at which a field stands, or what is nearest above it. */
  readonly placeOf: (path: FieldPath) => FilePlace
}

/** The text of one file of tests. */
export interface TestText {
  readonly name: string
  readonly text: string
}

/** All tests of some files. */
export interface LoadedTests {
  readonly tests: readonly LoadedTest[]
  /** The files that hold a test, however wrong. */
  readonly texts: readonly TestText[]
  readonly problems: readonly InputProblem[]
}

/** Which files are read for tests. */
export interface TestPaths {
  readonly paths: readonly string[]
  /** Whether they were named as tests: each of them must then hold one. Otherwise they are the files of `-f`. */
  readonly areNamed: boolean
}

/** Reads the tests of files and folders. Throws a usage error for a path that is not there, and where there is no test at all. */
export async function loadTests(
  { paths, areNamed }: TestPaths,
  reading: TestReading,
  io: SourceIo,
): Promise<LoadedTests> {
  const problems: InputProblem[] = []
  const tests: LoadedTest[] = []
  const texts: TestText[] = []
  const { files, byPath } = await readFiles(paths, io, problems)
  for (const { name, bytes } of files) {
    const { text } = decodeUtf8(bytes)
    if (!mayHoldTest(text)) continue
    const parsed = await parseBounded(name, bytes, problems)
    for (const { why, fix, ...place } of parsed?.faults ?? [])
      problems.push(
        testProblem(
          `cannot read document ${place.document} of ${name}`,
          placeText({ file: name, ...place }),
          { why, fix },
        ),
      )
    const documents = (parsed?.documents ?? []).filter((one) => isTest(one.value, { name, one, problems }))
    if (documents.length > 0) texts.push({ name, text })
    for (const document of documents) readDocument(document, { name, text }, { reading, tests, problems })
  }
  problems.push(...sameNames(tests))
  if (texts.length === 0 && problems.length === 0) throw noTests(paths)
  const held = new Set(texts.map(({ name }) => name))
  if (areNamed)
    for (const [path, names] of byPath)
      if (problems.length === 0 && !names.some((name) => held.has(name)))
        problems.push(
          testProblem('nothing there is a test', path, { why: NO_TEST, fix: 'correct it, or leave it out' }),
        )
  return { tests, texts, problems }
}

const NO_TEST = `no document there is of kind ${IDENTITY_TEST_KIND} (${IDENTITY_TEST_API_VERSION})`

/** What is wrong with tests hides no object. */
function testProblem(what: string, where: string, { why, fix }: { why: string; fix: string }): InputProblem {
  return { kind: 'malformed', what, where, why, fix, reach: [] }
}

/** A file of more YAML than kleym takes in is a problem, and no reason to end. */
async function parseBounded(
  name: string,
  bytes: Uint8Array,
  problems: InputProblem[],
): Promise<ParsedFile | undefined> {
  try {
    return await parse(name, bytes)
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
    problems.push({ ...spentProblem(error, name), reach: [] })
    return undefined
  }
}

/** Whether a text may hold a test, however it is misspelled: most files of `-f` hold none, and are not parsed again. */
function mayHoldTest(text: string): boolean {
  return text.includes(IDENTITY_TEST_GROUP) || /\bid[a-z]{6,16}\b/i.test(text)
}

interface TestCandidate {
  readonly name: string
  readonly one: ParsedDocument
  readonly problems: InputProblem[]
}

/** By its kind or its group, so that a test of another version or with a slip in either is reported, not left out. */
function isTest(value: unknown, { name, one, problems }: TestCandidate): boolean {
  const kind = stringAt(value, 'kind') ?? ''
  const group = groupOfApiVersion(stringAt(value, 'apiVersion') ?? '')
  if (kind === IDENTITY_TEST_KIND || group === IDENTITY_TEST_GROUP) return true
  const where = `${name}:${one.line}`
  if (editDistance(kind.toLowerCase(), IDENTITY_TEST_KIND.toLowerCase()) <= SLIP_MAX) {
    const why = `${kind} of group ${group === '' ? '(core)' : group} is no kind that is run`
    const fix = `did you mean kind: ${IDENTITY_TEST_KIND} of ${IDENTITY_TEST_API_VERSION}?`
    problems.push(testProblem('a test may be misspelled', where, { why, fix }))
  }
  const isInList = listAt(value, 'items').some((item) => stringAt(item, 'kind') === IDENTITY_TEST_KIND)
  if (isInList) {
    const why = `a List holds an ${IDENTITY_TEST_KIND}, and those are read from documents of their own`
    problems.push(testProblem('a test cannot be run', where, { why, fix: 'put --- between them instead' }))
  }
  return false
}

const SLIP_MAX = 2

/** Two tests of one name: what fails in one could not be told from what fails in the other. */
function sameNames(tests: readonly LoadedTest[]): readonly InputProblem[] {
  const byName = Map.groupBy(tests, ({ test }) => test.name)
  return [...byName].flatMap(([name, [first, ...others]]) =>
    others.map((other) => {
      const why = `${first === undefined ? '' : lineText(first.placeOf(NAME_PATH))} has a test of the same name`
      const where = lineText(other.placeOf(NAME_PATH))
      return testProblem(`a second test is called ${name}`, where, { why, fix: 'give it another name' })
    }),
  )
}

function lineText({ file, line }: FilePlace): string {
  return `${file}:${line}`
}

const NAME_PATH: FieldPath = ['metadata', 'name']

interface Reading {
  readonly reading: TestReading
  readonly tests: LoadedTest[]
  readonly problems: InputProblem[]
}

function readDocument(
  document: ParsedDocument,
  source: TestText,
  { reading, tests, problems }: Reading,
): void {
  const places = lazy(() => fieldLines(source.text, document))
  const placeOf = (path: FieldPath): FilePlace => ({ file: source.name, line: places().lineOf(path) })
  const test = readIdentityTest(document.value, reading)
  if ('assertions' in test) {
    tests.push({ test, placeOf })
    return
  }
  const name = testName(document.value)
  for (const { path, why, fix } of test) {
    const field = fieldText(path)
    const what = `the ${IDENTITY_TEST_KIND} ${name === '' ? 'without a name' : name} cannot be run`
    const where = `${source.name}:${placeOf(path).line}${field === '' ? '' : `, ${field}`}`
    problems.push(testProblem(what, where, { why, fix }))
  }
}

interface FileBytes {
  readonly name: string
  readonly bytes: Uint8Array
}

interface FilesRead {
  readonly files: readonly FileBytes[]
  /** The files that each path stands for. */
  readonly byPath: ReadonlyMap<string, readonly string[]>
}

async function readFiles(
  paths: readonly string[],
  io: SourceIo,
  problems: InputProblem[],
): Promise<FilesRead> {
  const files: FileBytes[] = []
  const add = (name: string, read: Uint8Array | InputProblem): void => {
    if (read instanceof Uint8Array) files.push({ name, bytes: read })
    else problems.push({ ...read, reach: [] })
  }
  const named = paths.filter((path) => path !== STDIN_ARGUMENT)
  // An argument, and no file of -f.
  const rules = { cwd: io.cwd, recursive: true, flag: '' }
  const found = findFiles(named, rules)
  const [wrong] = found.problems
  if (wrong !== undefined) {
    const { what, where, why, fix } = wrong
    throw new KleymError('usage', { what, where, why, fix })
  }
  for (const file of found.files) add(file.name, await readBounded(file))
  const byPath = new Map(
    named.map((path) => [path, findFiles([path], rules).files.map(({ name }) => name)] as const),
  )
  if (named.length < paths.length) {
    add(STDIN, await collect(io.stdin, STDIN))
    byPath.set(STDIN_ARGUMENT, [STDIN])
  }
  return { files: files.toSorted((a, b) => compareBytes(a.name, b.name)), byPath }
}

function noTests(paths: readonly string[]): KleymError {
  return new KleymError('not-found', {
    what: 'there is no identity test',
    where: paths.join(', '),
    why: NO_TEST,
    fix: 'name the files of tests, or write some: kubectl kleym test --generate --offline -R -f DIR',
    docs: 'docs/identity-tests.md',
  })
}
