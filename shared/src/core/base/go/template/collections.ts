// len, index and slice, after Go's text/template/funcs.go.
import { UINT8, type MapType } from './go-types.ts'
import { TemplateFailure, Unknowable } from './signals.ts'
import {
  elementAt,
  entryOf,
  GoInt,
  GoNamed,
  indirect,
  lengthOf,
  PlaceholderValue,
  Ref,
  typeName,
  zeroOf,
  type Value,
} from './values.ts'

/** `len item`, in bytes for a string. */
export function length(item: Value): Value {
  const target = indirect(item)
  if (target instanceof PlaceholderValue) return notKnown('the length of', target)
  const text = textOf(target)
  if (text !== undefined) return new GoInt(BigInt(text.length))
  if (target instanceof Ref && (target.type.kind === 'slice' || target.type.kind === 'map'))
    return new GoInt(BigInt(lengthOf(target)))
  throw new TemplateFailure(`len of type ${typeName(target)}`)
}

/** `index item keys...`. */
export function index(item: Value, keys: readonly Value[]): Value {
  if (item === undefined) throw new TemplateFailure('index of untyped nil')
  let here: Value = item
  for (const key of keys) here = indexOnce(here, key)
  return here
}

function indexOnce(item: Value, key: Value): Value {
  const target = indirect(item)
  if (key instanceof PlaceholderValue) return notKnown('an index by', key)
  if (target instanceof PlaceholderValue) return notKnown('an index into', target)
  const text = textOf(target)
  if (text !== undefined) {
    const at = place(key, text.length - 1)
    return new GoInt(BigInt(text.charCodeAt(at)), UINT8)
  }
  if (target instanceof Ref && target.type.kind === 'slice') {
    const elements = Array.isArray(target.json) ? target.json.length : 0
    if (target.growing && key instanceof GoInt && key.value >= elements)
      throw new Unknowable(`element ${key.value} of the ${target.what}, to which more may be added`)
    return elementAt(target, target.type, place(key, elements - 1))
  }
  if (target instanceof Ref && target.type.kind === 'map') return mapEntry(target, target.type, key)
  throw new TemplateFailure(`can't index item of type ${typeName(target)}`)
}

function mapEntry(target: Ref, type: MapType, key: Value): Value {
  if (typeName(key) !== type.key.name)
    throw new TemplateFailure(`value has type ${typeName(key)}; should be ${type.key.name}`)
  const name = textOf(key) ?? ''
  return entryOf(target, type, name) ?? zeroOf(type.elem, target)
}

/** An index as a number from 0 to `last`. */
function place(key: Value, last: number): number {
  if (key instanceof PlaceholderValue) return notKnown('an index by', key)
  if (!(key instanceof GoInt))
    throw new TemplateFailure(`cannot index slice/array with type ${typeName(key)}`)
  if (key.value < 0n || key.value > BigInt(last))
    throw new TemplateFailure(`index out of range: ${key.value}`)
  return Number(key.value)
}

/** `slice item places...`. */
export function slice(item: Value, places: readonly Value[]): Value {
  const target = indirect(item)
  if (target === undefined) throw new TemplateFailure('slice of untyped nil')
  if (places.length > 3) throw new TemplateFailure(`too many slice indexes: ${places.length}`)
  if (target instanceof PlaceholderValue) return notKnown('a slice of', target)
  const text = textOf(target)
  if (text !== undefined) {
    if (places.length === 3) throw new TemplateFailure('cannot 3-index slice a string')
    const [from, to] = bounds(places, text.length, text.length)
    const part = text.slice(from, to)
    return target instanceof GoNamed ? new GoNamed(target.type, part) : part
  }
  if (!(target instanceof Ref) || target.type.kind !== 'slice')
    throw new TemplateFailure(`can't slice item of type ${typeName(target)}`)
  const list: readonly unknown[] = Array.isArray(target.json) ? target.json : []
  const [from, to] = bounds(places, lengthOf(target), target.isNil ? 0 : Infinity)
  if (target.isNil) return target
  return new Ref(target.type, list.slice(from, to), target.complete, target)
}

/** The two places of a cut. A list may be cut up to its capacity, which depends on how it was decoded. */
function bounds(places: readonly Value[], size: number, capacity: number): readonly [number, number] {
  const found = places.map((key) => place(key, Math.min(capacity, Number.MAX_SAFE_INTEGER)))
  const [from = 0, to = size, limit = to] = found
  if (from > to || to > limit) throw new TemplateFailure(`invalid slice index: ${from} > ${to}`)
  if (Math.max(from, to, limit) > size)
    throw new Unknowable('a slice beyond the end of a list, up to its capacity')
  return [from, to]
}

function textOf(value: Value): string | undefined {
  if (typeof value === 'string') return value
  return value instanceof GoNamed ? value.text : undefined
}

function notKnown(what: string, value: PlaceholderValue): never {
  throw new Unknowable(`${what} the ${value.what}, which is not known yet`)
}
