// A ClusterStaticEntry as SCM and the server read it: SCM v0.7.0, pkg/spireentry/entries.go (renderStaticEntry), and
// what SPIRE v1.15.3 refuses (docs/spire-facts.md §3, §11.7, §11.15).
import { NO, open, YES, type Truth } from '../../model/truth/truth.ts'
import {
  classHandling,
  durationFault,
  ttlSeconds,
  ttlRefusal,
  hintRefusal,
  federatedWith,
  bundleNeeded,
  bundleRefusal,
  refusedHandling,
} from './common-fields.ts'
import type { ScmSettings } from '../../model/objects/scm-settings.ts'
import type { ClusterStaticEntry, ClusterStaticEntrySpec } from '../../model/objects/static-entry.ts'
import { dnsNameVerdict } from './dns-name.ts'
import { precedenceOf, type Precedence } from './precedence.ts'
import {
  sourceText,
  type EntrySource,
  type EntryVerdict,
  type ObjectHandling,
  type RenderedEntry,
  splitSelector,
} from './prediction.ts'
import { entryIdProblem, parseFederatedTrustDomain, parseSpiffeId } from '../../model/spiffe-id.ts'
import { selectorTextProblem } from './field-template.ts'

/** A ClusterStaticEntry, ready to be compared with other entries and with pods. */
export interface PreparedStatic {
  readonly source: EntrySource
  readonly precedence: Precedence
  readonly hint: string
  readonly handling: ObjectHandling
  /** Undefined where SCM cannot render it. */
  readonly entry: RenderedEntry | undefined
  /** Its verdict, apart from other objects that ask for the same entry. */
  readonly verdict: EntryVerdict
  /** Whether SCM asks for its entry, so that it takes part in masking. */
  readonly wants: Truth
}

/** Prepares one ClusterStaticEntry. */
export function prepareStatic(object: ClusterStaticEntry, settings: ScmSettings): PreparedStatic {
  const source: EntrySource = { kind: 'ClusterStaticEntry', name: object.meta.name }
  const fault = renderFault(object.spec)
  const handling = handlingOf(object, settings, source, fault)
  const entry = fault === undefined ? entryOf(object.spec) : undefined
  const verdict = verdictOf(handling, entry, object.spec, settings, source)
  return {
    source,
    precedence: precedenceOf(object.meta),
    hint: object.spec.hint,
    handling,
    entry,
    verdict,
    wants: entry === undefined ? NO : wantsOf(handling),
  }
}

const NOT_SEEN = open({ kind: 'verdict', of: {}, why: 'whether SCM handles the object is not known' })

function wantsOf({ state }: ObjectHandling): Truth {
  if (state === 'handled') return YES
  return state === 'unknown' || state === 'undecodable' ? NOT_SEEN : NO
}

interface Fault {
  readonly field: string
  readonly why: string
}

function handlingOf(
  object: ClusterStaticEntry,
  settings: ScmSettings,
  source: EntrySource,
  fault: Fault | undefined,
): ObjectHandling {
  if (!settings.reconcileClusterStaticEntries) {
    return { state: 'ignored', why: 'SCM is told not to reconcile ClusterStaticEntries' }
  }
  const refusal = refusedHandling(object.refusal, source)
  if (refusal !== undefined) return refusal
  const undecodable =
    object.undecodable[0] ??
    durationFault('.spec.x509SVIDTTL', object.spec.x509SVIDTTL) ??
    durationFault('.spec.jwtSVIDTTL', object.spec.jwtSVIDTTL)
  if (undecodable !== undefined) {
    const why = `${sourceText(source)} cannot be decoded: ${undecodable}; SCM sees no change of any ClusterStaticEntry`
    return { state: 'undecodable', why }
  }
  const byClass = classHandling(object.spec.className, settings, source)
  if (byClass.state === 'ignored' || fault === undefined) return byClass
  return {
    state: 'invalid',
    field: fault.field,
    why: `${fault.field} of ${sourceText(source)} is not valid: ${fault.why}; SCM drops the object`,
  }
}

/** renderStaticEntry, in its order. */
function renderFault(spec: ClusterStaticEntrySpec): Fault | undefined {
  for (const field of ['spiffeID', 'parentID'] as const) {
    const parsed = parseSpiffeId(spec[field])
    if (!parsed.ok) return { field: `.spec.${field}`, why: `it ${parsed.message}` }
  }
  for (const [at, selector] of spec.selectors.entries()) {
    const why = selectorTextProblem(selector)
    if (why !== undefined) return { field: `.spec.selectors[${at}]`, why }
  }
  for (const [at, item] of spec.federatesWith.entries()) {
    const parsed = parseFederatedTrustDomain(item)
    if (!parsed.ok) return { field: `.spec.federatesWith[${at}]`, why: `it ${parsed.message}` }
  }
  return undefined
}

function entryOf(spec: ClusterStaticEntrySpec): RenderedEntry {
  return {
    spiffeId: spec.spiffeID,
    parentId: spec.parentID,
    selectors: spec.selectors.map(splitSelector),
    dnsNames: spec.dnsNames,
    x509SvidTtl: ttlSeconds(spec.x509SVIDTTL),
    jwtSvidTtl: ttlSeconds(spec.jwtSVIDTTL),
    federatesWith: federatedWith(spec.federatesWith),
    hint: spec.hint,
    admin: spec.admin,
    downstream: spec.downstream,
    storeSvid: spec.storeSVID,
    placeholders: [],
  }
}

function verdictOf(
  handling: ObjectHandling,
  entry: RenderedEntry | undefined,
  spec: ClusterStaticEntrySpec,
  settings: ScmSettings,
  source: EntrySource,
): EntryVerdict {
  if (handling.state === 'ignored') return handling
  if (handling.state === 'invalid') return { state: 'failed', field: handling.field, why: handling.why }
  const refusal = entry === undefined ? undefined : refusalOf(entry, spec, settings, source)
  if (refusal?.state === 'refused') return refusal
  if (handling.state !== 'handled') return { state: 'depends', why: handling.why }
  const bundle = entry === undefined ? undefined : bundleNeeded(entry.federatesWith, settings, source)
  if (refusal !== undefined) return refusal
  const needed = (entry === undefined ? undefined : domainNeeded(entry, settings, source)) ?? bundle
  return needed === undefined ? { state: 'declared' } : { state: 'depends', why: needed, isSent: true }
}

function refused(why: string): EntryVerdict {
  return { state: 'refused', why }
}

/** Why the server refuses a static entry, or may; SCM itself hardly checks it. Undefined where the server accepts it. */
function refusalOf(
  entry: RenderedEntry,
  spec: ClusterStaticEntrySpec,
  settings: ScmSettings,
  source: EntrySource,
): EntryVerdict | undefined {
  const of = `of ${sourceText(source)}`
  const id = idRefusal(entry, of)
  if (id !== undefined) return refused(id)
  const ttl =
    ttlRefusal('.spec.x509SVIDTTL', entry.x509SvidTtl, source) ??
    ttlRefusal('.spec.jwtSVIDTTL', entry.jwtSvidTtl, source) ??
    hintRefusal(spec.hint, source) ??
    bundleRefusal(entry.federatesWith, settings, source)
  if (ttl !== undefined) return refused(ttl)
  if (entry.selectors.length === 0) return refused(`.spec.selectors ${of} is empty`)
  const twice = repeated(spec.selectors) ?? repeated(spec.dnsNames)
  if (twice !== undefined) return refused(`${sourceText(source)} names ${twice} twice`)
  if (spec.storeSVID && new Set(entry.selectors.map(({ type }) => type)).size > 1) {
    return refused(`.spec.storeSVID ${of} needs selectors of one type`)
  }
  return dnsRefusal(spec.dnsNames, of)
}

function idRefusal(entry: RenderedEntry, of: string): string | undefined {
  const problem = entryIdProblem(entry.spiffeId)
  if (problem !== undefined) return `.spec.spiffeID ${of} ${problem}`
  const parent = parseSpiffeId(entry.parentId)
  return parent.ok && parent.path === '' ? `.spec.parentID ${of} has no path` : undefined
}

/**
 * Why it is not certain that an entry is in the trust domain of the SPIRE server, which refuses any other. SCM does not compare
 * them, and that it has the server's trust domain is an assumption, which decides nothing here.
 */
function domainNeeded(entry: RenderedEntry, settings: ScmSettings, source: EntrySource): string | undefined {
  const of = `of ${sourceText(source)}`
  const server = 'the SPIRE server takes it only in its own trust domain'
  if (settings.trustDomain === undefined) return `${server}, which is not known (.spec.spiffeID ${of})`
  for (const [field, text] of [
    ['spiffeID', entry.spiffeId],
    ['parentID', entry.parentId],
  ] as const) {
    const parsed = parseSpiffeId(text)
    if (parsed.ok && parsed.trustDomain !== settings.trustDomain)
      return `${server}, and .spec.${field} ${of} is not in SCM's, ${settings.trustDomain}`
  }
  return undefined
}

function dnsRefusal(names: readonly string[], of: string): EntryVerdict | undefined {
  let uncertain: EntryVerdict | undefined
  for (const [at, name] of names.entries()) {
    const verdict = dnsNameVerdict(name)
    const field = `.spec.dnsNames[${at}] ${of}, ${JSON.stringify(name)},`
    if (verdict.kind === 'refused') return { state: 'refused', why: `${field} ${verdict.why}` }
    if (verdict.kind === 'unknown')
      uncertain ??= { state: 'depends', why: `${field} ${verdict.why}`, isSent: true }
  }
  return uncertain
}

/** The first text that a list holds twice; undefined where there is none. */
export function repeated(texts: readonly string[]): string | undefined {
  const seen = new Set<string>()
  for (const text of texts) {
    if (seen.has(text)) return text
    seen.add(text)
  }
  return undefined
}
