// Whom an AuthorizationPolicy of Istio names, as istiod compiles it: pilot/pkg/security/authz/model (generator.go, model.go) and
// pilot/pkg/security/trustdomain of istio.io/istio v0.0.0-20260827124520-eed52ebb66ad, against which test/go-oracle/istio holds this.
import { canonicalText, own, stringAt, typeName } from '../../base/json.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import type { IdMatcher, RuleSource } from '../objects/access-rule.ts'
import { asIssued } from '../spiffe-id.ts'
import { exactId, mayMatchAny, patternMatches } from './id-matcher.ts'

/** The trust domain of a mesh, and the others that count as it (`trustDomain` and `trustDomainAliases` of its MeshConfig). */
export interface MeshTrust {
  readonly trustDomain: string
  readonly aliases: readonly string[]
}

/** What a value of a field may stand for. */
interface Meaning {
  readonly matchers: readonly IdMatcher[]
  /** What it may stand for besides: the trust domain of the mesh is not known. */
  readonly perhaps: readonly IdMatcher[]
  /** What it stands for if its trust domain is an alias of the mesh, whose aliases are not known. */
  readonly inMesh?: IdMatcher
}

/** One list of a source or of a condition: its values are alternatives. */
interface NamedList {
  readonly values: readonly { readonly field: string; readonly written: unknown; readonly meaning: Meaning }[]
  /** What its values stand for, or may stand for: one list for all that stands beside it. */
  readonly matchers: readonly IdMatcher[]
  /** Whether what a value stands for is not known. */
  readonly isOpen: boolean
  readonly word: Word
  readonly isExcluded: boolean
}

type Reader = (value: string, namespace: string, mesh: MeshTrust | undefined) => Meaning

/** What its values are called: nothing for principals, which say it themselves. */
type Word = '' | 'namespace ' | 'service account '

const FIELDS: readonly (readonly [field: string, key: string, word: Word, read: Reader])[] = [
  ['principals', 'source.principal', '', (value, _, mesh) => principal(value, mesh)],
  ['namespaces', 'source.namespace', 'namespace ', (value) => only(namespaceMatcher(value))],
  [
    'serviceAccounts',
    'source.serviceAccount',
    'service account ',
    (value, namespace) => accountMatchers(value, namespace),
  ],
]

/** The clients that one rule of a policy of that namespace names: a source for each value, by what stands beside it. */
export function istioSources(
  rule: unknown,
  at: number,
  namespace: string,
  mesh: MeshTrust | undefined,
): readonly RuleSource[] {
  const where = `.spec.rules[${at}]`
  const conditions = itemsOf(rule, 'when').flatMap(([when, index]) =>
    FIELDS.flatMap(([, key, word, read]) =>
      stringAt(when, 'key') === key
        ? listsOf(when, ['values', 'notValues'], `${where}.when[${index}]`, word, (value) =>
            read(value, namespace, mesh),
          )
        : [],
    ),
  )
  const from = itemsOf(rule, 'from')
  const sources = from.map(([one, index]) =>
    FIELDS.flatMap(([field, , word, read]) =>
      listsOf(
        own(one, 'source'),
        [field, `not${field.charAt(0).toUpperCase()}${field.slice(1)}`],
        `${where}.from[${index}].source`,
        word,
        (value) => read(value, namespace, mesh),
      ),
    ),
  )
  // What stands in a condition narrows each source; without a source it names clients by itself.
  return sources.length === 0
    ? sourcesOf(conditions, [])
    : [...sources.flatMap((lists) => sourcesOf(lists, conditions)), ...sourcesOf(conditions, [])]
}

/** What a rule asks of a request beside who its client is, as JSON with sorted keys. */
export function istioAsksBeside(rule: unknown): string {
  const ofRequests = itemsOf(rule, 'when').flatMap(([when]) =>
    FIELDS.some(([, key]) => key === stringAt(when, 'key')) ? [] : [canonicalText(when)],
  )
  return canonicalText([own(rule, 'to') ?? null, ofRequests.toSorted(compareBytes)])
}

function itemsOf(value: unknown, field: string): readonly (readonly [item: unknown, at: number])[] {
  const found = own(value, field)
  return Array.isArray(found) ? found.map((item: unknown, at) => [item, at] as const) : []
}

function listsOf(
  holder: unknown,
  [positive = '', negative = '']: readonly string[],
  where: string,
  word: Word,
  read: (value: string) => Meaning,
): readonly NamedList[] {
  return [positive, negative].flatMap((field, at) => {
    const items = itemsOf(holder, field)
    if (items.length === 0) return []
    const values = items.map(([written, index]) => ({
      field: `${where}.${field}[${index}]`,
      written,
      meaning: typeof written === 'string' ? read(written) : NOTHING,
    }))
    const matchers = values.flatMap(({ meaning }) => [...meaning.matchers, ...meaning.perhaps])
    const isOpen = values.some(({ meaning }) => meaning.perhaps.length > 0)
    return [{ values, matchers, isOpen, word, isExcluded: at === 1 }]
  })
}

const NOTHING: Meaning = { matchers: [], perhaps: [] }

function sourcesOf(lists: readonly NamedList[], beside: readonly NamedList[]): readonly RuleSource[] {
  const all = [...lists, ...beside]
  return lists.flatMap((list) => {
    // A value that leaves clients out counts by itself, whatever else a source asks for.
    const others = list.isExcluded ? [] : all.filter((one) => one !== list)
    const isOpen = others.some((one) => one.isOpen)
    const asked = others.filter((one) => !one.isExcluded).map(({ matchers }) => matchers)
    const none = others.filter((one) => one.isExcluded).map(({ matchers }) => matchers)
    return list.values.map(({ field, written: value, meaning }): RuleSource => {
      const excluded = list.isExcluded ? ({ isExcluded: true } as const) : {}
      if (typeof value !== 'string')
        return { kind: 'unreadable', field, why: `is ${typeName(value)}, not a string`, ...excluded }
      const written = `${list.word}${value}`
      const matchers = isOpen ? [] : meaning.matchers
      const perhaps = isOpen ? [...meaning.matchers, ...meaning.perhaps] : meaning.perhaps
      const [first = []] = matchers
      const isDead = perhaps.length === 0 && !matchers.some(mayMatchAny)
      if (isDead) return { kind: 'dead', field, written, ...deadForm(list.word, value, first), ...excluded }
      const exact = matchers.length === 1 && perhaps.length === 0 ? exactId(first) : undefined
      if (exact !== undefined && patternMatches({ all: asked, none }, exact))
        return {
          kind: 'SPIFFE',
          field,
          spiffeId: exact,
          ...(meaning.inMesh && { inMesh: { matcher: meaning.inMesh, why: MESH_UNKNOWN } }),
          ...excluded,
        }
      return {
        kind: 'pattern',
        field,
        written,
        ...LIST_OF[list.word],
        pattern: { all: [matchers, ...asked], none },
        perhaps: perhaps.length === 0 ? undefined : { matchers: perhaps, because: 'mesh', why: MESH_UNKNOWN },
        ...excluded,
      }
    })
  })
}

const LIST_OF: Readonly<
  Record<Word, Pick<Extract<RuleSource, { readonly kind: 'pattern' }>, 'listOf'> | undefined>
> = {
  '': undefined,
  'namespace ': { listOf: 'namespaces' },
  'service account ': { listOf: 'service accounts' },
}

const MESH_UNKNOWN = 'the trust domain of the mesh (ConfigMap istio) was not read'

function only(...matchers: readonly IdMatcher[]): Meaning {
  return { matchers, perhaps: [] }
}

/** What Istio compares with, and the same without what it writes itself. */
function deadForm(
  word: Word,
  written: string,
  matcher: IdMatcher,
): { standsFor: string; instead: string | undefined } {
  const bare = asIssued(`spiffe://${written.replace(/^(?:spiffe:\/\/)+/i, '')}`).slice('spiffe://'.length)
  const isMeant = word === '' && bare !== written && bare !== '' && mayMatchAny(principalMatcher(bare))
  return { standsFor: matcher.join('*'), instead: isMeant ? bare : undefined }
}

function principal(value: string, mesh: MeshTrust | undefined): Meaning {
  const parts = value.split('/')
  const [trustDomain = '', ...path] = parts
  if (parts.length !== IDENTITY_PARTS || trustDomain === '*') return only(principalMatcher(value))
  if (mesh === undefined) {
    const isLocal = trustDomain === LOCAL
    const rest = `/${path.join('/')}`
    const anywhere: IdMatcher = rest.endsWith('*')
      ? ['spiffe://', rest.slice(0, -1), '']
      : ['spiffe://', rest]
    if (!isLocal && !trustDomain.includes('*')) return { ...only(principalMatcher(value)), inMesh: anywhere }
    return { matchers: isLocal ? [] : [principalMatcher(value)], perhaps: [anywhere] }
  }
  const known = [mesh.trustDomain, ...mesh.aliases]
  if (trustDomain !== LOCAL && !known.some((one) => isLike(trustDomain, one)))
    return only(principalMatcher(value))
  const expanded = known.map((one) => (endsLike(one, trustDomain) ? value : [one, ...path].join('/')))
  return only(...[...new Set(expanded)].map(principalMatcher))
}

/** Istio follows its trust domains in names of five parts alone: `TRUST-DOMAIN/ns/NAMESPACE/sa/NAME`. */
const IDENTITY_PARTS = 5
/** Where istiod keeps its settings, unless it is installed otherwise. No tenant writes there. */
export const ISTIO_NAMESPACE = 'istio-system'
/** What stands for the trust domain of the mesh. */
const LOCAL = 'cluster.local'

/** `stringMatch` of pilot/pkg/security/trustdomain/util.go. */
function isLike(one: string, other: string): boolean {
  return (
    one === other ||
    other === '*' ||
    beginsLike(one, other) ||
    beginsLike(other, one) ||
    endsLike(one, other) ||
    endsLike(other, one)
  )
}

function beginsLike(text: string, pattern: string): boolean {
  return pattern.endsWith('*') && text.startsWith(pattern.slice(0, -1))
}

function endsLike(text: string, pattern: string): boolean {
  return pattern.startsWith('*') && text.endsWith(pattern.slice(1))
}

/** `StringMatcherWithPrefix` of pilot/pkg/security/authz/matcher/string.go: Istio writes the scheme itself. */
function principalMatcher(value: string): IdMatcher {
  if (value === '*') return ['', '']
  if (value.startsWith('*')) return ['spiffe://', value.slice(1)]
  if (value.endsWith('*')) return [`spiffe://${value.slice(0, -1)}`, '']
  return [`spiffe://${value}`]
}

/** `srcNamespaceGenerator`: any ID with this part, whatever stands before and behind it. */
function namespaceMatcher(value: string): IdMatcher {
  return ['', ...`/ns/${value}/`.split('*'), '']
}

/** `serviceAccountRegex`: with anything before, between and behind the two parts. */
function accountMatchers(value: string, namespace: string): Meaning {
  const slash = value.indexOf('/')
  const [ns, name] = slash === -1 ? [namespace, value] : [value.slice(0, slash), value.slice(slash + 1)]
  return only(
    ['spiffe://', `/ns/${ns}/sa/${name}`],
    ['spiffe://', `/ns/${ns}/sa/${name}/`, ''],
    ['spiffe://', `/ns/${ns}/`, `/sa/${name}`],
    ['spiffe://', `/ns/${ns}/`, `/sa/${name}/`, ''],
  )
}

/**
 * The trust domain of the mesh, from the text of its MeshConfig (key `mesh` of the ConfigMap `istio`). Undefined if the text is not plain
 * block YAML whose two fields stand on lines of their own.
 */
export function meshTrustIn(text: string): MeshTrust | undefined {
  let trustDomain: string | undefined
  const aliases: string[] = []
  let isInAliases = false
  for (const written of text.split('\n')) {
    const line = written.trimEnd()
    if (/^\s*(?:#.*)?$/.test(line)) continue
    const item = /^\s*- +(\S+)$/.exec(line)
    if (isInAliases && item !== null) {
      const alias = plainScalar(item[1])
      if (alias === undefined) return undefined
      aliases.push(alias)
      continue
    }
    isInAliases = false
    if (/^[\s-]/.test(line)) continue
    const field = /^([A-Za-z]+):(?:\s+(\S.*))?$/.exec(line)
    if (field === null) return undefined
    const [, key, value] = field
    if (key === 'trustDomain') {
      trustDomain = plainScalar(value)
      if (trustDomain === undefined) return undefined
    }
    if (key === 'trustDomainAliases') {
      if (value !== undefined && value !== '[]') return undefined
      isInAliases = value === undefined
    }
  }
  return { trustDomain: trustDomain ?? LOCAL, aliases }
}

/** A YAML scalar that needs no parser: plain, or in quotes without an escape. */
function plainScalar(text: string | undefined): string | undefined {
  const found = /^(["']?)([A-Za-z0-9._*-]+)\1$/.exec(text ?? '')
  return found?.[2]
}
