// Which kinds of objects a text may hold, read line by line without parsing it: for documents that do not parse, and for
// the templates of charts, which are no documents yet. `plainTypeOf` says only what full parsing says too (a property test
// holds it); `kindsMentioned` says at least what the text can hold.
import { isRecord, own, stringAt } from '@kleym/shared/core/base/json.ts'
import { isDns1123Label, isDns1123Subdomain } from '@kleym/shared/core/base/text/kubernetes.ts'
import { parsePlainYaml } from './yaml-plain.ts'
import { resolvePlain } from './yaml-scalars.ts'

/** What the top level of a document says, where that stands plainly on lines of their own. */
export interface PlainType {
  readonly kind: string
  readonly apiVersion: string
  /** Undefined: the document names none, or not plainly; `isMetadataPlain` tells the two apart. */
  readonly namespace: string | undefined
  /** Undefined: none, or not plainly. */
  readonly name: string | undefined
  /** Whether `metadata` is so plain that a namespace which it does not show is not there. */
  readonly isMetadataPlain: boolean
}

/** A key that is surely a string, at the beginning of a line, with what stands behind its colon. */
const ENTRY = /^([A-Za-z_][A-Za-z0-9_./-]*):(?:[ \t]+(.*))?$/
/** The beginning of a document, and nothing else. */
const BEGIN = /^---[ \t]*(?:#.*)?$/
/** Line breaks of YAML 1.1 that are none of JSON and YAML 1.2, a carriage return that ends no line, and a byte-order mark, which nobody sees. */
const ODD_BREAK = /[\u0085\u2028\u2029\ufeff]|\r(?!\n)/

/**
 * The type of the one document in a text: undefined wherever the lines leave any doubt. The text must begin with the first
 * line of the document; every line without indentation must be an entry, an item, a comment or nothing.
 */
export function plainTypeOf(text: string): PlainType | undefined {
  const top = topEntries(text)
  const type = top && typeIn(top)
  if (top === undefined || type === undefined) return undefined
  return { ...type, ...metadataIn(text, top) }
}

/** The kind and the API version alone, for which only the lines without indentation count: a fraction of a parser's time. */
export function plainKindOf(text: string): Pick<PlainType, 'kind' | 'apiVersion'> | undefined {
  const top = topEntries(text)
  return top && typeIn(top)
}

/** Whether a text is a mapping that surely has neither a kind nor an API version, whatever else is wrong with it. */
export function isPlainlyUntyped(text: string): boolean {
  const top = topEntries(text)
  return top !== undefined && top.size > 0 && !top.has('kind') && !top.has('apiVersion')
}

function typeIn(top: ReadonlyMap<string, TopEntry>): Pick<PlainType, 'kind' | 'apiVersion'> | undefined {
  const kind = plainValue(top.get('kind'))
  const apiVersion = plainValue(top.get('apiVersion'))
  return kind === undefined || apiVersion === undefined ? undefined : { kind, apiVersion }
}

/** The entries of the top level; undefined where a line may be something else. */
function topEntries(text: string): ReadonlyMap<string, TopEntry> | undefined {
  if (ODD_BREAK.test(text)) return undefined
  const top = new Map<string, TopEntry>()
  let last: TopEntry | undefined
  for (let start = 0, next = 0; start < text.length; start = next) {
    const found = text.indexOf('\n', start)
    next = found === -1 ? text.length : found + 1
    const first = text[start]
    if (first === '\n' || first === '#') continue
    if (first === ' ') {
      // Most lines: what they hold matters only right below a type.
      if (last === undefined || last.isAlone) {
        if (isBlank(lineOf(text, start, found))) continue
        if (last === undefined) return undefined
        last.isAlone = false
      }
      continue
    }
    const line = lineOf(text, start, found)
    if (isBlank(line) || (last === undefined && BEGIN.test(line))) continue
    const entry = ENTRY.exec(line)
    if (entry !== null) {
      const [, key = '', value = ''] = entry
      if (top.has(key) || typeof resolvePlain(key) !== 'string') return undefined
      last = { value, from: start, isAlone: true }
      top.set(key, last)
    } else if (last === undefined) return undefined
    else if (line.startsWith('\t') || /^-(?:[ \t]|$)/.test(line)) last.isAlone = false
    else return undefined
  }
  return top
}

function lineOf(text: string, start: number, end: number): string {
  const line = text.slice(start, end === -1 ? undefined : end)
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

/** An entry of the top level. */
interface TopEntry {
  /** What stands behind the colon. */
  readonly value: string
  /** Where its line begins. */
  readonly from: number
  /** Whether nothing but blank lines and comments stands before the next entry. */
  isAlone: boolean
}

function isBlank(line: string): boolean {
  return /^[ \t]*(?:#.*)?$/.test(line)
}

/** A word that surely is a string, with or without quotes, and perhaps a comment behind it. */
const WORD = /^(["']?)([A-Za-z0-9][A-Za-z0-9./-]*)\1(?:[ \t]+#.*|[ \t]*)$/

function plainValue(entry: TopEntry | undefined): string | undefined {
  const [, quote, word] = (entry?.isAlone === true && WORD.exec(entry.value)) || []
  if (word === undefined) return undefined
  return quote !== '' || typeof resolvePlain(word) === 'string' ? word : undefined
}

type PlainMetadata = Pick<PlainType, 'namespace' | 'name' | 'isMetadataPlain'>

const NOT_PLAIN: PlainMetadata = { namespace: undefined, name: undefined, isMetadataPlain: false }

/** Placeholders of other tools, which no brackets of YAML are. */
const FILLED_IN = /\$?\{\{[^{}]*\}\}|\$\{[^{}]*\}|\$\([^()]*\)/g

/** What stands below `metadata`, or behind it, read by itself: what is open when it ends is not plain. */
function metadataIn(text: string, top: ReadonlyMap<string, TopEntry>): PlainMetadata {
  const from = top.get('metadata')?.from
  if (from === undefined) return NOT_PLAIN
  // In the order of the text.
  const end = top.values().find((one) => one.from > from)?.from
  const lines = text
    .slice(from, end)
    .replaceAll('\r\n', '\n')
    .replace(/^(?:---|\.\.\.)[\s\S]*/m, '')
  const metadata = own(parsePlainYaml(lines.replaceAll(FILLED_IN, FILLED))?.value, 'metadata')
  if (!isRecord(metadata)) return NOT_PLAIN
  const [namespace, name] = ['namespace', 'name'].map((field) => stringAt(metadata, field))
  if (own(metadata, 'namespace') !== undefined && !isDns1123Label(namespace ?? '')) return NOT_PLAIN
  return {
    namespace,
    name: name !== undefined && isDns1123Subdomain(name) ? name : undefined,
    isMetadataPlain: true,
  }
}

/** Stands for what is filled in: no name. */
const FILLED = 'FILLED_IN'

/** What a text may hold: kinds by their names; or, where the text does not show them, anything. */
export type KindsMentioned = ReadonlySet<string> | 'anything'

/** A `kind` key with the text after its colon, in YAML or JSON, anywhere in a line: a line of JSON may have many. */
const KIND_ENTRY = /(?:^|[\s{,[(-])["']?kind["']?[ \t]*:[ \t]*(?=([^\n]{0,256}))/g
/** The same on the top level of a YAML document. */
const TOP_KIND = /^["']?kind["']?[ \t]*:[ \t]*([^\n]*)$/gm
/** A name of a kind, with what may stand behind it. */
const KIND_NAME = /^(["']?)([A-Za-z][A-Za-z0-9]*)\1[ \t\r]*(?:[,}\]#].*)?$/
/** What begins with an indented mapping, or with one in brackets: kubectl reads that one, whatever stands behind its end. */
const INDENTED = /^(?:(?:---[^\n]*|[ \t\r]*(?:#[^\n]*)?)\n)*(?:[ \t]+[^\s#]|\{(?!\{))/
/** What can write the key `kind` without its letters, or take it from elsewhere in the document; first on the top level. */
const HIDDEN_TOP_KEY = /^(?:<<[ \t]*:|[?*&!]|"[^"\n]*\\)/m
const HIDDEN_KEY =
  /<<[ \t]*:|"[^"\n\\]*(?:\\[^"\nxuU][^"\n\\]*)*\\[xuU][^"\n]*"[ \t]*:|(?:^|[\s{,[-])\?[ \t]/m

/**
 * The kinds that a document may hold of those that `known` names; `anything` where the text does not show which. It may be
 * a template, or broken: what full parsing would find in it, were it well-formed, is among them.
 */
export function kindsMentioned(given: string, known: readonly string[]): KindsMentioned {
  const text = withLineFeeds(given)
  const values = [...text.matchAll(TOP_KIND)].map(([, value = '']) => value)
  const top = values.flatMap((value) => kindName(value) ?? [])
  const isPlain =
    top.length > 0 && top.length === values.length && !HIDDEN_TOP_KEY.test(text) && !INDENTED.test(text)
  return isPlain && !top.some(isListKind) ? new Set(top) : mentionedAnywhere(text, known)
}

/**
 * Whether a text without a kind has no recognizable content: neither a key nor a bracket, or encrypted or packed lines. It may
 * hold anything.
 */
export function isSealedText(text: string): boolean {
  return plainKindOf(text) === undefined && (!KEYS.test(text) || CIPHER.test(text))
}

/** A line that begins with a key, a bracket or a quote. */
const KEYS = /^(?:[A-Za-z0-9_./ \t-]*[A-Za-z0-9_/]:(?:[ \t\r]|$)|[ \t]*[{[?"'])/m
/** Armour, a line of base64, or bytes that no text has. */
const CIPHER = /^-----BEGIN |^[A-Za-z0-9+/]{40,}={0,2}\r?$|[\u0000-\u0008]/m

/** Each line break of YAML 1.1 as a line feed, and no byte-order marks. */
function withLineFeeds(text: string): string {
  return ODD_BREAK.test(text)
    ? text.replaceAll('\ufeff', '').replaceAll(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    : text
}

function mentionedAnywhere(text: string, known: readonly string[]): KindsMentioned {
  if (HIDDEN_KEY.test(text)) return 'anything'
  const found = new Set<string>()
  for (const [, value = ''] of text.matchAll(KIND_ENTRY)) {
    const kind = kindName(value)
    if (kind === undefined) return 'anything'
    found.add(kind)
    if (isListKind(kind) && kind !== 'List') found.add(kind.slice(0, -'List'.length))
  }
  for (const kind of known) if (isDistinctive(kind) && text.includes(kind)) found.add(kind)
  return found
}

/** Words such as Pod stand in any text; names of two words and more mean the kind. */
export function isDistinctive(kind: string): boolean {
  return /[a-z][A-Z]|[A-Z]{2}/.test(kind)
}

function isListKind(kind: string): boolean {
  return kind.endsWith('List')
}

function kindName(value: string): string | undefined {
  return KIND_NAME.exec(value)?.[2]
}
