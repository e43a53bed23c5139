// YAML as kubectl reads it: YAML 1.2 syntax, with the plain scalars of Go's YAML 1.1 reader, because that is what the
// API server would be sent (sigs.k8s.io/yaml, goyaml.v2/resolve.go): `yes` and `on` are booleans, `0o17` and `017` octal
// numbers. A label value `yes` is therefore no string here either, and is refused as the API server refuses it.
// Aliases, merge keys and keys are resolved by us, within a budget: the text is not trusted.
import type { Alias, Document, Node, YAMLMap, YAMLSeq } from 'yaml'
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
import type { YamlLines } from './yaml-line.ts'
import { parsePlainYaml } from './yaml-plain.ts'
import { goScalars } from './yaml-scalars.ts'

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
}

/** Reads a YAML text, document by document. Rejects with a BudgetSpent. */
export async function parseYaml(text: string, { badLines, lines, budget }: YamlReading): Promise<ParsedFile> {
  const documents: ParsedDocument[] = []
  const faults: DocumentFault[] = []
  const faultyTexts = new Map<number, string>()
  let count = 0
  let library: Library | undefined
  for (const chunk of splitDocuments(text)) {
    count++
    budget.charge('documents', 1)
    if (faults.length > INPUT_LIMITS.problems) break
    const before = faults.length
    const fault = unreadable(chunk, badLines)
    const plain = fault === undefined ? readPlain(chunk, lines, budget) : undefined
    // A plain document is printable ASCII.
    const unfit = fault ?? (plain === undefined ? controlFault(chunk) : undefined)
    if (unfit !== undefined) faults.push(unfit)
    else if (plain !== undefined) documents.push(plain)
    else {
      library ??= await loadLibrary()
      const dense = tooDense(library.yaml, chunk, budget)
      if (dense === undefined) parseChunk(library, chunk, budget, { documents, faults })
      else faults.push(dense)
    }
    if (faults.length > before) faultyTexts.set(chunk.document, chunk.text)
  }
  return { documents, faults, faultyTexts, count }
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
  const schema = new yaml.Schema({
    schema: 'core',
    customTags: (tags) => [...goScalars(), ...tags],
    resolveKnownTags: false,
  })
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

function controlFault({ text, document, line }: Chunk): DocumentFault | undefined {
  // go-yaml's reader refuses these; ours would take them for text.
  const control =
    /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\ufffe\uffff]|(?!^)\ufeff/.exec(text)
  if (control === null) return undefined
  const at = new LineIndex(text).at(control.index)
  const point = (control[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return {
    document,
    line: line + at.line - 1,
    column: at.column,
    why: `the control character U+${point} is not allowed in YAML`,
    fix: String.raw`remove it, or write it as an escape ("\x${point.slice(-2).toLowerCase()}") in double quotes`,
  }
}

/** What the lexer says beside pieces of the text: that a document, a scalar or a flow collection begins or ends. */
const MARKS: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001f', '\ufeff'])

/**
 * What is wrong with a document of more brackets, words and line breaks than the parser can be given: its lexer alone tells,
 * which takes a fraction of its time and no memory.
 */
function tooDense(
  yaml: typeof Yaml,
  { text, document, line }: Chunk,
  budget: Budget,
): DocumentFault | undefined {
  let tokens = DOCUMENT_TOKENS
  let depth = 0
  let offset = 0
  for (const token of new yaml.Lexer().lex(text)) {
    if (token === '[' || token === '{') depth++
    if (token === ']' || token === '}') depth--
    if (depth > MAX_DEPTH) {
      const at = new LineIndex(text).at(offset)
      const why = `it is nested more than ${MAX_DEPTH} levels deep`
      return { document, line: line + at.line - 1, column: at.column, why, fix: FIX }
    }
    if (!MARKS.has(token)) offset += token.length
    if (++tokens > INPUT_LIMITS.yamlTokens) {
      const most = INPUT_LIMITS.yamlTokens.toLocaleString('en')
      const why = `it has more than ${most} tokens, too much for YAML that is not plain`
      return { document, line, why, fix: FIX_DENSE, isLimit: true }
    }
  }
  budget.charge('allYamlTokens', tokens)
  return undefined
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
  const refuse: Refuse = (why, offset, type) => {
    const at = offset === undefined ? undefined : index.at(offset)
    const place = at === undefined ? { line } : { line: line + at.line - 1, column: at.column }
    const fault: DocumentFault = { document, ...place, why, fix: FIX }
    faults.push(type === undefined ? fault : { ...fault, type })
  }
  try {
    const parsed = yaml.parseAllDocuments(withoutDirectives(text), {
      schema,
      logLevel: 'silent',
      prettyErrors: false,
      // Keys are compared after they have become strings, by the converter below.
      uniqueKeys: false,
    })
    for (const item of Array.isArray(parsed) ? parsed : []) {
      const error = item.errors[0]
      if (error !== undefined) {
        refuse(parserReason(error.message), error.pos[0])
        continue
      }
      const value = convertOrRefuse(new Converter(yaml, item, budget), item, refuse)
      if (value === undefined) continue
      if (item.contents === null && value === null) continue
      const lines = itemLinesOf(yaml, item.contents, lineOf)
      documents.push({ value, document, line: lines.line, itemLine: (path) => lineAt(lines, path) })
    }
  } catch (thrown) {
    if (thrown instanceof BudgetSpent) throw thrown
    if (thrown instanceof RangeError) refuse(TOO_DEEP, undefined)
    else throw thrown
  }
}

/** An anchor may be as long as the document. */
function shownName(name: string): string {
  return name.length > REASON_MAX ? `${name.slice(0, REASON_MAX)}...` : name
}

type Refuse = (why: string, offset?: number, type?: DocumentFault['type']) => void

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
    refuse(thrown.message, thrown.offset, typeOf(converter.yaml, contents))
    return undefined
  }
}

/** What a refused document says about its type; undefined where that is not certain. */
function typeOf(yaml: typeof Yaml, contents: unknown): DocumentFault['type'] {
  if (!yaml.isMap(contents)) return {}
  const texts = new Map<string, unknown>()
  for (const { key, value } of contents.items) {
    const name = yaml.isScalar(key) ? key.value : undefined
    if (name === '<<' || !yaml.isScalar(key)) return undefined
    if (name !== 'kind' && name !== 'apiVersion') continue
    if (texts.has(name) || !yaml.isScalar(value)) return undefined
    texts.set(name, value.value)
  }
  const kind = texts.get('kind')
  const apiVersion = texts.get('apiVersion')
  return {
    ...(typeof kind === 'string' ? { kind } : {}),
    ...(typeof apiVersion === 'string' ? { apiVersion } : {}),
  }
}

function parserReason(message: string): string {
  if (message.includes('call stack')) return TOO_DEEP
  const [first = ''] = message.split('\n')
  const reason = first.replace(/:$/, '').replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())
  return reason.length > REASON_MAX ? `${reason.slice(0, REASON_MAX)}...` : reason
}

/** Go's reader takes directives and does nothing with them; a `%YAML 1.1` must not switch ours to another dialect. */
function withoutDirectives(text: string): string {
  return text.replaceAll(/^%(?:YAML|TAG)\b[^\n]*$/gm, (directive) => '#'.padEnd(directive.length))
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
  readonly #budget: Budget
  readonly #anchors = new Map<string, Node>()
  readonly #open = new Set<Node>()
  #aliasDepth = 0
  #aliasNodes = 0

  constructor(yaml: typeof Yaml, document: Document.Parsed, budget: Budget) {
    this.yaml = yaml
    this.#document = document
    this.#budget = budget
  }

  /** The value of a node; throws a Refusal. */
  convert(node: Node | null | undefined, depth = 0): unknown {
    if (node === null || node === undefined) return null
    if (depth > MAX_DEPTH) throw new Refusal(`it is nested more than ${MAX_DEPTH} levels deep`, node)
    if (this.#aliasDepth > 0) {
      this.#budget.charge('allYamlTokens', 1)
      if (++this.#aliasNodes > ALIAS_NODES_MAX)
        throw new Refusal(`its aliases expand to more than ${ALIAS_NODES_MAX} values`, node)
    }
    if (this.yaml.isAlias(node)) return this.#alias(node, depth)
    if ('anchor' in node && node.anchor !== undefined) this.#anchors.set(node.anchor, node)
    this.#checkTag(node)
    if (this.yaml.isScalar(node)) return this.#scalar(node.value, node)
    this.#open.add(node)
    const value = this.yaml.isMap(node) ? this.#map(node, depth) : this.#sequence(node, depth)
    this.#open.delete(node)
    return value
  }

  #scalar(value: unknown, node: Node): unknown {
    if (typeof value !== 'number' || Number.isFinite(value)) return value
    throw new Refusal('an infinite number or NaN has no place in JSON, and so in no Kubernetes object', node)
  }

  #sequence(node: YAMLSeq, depth: number): unknown[] {
    return node.items.map((item) => this.convert(this.#node(item, node), depth + 1))
  }

  #map(node: YAMLMap, depth: number): Record<string, unknown> {
    const record: Record<string, unknown> = {}
    const merged: [string, unknown][] = []
    for (const pair of node.items) {
      const keyNode = this.#node(pair.key, node)
      const valueNode = this.#node(pair.value, node)
      if (this.#isMerge(keyNode)) merged.push(...this.#merge(valueNode, depth))
      else {
        const key = this.#key(keyNode, node, depth)
        if (Object.hasOwn(record, key))
          throw new Refusal(`the key ${shownKey(key)} is defined twice`, keyNode ?? node)
        define(record, key, this.convert(valueNode, depth + 1))
      }
    }
    for (const [key, value] of merged) if (!Object.hasOwn(record, key)) define(record, key, value)
    return record
  }

  #key(keyNode: Node | null, map: Node, depth: number): string {
    const key = this.convert(keyNode, depth + 1)
    if (typeof key === 'string') return key
    if (typeof key === 'boolean' || typeof key === 'number') return String(key)
    throw new Refusal(key === null ? 'a key is missing' : 'a key is a list or a mapping', keyNode ?? map)
  }

  #isMerge(key: Node | null): boolean {
    return this.yaml.isScalar(key) && key.value === '<<' && key.type === 'PLAIN'
  }

  /** The entries of a merge key, the first source of each key first. */
  #merge(node: Node | null, depth: number): [string, unknown][] {
    const value = this.convert(node, depth + 1)
    const sources = Array.isArray(value) ? value : [value]
    return sources.flatMap((source: unknown) => {
      if (typeof source === 'object' && source !== null && !Array.isArray(source))
        return Object.entries(source)
      throw new Refusal('a merge key (<<) needs a mapping or a list of mappings', node)
    })
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

  #checkTag(node: Node): void {
    if (node.tag === undefined || KNOWN_TAGS.has(node.tag)) return
    const tag = node.tag.replace('tag:yaml.org,2002:', '!!')
    throw new Refusal(`the tag ${tag} means nothing to Kubernetes`, node)
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

const KNOWN_TAGS: ReadonlySet<string> = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq']
    .map((name) => `tag:yaml.org,2002:${name}`)
    .concat('!'),
)

/** Sets an own property, whatever its name: `__proto__` is data. */
function define(record: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true })
  else record[key] = value
}
