// Structural schemas, as far as kleym's own CRD needs them, and values read by them. A schema is data that the CRD holds as it stands, so
// every start has it for nothing.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
import { isRecord, own } from './json.ts'
import { PATTERN_NAMES } from './text/kubernetes.ts'

/** What a schema of any type may say beside it. */
interface Described {
  readonly description?: string
}

/** A schema. Its keys are written in the order in which the CRD shows them. */
export type Schema = Described &
  (
    | {
        readonly type: 'string'
        readonly enum?: readonly string[]
        readonly format?: 'date-time'
        /** RE2-compatible, because the API server runs it too. */
        readonly pattern?: string
        readonly minLength?: number
        readonly maxLength?: number
      }
    | { readonly type: 'integer'; readonly format: 'int64'; readonly minimum: number }
    | {
        readonly type: 'array'
        readonly items: Schema
        readonly maxItems: number
        readonly 'x-kubernetes-list-type'?: 'atomic' | 'map' | 'set'
        readonly 'x-kubernetes-list-map-keys'?: readonly string[]
      }
    | {
        readonly type: 'object'
        readonly properties: Readonly<Record<string, Schema>>
        readonly required?: readonly string[]
        readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message: string }[]
      }
  )

/** The values that a schema admits. */
export type ValueOf<S> = S extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : S extends { readonly type: 'string' }
    ? string
    : S extends { readonly type: 'integer' }
      ? number
      : S extends { readonly items: infer Item }
        ? readonly ValueOf<Item>[]
        : S extends { readonly properties: infer Fields; readonly required: readonly (infer Required)[] }
          ? { readonly [K in keyof Fields as K extends Required ? K : never]: ValueOf<Fields[K]> } & {
              readonly [K in keyof Fields as K extends Required ? never : K]?: ValueOf<Fields[K]> | undefined
            }
          : S extends { readonly properties: infer Fields }
            ? { readonly [K in keyof Fields]?: ValueOf<Fields[K]> | undefined }
            : never

/** A value by a schema, without fields that it does not know; or the first place that is wrong, and why (`must be a string`). */
export type SchemaReading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly path: readonly string[]; readonly why: string }

/** Reads a value. Defaults, CEL rules and the uniqueness of items are the API server's. */
export function readBy<S extends Schema>(schema: S, value: unknown): SchemaReading<ValueOf<S>>
export function readBy(schema: Schema, value: unknown): SchemaReading<unknown> {
  const why = problemOf(schema, value)
  if (why !== undefined) return { ok: false, path: [], why }
  if (schema.type === 'array' && Array.isArray(value)) {
    const items: unknown[] = []
    for (const [at, item] of value.entries()) {
      const read: SchemaReading<unknown> = readBy(schema.items, item)
      if (!read.ok) return { ...read, path: [String(at), ...read.path] }
      items.push(read.value)
    }
    return { ok: true, value: items }
  }
  if (schema.type !== 'object') return { ok: true, value }
  const fields: [string, unknown][] = []
  for (const [name, field] of Object.entries(schema.properties)) {
    const found = own(value, name)
    if (found === undefined && schema.required?.includes(name) !== true) continue
    const read: SchemaReading<unknown> = readBy(field, found)
    if (!read.ok) return { ...read, path: [name, ...read.path] }
    fields.push([name, read.value])
  }
  return { ok: true, value: Object.fromEntries(fields) }
}

/** What is wrong with a value itself, whatever is in it. */
function problemOf(schema: Schema, value: unknown): string | undefined {
  switch (schema.type) {
    case 'object':
      return isRecord(value) ? undefined : 'must be a mapping'
    case 'array':
      if (!Array.isArray(value)) return 'must be a list'
      return value.length <= schema.maxItems ? undefined : `must have no more than ${schema.maxItems} items`
    case 'integer':
      return Number.isSafeInteger(value) && Number(value) >= schema.minimum
        ? undefined
        : `must be an integer from ${schema.minimum}`
    case 'string':
      return typeof value === 'string' || schema.enum !== undefined
        ? textProblem(schema, value)
        : 'must be a string'
  }
}

function textProblem(
  schema: Extract<Schema, { readonly type: 'string' }>,
  value: unknown,
): string | undefined {
  const { enum: names, format, pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema
  if (typeof value !== 'string' || names?.includes(value) === false)
    return `must be ${(names ?? []).join(', ').replace(/, ([^,]+)$/, ' or $1')}`
  if (value.length < minLength) return 'must not be empty'
  if (value.length > maxLength) return `must be no more than ${maxLength} characters`
  if (pattern !== undefined && !new RegExp(pattern).test(value))
    return `must be ${PATTERN_NAMES.get(pattern) ?? `text that matches ${pattern}`}`
  return format === undefined || isDateTime(value) ? undefined : 'must be a time such as 2026-11-21T10:00:00Z'
}

/** As Kubernetes writes it, in UTC. `Date` moves a day that its month does not have to the next month. */
function isDateTime(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(text)) return false
  const time = new Date(text)
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text.slice(0, 10))
}
