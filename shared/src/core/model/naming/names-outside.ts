// Names that stand outside of the cluster, in a file that is given: a role of Vault or OpenBao, the trust policy of a cloud's role, or a
// plain list of IDs and patterns.
import { isRecord, own, type JsonRecord } from '../../base/json.ts'
import type { IdMatcher, Likeness, PolicyRule, RuleSource } from '../objects/access-rule.ts'
import { asIssued } from '../spiffe-id.ts'
import { holdsId, idsInText, pathsInText, SCHEME } from '../ids-in-text.ts'
import {
  distinctSources,
  keyOf,
  pathText,
  ruleOf,
  sourceAsWhole,
  sourceInText,
  walkPaths,
  type Path,
} from './named-in.ts'

/** How answers call a file of names: no API server knows the kind. */
export const NAMES_FILE_KIND = 'NamesFile'

/**
 * The names of a list: one a line or between commas, `*` for any text; what follows `#` is a comment. Undefined for a text that is none.
 */
export function namesInList(text: string): readonly PolicyRule[] | undefined {
  const names = text.split(/\r\n?|\n/).map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
  if (names.some((name) => /\s|:$/.test(name))) return undefined
  return names.flatMap((line, at) => {
    const field = `line ${at + 1}`
    const sources = betweenCommas(line).flatMap((name) => sourcesOfLine(name, field))
    return sources.length === 0 ? [] : [ruleOf(field, at, sources)]
  })
}

/** No SPIFFE ID has a comma. */
function betweenCommas(text: string): readonly string[] {
  return text.split(',').flatMap((one) => one.trim() || [])
}

/** Beside an ID there may be what a product puts before it (`User:`), quotes, or the marks of another language. */
function sourcesOfLine(name: string, field: string): readonly RuleSource[] {
  const isName = /^(?:spiffe:\/\/|\*)[A-Za-z0-9._/*-]*$/i.test(name)
  const inside = isName ? [] : sourcesInText(name, field)
  return inside.length > 0 ? inside : [globSource(name, field)]
}

/** The names in JSON: each string that holds a SPIFFE ID, or may take one in, compared as the keys above it say; and each key that holds one. */
export function namesInJson(value: unknown): readonly PolicyRule[] {
  const rules: PolicyRule[] = []
  const take = (field: string, sources: readonly RuleSource[]): void => {
    if (sources.length > 0) rules.push(ruleOf(field, rules.length, distinctSources(sources)))
  }
  walkPaths(value, [], (found, path) => {
    if (isRecord(found))
      for (const key of Object.keys(found)) {
        const field = pathText([...path, key])
        take(field, sourcesInText(key, field))
      }
    const field = pathText(path)
    const comparison = comparisonOf(value, path)
    const sources =
      typeof found === 'string'
        ? namesInString(found, field, comparison)
        : isRecord(found) && isOfClient(comparison.asked) && comparison.form !== 'text'
          ? madeBy(found, field)
          : []
    const isExcluded = comparison.isExcluded || undefined
    take(field, isExcluded ? sources.map((one) => ({ ...one, isExcluded })) : sources)
  })
  return rules
}

function namesInString(
  found: string,
  field: string,
  { form, asked, isJoined }: Comparison,
): readonly RuleSource[] {
  return (isJoined ? betweenCommas(found) : [found]).flatMap((text) => {
    const isName =
      holdsId(text) ||
      pathsInText(text, true).length > 0 ||
      form === 'path' ||
      (isOfClient(asked) && mayTakeIn(text, form))
    return isName ? sourcesOf(text, field, { form, asked }) : []
  })
}

/** A template may compute whatever text, unless the one text in it has an ID (CloudFormation: `Fn::Sub`, `Fn::Join`). */
function madeBy(found: JsonRecord, field: string): readonly RuleSource[] {
  const values = Object.values(found)
  if (values.length === 1 && typeof values[0] === 'string' && idsInText(values[0]).length > 0) return []
  return [sourceInText({ text: JSON.stringify(found), matcher: ['', ''], isWhole: false }, field)]
}

/** Whether a string stands where the subject of a token or the URI of a certificate is asked for (AWS: IAM Roles Anywhere). */
function isOfClient(key: string): boolean {
  return /(?:^|[:/])sub$|x509SAN\/URI$|^allowed_uri_sans$|spiffe/i.test(key)
}

/** Whether a text without `spiffe://` may take in a SPIFFE ID, as `*` and `s*` do. */
function mayTakeIn(text: string, form: Form): boolean {
  if (form === 'whole in any case') return text.toLowerCase().startsWith(SCHEME)
  const [beginning = '', ...others] = text.split(form === 'whole' ? VARIABLE : OPEN)
  return form !== 'text' && others.length > 0 && SCHEME.startsWith(beginning)
}

/** What stands for a text that is not there: a variable of AWS, of Terraform or of a template. */
const VARIABLE = /\$\{[^{}]*\}|\{\{[^{}]*\}\}|\$\([^()]*\)/
/** The same, and a sign of a likeness. */
const OPEN = new RegExp(`${VARIABLE.source}|[*?+]+`)

/** How a string is compared; the signs are those of `Likeness`: each product has one beside `*`. Of a `text` that is not known. */
type Form = 'text' | 'whole' | 'whole in any case' | 'glob' | 'glob with signs' | 'path'

/** The operators of AWS that compare texts (IAM, "Condition operators"): not or plain, and how. */
const AWS_OPERATOR = 'String(Not)?(Equals|EqualsIgnoreCase|Like)(?:IfExists)?'
const OPERATOR = new RegExp(`^(?:ForAnyValue:|ForAllValues:)?${AWS_OPERATOR}$`)
const FORM_OF_OPERATOR: Readonly<Record<string, Form>> = {
  Equals: 'whole',
  EqualsIgnoreCase: 'whole in any case',
  Like: 'glob with signs',
}

interface Comparison {
  readonly form: Form
  /** All pass but these: by an operator with `Not`, or in a statement that denies; with both, these alone pass. */
  readonly isExcluded: boolean
  /** What is asked for: a claim, a tag, a field of a role. */
  readonly asked: string
  /** Commas stand between names. */
  readonly isJoined: boolean
}

/**
 * By the keys above it, and for a role of Vault by what stands beside `bound_claims`. Vault: `allowed_uri_sans` of the cert method and
 * `bound_claims` of type `glob` have `*`; `workload_id_patterns` of the SPIFFE method has `+` and `*`, and is about what follows the trust
 * domain (https://developer.hashicorp.com/vault/api-docs/auth/spiffe). Vault takes lists as one text with commas, and Terraform claims too.
 */
function comparisonOf(root: unknown, path: Path): Comparison {
  const asked = keyOf(path)
  const role = { isExcluded: false, asked, isJoined: true }
  for (const [at, key] of path.entries()) {
    const beside = (name: string): unknown => own(atPath(root, path.slice(0, at)), name)
    if (OPERATOR.test(String(key))) {
      const [claim = '', ...deeper] = path.slice(at + 1).filter((one) => typeof one === 'string')
      const comparison = ofAws(String(key), claim, own(atPath(root, path.slice(0, at - 1)), 'Effect'))
      return deeper.length === 0 ? comparison : { ...comparison, form: 'text' }
    }
    const test = key === 'values' ? beside('test') : undefined
    // The state of Terraform has a condition of a policy document so.
    if (typeof test === 'string' && OPERATOR.test(test))
      return ofAws(test, String(beside('variable')), own(atPath(root, path.slice(0, at - 2)), 'effect'))
    if (key === 'bound_subject') return { ...role, form: 'whole', isJoined: false }
    if (key === 'workload_id_patterns') return { ...role, form: 'path' }
    if (key === 'allowed_uri_sans') return { ...role, form: 'glob' }
    if (key === 'bound_claims')
      return { ...role, form: beside('bound_claims_type') === 'glob' ? 'glob' : 'whole' }
  }
  return { ...role, form: 'text', isJoined: false }
}

function ofAws(operator: string, asked: string, effect: unknown): Comparison {
  const [, not, how = ''] = OPERATOR.exec(operator) ?? []
  const isExcluded = (not !== undefined) !== (effect === 'Deny')
  return { form: FORM_OF_OPERATOR[how] ?? 'whole', isExcluded, asked, isJoined: false }
}

function atPath(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, key) => (Array.isArray(value) ? value[Number(key)] : own(value, String(key))),
    root,
  )
}

function sourcesOf(
  text: string,
  field: string,
  { form, asked }: Pick<Comparison, 'form' | 'asked'>,
): readonly RuleSource[] {
  if (form === 'text') return sourcesInText(text, field, asked)
  // The trust domain is that of the whole method, which the role does not show.
  const whole = form === 'path' ? `${ANY_DOMAIN}${text.replace(/^\//, '')}` : text
  if (VARIABLE.test(text)) return [sourceInText({ text, matcher: whole.split(OPEN), isWhole: false }, field)]
  if (form === 'whole in any case') return [likeSource(text, field, { text, ignoresCase: true })]
  if (form === 'path') return [likeSource(text, field, { text: whole })]
  if (form === 'glob with signs' && text.includes('?')) return [likeSource(text, field, { text })]
  if (form !== 'whole' && (/spiffe:\/\//i.test(text) || text.includes('*'))) return [globSource(text, field)]
  return /^spiffe:\/\//i.test(text) ? [sourceAsWhole(text, field)] : sourcesInText(text, field)
}

function sourcesInText(text: string, field: string, key?: string): readonly RuleSource[] {
  const ids = idsInText(text, key).map((one) => {
    const source = sourceInText(one, field)
    return source.kind === 'SPIFFE' && one.text !== text ? { ...source, within: text } : source
  })
  // A program may ask for the end of an ID alone: `endsWith("/pool/llama")`.
  return [...ids, ...pathsInText(text, true).map((one) => sourceInText(one, field))]
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

function globSource(written: string, field: string): RuleSource {
  const matcher: IdMatcher = written.split('*')
  if (matcher.length === 1) return sourceAsWhole(written, field)
  const instead = asIssued(written)
  return instead === written
    ? { kind: 'pattern', field, written, pattern: { all: [[matcher]], none: [] }, perhaps: undefined }
    : { kind: 'dead', field, written, standsFor: written, instead }
}

/** What begins the likeness of a workload ID. */
const ANY_DOMAIN = `${SCHEME}+/`

/** An ID as a file of names has it beside a name. An item of a list may have more than the ID. */
export function writtenInFile(beside: RuleSource, spiffeId: string): string {
  if (beside.kind === 'SPIFFE' && beside.within !== undefined && /\[\d+\]$|^line /.test(beside.field))
    return beside.within.replaceAll(beside.spiffeId, () => spiffeId)
  const isWorkloadId = beside.kind === 'pattern' && beside.pattern.like?.text.startsWith(ANY_DOMAIN) === true
  return isWorkloadId ? spiffeId.slice(spiffeId.indexOf('/', SCHEME.length)) : spiffeId
}

/** Whether an ID stands in a text that says more than a name, such as a condition. A member of GCP ends with it. */
export function isPartOfText(source: RuleSource): boolean {
  if (source.kind !== 'SPIFFE' || source.within === undefined) return false
  return /\s/.test(source.within) || !source.within.endsWith(source.spiffeId)
}

/**
 * How a field of a file that is no item of a list comes to hold two names. A role of Vault has one `bound_subject`. Its other fields, and
 * the conditions of AWS, take a list in the place of a text; of any other field that is not known.
 */
export function holdsOneName(field: string): 'one' | 'value' | 'text' {
  if (field.endsWith('.bound_subject')) return 'one'
  return ONE_OR_MORE.test(field) ? 'value' : 'text'
}

const ONE_OR_MORE = new RegExp(
  `[."](?:bound_claims|allowed_uri_sans|workload_id_patterns|(?:ForAnyValue:|ForAllValues:)?${AWS_OPERATOR})(?:[."[\\]]|$)`,
)
