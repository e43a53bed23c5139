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

/** What stands between two elements is no longer than this. */
const BETWEEN_MAX = 1024

/** Cuts a document into elements. Feed it chunks, then call `end`; both throw a JsonElementsError. */
export class JsonElements {
  readonly #key: string
  readonly #onElement: (value: unknown) => void
  readonly #text = new TextDecoder('utf-8', { fatal: true })
  #state: 'start' | 'map' | 'key' | 'skip' | 'list' | 'element' | 'end' = 'start'
  /** Whether the list is the document itself. */
  #isBare = false
  #found = false
  #depth = 0
  #inString = false
  #escaped = false
  /** Where the key, or the first element that is not parsed yet, began in the current chunk, and what came in earlier ones. */
  #from = 0
  #parts: Uint8Array[] = []
  #partBytes = 0
  #offset = 0
  /** Whether a comma or the end must come before the next element, and whether an element must. */
  #needsComma = false
  #afterComma = false
  #elementAt = 0
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
      while (at < chunk.length)
        at =
          this.#state === 'element'
            ? this.#inElement(chunk, at)
            : (this.#overMany(chunk, at) ?? this.#step(chunk, at))
    } catch (error) {
      // A fault in an element before this place is reported first.
      this.#handOver(chunk)
      throw error
    }
    this.#handOver(chunk)
    if (this.#state === 'element' || this.#state === 'key') this.#keep(chunk.subarray(this.#from))
    this.#offset += chunk.length
  }

  /** Ends the document. */
  end(): void {
    if (this.#state === 'start') throw new JsonElementsError('it is empty', 0)
    if (this.#state !== 'end') throw new JsonElementsError('it ends in the middle', this.#offset)
    if (!this.#found) throw new JsonElementsError(`it has no list ${this.#key}`, this.#offset)
  }

  /** The one loop that all bytes of elements go through. */
  #inElement(chunk: Uint8Array, start: number): number {
    let at = start
    let { depth, inString, escaped } = {
      depth: this.#depth,
      inString: this.#inString,
      escaped: this.#escaped,
    }
    for (; at < chunk.length; at++) {
      const byte = chunk[at]
      if (inString) {
        if (escaped) escaped = false
        else if (byte === BACKSLASH) escaped = true
        else if (byte === QUOTE) inString = false
      } else if (byte === QUOTE) inString = true
      else if (byte === OPEN_MAP || byte === OPEN_LIST) depth++
      else if (byte === CLOSE_MAP || byte === CLOSE_LIST) {
        depth--
        if (depth === 0) {
          at++
          this.#starts.push(this.#elementAt)
          this.#ends.push(this.#offset + at)
          this.#state = 'list'
          this.#needsComma = true
          break
        }
      }
    }
    this.#depth = depth
    this.#inString = inString
    this.#escaped = escaped
    if (this.#state === 'element' && this.#offset + at - this.#elementAt > ELEMENT_MAX)
      throw new JsonElementsError(`an element is longer than ${ELEMENT_MAX} bytes`, this.#elementAt)
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
    this.#from = this.#elementAt - this.#offset
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
   * Hands over all whole elements that follow in the chunk; where it then stands, at the end of an element. Undefined where it is not
   * known where they end. Text in which the last place is none, such as one within a list, is no JSON up to there.
   */
  #overMany(chunk: Uint8Array, at: number): number | undefined {
    const between = this.#between
    if (!(between instanceof Buffer) || this.#state !== 'list' || !this.#needsComma) return undefined
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

  /** Learns what stands between the element that has just ended and the one that begins. */
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

  /** One byte outside elements; the next place to look at. */
  #step(chunk: Uint8Array, at: number): number {
    const byte = chunk[at] ?? 0
    if (this.#state === 'key') return this.#inKey(chunk, at)
    if (this.#state === 'skip') return this.#inSkipped(byte, at)
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return at + 1
    const fail = (message: string): never => {
      throw new JsonElementsError(message, this.#offset + at)
    }
    switch (this.#state) {
      case 'start':
        if (byte === OPEN_MAP) this.#state = 'map'
        else if (byte === OPEN_LIST) {
          this.#state = 'list'
          this.#isBare = true
          this.#found = true
        } else fail(NO_JSON.get(byte) ?? 'it is no JSON')
        return at + 1
      case 'map':
        if (byte === QUOTE) {
          this.#state = 'key'
          this.#from = at
          this.#parts = []
          this.#partBytes = 0
        } else if (byte === CLOSE_MAP) this.#state = 'end'
        else if (byte !== COMMA) fail('it is no JSON')
        return at + 1
      case 'list':
        return this.#inList(chunk, at, fail)
      case 'end':
      case 'element':
        return fail('there is more after its end')
    }
  }

  #inList(chunk: Uint8Array, at: number, fail: (message: string) => never): number {
    const byte = chunk[at] ?? 0
    if (byte === CLOSE_LIST) {
      if (this.#afterComma) fail('it is no JSON')
      this.#handOver(chunk)
      this.#state = this.#isBare ? 'end' : 'map'
      return at + 1
    }
    if (byte === COMMA) {
      if (!this.#needsComma) fail('it is no JSON')
      this.#needsComma = false
      this.#afterComma = true
      return at + 1
    }
    if (byte !== OPEN_MAP || this.#needsComma) fail('an element is no mapping')
    this.#learn(chunk, at)
    this.#state = 'element'
    this.#afterComma = false
    this.#elementAt = this.#offset + at
    if (this.#starts.length === 0) this.#from = at
    this.#depth = 0
    return at
  }

  /** A key of the document, with its quotes, up to the first byte of its value. */
  #inKey(chunk: Uint8Array, at: number): number {
    const byte = chunk[at] ?? 0
    if (byte !== COLON || !this.#isKeyWhole(chunk, at)) {
      if (this.#partBytes + at - this.#from > 1024)
        throw new JsonElementsError('it is no JSON', this.#offset + at)
      return at + 1
    }
    const key = this.#take(chunk.subarray(this.#from, at))
    let name: unknown
    try {
      name = JSON.parse(this.#text.decode(key))
    } catch {
      throw new JsonElementsError('it is no JSON', this.#offset + at)
    }
    this.#state = 'skip'
    this.#depth = 0
    this.#inString = false
    if (name === this.#key) {
      if (this.#found) throw new JsonElementsError(`it has two lists ${this.#key}`, this.#offset + at)
      this.#awaitsList = true
    }
    return at + 1
  }

  /** Whether the value that comes next must be the list. */
  #awaitsList = false

  #isKeyWhole(chunk: Uint8Array, at: number): boolean {
    const text = Buffer.concat([...this.#parts, chunk.subarray(this.#from, at)])
      .toString('latin1')
      .trimEnd()
    return text.length > 1 && text.endsWith('"') && !text.endsWith('\\"')
  }

  /** The value of another key. */
  #inSkipped(byte: number, at: number): number {
    if (this.#awaitsList) {
      if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return at + 1
      if (byte !== OPEN_LIST) throw new JsonElementsError(`${this.#key} is no list`, this.#offset + at)
      this.#awaitsList = false
      this.#found = true
      this.#needsComma = false
      this.#state = 'list'
      return at + 1
    }
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false
      else if (byte === BACKSLASH) this.#escaped = true
      else if (byte === QUOTE) this.#inString = false
      return at + 1
    }
    if (byte === QUOTE) this.#inString = true
    else if (byte === OPEN_MAP || byte === OPEN_LIST) this.#depth++
    else if (byte === CLOSE_MAP || byte === CLOSE_LIST) {
      if (this.#depth === 0) {
        this.#state = 'map'
        return at
      }
      this.#depth--
    } else if (byte === COMMA && this.#depth === 0) this.#state = 'map'
    return at + 1
  }

  #keep(bytes: Uint8Array): void {
    this.#parts.push(bytes.slice())
    this.#partBytes += bytes.length
  }

  #take(last: Uint8Array): Uint8Array {
    const whole = this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last])
    this.#parts = []
    this.#partBytes = 0
    return whole
  }
}
