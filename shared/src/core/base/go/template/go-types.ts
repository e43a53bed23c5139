// The Go types behind the data, as far as text/template can tell them apart. Read from the generated table when a
// type is first needed, because a command that renders no foreign template should not pay for it.
import { getOrCreate } from '../../get-or-create.ts'
import {
  GO_METHODS_OF,
  GO_METHOD_SETS,
  GO_NIL_TEXT,
  GO_OPAQUE,
  GO_SCALARS,
  GO_STRUCTS,
} from './go-types.generated.ts'

/** A Go type; `name` is what `%T` prints. */
export type GoType = ScalarType | PointerType | SliceType | MapType | StructType

/** A type without parts. */
export interface ScalarType {
  readonly kind: 'string' | 'bool' | 'int' | 'uint' | 'float'
  readonly name: string
}

/** A pointer. */
export interface PointerType {
  readonly kind: 'pointer'
  readonly name: string
  readonly elem: GoType
}

/** A list. */
export interface SliceType {
  readonly kind: 'slice'
  readonly name: string
  readonly elem: GoType
}

/** A map. */
export interface MapType {
  readonly kind: 'map'
  readonly name: string
  readonly key: ScalarType
  readonly elem: GoType
}

/** A struct. */
export interface StructType {
  readonly kind: 'struct'
  readonly name: string
  /** Whether it decodes by code of its own, so that its fields are not modelled. */
  readonly opaque: boolean
  /** What printing a nil pointer to it gives. */
  readonly nilText: string
  readonly fields: () => ReadonlyMap<string, GoField>
}

/** An exported field of a struct, promoted ones included. */
export interface GoField {
  readonly goName: string
  /** Where it is in the JSON of the struct; empty for an embedded struct, whose JSON is that of its owner. */
  readonly path: readonly string[]
  readonly type: GoType
}

/** A method as a template may find it. */
export interface GoMethod {
  readonly name: string
  readonly args: number
  readonly variadic: boolean
  /** Its results let a template call it: one, or one and an error. */
  readonly callable: boolean
}

const TEMPLATE_DATA = 'spireentry.templateData'
const ROOT_FIELDS =
  'TrustDomain trustDomain string;ClusterName clusterName string;ClusterDomain clusterDomain string;' +
  'PodMeta podMeta *v1.ObjectMeta;PodSpec podSpec *v1.PodSpec;NodeMeta nodeMeta *v1.ObjectMeta;NodeSpec nodeSpec *v1.NodeSpec'

const table = {
  structs: lazy(() => lines(GO_STRUCTS).set(TEMPLATE_DATA, ROOT_FIELDS)),
  opaque: lazy(() => lines(GO_OPAQUE)),
  scalars: lazy(() => lines(GO_SCALARS)),
  methodsOf: lazy(() => lines(GO_METHODS_OF)),
  methodSets: lazy(() => lines(GO_METHOD_SETS)),
  nilText: lazy(() => lines(GO_NIL_TEXT)),
}

function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

function lines(text: string): Map<string, string> {
  const map = new Map<string, string>()
  for (const line of text.split('\n')) {
    const bar = line.indexOf('|')
    if (bar >= 0) map.set(line.slice(0, bar), line.slice(bar + 1))
  }
  return map
}

const known = new Map<string, GoType>()

/** The type of a Go type text such as `[]v1.Container`; each text gives one object. */
export function goType(name: string): GoType {
  return getOrCreate(known, name, () => makeType(name))
}

function makeType(name: string): GoType {
  if (name.startsWith('*')) return pointerTo(name.slice(1))
  if (name.startsWith('[]')) return { kind: 'slice', name, elem: goType(name.slice(2)) }
  const scalar = table.scalars().get(name)
  if (scalar?.startsWith('map[')) return mapType(name, scalar)
  if (name.startsWith('map[')) return mapType(name, name)
  if (scalar !== undefined) return { kind: scalarKind(scalar.replace('!', '')), name }
  return name.includes('.') ? structType(name) : { kind: scalarKind(name), name }
}

function pointerTo(elem: string): PointerType {
  return { kind: 'pointer', name: `*${elem}`, elem: goType(elem) }
}

function mapType(name: string, text: string): MapType {
  const close = text.indexOf(']')
  const key = goType(text.slice(4, close))
  const stringKey: ScalarType = key.kind === 'string' ? key : STRING
  return { kind: 'map', name, key: stringKey, elem: goType(text.slice(close + 1)) }
}

function scalarKind(name: string): ScalarType['kind'] {
  if (name === 'string' || name === 'bool') return name
  if (name.startsWith('int')) return 'int'
  return name.startsWith('uint') ? 'uint' : 'float'
}

function structType(name: string): StructType {
  const opaque = table.opaque().has(name)
  const fields = lazy(() => (opaque ? new Map<string, GoField>() : structFields(name)))
  const nilText = table.nilText().get(name) ?? 'nil'
  return {
    kind: 'struct',
    name,
    opaque,
    nilText,
    fields,
  }
}

function structFields(name: string): Map<string, GoField> {
  const fields = new Map<string, GoField>()
  for (const line of (table.structs().get(name) ?? '').split(';')) {
    const [goName, json, type] = line.split(' ')
    if (goName === undefined || json === undefined || type === undefined) continue
    fields.set(goName, { goName, path: json === '-' ? [] : json.split('.'), type: goType(type) })
  }
  return fields
}

/** The method of that name on an addressable value of the type, or on a pointer to it. */
export function methodOf(type: GoType, name: string): GoMethod | undefined {
  const found = methodSet(methodSetNumber(type)).get(name)
  return found
}

function methodSetNumber(type: GoType): string {
  if (type.name === TEMPLATE_DATA) return ''
  return table.methodsOf().get(type.name) ?? (type.kind === 'struct' ? '0' : '')
}

const knownSets = new Map<string, ReadonlyMap<string, GoMethod>>()

function methodSet(number: string): ReadonlyMap<string, GoMethod> {
  const old = knownSets.get(number)
  if (old !== undefined) return old
  const set = new Map<string, GoMethod>()
  for (const entry of (table.methodSets().get(number) ?? '').split(';')) {
    const [name = '', args = ''] = entry.split(' ')
    const method = {
      name,
      args: Number.parseInt(args, 10),
      variadic: args.includes('+'),
      callable: !args.includes('!'),
    }
    if (name !== '') set.set(name, method)
  }
  knownSets.set(number, set)
  return set
}

/** True when an opaque struct has an exported field of that name. */
export function hasOpaqueField(type: StructType, name: string): boolean {
  return (table.opaque().get(type.name) ?? '').split(' ').includes(name)
}

/** Go's `string`. */
export const STRING: ScalarType = { kind: 'string', name: 'string' }
/** Go's `bool`. */
export const BOOL: ScalarType = { kind: 'bool', name: 'bool' }
/** Go's `int`. */
export const INT: ScalarType = { kind: 'int', name: 'int' }
/** Go's `uint8`, the element of strings. */
export const UINT8: ScalarType = { kind: 'uint', name: 'uint8' }
/** Go's `float64`. */
export const FLOAT64: ScalarType = { kind: 'float', name: 'float64' }

/** The data that templates are executed on: a pointer to the controller manager's templateData. */
export const rootType = lazy((): PointerType => pointerTo(TEMPLATE_DATA))
