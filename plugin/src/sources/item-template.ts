// The text of an item of a list with holes in it, and what is made of a text that differs in the holes alone. A hole is what stands
// between the quotes of a string that is no key. It is filled with nothing that has an escape or needs one: so whatever fills it, the
// text is JSON with the same keys.
import { isRecord, type JsonRecord } from '@kleym/shared/core/base/json.ts'

/** An item, and where its text ends. */
export interface Item {
  readonly value: JsonRecord
  readonly end: number
}

/** Makes a value of the text that fills the holes. They begin and end at `places`, one after the other. */
type Make = (text: string, places: readonly number[]) => unknown

/** Stands in the holes while the text is parsed to see which values they are. */
const MARK = 'hole '
const QUOTE = 0x22
const BACKSLASH = 0x5c
const SPACE = 0x20

/** Of the text of an item and its value; `holes` are where strings begin and end. Undefined if not all of them are values of their own. */
export function templateOf(
  text: string,
  value: JsonRecord,
  holes: readonly (readonly [from: number, to: number])[],
): Template | undefined {
  const starts = [...holes.map(([from]) => from), text.length]
  const segments = starts.map((start, at) => text.slice(at === 0 ? 0 : holes[at - 1]?.[1], start))
  const marked: unknown = JSON.parse(segments.reduce((before, one, at) => `${before}${MARK}${at - 1}${one}`))
  const found = new Set<number>()
  const parts = partsOf(value, marked, found)
  // One may stand at a key that comes twice, or say by chance what marks it.
  return found.size < holes.length ? undefined : templateFrom(segments, value, parts)
}

/** What differs between two values, by its key: what is made of holes. Their numbers are put down as found. */
function partsOf(value: object, marked: unknown, found: Set<number>): readonly (readonly [string, Make])[] {
  const others = new Map(Object.entries(Object(marked)))
  return Object.entries(value).flatMap(([key, one]): readonly (readonly [string, Make])[] => {
    const make = makeOf(one, others.get(key), found)
    return make === undefined ? [] : [[key, make]]
  })
}

/** Undefined where they do not differ. */
function makeOf(value: unknown, marked: unknown, found: Set<number>): Make | undefined {
  if (typeof value === 'object' && value !== null) {
    const parts = partsOf(value, marked, found)
    if (parts.length === 0) return undefined
    return isRecord(value) ? recordOf(value, parts) : listOf(Object.values(value), parts)
  }
  if (typeof marked !== 'string' || value === marked) return undefined
  const hole = Number(marked.slice(MARK.length))
  found.add(hole)
  return stringOf(hole)
}

// Items that follow each other often fill holes alike, as the pods of one workload do in their labels. Then what was made
// before is given again: nothing is made, and whoever keeps equal values once knows it at once.

function stringOf(hole: number): Make {
  let before: string | undefined
  return (text, places) => {
    const [from, to] = [places[2 * hole] ?? 0, places[2 * hole + 1] ?? 0]
    if (before?.length !== to - from || !text.startsWith(before, from))
      // Parsed, since a part of a text keeps the whole.
      before = String(JSON.parse(text.slice(from - 1, to + 1)))
    return before
  }
}

function recordOf(value: JsonRecord, parts: readonly (readonly [string, Make])[]): Make {
  let before = value
  return (text, places) => {
    let made: Record<string, unknown> | undefined
    for (const [key, make] of parts) {
      const one = make(text, places)
      if (one === before[key]) continue
      made ??= { ...before }
      made[key] = one
    }
    before = made ?? before
    return before
  }
}

function listOf(value: readonly unknown[], parts: readonly (readonly [string, Make])[]): Make {
  const makes = parts.map(([key, make]) => [Number(key), make] as const)
  let before = value
  return (text, places) => {
    let made: unknown[] | undefined
    for (const [at, make] of makes) {
      const one = make(text, places)
      if (one === before[at]) continue
      made ??= [...before]
      made[at] = one
    }
    before = made ?? before
    return before
  }
}

/** The item whose text begins here; undefined where it differs in more than the holes, or they are filled with what needs an escape. */
export type Template = (text: string, from: number) => Item | undefined

/** `segments`: what stands before, between and after the holes. */
function templateFrom(
  segments: readonly string[],
  value: JsonRecord,
  parts: readonly (readonly [string, Make])[],
): Template {
  // A field that was read once is made with the next item, others where they are read: what pods report is long.
  const fields = parts.map(([key, make]) => ({ key, make, isRead: false }))
  const itemOf = (text: string, places: readonly number[]): JsonRecord => {
    const item: Record<string, unknown> = { ...value }
    for (const field of fields) {
      const { key, make } = field
      if (field.isRead) {
        item[key] = make(text, places)
        continue
      }
      const set = (one: unknown): unknown =>
        Object.defineProperty(item, key, { value: one, enumerable: true, configurable: true, writable: true })
      const get = (): unknown => {
        field.isRead = true
        set(make(text, places))
        return item[key]
      }
      Object.defineProperty(item, key, { get, set, enumerable: true, configurable: true })
    }
    return item
  }
  return (text, from) => {
    const places: number[] = []
    let at = from
    for (const segment of segments) {
      if (at > from) {
        places.push(at)
        at = endOfPlain(text, at)
        places.push(at)
      }
      if (!text.startsWith(segment, at)) return undefined
      at += segment.length
    }
    return { value: itemOf(text, places), end: at }
  }
}

/** The end of a quoted text without escapes; the end of the whole input if the text holds a character that needs an escape. */
function endOfPlain(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH || code < SPACE) break
  }
  return text.length
}
