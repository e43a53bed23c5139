// YAML as kubectl reads it (docs/reading-files.md, "YAML as kubectl reads it"): a document at a time, by the library, with the plain
// scalars of Go's YAML 1.1 reader, because that is what the API server would be sent: `yes` and `on` are booleans, `0o17` and
// `017` octal numbers. A label value `yes` is therefore no string here either, and is refused as the API server refuses it.
// Aliases, merge keys and keys are resolved by us, within a budget: the text is not trusted.
import type { Alias, Document, Node, Scalar, YAMLMap, YAMLSeq } from 'yaml'
import type * as Yaml from 'yaml'
import { BudgetSpent, INPUT_LIMITS, type Budget } from './budget.ts'
import {
  LineIndex,
  MAX_DEPTH,
  shownKey,
  splitDocuments,
  type Chunk,
  type DocumentFault,
  type ParsedDocument,
  type ParsedFile,
} from './document.ts'
import { nestedTooDeep, wordsOf } from './yaml-lexer.ts'
import type { UnreadType } from './unread.ts'
import type { YamlLines } from './yaml-line.ts'
import { parsePlainYaml } from './yaml-plain.ts'
import { isIntegerText, resolvePlain } from './yaml-scalars.ts'

/** The nodes that aliases may add to a document: more is a bomb (`*a` in `*b` in `*c` ...). */
export const ALIAS_NODES_MAX = 100_000
/** The longest document in UTF-16 units. JSON has no such limit. */
export const YAML_DOCUMENT_MAX = 8 * 1024 * 1024

/** The least that a document costs which is not plain, in tokens. */
const DOCUMENT_TOKENS = 50

export interface YamlReading {
  readonly badLines: readonly number[]
  /** May be shared between texts. */
  readonly lines: YamlLines
  readonly budget: Budget
  /** Tells a document that need not be read, by its text. Absent: all are read. */
  readonly unreadType?: (text: string) => UnreadType | undefined
}

/** Reads a YAML text, document by document. Rejects with a BudgetSpent. */
export async function parseYaml(
  text: string,
  { badLines, lines, budget, unreadType }: YamlReading,
): Promise<ParsedFile> {
  const documents: ParsedDocument[] = []
  const faults: DocumentFault[] = []
  const unread: UnreadType[] = []
  const faultyTexts = new Map<number, string>()
  let count = 0
  let library: Library | undefined
  for (const chunk of splitDocuments(text)) {
    count++
    budget.charge('documents', 1)
    if (faults.length > INPUT_LIMITS.problems) break
    const before = faults.length
    const fault = unreadable(chunk, badLines)
    const type = fault === undefined ? unreadType?.(chunk.text) : undefined
    if (type !== undefined) {
      unread.push(type)
      continue
    }
    const plain = fault === undefined ? readPlain(chunk, lines, budget) : undefined
    // A plain document is printable ASCII.
    const unfit = fault ?? (plain === undefined ? controlFault(chunk) : undefined)
    if (unfit !== undefined) faults.push(unfit)
    else if (plain !== undefined) documents.push(plain)
    else {
      library ??= await loadLibrary()
      parseChunk(library, chunk, budget, { documents, faults })
    }
    if (faults.length > before) faultyTexts.set(chunk.document, chunk.text)
  }
  return { documents, faults, unread, faultyTexts, count }
}

/** A document without anything unusual. */
function readPlain(
  { text, document, line }: Chunk,
  lines: YamlLines,
  budget: Budget,
): ParsedDocument | undefined {
  const plain = parsePlainYaml(text, lines)
  if (plain === undefined) return undefined
  budget.charge('values', plain.lines)
  const { value } = plain
  return {
    value,
    document,
    line: line + plain.line,
    itemLine: (path) => line + (plain.itemLine(path) ?? plain.line),
  }
}

interface Library {
  readonly yaml: typeof Yaml
  /** One for all documents of a file; else each would make its own. */
  readonly schema: Yaml.Schema
}

async function loadLibrary(): Promise<Library> {
  const yaml = await import('yaml')
  // All scalars are texts there; what they mean is decided below.
  const schema = new yaml.Schema({ schema: 'failsafe', resolveKnownTags: false })
  return { yaml, schema }
}

/** What can be said without parsing. */
function unreadable({ text, document, line }: Chunk, badLines: readonly number[]): DocumentFault | undefined {
  const lines = badLines.length === 0 ? 0 : new LineIndex(text).at(text.length).line
  const bad = badLines.find((number) => number >= line && number < line + lines)
  if (bad !== undefined)
    return { document, line: bad, why: 'the text is not UTF-8', fix: 'save the file as UTF-8' }
  if (text.length > YAML_DOCUMENT_MAX) {
    const why = `the document is longer than ${YAML_DOCUMENT_MAX / 1024 / 1024} MiB, too much for YAML`
    return { document, line, why, fix: FIX_DENSE, isLimit: true }
  }
  return undefined
}

/**
 * Characters that go-yaml's reader refuses, and those that are line breaks to it alone: a carriage return that ends no line,
 * U+0085, U+2028, U+2029. A byte-order mark within a text is one that no reader sees, and blanks beyond ASCII before the
 * first word are dropped where a bracket follows.
 */
const UNFIT =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\ufffe\uffff]|\r(?!\n)|(?!^)\ufeff|(?<=^\s*)[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/

function controlFault({ text, document, line }: Chunk): DocumentFault | undefined {
  const control = UNFIT.exec(text)
  if (control === null) return undefined
  const at = new LineIndex(text).at(control.index)
  const point = (control[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  const escape = point.startsWith('00')
    ? String.raw`\x${point.slice(2).toLowerCase()}`
    : String.raw`\u${point.toLowerCase()}`
  return {
    document,
    line: line + at.line - 1,
    column: at.column,
    why: `the character U+${point} is not allowed here in YAML`,
    fix: `remove it, or write it as an escape ("${escape}") in double quotes`,
  }
}

interface Parsed {
  readonly documents: ParsedDocument[]
  readonly faults: DocumentFault[]
}

function parseChunk(
  { yaml, schema }: Library,
  { text, document, line }: Chunk,
  budget: Budget,
  { documents, faults }: Parsed,
): void {
  const index = new LineIndex(text)
  const lineOf = (offset: number): number => line + index.at(offset).line - 1
  const refuse: Refuse = (why, offset) => {
    const at = offset === undefined ? undefined : index.at(offset)
    const place =
      at === undefined || offset === undefined
        ? { line }
        : { line: line + at.line - 1, column: at.column, lineText: lineAround(text, offset) }
    faults.push({ document, ...place, why, fix: FIX })
  }
  const behind = /^---(?:[ \t]*[^ \t\r\n#]|#)/.exec(text)
  if (behind !== null) {
    refuse('something stands right behind the --- of a line', 0)
    return
  }
  const read = wordsOf(yaml, upToEnd(text), { most: INPUT_LIMITS.yamlTokens, depthMax: MAX_DEPTH })
  if (read === 'too many') {
    const why = `it has more than ${INPUT_LIMITS.yamlTokens.toLocaleString('en')} tokens, too much for YAML that is not plain`
    faults.push({ document, line, why, fix: FIX_DENSE, isLimit: true })
    return
  }
  const { words, fault } = read
  if (fault !== undefined) {
    refuse(fault.why, fault.offset)
    return
  }
  budget.charge('allYamlTokens', DOCUMENT_TOKENS + words.length)
  try {
    const item = firstDocument(yaml, schema, words)
    if (item === undefined) return
    const error = item.errors[0]
    if (error !== undefined) {
      const [at] = error.pos
      refuse(`${parserReason(error.message)}${keyText(text, at)}`, at)
      return
    }
    const value = convertOrRefuse(new Converter(yaml, item, text, budget), item, refuse)
    if (value === undefined || (item.contents === null && value === null)) return
    const lines = itemLinesOf(yaml, item.contents, lineOf)
    documents.push({ value, document, line: lines.line, itemLine: (path) => lineAt(lines, path) })
  } catch (thrown) {
    if (thrown instanceof BudgetSpent) throw thrown
    if (thrown instanceof RangeError) refuse(TOO_DEEP, undefined)
    else throw thrown
  }
}

/** The line on which an offset is, up to so many characters. */
function lineAround(text: string, offset: number): string {
  const from = text.lastIndexOf('\n', Math.max(0, offset - 1)) + 1
  const [first = ''] = text.slice(from, from + LINE_READ).split(/\r?\n/)
  return first
}

/** The key on the line of an offset, and never a value: a Secret may stand there. */
function keyText(text: string, offset: number): string {
  const key = /^[ \t]*(?:- +)*([A-Za-z][A-Za-z0-9_./-]{0,62}):(?:\s|$)/.exec(lineAround(text, offset))
  return key?.[1] === undefined ? '' : ` (at the key ${key[1]})`
}

const LINE_READ = 256

/** Up to the first `...` with something behind it, where something stands before it: kubectl looks no further. */
function upToEnd(text: string): string {
  const end = END_WITH_TEXT.exec(text)
  return end === null || NOTHING_YET.test(text.slice(0, end.index))
    ? text
    : text.slice(0, end.index + '...'.length)
}

const END_WITH_TEXT = /^\.\.\.[ \t]+[^#\s]/m
const NOTHING_YET = /^(?:[ \t\r]*(?:#[^\n]*)?\n|---[ \t\r]*(?:#[^\n]*)?\n)*$/

/** What kubectl takes of a text: its first document. What stands behind the end of that, it does not look at. */
function firstDocument(
  yaml: typeof Yaml,
  schema: Yaml.Schema,
  words: readonly string[],
): Document.Parsed | undefined {
  const parser = new yaml.Parser()
  const composer = new yaml.Composer({
    schema,
    logLevel: 'silent',
    prettyErrors: false,
    // Keys are compared after they have become strings, by the converter below.
    uniqueKeys: false,
  })
  for (const word of words)
    for (const token of parser.next(word)) for (const document of composer.next(token)) return document
  for (const token of parser.end()) for (const document of composer.next(token)) return document
  for (const document of composer.end()) return document
  return undefined
}

/** An anchor may be as long as the document. */
function shownName(name: string): string {
  return name.length > REASON_MAX ? `${name.slice(0, REASON_MAX)}...` : name
}

type Refuse = (why: string, offset?: number) => void

const FIX = 'correct the YAML; the other documents are read all the same'
const FIX_DENSE = 'give it as JSON (kubectl get -o json), or split it'
const TOO_DEEP = 'it is nested too deeply'
/** The longest reason of the parser that is shown; it quotes the text. */
const REASON_MAX = 160

/** The value of a document; undefined when it was refused. */
function convertOrRefuse(converter: Converter, { contents }: Document.Parsed, refuse: Refuse): unknown {
  try {
    return converter.convert(contents)
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown
    refuse(thrown.message, thrown.offset)
    return undefined
  }
}

/** How the library says that a document has ended before its text. */
const BEHIND_END = /^Unexpected (?:\S+ at node end|\S+ token in YAML stream)/

/** What the library says in words of the specification, as a person says it. */
const IN_PLAIN_WORDS: readonly (readonly [said: RegExp, plain: string])[] = [
  [/^Flow (?:map|sequence) in/, 'a { or [ is not closed, or what stands in it is not indented enough'],
  [
    /^Implicit (?:map )?keys/,
    'a key goes on in the next line: a {, [ or quote is not closed, or a line is not indented as it should be',
  ],
  [
    /^Nested mappings|^A block sequence may not/,
    'a key or an item stands where a value ends: a line is not indented as it should be, or a text with ": " has no quotes',
  ],
  [/^All (?:mapping|sequence) items/, 'the line is not indented as those beside it'],
]

function parserReason(message: string): string {
  if (message.includes('call stack')) return TOO_DEEP
  if (BEHIND_END.test(message))
    return 'something stands behind the end of its first mapping, less indented than that begins'
  const plain = IN_PLAIN_WORDS.find(([said]) => said.test(message))?.[1]
  if (plain !== undefined) return plain
  const [first = ''] = message.split('\n')
  const reason = first.replace(/:$/, '').replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())
  return reason.length > REASON_MAX ? `${reason.slice(0, REASON_MAX)}...` : reason
}

/** Where the objects of a list begin, and those of lists in it. The nodes themselves are let go: they take a hundred times that. */
interface ItemLines {
  readonly line: number
  /** Undefined for what is no list. */
  readonly items: readonly ItemLines[] | undefined
}

function itemLinesOf(
  yaml: typeof Yaml,
  node: unknown,
  lineOf: (offset: number) => number,
  depth = 0,
): ItemLines {
  const line = lineOf((yaml.isNode(node) ? node.range?.[0] : undefined) ?? 0)
  const list = yaml.isMap(node) && depth < MAX_DEPTH ? node.get('items', true) : undefined
  const items = yaml.isSeq(list)
    ? list.items.map((item) => itemLinesOf(yaml, item, lineOf, depth + 1))
    : undefined
  return { line, items }
}

function lineAt(lines: ItemLines, path: readonly number[]): number {
  let at: ItemLines | undefined = lines
  for (const number of path) at = at?.items?.[number]
  return at?.line ?? lines.line
}

/** What is wrong with a document that parses. */
class Refusal extends Error {
  readonly offset: number | undefined

  constructor(why: string, node: Node | null | undefined) {
    super(why)
    this.offset = node?.range?.[0]
  }
}

/** Turns nodes into plain values. One per document: anchors belong to it. */
class Converter {
  readonly yaml: typeof Yaml
  readonly #document: Document.Parsed
  readonly #text: string
  readonly #budget: Budget
  readonly #anchors = new Map<string, Node>()
  readonly #open = new Set<Node>()
  #aliasDepth = 0
  #aliasNodes = 0

  constructor(yaml: typeof Yaml, document: Document.Parsed, text: string, budget: Budget) {
    this.yaml = yaml
    this.#document = document
    this.#text = text
    this.#budget = budget
  }

  /** The value of a node; throws a Refusal. */
  convert(node: Node | null | undefined, depth = 0): unknown {
    if (node === null || node === undefined) return null
    if (depth > MAX_DEPTH) throw new Refusal(nestedTooDeep(MAX_DEPTH), node)
    if (this.#aliasDepth > 0) {
      this.#budget.charge('allYamlTokens', 1)
      if (++this.#aliasNodes > ALIAS_NODES_MAX)
        throw new Refusal(`its aliases expand to more than ${ALIAS_NODES_MAX} values`, node)
    }
    if (this.yaml.isAlias(node)) return this.#alias(node, depth)
    if ('anchor' in node && node.anchor !== undefined) this.#anchors.set(node.anchor, node)
    if (this.yaml.isScalar(node)) return this.#scalar(node)
    if (node.tag !== undefined && node.tag !== TAGS[this.yaml.isMap(node) ? 'map' : 'seq'])
      throw unknownTag(node.tag, node)
    this.#open.add(node)
    const value = this.yaml.isMap(node) ? this.#map(node, depth) : this.#sequence(node, depth)
    this.#open.delete(node)
    return value
  }

  #scalar(node: Scalar): unknown {
    const text = String(node.source ?? node.value)
    const { tag } = node
    const isPlain = node.type === 'PLAIN' && tag === undefined
    const value = isPlain
      ? resolvePlain(text)
      : tag === undefined || tag === '!'
        ? text
        : tagged(tag, text, node)
    if (typeof value !== 'number' || Number.isFinite(value)) return value
    throw new Refusal('an infinite number or NaN has no place in JSON, and so in no Kubernetes object', node)
  }

  #sequence(node: YAMLSeq, depth: number): unknown[] {
    return node.items.map((item) => this.convert(this.#node(item, node), depth + 1))
  }

  #map(node: YAMLMap, depth: number): Record<string, unknown> {
    const record: Record<string, unknown> = {}
    const own = new Set<string>()
    for (const pair of node.items) {
      const keyNode = this.#node(pair.key, node)
      const valueNode = this.#node(pair.value, node)
      // Between brackets a key may stand without a colon.
      if (pair.value !== null) this.#checkKey(keyNode)
      // Go merges where the merge key stands: over what stands before it, and under what stands behind it.
      if (this.#isMerge(keyNode)) this.#merge(valueNode, depth, record)
      else {
        const key = this.#key(keyNode, node, depth)
        if (own.has(key)) throw new Refusal(`the key ${shownKey(key)} is defined twice`, keyNode ?? node)
        own.add(key)
        define(record, key, this.convert(valueNode, depth + 1))
      }
    }
    return record
  }

  /** Whether a question mark stands before a key, with nothing but blanks between them. */
  #isExplicit(start: number): boolean {
    let at = start - 1
    while (this.#text[at] === ' ') at--
    return at < start - 1 && this.#text[at] === '?'
  }

  /**
   * A key ends on the line on which it begins, and its colon stands there, not too far to the right; behind a question mark,
   * as kubectl prints long keys, the colon stands on the next line.
   */
  #checkKey(key: Node | null): void {
    if (key?.range === undefined || key.range === null) return
    const [start, end] = key.range
    if (this.#isExplicit(start)) return
    const colon = this.#text.indexOf(':', end)
    const text = this.#text.slice(start, colon === -1 ? end : colon)
    if (text.includes('\n')) throw new Refusal('a key and its colon stand on several lines', key)
    if (text.length > KEY_MAX) throw new Refusal(`a key is longer than ${KEY_MAX} characters`, key)
  }

  #key(keyNode: Node | null, map: Node, depth: number): string {
    const key = this.convert(keyNode, depth + 1)
    // `{!}` and the like: a tag, and nothing that has it.
    const isEmpty = key === '' && this.yaml.isScalar(keyNode) && keyNode.type === 'PLAIN'
    if (typeof key === 'string' && !isEmpty) return key
    const isInteger = this.yaml.isScalar(keyNode) && isIntegerText(keyNode.source ?? '')
    if (typeof key === 'boolean' || (isInteger && Number.isSafeInteger(key))) return String(key)
    if (typeof key === 'number')
      throw new Refusal('a key is a fraction, or a very large number', keyNode ?? map)
    throw new Refusal(
      key === null || isEmpty ? 'a key is missing' : 'a key is a list or a mapping',
      keyNode ?? map,
    )
  }

  #isMerge(key: Node | null): boolean {
    return (
      this.yaml.isScalar(key) &&
      key.source === '<<' &&
      key.type === 'PLAIN' &&
      (key.tag === undefined || key.tag === '!')
    )
  }

  /** Puts the entries of a merge key into a record, the first source of each key over later ones. */
  #merge(node: Node | null, depth: number, into: Record<string, unknown>): void {
    const sources = this.yaml.isSeq(node) ? node.items.map((item) => this.#node(item, node)) : [node]
    for (const source of sources.toReversed()) {
      const value = this.convert(source, depth + 1)
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        throw new Refusal('a merge key (<<) needs a mapping or a list of mappings', node)
      for (const [key, one] of Object.entries(value)) define(into, key, one)
    }
  }

  #alias(alias: Alias, depth: number): unknown {
    const node = this.#anchors.get(alias.source)
    if (node === undefined)
      throw new Refusal(`the alias *${shownName(alias.source)} has no anchor before it`, alias)
    if (this.#open.has(node))
      throw new Refusal(`the alias *${shownName(alias.source)} stands within itself`, alias)
    this.#aliasDepth++
    const value = this.convert(node, depth)
    this.#aliasDepth--
    return value
  }

  #node(value: unknown, parent: Node): Node | null {
    if (value === null || value === undefined) return null
    if (this.yaml.isNode(value)) return value
    throw new Refusal(
      `it holds ${typeof value} where YAML has a node (${this.#document.errors.length})`,
      parent,
    )
  }
}

/** Where the colon of a key stands at most, in characters behind the beginning of the key. */
const KEY_MAX = 1024

const TAG_PREFIX = 'tag:yaml.org,2002:'
const TAGS = { map: `${TAG_PREFIX}map`, seq: `${TAG_PREFIX}seq` } as const

/** The value of a scalar with a tag; in quotes or not. */
function tagged(tag: string, text: string, node: Node): unknown {
  const value = resolvePlain(text)
  switch (tag) {
    case `${TAG_PREFIX}str`:
      return text
    case `${TAG_PREFIX}int`:
      // `_1` begins like no number.
      if (typeof value === 'number' && isIntegerText(text)) return value
      break
    case `${TAG_PREFIX}float`:
      if (typeof value === 'number') return value
      break
    case `${TAG_PREFIX}bool`:
      if (typeof value === 'boolean') return value
      break
    case `${TAG_PREFIX}null`:
      if (value === null) return value
      break
    default:
      throw unknownTag(tag, node)
  }
  throw new Refusal(`${shownKey(text)} is not what its tag says: ${shortTag(tag)}`, node)
}

function shortTag(tag: string): string {
  return tag.replace(TAG_PREFIX, '!!')
}

function unknownTag(tag: string, node: Node): Refusal {
  return new Refusal(`the tag ${shortTag(tag)} means nothing to Kubernetes`, node)
}

/** Sets an own property, whatever its name: `__proto__` is data. */
function define(record: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true })
  else record[key] = value
}
