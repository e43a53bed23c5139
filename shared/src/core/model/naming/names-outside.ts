// Names that stand outside of the cluster, in a file that is given: a role of Vault or OpenBao, the trust policy of a cloud's role, or a
// plain list of IDs and patterns.
import { own } from '../../base/json.ts'
import type { IdMatcher, Likeness, PolicyRule, RuleSource } from '../objects/access-rule.ts'
import { parseSpiffeId } from '../spiffe-id.ts'
import { idsInText, SCHEME } from './ids-in-text.ts'
import { pathText, ruleOf, walkPaths, type Path } from './named-in.ts'

/** How answers call a file of names: no API server knows the kind. */
export const NAMES_FILE_KIND = 'NamesFile'

/** The names of a list: one a line, `*` for any text; what follows `#` is a comment. Undefined for a text that is none. */
export function namesInList(text: string): readonly PolicyRule[] | undefined {
  const names = text.split('\n').map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
  if (names.some((name) => /\s|:$/.test(name))) return undefined
  return names.flatMap((name, at) =>
    name === '' ? [] : [ruleOf(`line ${at + 1}`, at, [globSource(name, `line ${at + 1}`)])],
  )
}

/** The names in JSON: each string that holds a SPIFFE ID, or may take one in, compared as the keys above it say. */
export function namesInJson(value: unknown): readonly PolicyRule[] {
  const rules: PolicyRule[] = []
  walkPaths(value, [], (found, path) => {
    if (typeof found !== 'string') return
    const field = pathText(path)
    const { form, isExcluded } = comparisonOf(value, path)
    const isName = found.includes(SCHEME) || form === 'path' || (isOfClient(path) && mayTakeIn(found, form))
    const sources = isName ? sourcesOf(found, field, form) : []
    if (sources.length === 0) return
    rules.push(
      ruleOf(field, rules.length, isExcluded ? sources.map((one) => ({ ...one, isExcluded })) : sources),
    )
  })
  return rules
}

/** Whether a string stands where the subject of a token or the URI of a certificate is asked for (AWS: IAM Roles Anywhere). */
function isOfClient(path: Path): boolean {
  const key = path.findLast((one) => typeof one === 'string') ?? ''
  return /(?:^|:)sub$|x509SAN\/URI$|^allowed_uri_sans$/.test(key)
}

/** Whether a text without `spiffe://` may take in a SPIFFE ID: `*`, `*` or `s*`. */
function mayTakeIn(text: string, form: Form): boolean {
  if (form === 'whole in any case') return text.toLowerCase().startsWith(SCHEME)
  const beginning = /^[^*?]*(?=[*?])/.exec(text)?.[0]
  return form !== 'whole' && beginning !== undefined && SCHEME.startsWith(beginning)
}

/** How a string is compared; the signs are those of `Likeness`: each product has one beside `*`. */
type Form = 'whole' | 'whole in any case' | 'glob' | 'glob with signs' | 'path'

/** The operators of AWS that compare texts (IAM, "Condition operators"): not or plain, and how. */
const AWS_OPERATOR = 'String(Not)?(Equals|EqualsIgnoreCase|Like)(?:IfExists)?'
const OPERATOR = new RegExp(`^(?:ForAnyValue:|ForAllValues:)?${AWS_OPERATOR}$`)
const FORM_OF_OPERATOR: Readonly<Record<string, Form>> = {
  Equals: 'whole',
  EqualsIgnoreCase: 'whole in any case',
  Like: 'glob with signs',
}

/**
 * By the keys above it, and for a role of Vault by what stands beside `bound_claims`. Vault: `allowed_uri_sans` of the cert method and
 * `bound_claims` of type `glob` have `*`; `workload_id_patterns` of the SPIFFE method has `+` and `*`, and is about what follows the trust
 * domain (https://developer.hashicorp.com/vault/api-docs/auth/spiffe).
 */
function comparisonOf(root: unknown, path: Path): { readonly form: Form; readonly isExcluded: boolean } {
  for (const [at, key] of path.entries()) {
    const [operator, not, how = ''] = OPERATOR.exec(String(key)) ?? []
    if (operator !== undefined)
      return { form: FORM_OF_OPERATOR[how] ?? 'whole', isExcluded: not !== undefined }
    if (key === 'workload_id_patterns') return { form: 'path', isExcluded: false }
    const role = path.slice(0, at)
    const isGlob =
      key === 'allowed_uri_sans' ||
      (key === 'bound_claims' && atPath(root, [...role, 'bound_claims_type']) === 'glob')
    if (isGlob) return { form: 'glob', isExcluded: false }
  }
  return { form: 'whole', isExcluded: false }
}

function atPath(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, key) => (Array.isArray(value) ? value[Number(key)] : own(value, String(key))),
    root,
  )
}

function sourcesOf(text: string, field: string, form: Form): readonly RuleSource[] {
  if (form === 'whole in any case') return [likeSource(text, field, { text, ignoresCase: true })]
  // The trust domain is that of the whole method, which the role does not show.
  if (form === 'path') return [likeSource(text, field, { text: `${ANY_DOMAIN}${text.replace(/^\//, '')}` })]
  if (form === 'glob with signs' && text.includes('?')) return [likeSource(text, field, { text })]
  if (form !== 'whole') return [globSource(text, field)]
  if (text.startsWith(SCHEME) && !parseSpiffeId(text).ok) return [globSource(text, field, false)]
  return idsInText(text).map((one) =>
    one.isWhole
      ? { kind: 'SPIFFE', field, spiffeId: one.text }
      : { kind: 'not SPIFFE', field, type: one.text },
  )
}

function likeSource(written: string, field: string, like: Likeness): RuleSource {
  // Takes in all that the likeness may.
  const matcher: IdMatcher = like.ignoresCase === true ? [SCHEME, ''] : like.text.split(/[*?+]+/)
  return {
    kind: 'pattern',
    field,
    written,
    pattern: { all: [[matcher]], none: [], like },
    perhaps: undefined,
  }
}

function globSource(written: string, field: string, isGlob = true): RuleSource {
  const matcher: IdMatcher = isGlob ? written.split('*') : [written]
  if (matcher.length > 1)
    return { kind: 'pattern', field, written, pattern: { all: [[matcher]], none: [] }, perhaps: undefined }
  if (parseSpiffeId(written).ok) return { kind: 'SPIFFE', field, spiffeId: written }
  const instead = parseSpiffeId(`${SCHEME}${written}`).ok ? `${SCHEME}${written}` : undefined
  return { kind: 'dead', field, written, standsFor: written, instead }
}

/** What begins the likeness of a workload ID. */
const ANY_DOMAIN = `${SCHEME}+/`

/** An ID as a file of names has it beside a name. */
export function writtenInFile(beside: RuleSource, spiffeId: string): string {
  const isWorkloadId = beside.kind === 'pattern' && beside.pattern.like?.text.startsWith(ANY_DOMAIN) === true
  return isWorkloadId ? spiffeId.slice(spiffeId.indexOf('/', SCHEME.length)) : spiffeId
}

/**
 * How a field of a file that is no item of a list comes to hold two names. A role of Vault has one `bound_subject`. `bound_claims`, and the
 * conditions of AWS, take a list in the place of a text; of any other field that is not known.
 */
export function holdsOneName(field: string): 'one' | 'value' | 'text' {
  if (field.endsWith('.bound_subject')) return 'one'
  return ONE_OR_MORE.test(field) ? 'value' : 'text'
}

const ONE_OR_MORE = new RegExp(`[."](?:bound_claims|(?:ForAnyValue:|ForAllValues:)?${AWS_OPERATOR})[."[\\]]`)
