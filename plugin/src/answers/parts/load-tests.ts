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
import { own } from '@kleym/shared/core/base/json.ts'
import { isTyped, kindOf } from '@kleym/shared/core/model/kinds.ts'
import { editDistance } from '@kleym/shared/core/base/text/suggest.ts'
import { lazy } from '@kleym/shared/core/base/lazy.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import { KleymError } from '../../io/errors.ts'
import type { SourceIo } from '../../io/context.ts'
import type { FilePlace } from '../../output/ci.ts'
import { decodeUtf8, sealOf } from '../../sources/decode.ts'
import { BudgetSpent } from '../../sources/budget.ts'
import type { ParsedDocument, ParsedFile } from '../../sources/document.ts'
import { fieldLines } from './field-lines.ts'
import { collect, findFiles, readBounded, type FoundFile, type FoundFiles } from '../../sources/files.ts'
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
  const loading = new Loading(reading, areNamed)
  await loading.readAll(paths, io)
  const { tests, texts, problems } = loading
  problems.push(...sameNames(tests))
  if (texts.length === 0 && problems.length === 0) throw noTests(paths)
  const held = new Set(texts.map(({ name }) => name))
  for (const path of areNamed ? paths : [])
    if (problems.length === 0 && !namesOf(path, io).some((name) => held.has(name)))
      problems.push(testProblem('nothing there is a test', path, NO_TEST, 'correct it, or leave it out'))
  return { tests, texts, problems }
}

/** The files that a path stands for. */
function namesOf(path: string, { cwd }: SourceIo): readonly string[] {
  if (path === STDIN_ARGUMENT) return [STDIN]
  const found = findFiles([path], { cwd, ...TREE })
  return [...found.files, ...filesAside(found)].map(({ name }) => name)
}

/** Files that are no objects where they stand. A test is none anywhere, so it is read there too. */
function filesAside({ ownFiles, templates, toolFolders }: FoundFiles): readonly FoundFile[] {
  return [...ownFiles, ...templates, ...toolFolders.flatMap(({ files }) => files)]
}

/** What is not read, and may hold tests. */
function notFollowed({ links, folders, odd, toolFolders }: FoundFiles): readonly InputProblem[] {
  const elsewhere = links.filter(({ real }) => !folders.has(real))
  return [
    ...elsewhere.map(({ name }) =>
      testProblem(
        `cannot read ${name}`,
        name,
        'it is a link to a folder, which is not followed and may hold a test',
        'name the folder too, or take the link away',
      ),
    ),
    ...odd.map((name) =>
      testProblem(`cannot read ${name}`, name, 'it is neither a file nor a folder', 'take it away'),
    ),
    ...toolFolders.flatMap(({ name, unread }) =>
      unread === undefined
        ? []
        : testProblem(`cannot read all of ${name}`, name, unread, 'name the folders that hold the tests'),
    ),
  ]
}

/** An argument, and no file of -f. */
const TREE = { recursive: true, flag: '' }

const NO_TEST = `no document in it is of kind ${IDENTITY_TEST_KIND} (${IDENTITY_TEST_API_VERSION})`

/** What is wrong with tests hides no object. */
function testProblem(what: string, where: string, why: string, fix: string): InputProblem {
  return { kind: 'malformed', what, where, why, fix, reach: [] }
}

/** Whether a text may hold a test, however it is misspelled: most files of `-f` hold none, and are not parsed again. */
function mayHoldTest(text: string): boolean {
  return text.includes(IDENTITY_TEST_GROUP) || /\bid[a-z]{6,16}\b/i.test(text)
}

/** Two tests of one name: what fails in one could not be told from what fails in the other. */
function sameNames(tests: readonly LoadedTest[]): readonly InputProblem[] {
  const byName = Map.groupBy(tests, ({ test }) => test.name)
  return [...byName].flatMap(([name, [first, ...others]]) =>
    others.map((other) => {
      const why = `${first === undefined ? '' : lineText(first.placeOf(NAME_PATH))} has a test of the same name`
      const where = lineText(other.placeOf(NAME_PATH))
      return testProblem(`a second test is called ${name}`, where, why, 'give it another name')
    }),
  )
}

function lineText({ file, line }: FilePlace): string {
  return `${file}:${line}`
}

const NAME_PATH: FieldPath = ['metadata', 'name']
const SLIP_MAX = 2

/** A file that may hold a test. */
interface OpenedText extends TestText {
  readonly bytes: Uint8Array
}

/** The files of tests, as they are read one after the other. */
class Loading {
  readonly #reading: TestReading
  /** Whether what cannot be read may be a test; of `-f` it is reported as an object that may be there. */
  readonly #areNamed: boolean
  readonly tests: LoadedTest[] = []
  readonly texts: TestText[] = []
  readonly problems: InputProblem[] = []

  constructor(reading: TestReading, areNamed: boolean) {
    this.#reading = reading
    this.#areNamed = areNamed
  }

  /** Reads files, and stdin, in the order of their names. Throws a usage error for a path that is not there. */
  async readAll(paths: readonly string[], io: SourceIo): Promise<void> {
    const named = paths.filter((path) => path !== STDIN_ARGUMENT)
    const found = findFiles(named, { cwd: io.cwd, ...TREE })
    const [wrong] = found.problems
    if (wrong !== undefined) {
      const { what, where, why, fix } = wrong
      throw new KleymError('usage', { what, where, why, fix })
    }
    const opened: OpenedText[] = []
    const open = (name: string, read: Uint8Array | InputProblem, isAside = false): void => {
      if (!(read instanceof Uint8Array)) this.problems.push({ ...read, reach: [] })
      else {
        const one = { name, bytes: read, text: decodeUtf8(read).text }
        const isSealed = this.#areNamed && !isAside && sealOf(read) !== undefined
        if (isSealed || mayHoldTest(one.text)) opened.push(one)
      }
    }
    for (const file of found.files) open(file.name, await readBounded(file))
    for (const file of filesAside(found)) open(file.name, await readBounded(file), true)
    if (named.length < paths.length) open(STDIN, await collect(io.stdin, STDIN))
    if (this.#areNamed) this.problems.push(...notFollowed(found))
    for (const one of opened.toSorted((a, b) => compareBytes(a.name, b.name))) await this.#read(one)
  }

  async #read({ name, bytes, text }: OpenedText): Promise<void> {
    const { documents, faults } = await this.#parse(name, bytes)
    for (const { why, fix, ...place } of faults) {
      const where = placeText({ file: name, ...place })
      this.problems.push(testProblem(`cannot read document ${place.document} of ${name}`, where, why, fix))
    }
    const tests = documents.filter((one) => this.#isTest(one, name))
    if (tests.length > 0) this.texts.push({ name, text })
    for (const document of tests) this.#take(document, { name, text })
  }

  /** A file of more YAML than kleym takes in is a problem, and no reason to end. */
  async #parse(name: string, bytes: Uint8Array): Promise<Pick<ParsedFile, 'documents' | 'faults'>> {
    try {
      return await parse(name, bytes)
    } catch (error) {
      if (!(error instanceof BudgetSpent)) throw error
      this.problems.push({ ...spentProblem(error, name), reach: [] })
      return { documents: [], faults: [] }
    }
  }

  /** By its kind or its group, so that a test of another version or with a slip in either is reported, not left out. */
  #isTest({ value, line }: ParsedDocument, file: string): boolean {
    const { kind, group } = kindOf(value)
    if (kind === IDENTITY_TEST_KIND || group === IDENTITY_TEST_GROUP) return true
    const where = lineText({ file, line })
    if (editDistance(kind.toLowerCase(), IDENTITY_TEST_KIND.toLowerCase()) <= SLIP_MAX) {
      const why = `${kind} of group ${group === '' ? '(core)' : group} is no kind that is run`
      const fix = `did you mean kind: ${IDENTITY_TEST_KIND} of ${IDENTITY_TEST_API_VERSION}?`
      this.problems.push(testProblem('a test may be misspelled', where, why, fix))
    }
    if (holdsTest(value)) {
      const why = 'it stands in a list or in another object, and tests are read from documents of their own'
      this.problems.push(testProblem('a test cannot be run', where, why, 'put --- between them instead'))
    }
    return false
  }

  #take(document: ParsedDocument, { name: file, text }: TestText): void {
    const places = lazy(() => fieldLines(text, document))
    const placeOf = (path: FieldPath): FilePlace => ({ file, line: places().lineOf(path) })
    const test = readIdentityTest(document.value, this.#reading)
    if ('assertions' in test) {
      this.tests.push({ test, placeOf })
      return
    }
    const name = testName(document.value)
    const what = `the ${IDENTITY_TEST_KIND} ${name === '' ? 'without a name' : name} cannot be run`
    for (const { path, why, fix } of test) {
      const field = fieldText(path)
      const where = `${lineText(placeOf(path))}${field === '' ? '' : `, ${field}`}`
      this.problems.push(testProblem(what, where, why, fix))
    }
  }
}

/** Whether a test stands within a value, at any depth. */
function holdsTest(value: unknown): boolean {
  const seen = new Set<unknown>()
  const open = [value]
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (typeof one !== 'object' || one === null || seen.has(one)) continue
    seen.add(one)
    const { kind, group } = kindOf(one)
    // A mapping that only names the kind is no object.
    const isObject = isTyped(one) || own(one, 'metadata') !== undefined
    if (group === IDENTITY_TEST_GROUP || (kind === IDENTITY_TEST_KIND && isObject)) return true
    for (const inner of Object.values(one)) open.push(inner)
  }
  return false
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
