// As much of JSON Schema (draft 2020-12) as the published schema uses. It throws on any other keyword, so that the schema
// cannot outgrow it unseen.
import { isRecord, type JsonRecord, deepEqual } from '@kleym/shared/core/base/json.ts'

const KNOWN = new Set([
  '$schema',
  '$defs',
  '$ref',
  'title',
  'description',
  'type',
  'const',
  'enum',
  'pattern',
  'minimum',
  'maximum',
  'properties',
  'required',
  'items',
  'oneOf',
  'anyOf',
])

/** What is wrong with a value, a sentence each. */
export function schemaProblems(root: JsonRecord, value: unknown): readonly string[] {
  return problems(root, value, root, '$')
}

function problems(schema: JsonRecord, value: unknown, root: JsonRecord, path: string): readonly string[] {
  const unknown = Object.keys(schema).filter((key) => !KNOWN.has(key) && !isOpen(key, schema[key]))
  if (unknown.length > 0) throw new Error(`keywords that are not understood: ${unknown.join(', ')}`)
  const { $ref, oneOf, anyOf } = schema
  if (typeof $ref === 'string') return problems(definition(root, $ref), value, root, path)
  const matching = (list: unknown): number =>
    records(list).filter((one) => problems(one, value, root, path).length === 0).length
  if (oneOf !== undefined && matching(oneOf) !== 1)
    return [`${path}: ${matching(oneOf)} of oneOf match`, ...discriminated(records(oneOf), value, root, path)]
  if (anyOf !== undefined && matching(anyOf) === 0) return [`${path}: none of anyOf matches`]
  const own = scalarProblems(schema, value, path)
  if (own.length > 0) return own
  if (Array.isArray(value)) {
    const { items } = schema
    return isRecord(items) ? value.flatMap((item, at) => problems(items, item, root, `${path}[${at}]`)) : []
  }
  return isRecord(value) ? objectProblems(schema, value, root, path) : []
}

/** Of an object that is printed whole: its other fields are anything, under any name. */
function isOpen(key: string, value: unknown): boolean {
  return (
    (key === 'additionalProperties' && deepEqual(value, {})) ||
    (key === 'propertyNames' && deepEqual(value, { type: 'string' }))
  )
}

function objectProblems(
  schema: JsonRecord,
  value: JsonRecord,
  root: JsonRecord,
  path: string,
): readonly string[] {
  const { required, properties } = schema
  const missing = Array.isArray(required) ? required.filter((key) => !Object.hasOwn(value, String(key))) : []
  const inner = isRecord(properties)
    ? Object.entries(properties).flatMap(([key, property]) =>
        isRecord(property) && Object.hasOwn(value, key)
          ? problems(property, value[key], root, `${path}.${key}`)
          : [],
      )
    : []
  return [...missing.map((key) => `${path}.${String(key)}: missing`), ...inner]
}

function scalarProblems(schema: JsonRecord, value: unknown, path: string): readonly string[] {
  const { type, pattern, minimum, maximum } = schema
  const wrong = (what: string): readonly string[] => [`${path}: ${what}`]
  if (typeof type === 'string' && !isOfType(type, value)) return wrong(`no ${type}`)
  if ('const' in schema && schema['const'] !== value) return wrong(`not ${String(schema['const'])}`)
  if (Array.isArray(schema['enum']) && !schema['enum'].includes(value)) return wrong('not in the enumeration')
  if (typeof pattern === 'string' && typeof value === 'string' && !new RegExp(pattern, 'u').test(value))
    return wrong(`not as ${pattern}`)
  if (typeof value === 'number' && typeof minimum === 'number' && value < minimum) return wrong('too small')
  if (typeof value === 'number' && typeof maximum === 'number' && value > maximum) return wrong('too large')
  return []
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'object':
      return isRecord(value)
    case 'array':
      return Array.isArray(value)
    case 'null':
      return value === null
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

/** The problems of the alternative whose `kind` is that of the value: the others say nothing useful. */
function discriminated(
  alternatives: readonly JsonRecord[],
  value: unknown,
  root: JsonRecord,
  path: string,
): readonly string[] {
  const all = alternatives.map((one) => problems(one, value, root, path))
  return all.find((list) => !list.some((text) => text.startsWith(`${path}.kind: `))) ?? []
}

function definition(root: JsonRecord, ref: string): JsonRecord {
  const definitions = root['$defs']
  const found = isRecord(definitions) ? definitions[ref.replace('#/$defs/', '')] : undefined
  if (!isRecord(found)) throw new Error(`${ref} is not there`)
  return found
}

function records(list: unknown): readonly JsonRecord[] {
  return Array.isArray(list) ? list.filter(isRecord) : []
}
