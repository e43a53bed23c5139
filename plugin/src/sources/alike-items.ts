// Items of lists whose texts differ in strings alone, such as the pods of a workload: in a name, a UID, an address, the name of
// a token's volume. If the text of an item differs from the text of an earlier item only between some quotes, it is valid JSON
// too, with the same keys and values except for these strings. So it is not parsed: equal values are shared, and only the
// strings that differ are made. All other texts are parsed.
import { isRecord, own, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { templateOf, type Item, type Template } from './item-template.ts'

/** So many skeletons of items are remembered. */
const SHAPES_MAX = 100
/** An item that differs in more strings is hardly faster made than parsed. */
const HOLES_MAX = 100
/** Longer items are parsed, and lists of deeper ones. */
const LENGTH_MAX = 64 * 1024
const DEPTH_MAX = 64

const ITEMS = '"items":['
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_MAP = 0x7b
const CLOSE_MAP = 0x7d

/** Reads the pages of one list. */
export class AlikeItems {
  readonly #shapes = new Map<string, Shape>()
  /** Lists come in the order of names, so the alike are together. */
  #last: Shape | undefined

  /**
   * What JSON.parse gives, and it throws what that throws. What stands in an item may stand in others too: callers must not change it.
   * The item itself is theirs. A field of it that nobody has read holds on to the text.
   */
  parse(text: string): unknown {
    return this.#list(text) ?? JSON.parse(text)
  }

  /** Undefined where the text is no list as API servers write it. */
  #list(text: string): JsonRecord | undefined {
    const from = text.indexOf(ITEMS) + ITEMS.length
    const items: unknown[] = []
    let at = from - 1
    do {
      const item = this.#item(text, at + 1)
      if (item === undefined) return undefined
      items.push(item.value)
      at = item.end
    } while (text.charCodeAt(at) === COMMA)
    // The items are those of the document if what stands in their place is its list.
    const [before, after] = [text.slice(0, from), text.slice(at)]
    const list = parsed(`${before}0${after}`)
    const isPlace = itemsOf(list) === '[0]' && itemsOf(parsed(before + after)) === '[]'
    return isRecord(list) && isPlace ? { ...list, items } : undefined
  }

  #item(text: string, from: number): Item | undefined {
    const alike = this.#last?.template?.(text, from)
    if (alike !== undefined) return alike
    const strings = text.charCodeAt(from) === OPEN_MAP ? stringsOf(text, from) : undefined
    if (strings === undefined) return undefined
    const { skeleton, end } = strings
    const known = this.#shapes.get(skeleton)
    this.#last = known
    const read = known?.template?.(text, from)
    if (read !== undefined) return read
    const itself = copied(text.slice(from, end))
    const value = parsed(itself)
    if (!isRecord(value)) return undefined
    if (itself.length > LENGTH_MAX) return { value, end }
    if (known === undefined && this.#shapes.size >= SHAPES_MAX) this.#shapes.clear()
    this.#last = shapeOf(itself, value, strings, known)
    this.#shapes.set(skeleton, this.#last)
    // What the shape keeps is not the caller's.
    return { value: { ...value }, end }
  }
}

function itemsOf(list: unknown): string {
  return JSON.stringify(own(list, 'items')) ?? ''
}

/** Undefined for what is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The text without the one that it was cut from: a part of a text keeps the whole. */
function copied(text: string): string {
  return String(JSON.parse(JSON.stringify(text)))
}

/** The strings of an item that are values and no keys. */
interface Strings {
  /** Where each begins and ends, without its quotes, from the beginning of the item. */
  readonly places: readonly Place[]
  /** The text without them. */
  readonly skeleton: string
  /** Where the item ends. */
  readonly end: number
}

type Place = readonly [from: number, to: number]

/** Undefined where the item breaks off, is too deep or holds space between strings. Whether it is JSON is not looked at. */
function stringsOf(text: string, from: number): Strings | undefined {
  const places: Place[] = []
  const between: string[] = []
  let [depth, since] = [0, from]
  for (let at = from; at < text.length && depth <= DEPTH_MAX; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const start = at + 1
      for (at = start; at < text.length && text.charCodeAt(at) !== QUOTE; at++)
        if (text.charCodeAt(at) === BACKSLASH) at++
      const next = text.charCodeAt(at + 1)
      if (next === COLON) continue
      // With space between, a key could be taken for a value.
      if (next !== COMMA && next !== CLOSE_MAP && next !== CLOSE_LIST) return undefined
      places.push([start - from, at - from])
      between.push(text.slice(since, start))
      since = at
    } else if (code === OPEN_MAP || code === OPEN_LIST) depth++
    else if (code === CLOSE_MAP || code === CLOSE_LIST) depth--
    if (depth > 0) continue
    between.push(text.slice(since, at + 1))
    return { places, skeleton: copied(between.join('')), end: at + 1 }
  }
  return undefined
}

/** The items of one skeleton. */
interface Shape {
  /** The strings of one of them. */
  readonly contents: readonly string[]
  /** The numbers of those that are known to differ. */
  readonly holes: ReadonlySet<number>
  /** Undefined while nothing is known to differ. */
  readonly template: Template | undefined
}

/** What is known of a skeleton once an item of it was parsed. */
function shapeOf(text: string, value: JsonRecord, { places }: Strings, known: Shape | undefined): Shape {
  const contents = places.map((place) => text.slice(...place))
  if (known === undefined) return { contents, holes: new Set(), template: undefined }
  const holes = contents.keys().filter((at) => known.holes.has(at) || contents[at] !== known.contents[at])
  const all = new Set(holes)
  if (all.size === known.holes.size || all.size > HOLES_MAX) return known
  const template = templateOf(
    text,
    value,
    [...all].flatMap((at) => places.slice(at, at + 1)),
  )
  return template === undefined ? known : { contents, holes: all, template }
}
