// The elements of one list in a JSON document, one after the other, from a stream: a document of any length takes no more memory
// than its largest element and one chunk. The list is the document itself, or stands under a key of it. A pass over the bytes
// finds where elements end; those of a chunk are parsed at once, which takes a third of the time of one at a time. Once two elements
// show what stands between two of them, all up to the last such place of a chunk are parsed without that pass.

import { isRecord } from '@kleym/shared/core/base/json.ts'

/** The most bytes of one element. */
export const ELEMENT_MAX = 4 * 1024 * 1024

/** A document that is not what was asked for; `at` counts bytes from 0. */
export class JsonElementsError extends Error {
  override readonly name = 'JsonElementsError'
  readonly at: number

  constructor(message: string, at: number) {
    super(message)
    this.at = at
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_MAP = 0x7b
const CLOSE_MAP = 0x7d
const COLON = 0x3a
const COMMA = 0x2c

/** By its first byte, what a file is that people take for JSON. */
const NO_JSON: ReadonlyMap<number, string> = new Map([
  [0xff, 'it is UTF-16, as PowerShell writes it: write it as UTF-8'],
  [0xfe, 'it is UTF-16: write it as UTF-8'],
  [0x1f, 'it is compressed: unpack it'],
])

/** What stands between two elements is no longer than this, and no key of the document. */
const BETWEEN_MAX = 1024
const KEY_MAX = 1024
/** If it is not empty, the list goes on in another document: the APIs of SPIRE give lists in pages. */
const NEXT_PAGE = 'next_page_token'

const ONE_PAGE = `it is one page of a longer list (${NEXT_PAGE})`

/** Cuts a document into elements. Feed it chunks, then call `end`; both throw a JsonElementsError. */
export class JsonElements {
  readonly #key: string
  readonly #onElement: (value: unknown) => void
  readonly #text = new TextDecoder('utf-8', { fatal: true })
  #state: 'start' | 'map' | 'key' | 'next page' | 'before list' | 'skip' | 'list' | 'element' | 'end' =
    'start'
  /** What the list goes on with: an element or its end, a comma or its end, an element. */
  #next: 'first' | 'comma' | 'element' = 'first'
  /** Whether the list is the document itself. */
  #isBare = false
  #found = false
  /** In a key, an element or another value. */
  #depth = 0
  #inString = false
  #escaped = false
  /** Where the key, or the first element that is not parsed yet, began in the current chunk, and what came in earlier ones. */
  #from = 0
  #parts: Uint8Array[] = []
  #offset = 0
  /** Where that began in the document. */
  #beganAt = 0
  /** Where the whole elements that are not parsed yet begin and end in the document. */
  #starts: number[] = []
  #ends: number[] = []
  /** Where the element that was handed over last begins, or how many are before it in a part of the document, which begins there. */
  #last: { readonly at: number; readonly before?: number; readonly part?: Uint8Array } = { at: 0 }
  /** From the end of an element to behind the first key of the next; `off`: it tells not where elements end. */
  #between: Buffer | 'off' | undefined

  /** `onElement` is given each element. */
  constructor(key: string, onElement: (value: unknown) => void) {
    this.#key = key
    this.#onElement = onElement
  }

  /** Where the element that was handed over last begins, in bytes from 0. It is looked for if somebody asks. */
  get at(): number {
    const { at, before, part } = this.#last
    if (part === undefined) return at
    const starts: number[] = []
    const again = new JsonElements('', () => starts.push(again.at))
    again.#between = 'off'
    again.feed(Uint8Array.of(OPEN_LIST))
    again.feed(part)
    return at + (starts[before ?? 0] ?? 1) - 1
  }

  /** Takes the next bytes of the document. */
  feed(chunk: Uint8Array): void {
    let at = this.#offset === 0 && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf ? 3 : 0
    this.#from = 0
    try {
      while (at < chunk.length) at = this.#overMany(chunk, at) ?? this.#step(chunk, at)
    } catch (error) {
      // A fault in an element before this place is reported first.
      this.#handOver(chunk)
      throw error
    }
    this.#handOver(chunk)
    if (this.#state === 'element' || this.#state === 'key' || this.#state === 'next page')
      this.#parts.push(chunk.slice(this.#from))
    this.#offset += chunk.length
  }

  /** Ends the document. */
  end(): void {
    if (this.#state === 'start') throw new JsonElementsError('it is empty', 0)
    if (this.#state !== 'end') throw new JsonElementsError('it ends in the middle', this.#offset)
    if (!this.#found) throw new JsonElementsError(`it has no list ${this.#key}`, this.#offset)
  }

  /** Continues in a key, an element or another value, with the one loop for all their bytes. Returns the new position. */
  #goOn(chunk: Uint8Array, start: number): number {
    let at = start
    let { depth, inString, escaped, hasEnded } = {
      depth: this.#depth,
      inString: this.#inString,
      escaped: this.#escaped,
      hasEnded: false,
    }
    const isElement = this.#state === 'element'
    for (; at < chunk.length && !hasEnded; at++) {
      const byte = chunk[at]
      if (inString) {
        if (escaped) escaped = false
        else if (byte === BACKSLASH) escaped = true
        else if (byte === QUOTE) inString = false
      } else if (byte === QUOTE) inString = true
      else if (byte === OPEN_MAP || byte === OPEN_LIST) depth++
      else if (depth === 0) {
        // What ends a key or another value; an element ends with its bracket.
        if (byte === COLON || byte === COMMA || byte === CLOSE_MAP || byte === CLOSE_LIST) break
      } else if (byte === CLOSE_MAP || byte === CLOSE_LIST) hasEnded = --depth === 0 && isElement
    }
    this.#depth = depth
    this.#inString = inString
    this.#escaped = escaped
    if (hasEnded || at < chunk.length) return this.#ended(chunk, at)
    const length = this.#offset + at - this.#beganAt
    if (this.#state === 'key' && length > KEY_MAX) this.#fail('it is no JSON', at)
    if (this.#state === 'next page' && length > KEY_MAX) this.#fail(ONE_PAGE, at)
    if (isElement && length > ELEMENT_MAX)
      throw new JsonElementsError(`an element is longer than ${ELEMENT_MAX} bytes`, this.#beganAt)
    return at
  }

  /** Parses the whole elements, all that stands between the first and the last of them, and hands them over. */
  #handOver(chunk: Uint8Array): void {
    const [starts, ends] = [this.#starts, this.#ends]
    const end = ends.at(-1)
    if (end === undefined) return
    const bytes = this.#take(chunk.subarray(this.#from, end - this.#offset))
    this.#starts = []
    this.#ends = []
    this.#from = this.#beganAt - this.#offset
    const values = this.#listOf(bytes)
    const isWhole = values?.length === starts.length
    const [first = 0] = starts
    for (const [number, at] of starts.entries()) {
      const value = isWhole
        ? values[number]
        : this.#parse(bytes.subarray(at - first, (ends[number] ?? at) - first), at)
      this.#last = { at }
      this.#onElement(value)
    }
  }

  /**
   * Hands over all complete elements that follow in the chunk. Returns the position after the last one; undefined if it is not
   * known where they end.
   */
  #overMany(chunk: Uint8Array, at: number): number | undefined {
    const between = this.#between
    if (!(between instanceof Buffer) || this.#state !== 'list' || this.#next !== 'comma') return undefined
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset + at, chunk.length - at)
    // Looked for from the end of the chunk, and only where it stands at the beginning: so once or twice for each chunk.
    if (!bytes.subarray(0, between.length).equals(between)) return undefined
    const end = at + bytes.lastIndexOf(between)
    if (end === at || end - at > ELEMENT_MAX) return undefined
    this.#handOver(chunk)
    const from = at + between.indexOf(COMMA) + 1
    const part = chunk.subarray(from, end)
    const values = this.#listOf(part)
    if (values?.every((value) => isRecord(value)) !== true) {
      this.#between = 'off'
      return undefined
    }
    for (const [before, value] of values.entries()) {
      this.#last = { at: this.#offset + from, before, part }
      this.#onElement(value)
    }
    return end
  }

  /** Records the text between the element that has just ended and the next one. */
  #learn(chunk: Uint8Array, at: number): void {
    const end = this.#ends.at(-1)
    if (this.#between !== undefined || end === undefined) return
    const close = chunk.indexOf(QUOTE, chunk.indexOf(QUOTE, at) + 1) + 1
    const from = end - this.#offset
    if (close > at && close - from <= BETWEEN_MAX) this.#between = Buffer.from(chunk.slice(from, close))
  }

  /** Undefined where one of the elements is no JSON. */
  #listOf(elements: Uint8Array): readonly unknown[] | undefined {
    try {
      const values: unknown = JSON.parse(`[${this.#text.decode(elements)}]`)
      return Array.isArray(values) ? values : undefined
    } catch {
      return undefined
    }
  }

  #parse(element: Uint8Array, at: number): unknown {
    try {
      return JSON.parse(this.#text.decode(element))
    } catch (error) {
      const why = error instanceof SyntaxError ? 'it is no JSON' : 'it is not UTF-8'
      throw new JsonElementsError(why, at)
    }
  }

  /** What stands at a place; the next place to look at. */
  #step(chunk: Uint8Array, at: number): number {
    const byte = chunk[at] ?? 0
    if (
      this.#state === 'key' ||
      this.#state === 'next page' ||
      this.#state === 'skip' ||
      this.#state === 'element'
    )
      return this.#goOn(chunk, at)
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return at + 1
    switch (this.#state) {
      case 'start':
        this.#isBare = byte === OPEN_LIST
        if (this.#isBare) this.#beginList()
        else if (byte === OPEN_MAP) this.#state = 'map'
        else this.#fail(NO_JSON.get(byte) ?? 'it is no JSON', at)
        return at + 1
      case 'map':
        if (byte === QUOTE) {
          this.#state = 'key'
          this.#beganAt = this.#offset + at
          this.#from = at
          return at
        }
        if (byte === CLOSE_MAP) this.#state = 'end'
        else if (byte !== COMMA) this.#fail('it is no JSON', at)
        return at + 1
      case 'before list':
        if (byte !== OPEN_LIST) this.#fail(`${this.#key} is no list`, at)
        this.#beginList()
        return at + 1
      case 'list':
        return this.#inList(chunk, at)
      case 'end':
        return this.#fail('there is more after its end', at)
    }
  }

  #beginList(): void {
    this.#found = true
    this.#state = 'list'
  }

  #inList(chunk: Uint8Array, at: number): number {
    const byte = chunk[at] ?? 0
    if (byte === CLOSE_LIST) {
      if (this.#next === 'element') this.#fail('it is no JSON', at)
      this.#handOver(chunk)
      this.#state = this.#isBare ? 'end' : 'map'
      return at + 1
    }
    if (byte === COMMA) {
      if (this.#next !== 'comma') this.#fail('it is no JSON', at)
      this.#next = 'element'
      return at + 1
    }
    if (byte !== OPEN_MAP || this.#next === 'comma') this.#fail('an element is no mapping', at)
    this.#learn(chunk, at)
    this.#state = 'element'
    this.#beganAt = this.#offset + at
    if (this.#starts.length === 0) this.#from = at
    return at
  }

  /** A key, an element or another value has ended. */
  #ended(chunk: Uint8Array, at: number): number {
    if (this.#state === 'key') return this.#keyEnded(chunk, at)
    if (this.#state === 'element') {
      this.#starts.push(this.#beganAt)
      this.#ends.push(this.#offset + at)
      this.#state = 'list'
      this.#next = 'comma'
    } else {
      if (this.#state === 'next page') this.#requireNoPage(chunk, at)
      this.#state = 'map'
    }
    return at
  }

  #keyEnded(chunk: Uint8Array, at: number): number {
    const [name] = this.#listOf(this.#take(chunk.subarray(this.#from, at))) ?? []
    if (name === undefined || chunk[at] !== COLON) this.#fail('it is no JSON', at)
    const isList = name === this.#key
    if (isList && this.#found) this.#fail(`it has two lists ${this.#key}`, at)
    this.#state = isList ? 'before list' : name === NEXT_PAGE ? 'next page' : 'skip'
    this.#from = at + 1
    this.#beganAt = this.#offset + at + 1
    return at + 1
  }

  #requireNoPage(chunk: Uint8Array, at: number): void {
    const [token] = this.#listOf(this.#take(chunk.subarray(this.#from, at))) ?? []
    if (token !== '' && token !== null) this.#fail(ONE_PAGE, at)
  }

  #fail(why: string, at: number): never {
    throw new JsonElementsError(why, this.#offset + at)
  }

  #take(last: Uint8Array): Uint8Array {
    const whole = this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last])
    this.#parts = []
    return whole
  }
}
