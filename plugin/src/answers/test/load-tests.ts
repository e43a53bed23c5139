// Identity tests from files: each document of the kind, its assertions, and where in the file each field stands.
import {
  fieldText,
  readIdentityTest,
  testName,
  type FieldPath,
  type IdentityTest,
  type TestReading,
} from '@kleym/shared/core/identity-tests/identity-test.ts'
import {
  IDENTITY_TEST_API_VERSION,
  IDENTITY_TEST_GROUP,
  IDENTITY_TEST_KIND,
} from '@kleym/shared/core/identity-tests/schema.ts'
import { stringAt } from '@kleym/shared/core/json.ts'
import { groupOfApiVersion } from '@kleym/shared/core/kinds.ts'
import { lazy } from '@kleym/shared/core/lazy.ts'
import { compareBytes } from '@kleym/shared/core/text/bytes.ts'
import { isNode, LineCounter, parseDocument, type Document } from 'yaml'
import { KleymError } from '../../io/errors.ts'
import type { SourceIo } from '../../io/context.ts'
import type { FilePlace } from '../../output/ci.ts'
import { decodeUtf8 } from '../../sources/decode.ts'
import { splitDocuments, type ParsedDocument } from '../../sources/document.ts'
import { collect, findFiles, readBounded } from '../../sources/files.ts'
import { parse, STDIN } from '../../sources/load.ts'
import { placeText, type InputProblem } from '../../sources/problem.ts'
import { STDIN_ARGUMENT } from '../../sources/stdin.ts'

/** A document that is a test, and its file. */
export interface LoadedTest {
  readonly test: IdentityTest
  readonly file: string
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

/** Reads the tests of files and folders. Throws a usage error for a path that is not there, and where there is no test at all. */
export async function loadTests(
  paths: readonly string[],
  reading: TestReading,
  io: SourceIo,
): Promise<LoadedTests> {
  const problems: InputProblem[] = []
  const tests: LoadedTest[] = []
  const texts: TestText[] = []
  for (const { name, bytes } of await readFiles(paths, io, problems)) {
    const { text } = decodeUtf8(bytes)
    if (!text.includes(IDENTITY_TEST_KIND)) continue
    const parsed = await parse(name, bytes)
    for (const { why, fix, ...place } of parsed.faults)
      problems.push({
        kind: 'malformed',
        what: `cannot read document ${place.document} of ${name}`,
        where: placeText({ file: name, ...place }),
        why,
        fix,
        reach: [],
      })
    const documents = parsed.documents.filter(({ value }) => isTest(value))
    if (documents.length > 0) texts.push({ name, text })
    for (const document of documents) readDocument(document, { name, text }, { reading, tests, problems })
  }
  if (texts.length === 0 && problems.length === 0) throw noTests(paths)
  return { tests, texts, problems }
}

/** By its kind, so that a test of another version is told, not left out. */
function isTest(value: unknown): boolean {
  const group = groupOfApiVersion(stringAt(value, 'apiVersion') ?? '')
  return stringAt(value, 'kind') === IDENTITY_TEST_KIND || group === IDENTITY_TEST_GROUP
}

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
    tests.push({ test, file: source.name, placeOf })
    return
  }
  const name = testName(document.value)
  for (const { path, why, fix } of test) {
    const field = fieldText(path)
    problems.push({
      kind: 'malformed',
      what: `the ${IDENTITY_TEST_KIND} ${name === '' ? 'without a name' : name} cannot be run`,
      where: `${source.name}:${placeOf(path).line}${field === '' ? '' : `, ${field}`}`,
      why,
      fix,
      reach: [],
    })
  }
}

/** Which line a field stands on: the text is parsed once more, since values have no place. */
function fieldLines(
  text: string,
  { document, line }: ParsedDocument,
): { readonly lineOf: (path: FieldPath) => number } {
  const chunk = [...splitDocuments(text)].find((one) => one.document === document)
  if (chunk === undefined) return { lineOf: () => line }
  const counter = new LineCounter()
  const parsed = parseDocument(chunk.text, { lineCounter: counter, logLevel: 'silent', uniqueKeys: false })
  return {
    lineOf: (path) => {
      for (let length = path.length; length > 0; length--) {
        const offset = offsetAt(parsed, path.slice(0, length))
        if (offset !== undefined) return chunk.line + counter.linePos(offset).line - 1
      }
      return line
    },
  }
}

function offsetAt(parsed: Document.Parsed, path: FieldPath): number | undefined {
  const node: unknown = parsed.getIn(path, true)
  return isNode(node) ? node.range?.[0] : undefined
}

interface FileBytes {
  readonly name: string
  readonly bytes: Uint8Array
}

async function readFiles(
  paths: readonly string[],
  io: SourceIo,
  problems: InputProblem[],
): Promise<readonly FileBytes[]> {
  const files: FileBytes[] = []
  const add = (name: string, read: Uint8Array | InputProblem): void => {
    if (read instanceof Uint8Array) files.push({ name, bytes: read })
    else problems.push({ ...read, reach: [] })
  }
  const named = paths.filter((path) => path !== STDIN_ARGUMENT)
  const found = findFiles(named, { cwd: io.cwd, recursive: true })
  const [wrong] = found.problems
  if (wrong !== undefined) {
    const { what, where, why, fix } = wrong
    throw new KleymError({ code: 'usage', what, where, why, fix })
  }
  for (const file of found.files) add(file.name, await readBounded(file))
  if (named.length < paths.length) add(STDIN, await collect(io.stdin, STDIN))
  return files.toSorted((a, b) => compareBytes(a.name, b.name))
}

function noTests(paths: readonly string[]): KleymError {
  return new KleymError({
    code: 'not-found',
    what: 'there is no identity test',
    where: paths.join(', '),
    why: `no document there is of kind ${IDENTITY_TEST_KIND} (${IDENTITY_TEST_API_VERSION})`,
    fix: 'name the files of tests, or write some: kubectl kleym test --generate --offline -R -f DIR',
    docs: 'docs/testing.md',
  })
}
