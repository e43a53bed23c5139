// Files to objects: `-f`, `-R`, `-k` and stdin (docs/offline.md, "Sources"). What cannot be understood becomes a
// problem, and the rest is read all the same.
import { groupOfApiVersion } from '@kleym/shared/core/kinds.ts'
import { namespacedName } from '@kleym/shared/core/namespaced-name.ts'
import { dig, stringAt } from '@kleym/shared/core/json.ts'
import type { RawObject } from '@kleym/shared/core/objects/raw.ts'
import { compareBytes } from '@kleym/shared/core/text/bytes.ts'
import type { SourceIo } from '../io/context.ts'
import { Budget, BudgetSpent } from './budget.ts'
import { decodeUtf8, foreignEncoding } from './decode.ts'
import type { ParsedFile } from './document.ts'
import { collect, findFiles, readBounded } from './files.ts'
import { looksLikeJson, parseJson } from './json.ts'
import { collectObjects, skipUnwanted, type Collected, type ReadingRules } from './objects.ts'
import type { MisspelledObject } from './near-miss.ts'
import { boundedProblems, placeText, spentProblem, type InputProblem } from './problem.ts'
import { STDIN_ARGUMENT } from './stdin.ts'
import type { YamlLines } from './yaml-line.ts'
import { parseYaml, type YamlReading } from './yaml.ts'

/** Which files are to be read. */
export interface FileArguments {
  /** Files, folders, `-` for stdin. */
  readonly files: readonly string[]
  readonly recursive: boolean
  /** A folder for `kubectl kustomize`. */
  readonly kustomize: string | undefined
}

/** What the files hold. */
export interface LoadedFiles {
  /** In the order of file name, document and place; without the second of two that are the same. */
  readonly objects: readonly RawObject[]
  readonly problems: readonly InputProblem[]
  /** How many documents hold something. */
  readonly documents: number
  /** What is no kind that the answer uses, and how often: `ConfigMap`, `Kustomization.kustomize.config.k8s.io`. */
  readonly skipped: ReadonlyMap<string, number>
  /** What is nearly of a kind that the answer uses, and is not. */
  readonly nearMisses: readonly MisspelledObject[]
}

/** A text with a name: a file, stdin, what kustomize printed. */
interface Source {
  readonly name: string
  readonly bytes: Uint8Array
}

/** How problems and origins call stdin. */
export const STDIN = 'stdin'

/** Reads all objects that the arguments mean; never throws for anything that a file holds. */
export async function loadFiles(
  args: FileArguments,
  rules: ReadingRules,
  io: SourceIo,
): Promise<LoadedFiles> {
  const problems: InputProblem[] = []
  const budget = new Budget(() => io.collectGarbage?.('all'))
  const sources = await readSources(args, io, { budget, problems })
  const collected: Collected = {
    objects: [],
    problems,
    budget,
    skipped: new Map(),
    misses: new Map(),
    nearMisses: [],
  }
  const lines: YamlLines = new Map()
  let documents = 0
  const take = async ({ name, bytes }: Source): Promise<void> => {
    const parsed = await parse(name, bytes, { budget, lines })
    documents += parsed.count
    for (const { why, fix, type, ...place } of parsed.faults) {
      if (type !== undefined && skipUnwanted(type, rules, collected)) continue
      const what = `cannot read document ${place.document} of ${name}`
      problems.push({ kind: 'malformed', what, where: placeText({ file: name, ...place }), why, fix })
    }
    for (const document of parsed.documents) collectObjects(document, name, rules, collected)
  }
  for (const source of sources) {
    const spent = await untilSpent(take(source))
    if (spent !== undefined) {
      problems.push(spentProblem(spent, source.name))
      break
    }
    if (source.bytes.length > LARGE) io.collectGarbage?.('all')
  }
  const objects = withoutDuplicates(collected.objects, problems)
  return {
    objects,
    problems: boundedProblems(problems),
    documents,
    skipped: new Map([...collected.skipped].toSorted(([a], [b]) => compareBytes(a, b))),
    nearMisses: collected.nearMisses,
  }
}

/** A file of more bytes leaves enough behind for it to be worth giving back. */
const LARGE = 1024 * 1024

/** Why no more is read; undefined where all of it was. */
async function untilSpent(taking: Promise<void>): Promise<BudgetSpent | undefined> {
  try {
    await taking
    return undefined
  } catch (thrown) {
    if (thrown instanceof BudgetSpent) return thrown
    throw thrown
  }
}

interface Taken {
  readonly budget: Budget
  readonly problems: InputProblem[]
}

async function readSources(
  args: FileArguments,
  io: SourceIo,
  { budget, problems }: Taken,
): Promise<readonly Source[]> {
  const sources: Source[] = []
  let isFull = false
  const add = (name: string, read: Uint8Array | InputProblem): void => {
    if (!(read instanceof Uint8Array)) problems.push(read)
    else if (!isFull) {
      const spent = budget.tryCharge('bytes', read.length)
      if (spent === undefined) sources.push({ name, bytes: read })
      else {
        isFull = true
        problems.push(spentProblem(spent, name))
      }
    }
  }
  const { cwd, env } = io
  const named = args.files.filter((path) => path !== STDIN_ARGUMENT)
  const found = findFiles(named, { cwd, recursive: args.recursive })
  problems.push(...found.problems)
  for (const file of found.files) {
    if (isFull) break
    add(file.name, await readBounded(file))
  }
  if (named.length < args.files.length) add(STDIN, await collect(io.stdin, STDIN))
  if (args.kustomize !== undefined) {
    const { kustomize } = await import('./kustomize.ts')
    add(`${args.kustomize} (kustomize)`, await kustomize(args.kustomize, { cwd, env }))
  }
  return sources.toSorted((a, b) => compareBytes(a.name, b.name))
}

/**
 * Parses a text as JSON where it is JSON, else as YAML: flow style begins with the same brackets. `lines` may be shared
 * between texts. Rejects with a BudgetSpent.
 */
export async function parse(
  name: string,
  bytes: Uint8Array,
  { budget = new Budget(), lines = new Map() }: Partial<Pick<YamlReading, 'budget' | 'lines'>> = {},
): Promise<ParsedFile> {
  const encoding = foreignEncoding(bytes)
  if (encoding !== undefined) {
    const fault = { document: 1, why: `the file is ${encoding}`, fix: 'save the file as UTF-8' }
    return { documents: [], faults: [fault], count: 1 }
  }
  const { text, badLines } = decodeUtf8(bytes)
  const reading = { badLines, lines, budget }
  if (badLines.length === 0 && looksLikeJson(text)) {
    const parsed = await parseJson(text, budget)
    if (parsed.faults.length === 0 || name.endsWith('.json')) return parsed
    const asYaml = await parseYaml(text, reading)
    // A broken JSON text is broken YAML too: then the first reading says better where.
    const isYaml = asYaml.faults.length === 0 || asYaml.faults.some(({ isLimit }) => isLimit === true)
    return isYaml ? asYaml : parsed
  }
  return parseYaml(text, reading)
}

/** The same group, kind, namespace and name twice: the first stays, and a problem names both places. */
function withoutDuplicates(objects: readonly RawObject[], problems: InputProblem[]): readonly RawObject[] {
  const first = new Map<string, RawObject>()
  return objects.filter((object) => {
    const name = stringAt(object.value, 'metadata', 'name') ?? ''
    if (name === '') return true
    const group = groupOfApiVersion(stringAt(object.value, 'apiVersion') ?? '')
    const kind = stringAt(object.value, 'kind') ?? ''
    const namespace = stringAt(object.value, 'metadata', 'namespace') ?? ''
    const key = JSON.stringify([group, kind, namespace, name])
    const known = first.get(key)
    if (known === undefined) {
      first.set(key, object)
      return true
    }
    problems.push({
      kind: 'duplicate',
      what: `${kind} ${namespace === '' ? name : namespacedName(namespace, name)} stands twice in the files`,
      where: `${originText(known)} and ${originText(object)}`,
      why: 'only one of them can be meant, and kubectl apply would let the last one win',
      fix: 'remove one of them, or give fewer files; the answer is about the first one',
    })
    return false
  })
}

function originText({ origin }: RawObject): string {
  return origin === undefined ? 'an unknown place' : `${origin.file}:${origin.line}`
}

/** The texts under `data` of a ConfigMap, by key. */
export function configMapTexts(object: RawObject): readonly (readonly [key: string, text: string])[] {
  const data = dig(object.value, 'data')
  if (typeof data !== 'object' || data === null) return []
  return Object.entries(data).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
}
