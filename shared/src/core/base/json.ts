// Safe access to values that are not validated yet: a cluster's answer or a file. Only own properties count, so a key called
// `__proto__` or `constructor` is data like any other.

/** A mapping of unknown values. */
export type JsonRecord = Readonly<Record<string, unknown>>

/** True for a plain mapping: not null, not a list. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// Reading objects is calls of the functions below, ten thousand in a short run. So each calls few others, and takes keys as
// single parameters: a rest parameter would make a list at each call.

/** The own property `key` of a mapping, else undefined. */
export function own(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return isRecord(value) ? value[key] : undefined
}

/** The own property found by walking one to four keys, else undefined. */
export function dig(
  value: unknown,
  first: string,
  second?: string,
  third?: string,
  fourth?: string,
): unknown {
  let found = own(value, first)
  if (second === undefined || found === undefined) return found
  found = own(found, second)
  if (third === undefined || found === undefined) return found
  found = own(found, third)
  return fourth === undefined || found === undefined ? found : own(found, fourth)
}

/** The own property found by walking `path`, else undefined. */
export function digPath(value: unknown, path: readonly string[]): unknown {
  let here = value
  for (const key of path) here = own(here, key)
  return here
}

/** The string at one to four keys, else undefined; a number or a mapping there is undefined too. */
export function stringAt(
  value: unknown,
  first: string,
  second?: string,
  third?: string,
  fourth?: string,
): string | undefined {
  const found = second === undefined ? own(value, first) : dig(value, first, second, third, fourth)
  return typeof found === 'string' ? found : undefined
}

/** Shared: caches keep tens of thousands of absent lists. */
const NO_ITEMS: readonly unknown[] = []

/** The list at one to four keys, else an empty one. */
export function listAt(
  value: unknown,
  first: string,
  second?: string,
  third?: string,
  fourth?: string,
): readonly unknown[] {
  const found = dig(value, first, second, third, fourth)
  return Array.isArray(found) ? found : NO_ITEMS
}

/** The strings of the list at one or two keys; what else it holds is left out. */
export function textsAt(value: unknown, first: string, second?: string): readonly string[] {
  return listAt(value, first, second).filter((one) => typeof one === 'string')
}

/** The mappings of the list at one or two keys; what else it holds is left out. */
export function recordsAt(value: unknown, first: string, second?: string): readonly JsonRecord[] {
  return listAt(value, first, second).filter((one) => isRecord(one))
}

/**
 * Walks through a value and everything in it, in order. `visit` gets each part with its key; an item of a list has the key of
 * the list. If `visit` returns `false`, the walk does not enter that part. The readers bound the depth.
 */
export function walk(
  value: unknown,
  visit: (part: unknown, key: string) => boolean | undefined,
  key = '',
): void {
  if (visit(value, key) === false) return
  if (Array.isArray(value)) for (const item of value as readonly unknown[]) walk(item, visit, key)
  else if (isRecord(value)) for (const name of keysOf(value)) walk(value[name], visit, name)
}

/** The type of a value for a message: `a number`, `a list`, `nothing`. */
export function typeName(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  return `a ${typeof value}`
}

/** The keys of a record whose keys are known to the compiler, in the order in which they were written. */
export function keysOf<T extends object>(record: T): readonly Extract<keyof T, string>[] {
  const keys: Extract<keyof T, string>[] = []
  for (const key in record) if (Object.hasOwn(record, key)) keys.push(key)
  return keys
}

/** A JSON value as text, with the keys of each mapping in order: equal values give the same text, in whatever order their keys came. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null'
  const fields = Object.keys(value)
    .toSorted()
    .flatMap((key) => (value[key] === undefined ? [] : `${JSON.stringify(key)}:${canonicalText(value[key])}`))
  return `{${fields.join(',')}}`
}

/** Structural equality of JSON values; the order of keys does not matter, that of list items does. */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, at) => deepEqual(item, right[at]))
  }
  if (!isRecord(left) || !isRecord(right)) return false
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && deepEqual(left[key], right[key]))
  )
}
