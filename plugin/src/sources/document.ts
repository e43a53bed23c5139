// The documents of a file. Text is split on `---` lines before anything is parsed, as kubectl does it
// (k8s.io/apimachinery/pkg/util/yaml, YAMLReader), so that one malformed document never takes another with it.

import type { UnreadType } from './unread.ts'

/** The text of one document and where it stands. */
export interface Chunk {
  readonly text: string
  /** The document's number in the file, from 1. */
  readonly document: number
  /** The line of the file on which the text begins, from 1. */
  readonly line: number
}

/** A value that was read, with the line of each list item at `items`, where that is known. */
export interface ParsedDocument {
  readonly value: unknown
  /** All that the value was read from. */
  readonly text: string
  readonly document: number
  /** The line on which the value begins, from 1. */
  readonly line: number
  /** The line on which the object at a path of item numbers begins: `[2, 0]` is `.items[2].items[0]`. */
  itemLine(path: readonly number[]): number
}

/** What is wrong with a document. */
export interface DocumentFault {
  readonly document: number
  readonly line?: number
  readonly column?: number
  /** The text of that line. It may hold a secret: who shows it has looked at what the document is. */
  readonly lineText?: string
  /** The text of the document; absent: that of the file was not looked at. */
  readonly text?: string
  readonly why: string
  readonly fix: string
  /** It may be well-formed, and is more than kleym takes in. */
  readonly isLimit?: true
}

/** What to do about a document that is too much for YAML. */
export const FIX_DENSE = 'give it as JSON (kubectl get -o json), or split it'

/** What a file holds. */
export interface ParsedFile {
  readonly documents: readonly ParsedDocument[]
  readonly faults: readonly DocumentFault[]
  /** Documents that were not read because no answer uses their kind. */
  readonly unread?: readonly UnreadType[]
  /** Documents that hold something, understood or not. */
  readonly count: number
}

/** The deepest nesting that is read; real manifests stay below 30. */
export const MAX_DEPTH = 256

/** The longest key that a message quotes. */
const KEY_SHOWN = 100

/** A key as a message quotes it. */
export function shownKey(key: string): string {
  return JSON.stringify(key.length > KEY_SHOWN ? `${key.slice(0, KEY_SHOWN)}...` : key)
}

/**
 * Splits on lines that begin with `---`, as kubectl does. What holds nothing but comments is no document, and counts as one. The numbers are
 * those with which the text begins, if it is the rest of a file.
 */
export function* splitDocuments(
  text: string,
  { document, line } = { document: 1, line: 1 },
): Iterable<Chunk> {
  for (let start = 0; start < text.length;) {
    const end = nextSeparator(text, start)
    const chunk = text.slice(start, end)
    const isPrologue = start === 0 && end < text.length && PROLOGUE.test(chunk)
    if (!isPrologue) {
      if (!COMMENTS.test(chunk)) yield { text: chunk, document, line }
      document++
    }
    line += lineBreaksIn(chunk)
    start = end
  }
}

/** Where the next line begins with `---`; the end of the text where none does. */
function nextSeparator(text: string, from: number): number {
  const at = text.indexOf('\n---', from)
  return at === -1 ? text.length : at + 1
}

/** Comments and nothing else. Each line break of YAML 1.1 ends a comment for kubectl: https://yaml.org/spec/1.1/#id871136 */
const PROLOGUE = /^(?:[ \t]*(?:#[^\n\r\u0085\u2028\u2029]*)?(?:\r?\n|[\r\u0085\u2028\u2029]|$))*$/
/** The same behind a separator, or without one. */
const COMMENTS =
  /^(?:---(?=[ \t\r\n]|$))?(?:[ \t]*(?:#[^\n\r\u0085\u2028\u2029]*)?(?:\r?\n|[\r\u0085\u2028\u2029]|$))*$/

function lineBreaksIn(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** A place in a text, both from 1. */
export interface LineAndColumn {
  readonly line: number
  readonly column: number
}

/** Line and column of an offset in a text. */
export function lineAndColumn(text: string, offset: number): LineAndColumn {
  return new LineIndex(text).at(offset)
}

/** Tells the lines of many offsets of one text, which asking each alone would count from the beginning. */
export class LineIndex {
  readonly #text: string
  /** Where each line begins that has been counted so far. */
  readonly #starts: number[] = [0]

  constructor(text: string) {
    this.#text = text
  }

  at(offset: number): LineAndColumn {
    this.#countTo(offset)
    let [low, high] = [0, this.#starts.length - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: Math.max(0, offset - (this.#starts[low] ?? 0)) + 1 }
  }

  #countTo(offset: number): void {
    for (;;) {
      const next = this.#text.indexOf('\n', this.#starts.at(-1))
      if (next === -1 || next >= offset) return
      this.#starts.push(next + 1)
    }
  }
}
