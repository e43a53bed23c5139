// The IDs of the entries of a server, each once. Nearly all are a UUID behind a prefix that they share. Half a million of them take 20
// MiB as numbers. As texts they take five times as much, and a sixth of the CPU of a comparison.

/** `8-4-4-4-12` hex digits. */
const UUID_LENGTH = 36
const DASH = 0x2d
const NO_DIGIT = -1
/** The values of hex digits as SPIRE writes them, by their codes. */
const DIGITS = Int8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code)),
)

/** The number of the prefix, and the UUID; a place whose first word is 0 is free. */
const WORDS = 5
/** A power of two. */
const PLACES_AT_FIRST = 1024
/** So many places are looked at for an ID. With half of them free, IDs need as many only if they are chosen so. */
const LOOKS_MAX = 256

/** A set of IDs. */
export class UniqueIds {
  /** Those that are no UUID; all of them, once one finds no place. */
  readonly #texts = new Set<string>()
  readonly #prefixes = new Map([['', 1]])
  #last = { prefix: '', number: 1 }
  #table = new Uint32Array(PLACES_AT_FIRST * WORDS)
  #inTable = 0
  /** Those of the ID that is being added. */
  readonly #words = new Uint32Array(WORDS)

  /** How many there are. */
  get size(): number {
    return this.#inTable + this.#texts.size
  }

  /** Adds an ID; whether it was none of them before. */
  add(id: string): boolean {
    const words = this.#table.length === 0 ? undefined : this.#wordsOf(id)
    const place = words === undefined ? 'none' : placeIn(this.#table, words)
    if (place === 'taken') return false
    if (words === undefined || place === 'none') {
      if (words !== undefined) this.#takeAsTexts()
      const before = this.#texts.size
      return before < this.#texts.add(id).size
    }
    put(words, this.#table, place)
    this.#inTable += 1
    if (this.#inTable * WORDS * 2 > this.#table.length) this.#grow()
    return true
  }

  #grow(): void {
    const before = this.#table
    const after = new Uint32Array(before.length * 2)
    const words = this.#words
    for (let at = 0; at < before.length; at += WORDS) {
      if (before[at] === 0) continue
      for (let word = 0; word < WORDS; word++) words[word] = before[at + word] ?? 0
      const place = placeIn(after, words)
      if (typeof place !== 'number') return this.#takeAsTexts()
      put(words, after, place)
    }
    this.#table = after
  }

  #takeAsTexts(): void {
    const prefixes = [...this.#prefixes.keys()]
    for (let at = 0; at < this.#table.length; at += WORDS) {
      const [number = 0, ...uuid] = this.#table.subarray(at, at + WORDS)
      const digits = uuid.map((word) => word.toString(16).padStart(8, '0')).join('')
      const prefix = prefixes[number - 1]
      if (prefix !== undefined)
        this.#texts.add(prefix + digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'))
    }
    this.#table = new Uint32Array(0)
    this.#inTable = 0
  }

  /** Undefined: it is no such ID. */
  #wordsOf(id: string): Uint32Array | undefined {
    const from = id.length - UUID_LENGTH
    if (from < 0) return undefined
    const words = this.#words
    let word = 0
    let digits = 0
    for (let at = from; at < id.length; at++) {
      const code = id.charCodeAt(at)
      const digit = code < DIGITS.length ? (DIGITS[code] ?? NO_DIGIT) : NO_DIGIT
      if (digit < 0) {
        if (code !== DASH || !isDash(at - from)) return undefined
        continue
      }
      word = (word << 4) | digit
      digits += 1
      if ((digits & 7) === 0) words[digits >>> 3] = word
    }
    // The rest of the places are dashes.
    if (digits !== 32) return undefined
    words[0] = this.#prefixNumber(id, from)
    return words
  }

  /** From 1. Most IDs have the prefix of the one before. */
  #prefixNumber(id: string, length: number): number {
    const { prefix: before, number: its } = this.#last
    if (before.length === length && id.startsWith(before)) return its
    const prefix = id.slice(0, length)
    const number = this.#prefixes.get(prefix) ?? this.#prefixes.size + 1
    this.#prefixes.set(prefix, number)
    this.#last = { prefix, number }
    return number
  }
}

function put(words: Uint32Array, table: Uint32Array, place: number): void {
  for (let at = 0; at < WORDS; at++) table[place + at] = words[at] ?? 0
}

function isDash(at: number): boolean {
  return at === 8 || at === 13 || at === 18 || at === 23
}

/** The place where an ID may stand; `taken`: it stands there. */
function placeIn(table: Uint32Array, words: Uint32Array): number | 'taken' | 'none' {
  const places = table.length / WORDS
  let hash = 0
  for (let at = 0; at < WORDS; at++) hash = Math.imul(hash ^ (words[at] ?? 0), 0x9e3779b1)
  hash ^= hash >>> 15
  for (let look = 0; look < LOOKS_MAX; look++) {
    const at = ((hash + look) & (places - 1)) * WORDS
    if (table[at] === 0) return at
    if (isSame(table, at, words)) return 'taken'
  }
  return 'none'
}

function isSame(table: Uint32Array, at: number, words: Uint32Array): boolean {
  for (let word = 0; word < WORDS; word++) if (table[at + word] !== words[word]) return false
  return true
}
