// The values a template computes with, and what Go's reflection would say about them.
import { isRecord, own } from '../../json.ts'
import { fromByteText, toByteText } from './byte-text.ts'
import {
  BOOL,
  FLOAT64,
  INT,
  STRING,
  type GoField,
  type GoType,
  type MapType,
  type PointerType,
  type ScalarType,
  type SliceType,
  type StructType,
} from './go-types.ts'
import { Placeholder } from './placeholder.ts'
import { Unknowable } from './signals.ts'

/** A value; `undefined` is Go's untyped nil and the missing map entry, a string is a byte text of Go type `string`. */
export type Value = undefined | string | boolean | GoInt | GoFloat | GoNamed | Ref | PlaceholderValue

/** An integer of a Go type. */
export class GoInt {
  readonly type: ScalarType
  readonly value: bigint

  constructor(value: bigint, type: ScalarType = INT) {
    this.value = value
    this.type = type
  }
}

/** A float64. */
export class GoFloat {
  readonly value: number

  constructor(value: number) {
    this.value = value
  }
}

/** A string of a named type, such as types.UID: printed as a string, but not one to a map index or to printf. */
export class GoNamed {
  readonly type: ScalarType
  readonly text: string

  constructor(type: ScalarType, text: string) {
    this.type = type
    this.text = text
  }
}

/** A value that is known in part; its text holds placeholders. */
export class PlaceholderValue {
  readonly type: GoType
  readonly text: string
  /** The `what` of each placeholder in the text. */
  readonly whats: readonly string[]
  /** Whether it is known that the pointer is not nil. */
  readonly present: boolean

  constructor(type: GoType, text: string, whats: readonly string[], present = false) {
    this.type = type
    this.text = text
    this.whats = whats
    this.present = present
  }

  /** What is not known, for a message. */
  get what(): string {
    return this.whats.join(', ')
  }
}

/** A struct, pointer, slice or map: its JSON and its type. Nil when the JSON is absent. */
export class Ref {
  readonly type: PointerType | SliceType | MapType | StructType
  readonly json: unknown
  /** False where a field that is absent may be filled in later. */
  readonly complete: boolean
  /** Whether more elements may be appended later. */
  readonly growing: boolean
  readonly #owner: Ref | string
  readonly #step: GoField | string

  constructor(
    type: Ref['type'],
    json: unknown,
    complete: boolean,
    owner: Ref | string,
    step: GoField | string = '',
    growing = false,
  ) {
    this.type = type
    this.json = json
    this.complete = complete
    this.growing = growing
    this.#owner = owner
    this.#step = step
  }

  /** Whether it is the template data itself. */
  get isRoot(): boolean {
    return this.#owner === ''
  }

  /** Whether Go has nil here. */
  get isNil(): boolean {
    return this.json === undefined || this.json === null
  }

  /** What it is, for a person: `pod containers[0] image`. */
  get what(): string {
    if (this.isRoot) return 'template data'
    const owner = typeof this.#owner === 'string' ? this.#owner : this.#owner.what
    return whatOf(owner, this.#step)
  }
}

function whatOf(owner: string, step: GoField | string): string {
  const words = typeof step === 'string' ? step : inWords(step.goName)
  return words === '' || words.startsWith('[') ? `${owner}${words}` : `${owner} ${words}`
}

/** Lists to which admission appends: the token volume, the default tolerations, the pull secrets of the account. */
const APPENDED = new Set(['Volumes', 'VolumeMounts', 'Tolerations', 'ImagePullSecrets'])

/** Maps to which no controller adds later: an absent key stays absent. */
const LABELS = new Set(['Labels', 'Annotations'])

/** A name of a Go field in words: `ServiceAccountName` is `service account name`, `HostIPC` is `host IPC`. */
export function inWords(goName: string): string {
  const words = goName.match(/[A-Z]+s?(?![a-z])|[A-Z][a-z0-9]*/g) ?? [goName]
  return words.map((word) => (/^[A-Z]{2}/.test(word) ? word : word.toLowerCase())).join(' ')
}

/** A field that no source holds: kubectl leaves it out of files, and kleym out of its lists, which it would double. */
const NEVER_GIVEN = 'ManagedFields'

/** The field of a struct. */
export function readField(owner: Ref, field: GoField): Value {
  const { type, path } = field
  if (field.goName === NEVER_GIVEN) return fromPlaceholder(new Placeholder(whatOf(owner.what, field)), type)
  let json = owner.json
  for (const key of path) json = json instanceof Placeholder ? json : own(json, key)
  if (owner.isRoot && type.kind === 'pointer') return rootObject(type, json, field)
  if (!owner.complete && type.kind !== 'struct' && isAbsent(json) && !LABELS.has(field.goName))
    return fromPlaceholder(new Placeholder(whatOf(owner.what, field)), type)
  const growing = !owner.complete && APPENDED.has(field.goName)
  return fromJson(type, json, owner, field, growing)
}

/** One of the four objects of the template data: the controller manager sets each of them, or leaves it nil. */
function rootObject(type: PointerType, json: unknown, field: GoField): Value {
  if (json instanceof Placeholder) return fromPlaceholder(json, type, true)
  const what = field.goName.startsWith('Node') ? 'node' : 'pod'
  return new Ref(type, own(json, 'value'), own(json, 'complete') === true, what)
}

function isAbsent(json: unknown): boolean {
  return json === undefined || json === null || json === '' || (Array.isArray(json) && json.length === 0)
}

/** The value that JSON decodes to. */
export function fromJson(
  type: GoType,
  json: unknown,
  owner: Ref,
  step: GoField | string,
  growing = false,
): Value {
  if (json instanceof Placeholder) return fromPlaceholder(json, type)
  const absent = json === undefined || json === null
  switch (type.kind) {
    case 'string':
      if (absent || typeof json === 'string') return stringOf(type, typeof json === 'string' ? json : '')
      break
    case 'bool':
      if (absent || typeof json === 'boolean') return json === true
      break
    case 'int':
    case 'uint':
      if (absent || isInteger(json)) return new GoInt(absent ? 0n : BigInt(json), type)
      break
    case 'float':
      break
    case 'slice':
      if (absent || Array.isArray(json)) return new Ref(type, json, owner.complete, owner, step, growing)
      break
    case 'map':
      if (absent || isRecord(json)) return new Ref(type, json, owner.complete, owner, step)
      break
    case 'pointer':
      if (absent || type.elem.kind !== 'struct' || type.elem.opaque || isRecord(json))
        return new Ref(type, json, owner.complete, owner, step)
      break
    case 'struct':
      if (absent || type.opaque || isRecord(json)) return new Ref(type, json, owner.complete, owner, step)
      break
  }
  throw new Unknowable(`${whatOf(owner.what, step)}, which is not of type ${type.name}`)
}

function stringOf(type: ScalarType, text: string): Value {
  const bytes = toByteText(text)
  return type.name === 'string' ? bytes : new GoNamed(type, bytes)
}

function isInteger(json: unknown): json is number | bigint {
  return typeof json === 'bigint' || Number.isSafeInteger(json)
}

/** The value of a placeholder that stands where the type is expected. */
export function fromPlaceholder(placeholder: Placeholder, type: GoType, present = false): PlaceholderValue {
  if (placeholder.mayBeAbsent) throw new Unknowable(`${placeholder.what}, which may be absent`)
  return new PlaceholderValue(type, toByteText(placeholder.placeholder), [placeholder.what], present)
}

/** What a pointer that is not nil points at. */
export function pointee(ref: Ref, type: PointerType): Value {
  if (ref.isRoot && type.elem.kind === 'struct') return new Ref(type.elem, ref.json, true, '')
  return fromJson(type.elem, ref.json, ref, '')
}

/** Go's `indirect`: follows pointers, stops at a nil one. */
export function indirect(value: Value): Value {
  let here = value
  while (here instanceof Ref && here.type.kind === 'pointer' && !here.isNil) here = pointee(here, here.type)
  return here
}

/** The element at a place that is within the list. */
export function elementAt(ref: Ref, type: SliceType, at: number): Value {
  const list = Array.isArray(ref.json) ? ref.json : []
  return fromJson(type.elem, list[at], ref, `[${at}]`)
}

/** How many elements a slice or map has. */
export function lengthOf(ref: Ref): number {
  if (ref.growing) throw new Unknowable(`the length of the ${ref.what}, to which more may be added`)
  if (Array.isArray(ref.json)) {
    if (ref.json.some(mayBeAbsent))
      throw new Unknowable(`the length of the ${ref.what}, which is not known yet`)
    return ref.json.length
  }
  if (!isRecord(ref.json)) return 0
  const values = Object.values(ref.json)
  if (values.some(mayBeAbsent)) throw new Unknowable(`the length of the ${ref.what}, which is not known yet`)
  return values.length
}

function mayBeAbsent(value: unknown): boolean {
  return value instanceof Placeholder && value.mayBeAbsent
}

/** The entry of a map, `undefined` when there is none. The key is a byte text. */
export function entryOf(ref: Ref, type: MapType, key: string): Value {
  const name = fromByteText(key)
  if (!name.valid || !isRecord(ref.json) || !Object.hasOwn(ref.json, name.text)) return undefined
  return fromJson(type.elem, ref.json[name.text], ref, name.text)
}

/** The keys of a map in Go's order, which is that of their bytes. */
export function sortedKeys(ref: Ref): readonly string[] {
  if (!isRecord(ref.json)) return []
  // Byte texts compare as bytes do.
  return Object.keys(ref.json)
    .map(toByteText)
    .toSorted((left, right) => (left < right ? -1 : left > right ? 1 : 0))
}

/** The zero value of a type. */
export function zeroOf(type: GoType, owner: Ref): Value {
  return fromJson(type, undefined, owner, '')
}

/** The Go type of a value; none for the untyped nil. */
export function typeOf(value: Value): GoType | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string') return STRING
  if (typeof value === 'boolean') return BOOL
  return value instanceof GoFloat ? FLOAT64 : value.type
}

/** The name of the type of a value, as `%T` prints it. */
export function typeName(value: Value): string {
  return typeOf(value)?.name ?? '<nil>'
}

/** A key of a map as a value: of a named type where the map has one. */
export function keyValue(type: MapType, key: string): Value {
  return type.key.name === 'string' ? key : new GoNamed(type.key, key)
}

/** Go's truth: not the zero value of its type. */
export function truth(value: Value): boolean {
  if (typeof value === 'string') return value !== ''
  if (value === undefined || typeof value === 'boolean') return value === true
  if (value instanceof GoInt) return value.value !== 0n
  if (value instanceof GoFloat) return value.value !== 0
  if (value instanceof GoNamed) return value.text !== ''
  if (value instanceof PlaceholderValue) return placeholderTruth(value)
  if (value.type.kind === 'struct') return true
  if (value.type.kind === 'pointer') return !value.isNil
  return hasElements(value)
}

function placeholderTruth(value: PlaceholderValue): boolean {
  if (value.type.kind === 'struct' || value.present) return true
  throw new Unknowable(`a condition on the ${value.what}, which is not known yet`)
}

function hasElements(ref: Ref): boolean {
  const elements = Array.isArray(ref.json) ? ref.json : isRecord(ref.json) ? Object.values(ref.json) : []
  return elements.some((element) => !mayBeAbsent(element)) || lengthOf(ref) > 0
}
