// A ClusterSPIFFEID as SCM reads it: whether SCM sees and handles it, and its parsed spec.
// Source: SCM v0.7.0, api/v1alpha1/clusterspiffeid_webhook.go (ParseClusterSPIFFEIDSpec) and pkg/spireentry/reconciler.go
// (docs/spire-facts.md §1, §2, §11.9, §11.13).
import {
  classHandling,
  durationFault,
  ttlSeconds,
  ttlRefusal,
  hintRefusal,
  mayMiss,
  federatedWith,
  bundleNeeded,
  bundleRefusal,
  refusedHandling,
} from './common-fields.ts'
import { SCM_CLASS_LABEL } from '../../model/names.ts'
import type { ClusterSpiffeId, ClusterSpiffeIdSpec } from '../../model/objects/clusterspiffeid.ts'
import type { ScmSettings } from '../../model/objects/scm-settings.ts'
import type { HasSelectors } from './candidate-index.ts'
import { precedenceOf, type Precedence } from './precedence.ts'
import {
  sourceText,
  type EntrySelector,
  type EntrySource,
  type EntryVerdict,
  type ObjectHandling,
} from './prediction.ts'
import { selectorProblem } from '../../model/objects/label-match.ts'
import { parseFederatedTrustDomain } from '../../model/spiffe-id.ts'
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

/** The fields of an entry that are the same for every pod, and whether the server accepts them. */
export interface FixedFields {
  readonly x509SvidTtl: number
  readonly jwtSvidTtl: number
  readonly federatesWith: readonly string[]
  /** Why the server refuses every entry. */
  readonly refusal: string | undefined
  /** What the server must hold to accept an entry. */
  readonly depends: string | undefined
}

/** A verdict that is the same for every pod. With `depends` SCM may make entries of the object after all. */
export type UniformVerdict = Extract<EntryVerdict, { readonly state: 'ignored' | 'failed' | 'depends' }>

/** What is known of a ClusterSPIFFEID only when its templates are parsed. */
interface Details {
  readonly handling: ObjectHandling
  /** The verdict on every pod, where SCM does not simply handle the object. */
  readonly uniformVerdict: UniformVerdict | undefined
  /** Undefined where SCM cannot parse the spec. */
  readonly templates: Templates | undefined
  /** Whether SCM's render cache may give it an entry that another object has rendered, though it renders none itself. */
  readonly mayTakeEntry: boolean
  readonly fixed: FixedFields
}

/**
 * A ClusterSPIFFEID, ready to be compared with pods. Its templates are parsed at the first question that needs them: most
 * objects select none of the pods that an answer is about.
 */
export class PreparedId implements HasSelectors, Details {
  readonly source: EntrySource
  readonly spec: ClusterSpiffeIdSpec
  readonly namespaceSelector: ClusterSpiffeIdSpec['namespaceSelector']
  readonly podSelector: ClusterSpiffeIdSpec['podSelector']
  readonly precedence: Precedence
  /** How SCM handles the object without decoding it; undefined where SCM decodes it. */
  readonly unseen: ObjectHandling | undefined
  /** Why Go cannot decode it; undefined where it can, and where SCM does not try. */
  readonly undecodable: string | undefined
  /** False where its selectors are not valid, so that they choose no pod. */
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
    this.unseen =
      refusedHandling(object.refusal, this.source) ?? unseenHandling(meta.labels, settings, this.source)
    // SCM may never look at one that a filter of its cache hides.
    const isDecoded = this.unseen === undefined && !mayMiss(this.source, settings)
    this.undecodable = isDecoded ? undecodableWhy(object, this.source) : undefined
    this.selects = selectorFault(spec) === undefined
    this.#make = make
  }

  get handling(): ObjectHandling {
    return this.#details.handling
  }

  get uniformVerdict(): UniformVerdict | undefined {
    return this.#details.uniformVerdict
  }

  get templates(): Templates | undefined {
    return this.#details.templates
  }

  get mayTakeEntry(): boolean {
    return this.#details.mayTakeEntry
  }

  get fixed(): FixedFields {
    return this.#details.fixed
  }

  get #details(): Details {
    return (this.#made ??= this.#make(this))
  }
}

/** Makes the function that prepares ClusterSPIFFEIDs. Equal templates are parsed once: thousands of objects share theirs. */
export function idPreparer(settings: ScmSettings): (object: ClusterSpiffeId) => PreparedId {
  const readers: TemplateReaders = {
    id: fieldTemplateReader(spiffeIdReader(settings.trustDomain)),
    dnsName: fieldTemplateReader(readAnyText),
    selector: fieldTemplateReader(readSelectorText),
  }
  const make = (prepared: PreparedId): Details => detailsOf(prepared, settings, readers)
  return (object) => new PreparedId(object, settings, make)
}

/** How the templates of each field are parsed. */
interface TemplateReaders {
  readonly id: FieldTemplateReader<IdText>
  readonly dnsName: FieldTemplateReader<RenderedText>
  readonly selector: FieldTemplateReader<EntrySelector & RenderedText>
}

function detailsOf(
  { source, spec, unseen, undecodable }: PreparedId,
  settings: ScmSettings,
  readers: TemplateReaders,
): Details {
  const parsed = parseSpec(spec, readers)
  const byClass = classHandling(spec.className, settings, source)
  const handling: ObjectHandling =
    undecodable === undefined
      ? (unseen ?? handlingOf(source, byClass, parsed, settings))
      : { state: 'undecodable', why: undecodable }
  return {
    handling,
    uniformVerdict: uniformVerdictOf(handling, byClass),
    templates: 'templates' in parsed ? parsed.templates : undefined,
    mayTakeEntry: 'templates' in parsed && mayTakeEntry(parsed.templates, settings),
    fixed: fixedFields(spec, settings, source),
  }
}

function uniformVerdictOf(handling: ObjectHandling, byClass: ObjectHandling): UniformVerdict | undefined {
  switch (handling.state) {
    case 'handled':
      return undefined
    case 'ignored':
      return handling
    case 'invalid':
      return { state: 'failed', field: handling.field, why: handling.why }
    case 'undecodable':
      // It stops SCM whatever its class; but SCM makes no entries of an object of another class.
      return byClass.state === 'ignored' ? byClass : { state: 'depends', why: handling.why }
    case 'unknown':
      return { state: 'depends', why: handling.why }
  }
}

function handlingOf(
  source: EntrySource,
  byClass: ObjectHandling,
  parsed: ParsedSpec,
  settings: ScmSettings,
): ObjectHandling {
  if (byClass.state === 'ignored') return byClass
  if ('templates' in parsed) return cacheHandling(source, parsed.templates, settings) ?? byClass
  const why = `${parsed.field} of ${sourceText(source)} is not valid: ${parsed.why}; SCM drops the object`
  return { state: 'invalid', field: parsed.field, why }
}

/** How SCM's render cache handles an object that it cannot keep or cannot tell from another; undefined for any other. */
function cacheHandling(
  source: EntrySource,
  { id, dnsNames, selectors }: Templates,
  { entryRenderCache }: ScmSettings,
): ObjectHandling | undefined {
  if (entryRenderCache === false) return undefined
  const all = [id, ...dnsNames, ...selectors]
  const constant = all.find(({ cacheTrouble }) => cacheTrouble === 'constant')
  const trouble = constant ?? all.find(({ cacheTrouble }) => cacheTrouble === 'definitions')
  if (trouble === undefined) return undefined
  const { field } = trouble
  const of = `${field} of ${sourceText(source)}`
  if (constant === undefined) {
    const why = `${of} uses a definition, and SCM's render cache compares none: it may give out the entry of another object, or of this one before an edit`
    return { state: 'unknown', why: onlyWithCache(why, entryRenderCache) }
  }
  const why = `${of} holds a number or a character constant, which SCM's render cache cannot keep: SCM drops the object`
  return entryRenderCache === undefined
    ? { state: 'unknown', why: onlyWithCache(why, undefined) }
    : { state: 'invalid', field, why }
}

function mayTakeEntry({ id, dnsNames, selectors }: Templates, { entryRenderCache }: ScmSettings): boolean {
  const isTroubled = [id, ...dnsNames, ...selectors].some(
    ({ cacheTrouble }) => cacheTrouble === 'definitions',
  )
  return entryRenderCache !== false && isTroubled
}

function onlyWithCache(why: string, entryRenderCache: boolean | undefined): string {
  return entryRenderCache === undefined ? `${why}; whether enableEntryRenderCache is set is not known` : why
}

/**
 * How SCM handles an object with these labels that the filters of its cache hide, or its switch: it never decodes it.
 * Undefined where SCM sees it.
 */
export function unseenHandling(
  labels: ReadonlyMap<string, string>,
  settings: ScmSettings,
  source: EntrySource,
): ObjectHandling | undefined {
  if (!settings.reconcileClusterSPIFFEIDs) {
    return { state: 'ignored', why: 'SCM is told not to reconcile ClusterSPIFFEIDs' }
  }
  const wanted = new Map(settings.clusterSPIFFEIDLabelSelector)
  if (settings.filterByClassName) wanted.delete(SCM_CLASS_LABEL)
  for (const [label, value] of wanted) {
    if (labels.get(label) !== value) {
      const why = `SCM sees only ClusterSPIFFEIDs labelled ${label}=${value}, and ${sourceText(source)} is not`
      return { state: 'ignored', why }
    }
  }
  if (!settings.filterByClassName) return undefined
  const label = labels.get(SCM_CLASS_LABEL)
  if (settings.className === undefined && label !== undefined) {
    return {
      state: 'unknown',
      why: `SCM sees only the label ${SCM_CLASS_LABEL} of its own class, which is not known`,
    }
  }
  if (label !== undefined && label === settings.className) return undefined
  const has = `${sourceText(source)} has ${label === undefined ? 'none' : label}`
  const why = `SCM sees only ClusterSPIFFEIDs with its class in the label ${SCM_CLASS_LABEL}, and ${has}`
  return { state: 'ignored', why }
}

function undecodableWhy({ undecodable, spec }: ClusterSpiffeId, source: EntrySource): string | undefined {
  const why =
    undecodable[0] ?? durationFault('.spec.ttl', spec.ttl) ?? durationFault('.spec.jwtTtl', spec.jwtTtl)
  if (why === undefined) return undefined
  return `${sourceText(source)} cannot be decoded: ${why}; SCM goes on with what it read before`
}

type ParsedSpec = { readonly templates: Templates } | { readonly field: string; readonly why: string }

/** ParseClusterSPIFFEIDSpec, in its order. */
function parseSpec(spec: ClusterSpiffeIdSpec, readers: TemplateReaders): ParsedSpec {
  if (spec.spiffeIDTemplate === '') return { field: '.spec.spiffeIDTemplate', why: 'it is empty' }
  const id = readers.id('.spec.spiffeIDTemplate', spec.spiffeIDTemplate)
  if (!(id instanceof FieldTemplate)) return { field: '.spec.spiffeIDTemplate', why: id }
  const fault = selectorFault(spec) ?? federationFault(spec)
  if (fault !== undefined) return fault
  const dnsNames = readTemplates('.spec.dnsNameTemplates', spec.dnsNameTemplates, readers.dnsName)
  if ('why' in dnsNames) return dnsNames
  const selectors = readTemplates(
    '.spec.workloadSelectorTemplates',
    spec.workloadSelectorTemplates,
    readers.selector,
  )
  if ('why' in selectors) return selectors
  return { templates: { id, dnsNames: dnsNames.templates, selectors: selectors.templates } }
}

function readTemplates<T>(
  field: string,
  sources: readonly string[],
  read: FieldTemplateReader<T>,
): { readonly templates: readonly FieldTemplate<T>[] } | { readonly field: string; readonly why: string } {
  const templates: FieldTemplate<T>[] = []
  for (const [at, source] of sources.entries()) {
    const template = read(`${field}[${at}]`, source)
    if (!(template instanceof FieldTemplate)) return { field: `${field}[${at}]`, why: template }
    templates.push(template)
  }
  return { templates }
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
      hintRefusal(spec.hint, source) ??
      bundleRefusal(federatesWith, settings, source),
    depends: bundleNeeded(federatesWith, settings, source),
  }
}
