// Names that stand outside of the cluster, in a file that is given: a role of Vault or OpenBao, the trust policy of a cloud's role, or a
// plain list of IDs and patterns.
import { isRecord } from '../../base/json.ts'
import type { IdMatcher, PolicyRule, RuleSource } from '../objects/access-rule.ts'
import { parseSpiffeId } from '../spiffe-id.ts'
import { idsInText, SCHEME } from './ids-in-text.ts'
import { pathText, ruleOf, walkPaths, type Path } from './named-in.ts'

/** How answers call a file of names: no API server knows the kind. */
export const NAMES_FILE_KIND = 'NamesFile'

/** The names of a list: one a line, `*` for any text; what follows `#` is a comment. */
export function namesInList(text: string): readonly PolicyRule[] {
  return text.split('\n').flatMap((line, at) => {
    const name = line.replace(/(?:^|\s)#.*$/, '').trim()
    return name === '' ? [] : [ruleOf(`line ${at + 1}`, at, [globSource(name, `line ${at + 1}`)])]
  })
}

/** The names in JSON: each string that holds a SPIFFE ID, compared as its key says. */
export function namesInJson(value: unknown): readonly PolicyRule[] {
  const rules: PolicyRule[] = []
  const claimsAreGlobs = isRecord(value) && value['bound_claims_type'] === 'glob'
  walkPaths(value, [], (found, path) => {
    if (typeof found !== 'string' || !found.includes(SCHEME)) return
    const field = pathText(path)
    rules.push(ruleOf(field, rules.length, sourcesOf(found, field, formOf(path, claimsAreGlobs))))
  })
  return rules
}

/** How a string is compared: with `*` for any text, with more than that, or as a whole. */
type Form = 'glob' | 'pattern' | 'whole'

/**
 * By the key above it. AWS: StringLike has `*` and `?` (IAM, "Condition operators"). Vault: `allowed_uri_sans` of the cert method and
 * `bound_claims` of type `glob` have `*`; `workload_id_patterns` of the SPIFFE method has `+` and `*`.
 */
function formOf(path: Path, claimsAreGlobs: boolean): Form {
  const keys = new Set(path.filter((key) => typeof key === 'string'))
  if (keys.has('workload_id_patterns')) return 'pattern'
  const isLike = [...keys].some((key) => /^(?:ForAnyValue:|ForAllValues:)?StringLike(?:IfExists)?$/.test(key))
  if (isLike) return 'pattern'
  return keys.has('allowed_uri_sans') || (keys.has('bound_claims') && claimsAreGlobs) ? 'glob' : 'whole'
}

function sourcesOf(text: string, field: string, form: Form): readonly RuleSource[] {
  // `?` and `+` stand for less than any text: kleym shows such a pattern, and says nothing about it.
  if (form === 'pattern' && /[?+]/.test(text)) return [{ kind: 'not SPIFFE', field, type: text }]
  if (form !== 'whole') return [globSource(text, field)]
  if (text.startsWith(SCHEME) && !parseSpiffeId(text).ok) return [globSource(text, field, false)]
  return idsInText(text).map((one) =>
    one.isWhole
      ? { kind: 'SPIFFE', field, spiffeId: one.text }
      : { kind: 'not SPIFFE', field, type: one.text },
  )
}

function globSource(written: string, field: string, isGlob = true): RuleSource {
  const matcher: IdMatcher = isGlob ? written.split('*') : [written]
  if (matcher.length > 1)
    return { kind: 'pattern', field, written, pattern: { all: [[matcher]], none: [] }, perhaps: undefined }
  if (parseSpiffeId(written).ok) return { kind: 'SPIFFE', field, spiffeId: written }
  const instead = parseSpiffeId(`${SCHEME}${written}`).ok ? `${SCHEME}${written}` : undefined
  return { kind: 'dead', field, written, standsFor: written, instead }
}

/**
 * How a field of a file that is no item of a list comes to hold two names. A role of Vault has one `bound_subject`. `bound_claims`, and the
 * conditions of AWS, take a list in the place of a text; of any other field that is not known.
 */
export function holdsOneName(field: string): 'one' | 'value' | 'text' {
  if (field.endsWith('.bound_subject')) return 'one'
  return /[."](?:bound_claims|(?:ForAnyValue:|ForAllValues:)?String(?:Equals|Like)(?:IfExists)?)[."\]]/.test(
    field,
  )
    ? 'value'
    : 'text'
}
