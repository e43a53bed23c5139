// One rule of an access policy: the clients that it names, in both shapes of a source (required, as in KAN v0.1.0;
// optional, as on its main branch) and with what the proposal 0017 (Dynamic Auth) adds: a list of SPIFFE IDs, identities
// that are no SPIFFE IDs, a list of authorizations. A source that cannot be understood never reads as one for any client.
import { onceBy } from '../../base/groups.ts'
import { canonicalText, isRecord, own, stringAt, typeName, type JsonRecord } from '../../base/json.ts'
import { compareBytes, distinct } from '../../base/text/bytes.ts'
import { quoted } from '../../base/text/quoted.ts'
import { idsInText, type IdInText } from '../ids-in-text.ts'

/** A field that cannot be understood: `.spec.rules[0].source.spiffe` and `is a number, not a string`. */
export interface Unreadable {
  readonly where: string
  readonly why: string
}

/** Texts with gaps between them, which stand for any text; the first text begins an ID and the last ends it. One text: that ID alone. */
export type IdMatcher = readonly string[]

/**
 * Takes in an ID if each list of `all` has a matcher that does, and none of `none` does. A source of Istio has several lists: one with
 * principals and namespaces means callers that have both.
 */
export interface ClientPattern {
  readonly all: readonly (readonly IdMatcher[])[]
  readonly none: readonly (readonly IdMatcher[])[]
  /** What an ID must look like besides, where gaps say too little. */
  readonly like?: Likeness
}

/** A text in which `*` stands for any text, `?` for a character and `+` for a segment. */
export interface Likeness {
  readonly text: string
  readonly ignoresCase?: true
}

/**
 * What a name may take in besides. `mesh`: the trust domain of the mesh is not known. `text`: something else completes an ID, such as a
 * regular expression.
 */
export interface PerhapsNamed {
  readonly matchers: readonly IdMatcher[]
  readonly because: 'mesh' | 'text'
  readonly why: string
}

/** The clients that a rule names, whether or not such an identity exists. */
export type RuleSource = NamedClients & {
  /** The rule is about all clients but these. */
  readonly isExcluded?: true
}

/** `field` is where the source stands. */
type NamedClients =
  /** One SPIFFE ID, as written. */
  | {
      readonly kind: 'SPIFFE'
      readonly field: string
      readonly spiffeId: string
      /** The whole text, where an ID is a part of it: a member of GCP. */
      readonly within?: string
      /** The lines in which it stands (`IdInText`); absent: the text is a name, and known to be compared as a whole. */
      readonly around?: readonly string[]
      /** What it takes in besides if its trust domain is one of a mesh, which was not read; absent: nothing. */
      readonly inMesh?: { readonly matcher: IdMatcher; readonly why: string }
    }
  /** `namespace` is the policy's own where the source names none. */
  | {
      readonly kind: 'service account'
      readonly field: string
      readonly namespace: string
      readonly name: string
    }
  /** No client is named: there is no source, no type, or neither member. `why` is a sentence fragment. */
  | { readonly kind: 'unbounded'; readonly field: string; readonly why: string }
  /** `type` names one member and another one is filled: only `type` counts, so no client is named. */
  | {
      readonly kind: 'type mismatch'
      readonly field: string
      readonly type: string
      readonly filled: string
    }
  /** An identity of another kind (OIDC, JWT), which is not read as a SPIFFE ID. */
  | { readonly kind: 'not SPIFFE'; readonly field: string; readonly type: string }
  /** Several IDs, or one that the object shows in part: `written` as it stands there. Such names and the next are of policies of others. */
  | {
      readonly kind: 'pattern'
      readonly field: string
      readonly written: string
      /** What its list holds in the place of IDs; absent: IDs. */
      readonly listOf?: 'namespaces' | 'service accounts'
      readonly pattern: ClientPattern
      readonly perhaps: PerhapsNamed | undefined
    }
  /** What no SPIFFE ID is equal to; `standsFor` is what its reader compares with, and `instead` what would be meant. */
  | {
      readonly kind: 'dead'
      readonly field: string
      readonly written: string
      readonly standsFor: string
      readonly instead: string | undefined
    }
  | { readonly kind: 'unreadable'; readonly field: string; readonly why: string }

/** What a rule requires of a request, as far as needed to tell whether it requires anything. */
export interface RuleAuthorization {
  /** `Inline`, `CEL`, or as written; several where the proposal's list holds several. */
  readonly types: readonly string[]
  /** `.spec.rules[0].authorization`. */
  readonly field: string
  /**
   * Set for `Inline` that names neither an MCP method nor the base protocol's, which requires nothing; `others` are the other
   * filled fields, such as `paths`.
   */
  readonly emptyInline: { readonly others: readonly string[] } | undefined
  /** The SPIFFE IDs in its CEL texts, whole or in part, each once. CEL is not interpreted, so it may ask for them or refuse them. */
  readonly mentioned: readonly IdInText[]
  /** The same authorization gives the same text, whatever the order of its keys. */
  readonly text: string
}

/** One rule of an access policy. */
export interface PolicyRule {
  /** From 0. */
  readonly at: number
  /** As written; `#1` (from 1) where a rule has none. */
  readonly name: string
  readonly isNamed: boolean
  /** One or more. */
  readonly sources: readonly RuleSource[]
  /** A member that is filled beside the one that `type` names, and is ignored: `serviceAccount`. */
  readonly ignoredMember: string | undefined
  /** Undefined: any request of the source. */
  readonly authorization: RuleAuthorization | undefined
  /** Of a rule of another program: what else it asks of a request, as JSON with sorted keys. */
  readonly asksBeside?: string
}

type Problem = (where: string, why: string) => void

/** Reads one rule of a policy of that namespace; never throws. */
export function readRule(found: unknown, at: number, namespace: string, problem: Problem): PolicyRule {
  const where = `.spec.rules[${at}]`
  const named = stringAt(found, 'name') ?? ''
  const base = { at, name: named === '' ? `#${at + 1}` : named, isNamed: named !== '' }
  if (!isRecord(found)) {
    const source: RuleSource = { kind: 'unreadable', field: where, why: notA('mapping', found) }
    return { ...base, sources: [source], ignoredMember: undefined, authorization: undefined }
  }
  const source = present(own(found, 'source'))
  return {
    ...base,
    sources: readSource(source, `${where}.source`, namespace),
    ignoredMember: ignoredMember(source),
    authorization: readAuthorization(present(own(found, 'authorization')), `${where}.authorization`, problem),
  }
}

/** The member that holds the identity in a source of each type. */
const MEMBERS: Readonly<Record<string, string>> = { SPIFFE: 'spiffe', ServiceAccount: 'serviceAccount' }
/** Members of the proposal 0017, which tell the kind of a source that has no type. */
const OTHER_MEMBERS: ReadonlySet<string> = new Set(['oidc', 'jwt'])

function readSource(found: unknown, field: string, namespace: string): readonly RuleSource[] {
  if (found === undefined) return [{ kind: 'unbounded', field, why: 'it has no source' }]
  if (!isRecord(found)) return [{ kind: 'unreadable', field, why: notA('mapping', found) }]
  const type = present(own(found, 'type'))
  const filled = filledMembers(found)
  if (type === undefined) return [untyped(field, filled)]
  if (typeof type !== 'string')
    return [{ kind: 'unreadable', field: `${field}.type`, why: notA('string', type) }]
  const member = Object.hasOwn(MEMBERS, type) ? MEMBERS[type] : undefined
  if (member === undefined) return [otherType(field, type)]
  const value = present(own(found, member))
  if (value === undefined) return [withoutMember(field, type, member, filled)]
  return member === 'spiffe'
    ? readSpiffe(value, `${field}.spiffe`)
    : [readServiceAccount(value, `${field}.serviceAccount`, namespace)]
}

function filledMembers(source: JsonRecord): readonly string[] {
  return Object.keys(source)
    .filter((key) => key !== 'type' && present(source[key]) !== undefined)
    .toSorted(compareBytes)
}

const KNOWN_MEMBERS: ReadonlySet<string> = new Set(Object.values(MEMBERS))

/** A source without a type. The reference implementation reads `type` alone; a field unknown to kleym may name a client. */
function untyped(field: string, filled: readonly string[]): RuleSource {
  const other = filled.find((name) => OTHER_MEMBERS.has(name))
  if (other !== undefined) return { kind: 'not SPIFFE', field, type: other.toUpperCase() }
  const unknownField = filled.find((name) => !KNOWN_MEMBERS.has(name))
  if (unknownField !== undefined)
    return { kind: 'unreadable', field, why: unknownFieldText('type', unknownField) }
  const why =
    filled.length === 0
      ? 'its source is empty'
      : `its source has no type, without which ${filled.join(' and ')} ${filled.length === 1 ? 'does' : 'do'} not count`
  return { kind: 'unbounded', field, why }
}

function otherType(field: string, type: string): RuleSource {
  if (OTHER_MEMBERS.has(type.toLowerCase())) return { kind: 'not SPIFFE', field, type }
  const why = type === '' ? 'is empty' : `is ${quoted(type)}, which kleym does not know`
  return { kind: 'unreadable', field: `${field}.type`, why }
}

function withoutMember(field: string, type: string, member: string, filled: readonly string[]): RuleSource {
  const unknownField = filled.find((name) => !KNOWN_MEMBERS.has(name) && !OTHER_MEMBERS.has(name))
  if (unknownField !== undefined)
    return { kind: 'unreadable', field, why: unknownFieldText(member, unknownField) }
  const [other] = filled
  return other === undefined
    ? { kind: 'unbounded', field, why: `its source is of type ${type}, and has no ${member}` }
    : { kind: 'type mismatch', field, type, filled: other }
}

function unknownFieldText(missing: string, unknownField: string): string {
  return `has no ${missing}, and a field ${quoted(unknownField)} that kleym does not know`
}

/** One ID, or the list of the proposal 0017: each item is a source of its own. */
function readSpiffe(found: unknown, field: string): readonly RuleSource[] {
  if (!Array.isArray(found)) return [readSpiffeId(found, field)]
  if (found.length === 0) return [{ kind: 'unreadable', field, why: 'is an empty list' }]
  return found.map((item: unknown, at) => readSpiffeId(item, `${field}[${at}]`))
}

function readSpiffeId(found: unknown, field: string): RuleSource {
  if (typeof found !== 'string') return { kind: 'unreadable', field, why: notA('string', found) }
  if (/^spiffe:\/\/[^/]/.test(found)) return { kind: 'SPIFFE', field, spiffeId: found }
  const why = found === '' ? 'is empty' : `is ${quoted(found)}, which names no trust domain after "spiffe://"`
  return { kind: 'unreadable', field, why }
}

function readServiceAccount(found: unknown, field: string, namespace: string): RuleSource {
  if (!isRecord(found)) return { kind: 'unreadable', field, why: notA('mapping', found) }
  const [name, given] = [present(own(found, 'name')), present(own(found, 'namespace'))]
  if (typeof name !== 'string' || name === '')
    return {
      kind: 'unreadable',
      field: `${field}.name`,
      why: name === '' ? 'is empty' : notA('string', name),
    }
  if (given !== undefined && typeof given !== 'string')
    return { kind: 'unreadable', field: `${field}.namespace`, why: notA('string', given) }
  return {
    kind: 'service account',
    field,
    name,
    namespace: given === undefined || given === '' ? namespace : given,
  }
}

/** A known member that is filled beside the one that the type names. */
function ignoredMember(source: unknown): string | undefined {
  const member = MEMBERS[stringAt(source, 'type') ?? '']
  if (member === undefined || !isRecord(source) || present(own(source, member)) === undefined)
    return undefined
  return filledMembers(source).find((name) => name !== member)
}

function readAuthorization(found: unknown, field: string, problem: Problem): RuleAuthorization | undefined {
  if (found === undefined) return undefined
  const items: readonly unknown[] = Array.isArray(found) ? found : [found]
  const types = items.map((item) => (isRecord(item) ? stringAt(item, 'type') : undefined) ?? '')
  for (const [at, item] of items.entries()) {
    if (isRecord(item) && types[at] !== '') continue
    const where = Array.isArray(found) ? `${field}[${at}]` : field
    problem(where, isRecord(item) ? 'has no type' : notA('mapping', item))
  }
  return {
    types,
    field,
    emptyInline: emptyInline(items),
    mentioned: onceBy(
      items.flatMap((item) => idsIn(own(item, 'cel'))),
      ({ text }) => text,
    ),
    text: canonicalText(found),
  }
}

/** Set where every authorization is `Inline` and none names an MCP method: then the rule requires nothing. */
function emptyInline(items: readonly unknown[]): RuleAuthorization['emptyInline'] {
  if (items.length === 0 || !items.every(namesNoMethod)) return undefined
  const others = items.flatMap((item) =>
    isRecord(item) ? filledMembers(item).filter((key) => key !== 'mcp') : [],
  )
  return { others: distinct(others) }
}

function namesNoMethod(authorization: unknown): boolean {
  const mcp = own(authorization, 'mcp')
  const methods = own(mcp, 'methods')
  if (own(authorization, 'type') !== 'Inline' || own(mcp, 'mcpBaseProtocolMethodsOption') === MATCH_BASE)
    return false
  return !Array.isArray(methods) || methods.length === 0
}

/** With it a rule lets the methods of the base protocol through, and no others where it names none (docs/gaie-facts.md §B2). */
const MATCH_BASE = 'MATCH_BASE_PROTOCOL_METHODS'

/** The SPIFFE IDs in a CEL text: `cel.expression`, or `cel` itself in the proposal's lists. */
function idsIn(cel: unknown): readonly IdInText[] {
  return idsInText((typeof cel === 'string' ? cel : stringAt(cel, 'expression')) ?? '')
}

function present(value: unknown): unknown {
  return value === null ? undefined : value
}

function notA(what: string, value: unknown): string {
  return value === undefined ? 'is missing' : `is ${typeName(value)}, not a ${what}`
}
