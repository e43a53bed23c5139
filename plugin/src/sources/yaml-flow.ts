// A list or a mapping in brackets that stands on one line: `verbs: ["get", "list"]`, `labels: {app: llama}`. Half of the documents
// that charts render have some. Whatever is beyond the plainest is left to the library by giving `undefined`.
import { isRecord, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { resolvePlain } from './yaml-scalars.ts'

/** How deep brackets may stand in brackets; real manifests have few. */
const DEPTH_MAX = 16

/** A longer key is refused by the library. */
const KEY_MAX = 1000

/** Blanks, then a scalar, a bracket or a separator, from the current position. */
const TOKEN =
  /[ ]*(?:([[\]{},])|"([^"\\]*)"(?=[,:\]} ]|$)|'([^']*)'(?=[,:\]} ]|$)|([A-Za-z0-9_./+][A-Za-z0-9_./+@%=~^*$-]*|-[A-Za-z0-9_./+-][A-Za-z0-9_./+@%=~^*$-]*)(?=[,:\]} ]|$)|(:)(?= ))/y

/** What the text is, with nothing but a comment behind it; undefined where this reader does not take it. New objects each time. */
export function readFlow(text: string): readonly unknown[] | JsonRecord | undefined {
  const reader = new FlowReader(text)
  const value = reader.read(0)
  const isWhole = /^ *(?: #.*)?$/.test(text.slice(reader.at))
  return isWhole && (Array.isArray(value) || isRecord(value)) ? value : undefined
}

/** Nothing of the plainest; `undefined` is no value of YAML. */
const BEYOND = undefined

class FlowReader {
  readonly #text: string
  at = 0
  /** The mark or the scalar that was read last. */
  #mark = ''
  #scalar: unknown

  constructor(text: string) {
    this.#text = text
  }

  read(depth: number): unknown {
    if (depth > DEPTH_MAX || !this.#next()) return BEYOND
    if (this.#mark === '[') return this.#list(depth)
    if (this.#mark === '{') return this.#mapping(depth)
    return this.#mark === '' ? this.#scalar : BEYOND
  }

  #list(depth: number): unknown {
    const items: unknown[] = []
    if (this.#peek() === ']') return this.#next() ? items : BEYOND
    for (;;) {
      const item = this.read(depth + 1)
      if (item === BEYOND || !this.#next()) return BEYOND
      items.push(item)
      if (this.#mark === ']') return items
      if (this.#mark !== ',') return BEYOND
    }
  }

  #mapping(depth: number): unknown {
    const record: Record<string, unknown> = {}
    if (this.#peek() === '}') return this.#next() ? record : BEYOND
    for (;;) {
      const key = this.#key()
      // `__proto__` must not be assigned, and the library says where a key is defined twice.
      if (key === undefined || key in record) return BEYOND
      const value = this.read(depth + 1)
      if (value === BEYOND || !this.#next()) return BEYOND
      record[key] = value
      if (this.#mark === '}') return record
      if (this.#mark !== ',') return BEYOND
    }
  }

  /** A key with its colon. */
  #key(): string | undefined {
    const key = this.#next() && this.#mark === '' ? this.#scalar : undefined
    const isKey = typeof key === 'string' && key !== '' && key.length <= KEY_MAX
    return isKey && this.#next() && this.#mark === ':' ? key : undefined
  }

  #peek(): string | undefined {
    return this.#text.slice(this.at).trimStart()[0]
  }

  #next(): boolean {
    TOKEN.lastIndex = this.at
    const token = TOKEN.exec(this.#text)
    if (token === null) return false
    this.at = TOKEN.lastIndex
    const [, bracket, double, single, plain, colon] = token
    this.#mark = bracket ?? colon ?? ''
    if (plain === undefined) this.#scalar = double ?? single
    else this.#scalar = resolvePlain(plain)
    // Infinity and NaN are refused, and the library knows where they stand.
    return typeof this.#scalar !== 'number' || Number.isFinite(this.#scalar)
  }
}
