// eq, ne, lt, le, gt and ge, after Go's text/template/funcs.go.
import { TemplateFailure, Unknowable } from './signals.ts'
import { GoFloat, GoInt, GoNamed, PlaceholderValue, Ref, typeName, typeOf, type Value } from './values.ts'

type Basic =
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'int' | 'uint'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'none' }

/** `eq first other...`: whether any of the others equals the first. */
export function equal(first: Value, others: readonly Value[]): boolean {
  if (others.length === 0) throw new TemplateFailure('missing argument for comparison')
  return others.some((other) => equalPair(first, other))
}

function equalPair(left: Value, right: Value): boolean {
  if (typeof left === 'string' && typeof right === 'string') return left === right
  const a = basic(left)
  const b = basic(right)
  if (a.kind === 'none' && b.kind === 'none') return equalComposite(left, right)
  if (a.kind !== 'none' && b.kind !== 'none' && comparable(a, b)) return a.value === b.value
  if (left !== undefined && right !== undefined) return incompatible(left, right)
  return false
}

/** The same kind, or two integers whatever their sign. */
function comparable(a: Basic, b: Basic): boolean {
  return a.kind === b.kind || (isInteger(a) && isInteger(b))
}

function isInteger(value: Basic): boolean {
  return value.kind === 'int' || value.kind === 'uint'
}

function incompatible(left: Value, right: Value): never {
  throw new TemplateFailure(`incompatible types for comparison: ${typeName(left)} and ${typeName(right)}`)
}

function equalComposite(left: Value, right: Value): boolean {
  if (left !== undefined && right !== undefined && typeOf(left)?.kind !== typeOf(right)?.kind)
    throw new TemplateFailure(`non-comparable types ${typeName(left)} and ${typeName(right)}`)
  if (isNil(left) || isNil(right)) return isNil(left) && isNil(right)
  const kind = typeOf(right)?.kind
  if (kind === 'slice' || kind === 'map') throw new TemplateFailure(`non-comparable type ${typeName(right)}`)
  throw new Unknowable(`a comparison of two values of type ${typeName(left)}`)
}

function isNil(value: Value): boolean {
  return value === undefined || (value instanceof Ref && value.type.kind !== 'struct' && value.isNil)
}

/** `lt left right`. */
export function less(left: Value, right: Value): boolean {
  const a = basic(left)
  if (a.kind === 'none') throw new TemplateFailure('invalid type for comparison')
  const b = basic(right)
  if (b.kind === 'none') throw new TemplateFailure('invalid type for comparison')
  if (!comparable(a, b)) return incompatible(left, right)
  if (a.kind === 'bool') throw new TemplateFailure('invalid type for comparison')
  return a.value < b.value
}

/** `le left right`. */
export function lessOrEqual(left: Value, right: Value): boolean {
  return less(left, right) || equal(left, [right])
}

function basic(value: Value): Basic {
  if (typeof value === 'string') return { kind: 'string', value }
  if (typeof value === 'boolean') return { kind: 'bool', value }
  if (value instanceof GoNamed) return { kind: 'string', value: value.text }
  if (value instanceof GoInt) return { kind: value.type.kind === 'uint' ? 'uint' : 'int', value: value.value }
  if (value instanceof GoFloat) return { kind: 'float', value: value.value }
  if (value instanceof PlaceholderValue)
    throw new Unknowable(`a comparison with the ${value.what}, which is not known yet`)
  return { kind: 'none' }
}
