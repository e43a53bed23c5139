// A ClusterSPIFFEID as SCM takes it up: whether it looks at it at all, and its parsed spec.
// Source: SCM v0.7.0, api/v1alpha1/clusterspiffeid_webhook.go (ParseClusterSPIFFEIDSpec) and pkg/spireentry/reconciler.go
// (facts/spire.md §1, §2, §11.9, §11.13).
import type { ClusterSpiffeId, ClusterSpiffeIdSpec } from '../objects/clusterspiffeid.ts'
import type { ScmSettings } from '../objects/scm-settings.ts'
import { byteLength } from '../text/bytes.ts'
import type { Selecting } from './candidates.ts'
import { parseGoDuration, wireSeconds } from '../go/duration.ts'
import { precedenceOf, type Precedence } from './precedence.ts'
import {
  sourceText,
  type EntrySelector,
  type EntrySource,
  type EntryVerdict,
  type ObjectHandling,
} from './prediction.ts'
import { selectorProblem } from './selector.ts'
import { parseFederatedTrustDomain } from './spiffe-id.ts'
import {
  readAnyText,
  readSelectorText,
  fieldTemplateReader,
  type FieldTemplateReader,
  spiffeIdReader,
  FieldTemplate,
  type IdText,
  type RenderedText,
} from './field-template.ts'

/** The templates of a spec that parsed. */
export interface Templates {
  readonly id: FieldTemplate<IdText>
  readonly dnsNames: readonly FieldTemplate<RenderedText>[]
  readonly selectors: readonly FieldTemplate<EntrySelector & RenderedText>[]
}

/** What the server thinks of the fields that are the same for every pod. */
export interface FixedFields {
  readonly x509SvidTtl: number
  readonly jwtSvidTtl: number
  readonly federatesWith: readonly string[]
  /** Why the server refuses every entry. */
  readonly refusal: string | undefined
  /** What the server must have to take an entry. */
  readonly depends: string | undefined
}

/** Verdicts that are the same for every pod; only `depends` lets SCM take the object up perhaps. */
export type Gate = Extract<EntryVerdict, { readonly state: 'ignored' | 'failed' | 'depends' }>

/** What takes the templates of a ClusterSPIFFEID. */
interface Details {
  readonly handling: ObjectHandling
  /** What becomes of it on every pod, where SCM does not simply take it up. */
  readonly gate: Gate | undefined
  /** Undefined where SCM cannot parse the spec. */
  readonly templates: Templates | undefined
  readonly fixed: FixedFields
}

/**
 * A ClusterSPIFFEID, ready to be asked about pods. Its templates are read when something asks for what takes them: most
 * objects select none of the pods that an answer is about.
 */
export class PreparedId implements Selecting, Details {
  readonly source: EntrySource
  readonly spec: ClusterSpiffeIdSpec
  readonly namespaceSelector: ClusterSpiffeIdSpec['namespaceSelector']
  readonly podSelector: ClusterSpiffeIdSpec['podSelector']
  readonly precedence: Precedence
  /** Where SCM never decodes it: what it does instead. */
  readonly unseen: ObjectHandling | undefined
  /** Why Go cannot decode it, where SCM tries to. */
  readonly undecodable: string | undefined
  /** False where its selectors are not valid, so that nobody can say which pods it means. */
  readonly selects: boolean
  readonly #make: (prepared: PreparedId) => Details
  #made: Details | undefined

  constructor(object: ClusterSpiffeId, settings: ScmSettings, make: (prepared: PreparedId) => Details) {
    const { meta, spec } = object
    this.source = { kind: 'ClusterSPIFFEID', name: meta.name }
    this.spec = spec
    this.namespaceSelector = spec.namespaceSelector
    this.podSelector = spec.podSelector
    this.precedence = precedenceOf(meta)
    this.unseen = unseenWhy(object, settings, this.source)
    this.undecodable = this.unseen === undefined ? undecodableWhy(object, this.source) : undefined
    this.selects = selectorFault(spec) === undefined
    this.#make = make
  }

  get handling(): ObjectHandling {
    return this.#details.handling
  }

  get gate(): Gate | undefined {
    return this.#details.gate
  }

  get templates(): Templates | undefined {
    return this.#details.templates
  }

  get fixed(): FixedFields {
    return this.#details.fixed
  }

  get #details(): Details {
    return (this.#made ??= this.#make(this))
  }
}

/** Prepares ClusterSPIFFEIDs. What they say in the same words they share: the thousands of one namespace name it alike. */
export function idPreparer(settings: ScmSettings): (object: ClusterSpiffeId) => PreparedId {
  const readers: StepReaders = {
    id: fieldTemplateReader(spiffeIdReader(settings.trustDomain)),
    dnsName: fieldTemplateReader(readAnyText),
    selector: fieldTemplateReader(readSelectorText),
  }
  const make = (prepared: PreparedId): Details => detailsOf(prepared, settings, readers)
  return (object) => new PreparedId(object, settings, make)
}

/** How the templates of each field are read. */
interface StepReaders {
  readonly id: FieldTemplateReader<IdText>
  readonly dnsName: FieldTemplateReader<RenderedText>
  readonly selector: FieldTemplateReader<EntrySelector & RenderedText>
}

function detailsOf(
  { source, spec, unseen, undecodable }: PreparedId,
  settings: ScmSettings,
  readers: StepReaders,
): Details {
  const parsed = parseSpec(spec, readers)
  const byClass = classHandling(spec.className, settings, source)
  const handling: ObjectHandling =
    undecodable === undefined
      ? (unseen ?? handlingOf(source, byClass, parsed))
      : { state: 'undecodable', why: undecodable }
  return {
    handling,
    gate: gateOf(handling, byClass),
    templates: 'templates' in parsed ? parsed.templates : undefined,
    fixed: fixedFields(spec, settings, source),
  }
}

function gateOf(handling: ObjectHandling, byClass: ObjectHandling): Gate | undefined {
  switch (handling.state) {
    case 'handled':
      return undefined
    case 'ignored':
      return handling
    case 'invalid':
      return { state: 'failed', field: handling.field, why: handling.why }
    case 'undecodable':
      // It stalls SCM whatever its class; but nobody's entries come from another class.
      return byClass.state === 'ignored' ? byClass : { state: 'depends', why: handling.why }
    case 'unknown':
      return { state: 'depends', why: handling.why }
  }
}

function handlingOf(source: EntrySource, byClass: ObjectHandling, parsed: ParsedSpec): ObjectHandling {
  if (byClass.state === 'ignored' || 'templates' in parsed) return byClass
  const why = `${parsed.field} of ${sourceText(source)} is not valid: ${parsed.why}; SCM drops the object`
  return { state: 'invalid', field: parsed.field, why }
}

const CLASS_LABEL = 'spire.spiffe.io/class-name'

/** The filters of SCM's cache, and its switch: an object that they hide is never decoded. */
function unseenWhy(
  object: ClusterSpiffeId,
  settings: ScmSettings,
  source: EntrySource,
): ObjectHandling | undefined {
  if (!settings.reconcileClusterSPIFFEIDs) {
    return { state: 'ignored', why: 'SCM is told not to reconcile ClusterSPIFFEIDs' }
  }
  const wanted = new Map(settings.clusterSPIFFEIDLabelSelector)
  if (settings.filterByClassName) wanted.delete(CLASS_LABEL)
  for (const [label, value] of wanted) {
    if (object.meta.labels.get(label) !== value) {
      const why = `SCM sees only ClusterSPIFFEIDs labelled ${label}=${value}, and ${sourceText(source)} is not`
      return { state: 'ignored', why }
    }
  }
  if (!settings.filterByClassName) return undefined
  const label = object.meta.labels.get(CLASS_LABEL)
  if (settings.className === undefined && label !== undefined) {
    return {
      state: 'unknown',
      why: `SCM sees only the label ${CLASS_LABEL} of its own class, which is not known`,
    }
  }
  if (label !== undefined && label === settings.className) return undefined
  const why = `SCM sees only ClusterSPIFFEIDs with its class in the label ${CLASS_LABEL}, and ${sourceText(source)} has ${label === undefined ? 'none' : label}`
  return { state: 'ignored', why }
}

/** The class rule, which ClusterStaticEntries share. */
export function classHandling(className: string, settings: ScmSettings, source: EntrySource): ObjectHandling {
  const own = settings.className
  if (className === own || (className === '' && settings.watchClassless)) return { state: 'handled' }
  if (className === '') {
    if (own === undefined && !settings.assumed.includes('className')) {
      return {
        state: 'unknown',
        why: `${sourceText(source)} has no .spec.className, and SCM's class is not known`,
      }
    }
    const which = own === undefined ? 'objects of its own class' : `class ${own}`
    return {
      state: 'ignored',
      why: `${sourceText(source)} has no .spec.className, and SCM handles only ${which}`,
    }
  }
  const has = `.spec.className of ${sourceText(source)} is ${className}`
  if (own === undefined) return { state: 'unknown', why: `${has}, and SCM's class is not known` }
  return {
    state: 'ignored',
    why: own === '' ? `${has}, and SCM has no class` : `${has}, and SCM's is ${own}`,
  }
}

function undecodableWhy({ undecodable, spec }: ClusterSpiffeId, source: EntrySource): string | undefined {
  const why =
    undecodable[0] ?? durationFault('.spec.ttl', spec.ttl) ?? durationFault('.spec.jwtTtl', spec.jwtTtl)
  if (why === undefined) return undefined
  return `${sourceText(source)} cannot be decoded: ${why}; SCM goes on with what it read before`
}

/** Why Go cannot decode a duration field. */
export function durationFault(field: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const parsed = parseGoDuration(text)
  return parsed.ok ? undefined : `${field} ${parsed.message}`
}

type ParsedSpec = { readonly templates: Templates } | { readonly field: string; readonly why: string }

/** ParseClusterSPIFFEIDSpec, in its order. */
function parseSpec(spec: ClusterSpiffeIdSpec, readers: StepReaders): ParsedSpec {
  if (spec.spiffeIDTemplate === '') return { field: '.spec.spiffeIDTemplate', why: 'it is empty' }
  const id = readers.id('.spec.spiffeIDTemplate', spec.spiffeIDTemplate)
  if (!(id instanceof FieldTemplate)) return { field: '.spec.spiffeIDTemplate', why: id }
  const fault = selectorFault(spec) ?? federationFault(spec)
  if (fault !== undefined) return fault
  const dnsNames = readSteps('.spec.dnsNameTemplates', spec.dnsNameTemplates, readers.dnsName)
  if ('why' in dnsNames) return dnsNames
  const selectors = readSteps(
    '.spec.workloadSelectorTemplates',
    spec.workloadSelectorTemplates,
    readers.selector,
  )
  if ('why' in selectors) return selectors
  return { templates: { id, dnsNames: dnsNames.steps, selectors: selectors.steps } }
}

function readSteps<T>(
  field: string,
  sources: readonly string[],
  read: FieldTemplateReader<T>,
): { readonly steps: readonly FieldTemplate<T>[] } | { readonly field: string; readonly why: string } {
  const steps: FieldTemplate<T>[] = []
  for (const [at, source] of sources.entries()) {
    const step = read(`${field}[${at}]`, source)
    if (!(step instanceof FieldTemplate)) return { field: `${field}[${at}]`, why: step }
    steps.push(step)
  }
  return { steps }
}

function selectorFault(spec: ClusterSpiffeIdSpec): { field: string; why: string } | undefined {
  for (const name of ['namespaceSelector', 'podSelector'] as const) {
    const why = selectorProblem(spec[name])
    if (why !== undefined) return { field: `.spec.${name}`, why }
  }
  return undefined
}

function federationFault(spec: ClusterSpiffeIdSpec): { field: string; why: string } | undefined {
  for (const [at, item] of spec.federatesWith.entries()) {
    const parsed = parseFederatedTrustDomain(item)
    if (!parsed.ok) return { field: `.spec.federatesWith[${at}]`, why: `it ${parsed.message}` }
  }
  return undefined
}

const HINT_BYTES = 1024

function fixedFields(spec: ClusterSpiffeIdSpec, settings: ScmSettings, source: EntrySource): FixedFields {
  const x509SvidTtl = ttlSeconds(spec.ttl)
  const jwtSvidTtl = ttlSeconds(spec.jwtTtl)
  const federatesWith = federatedWith(spec.federatesWith)
  return {
    x509SvidTtl,
    jwtSvidTtl,
    federatesWith,
    refusal:
      ttlRefusal('.spec.ttl', x509SvidTtl, source) ??
      ttlRefusal('.spec.jwtTtl', jwtSvidTtl, source) ??
      hintRefusal(spec.hint, source),
    depends: bundleNeeded(federatesWith, settings, source),
  }
}

/** The seconds that reach the server; 0 where there is no duration, or none that Go can read. */
export function ttlSeconds(text: string | undefined): number {
  const parsed = text === undefined ? undefined : parseGoDuration(text)
  return parsed?.ok === true ? wireSeconds(parsed.nanoseconds) : 0
}

/** Why the server refuses a TTL. */
export function ttlRefusal(field: string, seconds: number, source: EntrySource): string | undefined {
  return seconds < 0 ? `${field} of ${sourceText(source)} reaches the server as ${seconds} s` : undefined
}

/** Why the server refuses a hint. */
export function hintRefusal(hint: string, source: EntrySource): string | undefined {
  const bytes = byteLength(hint)
  if (bytes <= HINT_BYTES) return undefined
  return `.spec.hint of ${sourceText(source)} has ${bytes} bytes, and the server takes ${HINT_BYTES}`
}

/** The trust domains of `federatesWith`, as SCM sends them. */
export function federatedWith(items: readonly string[]): readonly string[] {
  return items.flatMap((item) => {
    const parsed = parseFederatedTrustDomain(item)
    return parsed.ok ? [parsed.trustDomain] : []
  })
}

/** The bundles that the server must hold; that of its own trust domain always is there. */
export function bundleNeeded(
  federatesWith: readonly string[],
  settings: ScmSettings,
  source: EntrySource,
): string | undefined {
  const foreign = federatesWith.filter((name) => name !== settings.trustDomain)
  if (foreign.length === 0) return undefined
  const names = [...new Set(foreign)].join(', ')
  return `the SPIRE server takes it only if it holds a bundle of ${names} (.spec.federatesWith of ${sourceText(source)})`
}
