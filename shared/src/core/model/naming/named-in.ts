// Whom objects name that kleym reads for that alone. One table says for each kind where its names stand and how they match; a SPIFFE ID
// in any other string of any object is a mention: that it stands there is all that is said of it.
import { getOrCreate } from '../../base/get-or-create.ts'
import { canonicalText, isRecord, own, stringAt, walk, type JsonRecord } from '../../base/json.ts'
import { NAMING_KINDS, qualifiedKind } from '../kinds.ts'
import type { PolicyTarget } from '../objects/access-policy.ts'
import type { PolicyRule, RuleSource } from '../objects/access-rule.ts'
import { readMeta } from '../objects/meta.ts'
import { asIssued, parseSpiffeId } from '../spiffe-id.ts'
import {
  ANYWHERE,
  AT_BEGINNING,
  holdsPart,
  idsInText,
  mayHoldIds,
  pathsInText,
  SCHEME,
  type IdInText,
} from '../ids-in-text.ts'
import { istioAsksBeside, istioSources, type MeshTrust } from './istio-source.ts'

/** Whom an object names, and what it is for. */
export interface NamedIn {
  readonly targets: readonly PolicyTarget[]
  readonly action: string | undefined
  readonly rules: readonly PolicyRule[]
}

/** The names of one list of values, each compared as a whole: the lists at this key, however deep below `spec`. */
interface ListField {
  readonly key: string
  /** Where an item is a mapping: its field that holds the name. */
  readonly of?: string
  /** A value that takes in every client. */
  readonly any?: string
}

type NamingReader = ListField | 'Istio rules'

/** By qualified kind. Sources: the types of istio.io/api, Gateway API v1.6, linkerd2's policy-controller and agentgateway v1.4. */
const READERS: Readonly<Record<string, NamingReader>> = {
  'AuthorizationPolicy.security.istio.io': 'Istio rules',
  // Envoy compares them as a whole: pilot/pkg/networking/core/cluster_tls.go, StringToExactMatch.
  'DestinationRule.networking.istio.io': { key: 'subjectAltNames' },
  'ServiceEntry.networking.istio.io': { key: 'subjectAltNames' },
  'BackendTLSPolicy.gateway.networking.k8s.io': { key: 'subjectAltNames', of: 'uri' },
  'MeshTLSAuthentication.policy.linkerd.io': { key: 'identities', any: '*' },
  'AgentgatewayPolicy.agentgateway.dev': { key: 'verifySubjectAltNames' },
  'AgentgatewayBackend.agentgateway.dev': { key: 'verifySubjectAltNames' },
}

/** The kinds of `READERS`. */
export const NAMING_KIND_NAMES: ReadonlySet<string> = new Set(NAMING_KINDS.map(qualifiedKind))

/** Reads whom an object of a kind of `NAMING_KINDS` names. */
export function namedIn(value: JsonRecord, kind: string, mesh: MeshTrust | undefined): NamedIn {
  const reader = READERS[kind]
  const spec = own(value, 'spec')
  const { namespace } = readMeta(value)
  const rules =
    reader === undefined
      ? []
      : reader === 'Istio rules'
        ? istioRules(spec, namespace, mesh)
        : listRules(spec, reader)
  const action = stringAt(spec, 'action') ?? (reader === 'Istio rules' ? 'ALLOW' : undefined)
  return { targets: targetsOf(spec), action, rules }
}

/** An ID as an object of a qualified kind writes it in a list of names. */
export function writtenFor(kind: string, spiffeId: string): string {
  const reader = READERS[kind]
  if (reader === 'Istio rules') return spiffeId.slice(SCHEME.length)
  return reader?.of === undefined ? spiffeId : `{ type: URI, ${reader.of}: ${spiffeId} }`
}

function istioRules(spec: unknown, namespace: string, mesh: MeshTrust | undefined): readonly PolicyRule[] {
  const rules = own(spec, 'rules')
  if (!Array.isArray(rules)) return []
  return rules.flatMap((rule: unknown, at) => {
    const sources = istioSources(rule, at, namespace, mesh)
    return sources.length === 0
      ? []
      : [{ ...ruleOf(`#${at + 1}`, at, sources), asksBeside: istioAsksBeside(rule) }]
  })
}

function listRules(spec: unknown, { key, of, any }: ListField): readonly PolicyRule[] {
  const rules: PolicyRule[] = []
  walkPaths(spec, ['spec'], (found, path) => {
    if (!Array.isArray(found) || path.at(-1) !== key) return
    const where = pathText(path)
    const sources = found.flatMap((item: unknown, at) => {
      const field = `${where}[${at}]${of === undefined ? '' : `.${of}`}`
      const written = of === undefined ? item : own(item, of)
      return typeof written === 'string' ? sourceOfWhole(written, field, any) : []
    })
    if (sources.length > 0) rules.push(ruleOf(where, rules.length, sources))
  })
  return rules
}

/** Other names than SPIFFE IDs may stand in the same list: those of DNS, those of Linkerd. */
function sourceOfWhole(written: string, field: string, any: string | undefined): readonly RuleSource[] {
  if (written === any)
    return [{ kind: 'pattern', field, written, pattern: { all: [[['', '']]], none: [] }, perhaps: undefined }]
  return /^spiffe:\/\//i.test(written) ? [sourceAsWhole(written, field)] : []
}

/** Whom a text names that is compared as a whole. */
export function sourceAsWhole(written: string, field: string): RuleSource {
  if (parseSpiffeId(written).ok) return { kind: 'SPIFFE', field, spiffeId: written }
  const instead = [asIssued(written), `${SCHEME}${written}`].find((one) => parseSpiffeId(one).ok)
  return { kind: 'dead', field, written, standsFor: written, instead }
}

/** A rule without a name of its own; `name` is its position. */
export function ruleOf(name: string, at: number, sources: readonly RuleSource[]): PolicyRule {
  return { at, name, isNamed: false, sources, ignoredMember: undefined, authorization: undefined }
}

function targetsOf(spec: unknown): readonly PolicyTarget[] {
  const refs = own(spec, 'targetRefs')
  const all: readonly unknown[] = [own(spec, 'targetRef'), ...(Array.isArray(refs) ? refs : [])]
  return all.flatMap((one) => {
    const [kind, name] = [stringAt(one, 'kind'), stringAt(one, 'name')]
    if (kind === undefined || name === undefined) return []
    return [{ group: stringAt(one, 'group') ?? '', kind, name, sectionName: stringAt(one, 'sectionName') }]
  })
}

/** So many strings of one object are looked at that hold IDs: beyond that it is a list of IDs and no user of them. */
export const MENTIONS_MAX = 10_000

/** The kinds whose IDs are what they give, or are read by readers of their own. */
const GIVING: ReadonlySet<string> = new Set([
  'InferenceIdentityBinding',
  'ClusterSPIFFEID',
  'ClusterStaticEntry',
  'ControllerManagerConfig',
  'XAccessPolicy',
  'IdentityTest',
])

/**
 * The IDs that the strings of an object hold, a rule for each string: `.spec.containers[0].env[2].value`. Those of `read`, which other
 * rules of the object name, are left out. Never throws.
 */
export function mentionRules(value: JsonRecord, read: readonly PolicyRule[] = []): readonly PolicyRule[] {
  const kind = stringAt(value, 'kind') ?? ''
  if (GIVING.has(kind)) return []
  const without = new Set(read.flatMap(({ sources }) => sources.map(({ field }) => field)))
  const rules: PolicyRule[] = []
  const compared = new Map<unknown, ReturnType<typeof comparedIn>>()
  const isSecret = kind === 'Secret' && stringAt(value, 'apiVersion') === 'v1'
  for (const [key, part] of Object.entries(value)) {
    const isEncoded = key === (isSecret ? 'data' : 'binaryData')
    const mayMention = isEncoded ? mayHoldIds : holdsPart
    // Hardly any object of a cluster does, and a walk that keeps its path takes several times as long.
    if (key === 'status' || !someText(part, mayMention)) continue
    walkPaths(part, [key], (found, at, holder) => {
      if (typeof found !== 'string' || rules.length >= MENTIONS_MAX || !mayMention(found)) return
      const path = pathText(at)
      if (without.has(path)) return
      const text = isEncoded ? decoded(found) : found
      const field = keyOf(at)
      const { isBeginning, isEnd } = getOrCreate(compared, holder, () => comparedIn(holder))
      const sources = [
        ...idsInText(text, isBeginning ? 'prefix' : field),
        ...pathsInText(text, isEnd || ENDING_FIELD.test(field) || ENDING_CALL.test(text)),
      ].map((one) =>
        // Of a Secret nothing is shown but whole IDs.
        sourceInText(isSecret && !one.isWhole ? { ...one, text: 'a part of a SPIFFE ID' } : one, path),
      )
      if (sources.length > 0) rules.push(ruleOf(path, rules.length, distinctSources(sources)))
    })
  }
  return rules
}

/** What a source says, wherever the name stands. */
export function said(source: RuleSource): string {
  return canonicalText({ ...source, field: '', within: '', around: [] })
}

/** Equal for sources that say the same. A plain ID is its own key: one text may hold a hundred thousand of them. */
export function saidKey(source: RuleSource): string {
  const isPlain = source.kind === 'SPIFFE' && source.isExcluded === undefined && source.inMesh === undefined
  return isPlain ? source.spiffeId : said(source)
}

/** Each source once, with all the lines in which it stands. */
export function distinctSources(sources: readonly RuleSource[]): readonly RuleSource[] {
  if (sources.length < 2) return sources
  const firsts = new Map<string, RuleSource>()
  /** Of those that stand there more than once. */
  const lines = new Map<string, string[]>()
  for (const source of sources) {
    const key = saidKey(source)
    const first = firsts.get(key)
    if (first === undefined) firsts.set(key, source)
    else getOrCreate(lines, key, () => linesOf(first)).push(...linesOf(source))
  }
  return [...firsts].map(([key, one]) => {
    const around = lines.get(key) ?? []
    return one.kind === 'SPIFFE' && around.length > 0 ? { ...one, around } : one
  })
}

function linesOf(source: RuleSource): string[] {
  return source.kind === 'SPIFFE' ? [...(source.around ?? [])] : []
}

/** Whom an ID in a text means; known in part, it means nobody for certain, and perhaps each ID that has these parts. */
export function sourceInText({ text, matcher, isWhole, around }: IdInText, field: string): RuleSource {
  return isWhole
    ? { kind: 'SPIFFE', field, spiffeId: text, ...(around !== undefined && { around: [around] }) }
    : {
        kind: 'pattern',
        field,
        written: text,
        pattern: { all: [[]], none: [] },
        perhaps: {
          matchers: [matcher],
          because: 'text',
          why: matcher.length === 1 ? CASE : 'what completes it is not known',
        },
      }
}

const AT_END = `suffix|ends_?with|${ANYWHERE}`
/** A field, or a call in a text, that asks for the end of a text. */
const ENDING_FIELD = new RegExp(AT_END, 'i')
const ENDING_CALL = /ends_?with|suffix|match(?:es)?\w*\s*\(/i
/** How a text is compared, as a word beside it says: `{ type: Prefix, value: … }` of Kuma and Envoy Gateway. */
const BEGINNING = new RegExp(String.raw`^\w*(?:${AT_BEGINNING})\w*$`, 'i')
const ENDING = new RegExp(String.raw`^\w*(?:${AT_END})\w*$`, 'i')

/** Whether the texts in a mapping may be the beginnings, or the ends, of what they are compared with. */
function comparedIn(holder: unknown): { readonly isBeginning: boolean; readonly isEnd: boolean } {
  const words = isRecord(holder) ? Object.values(holder).filter((one) => typeof one === 'string') : []
  return {
    isBeginning: words.some((one) => BEGINNING.test(one)),
    isEnd: words.some((one) => ENDING.test(one)),
  }
}

const CASE = 'whether letters of the other case count as the same is not known'

/** The field of a string; for an item of a list, that of the list. */
export function keyOf(path: Path): string {
  return path.findLast((one) => typeof one === 'string') ?? ''
}

/** Whether a text below a value fits. */
function someText(value: unknown, fits: (text: string) => boolean): boolean {
  let does = false
  walk(value, (part) => {
    does ||= typeof part === 'string' && fits(part)
    return !does
  })
  return does
}

/** The text of Base64; itself where it is none. */
function decoded(base64: string): string {
  try {
    return atob(base64)
  } catch {
    return base64
  }
}

/** A path in an object, which the walk changes as it goes. */
export type Path = readonly (string | number)[]

/**
 * Visits all values below one, itself included, with the mapping that holds it, through lists. Depth and size are bounded by what the
 * readers of files and clusters take.
 */
export function walkPaths(
  value: unknown,
  path: (string | number)[],
  visit: (value: unknown, path: Path, holder: unknown) => void,
  holder?: unknown,
): void {
  visit(value, path, holder)
  const into = (key: string | number, item: unknown): void => {
    path.push(key)
    walkPaths(item, path, visit, Array.isArray(value) ? holder : value)
    path.pop()
  }
  if (Array.isArray(value)) value.forEach((item: unknown, at) => into(at, item))
  else if (isRecord(value)) for (const [key, item] of Object.entries(value)) into(key, item)
}

/** `.data["envoy.yaml"]`, `.spec.containers[0].env[2].value`. */
export function pathText(path: Path): string {
  return path
    .map((key) => (typeof key === 'string' && PLAIN.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`))
    .join('')
}

const PLAIN = /^[A-Za-z0-9_-]+$/
