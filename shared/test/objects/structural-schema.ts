// As much of the API server's admission as our CRD uses: pruning of null, defaults, a structural schema, and the few
// words of CEL in our rules. It knows no other keyword: it throws on one, so that the CRD cannot outgrow it unseen.
import { dig, digPath, isRecord, own, type JsonRecord } from '../../src/core/base/json.ts'
import { bindingCrd } from '../../src/core/model/objects/crd.ts'

const IGNORED = new Set([
  'type',
  'default',
  'description',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
])

/** The schema of `spec` or `status` in the CRD of bindings. */
export function crdSchema(part: 'spec' | 'status'): JsonRecord {
  const versions = dig(bindingCrd(), 'spec', 'versions')
  const version: unknown = Array.isArray(versions) ? versions[0] : undefined
  return recordAt(version, 'schema', 'openAPIV3Schema', 'properties', part)
}

/** The mapping at a path; an error where there is none. */
export function recordAt(value: unknown, ...path: readonly string[]): JsonRecord {
  const found = digPath(value, path)
  if (!isRecord(found)) throw new Error(`${path.join('.')} is no mapping`)
  return found
}

/** What admission would say: sentences, empty when the value is admitted. */
export function admissionProblems(schema: JsonRecord, value: unknown): readonly string[] {
  const stored = prepared(schema, value)
  return stored === undefined ? ['.: required'] : schemaProblems(schema, stored, '')
}

/** The value as it would be stored: null pruned, unknown fields pruned, defaults set. */
export function prepared(schema: JsonRecord, value: unknown): unknown {
  const found = value === null || value === undefined ? schema['default'] : value
  if (Array.isArray(found)) return found.map((item) => prepared(asRecord(schema['items'] ?? {}), item))
  if (!isRecord(found)) return found
  const entries = Object.entries(asRecord(schema['properties'] ?? {})).flatMap(([name, property]) => {
    const item = prepared(asRecord(property), own(found, name))
    return item === undefined ? [] : [[name, item] as const]
  })
  return Object.fromEntries(entries)
}

function schemaProblems(schema: JsonRecord, value: unknown, path: string): readonly string[] {
  const typeProblem = problemOfType(schema['type'], value)
  if (typeProblem !== undefined) return [`${path}: ${typeProblem}`]
  return Object.entries(schema).flatMap(([keyword, wanted]) => keywordProblems(keyword, wanted, value, path))
}

function keywordProblems(keyword: string, wanted: unknown, value: unknown, path: string): readonly string[] {
  const bad = (problem: boolean): readonly string[] => (problem ? [`${path}: ${keyword}`] : [])
  // kube-apiserver counts characters (Go runes), not UTF-16 units.
  const length = typeof value === 'string' ? Array.from(value).length : Number.NaN
  if (IGNORED.has(keyword)) return []
  switch (keyword) {
    case 'properties':
      return Object.entries(asRecord(wanted)).flatMap(([name, property]) =>
        isRecord(value) && Object.hasOwn(value, name)
          ? schemaProblems(asRecord(property), value[name], `${path}.${name}`)
          : [],
      )
    case 'required':
      return asList(wanted)
        .filter((name) => own(value, String(name)) === undefined)
        .map((name) => `${path}.${String(name)}: required`)
    case 'items':
      return asList(value).flatMap((item, at) => schemaProblems(asRecord(wanted), item, `${path}[${at}]`))
    case 'enum':
      return bad(!asList(wanted).includes(value))
    case 'pattern':
      return bad(!new RegExp(String(wanted), 'u').test(String(value)))
    case 'minLength':
      return bad(length < Number(wanted))
    case 'maxLength':
      return bad(length > Number(wanted))
    case 'maxItems':
      return bad(asList(value).length > Number(wanted))
    case 'minimum':
      return bad(Number(value) < Number(wanted))
    case 'format':
      return bad(wanted === 'date-time' && Number.isNaN(Date.parse(String(value))))
    case 'x-kubernetes-validations':
      return asList(wanted)
        .filter((rule) => !celHolds(String(own(rule, 'rule')), asRecord(value)))
        .map((rule) => `${path}: ${String(own(rule, 'message'))}`)
    default:
      throw new Error(`${path}: no check for ${keyword} exists here`)
  }
}

function problemOfType(type: unknown, value: unknown): string | undefined {
  const is = {
    object: isRecord(value),
    array: Array.isArray(value),
    string: typeof value === 'string',
    integer: Number.isInteger(value),
  }[String(type)]
  if (is === undefined) throw new Error(`no check exists here for the type ${String(type)}`)
  return is ? undefined : `type ${String(type)}`
}

/** Evaluates a rule made of `has`, `==`, `!=`, `!`, `&&`, `||`, parentheses, fields of `self` and strings. */
export function celHolds(rule: string, self: JsonRecord): boolean {
  const tokens = rule.match(/'[^']*'|&&|\|\||==|!=|[!()]|has|self\.\w+/g) ?? []
  if (tokens.join('') !== rule.replaceAll(/\s+(?=(?:[^']*'[^']*')*[^']*$)/g, '')) {
    throw new Error(`no such CEL: ${rule}`)
  }
  let at = 0
  const take = (token: string): boolean => tokens[at] === token && ++at > 0
  const operand = (): unknown => {
    const token = tokens[at++] ?? ''
    if (token.startsWith("'")) return token.slice(1, -1)
    return own(self, token.slice('self.'.length))
  }
  const unary = (): boolean => {
    if (take('!')) return !unary()
    if (take('has')) {
      at++
      const value = operand()
      at++
      return value !== undefined
    }
    if (take('(')) {
      const value = either()
      at++
      return value
    }
    const left = operand()
    return take('==') ? left === operand() : take('!=') && left !== operand()
  }
  const both = (): boolean => {
    let value = unary()
    while (take('&&')) value = unary() && value
    return value
  }
  const either = (): boolean => {
    let value = both()
    while (take('||')) value = both() || value
    return value
  }
  const value = either()
  if (at !== tokens.length) throw new Error(`CEL left over in ${rule}`)
  return value
}

function asRecord(value: unknown): JsonRecord {
  if (!isRecord(value)) throw new Error('a mapping was expected')
  return value
}

function asList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('a list was expected')
  return value
}
