// Reads the SPIRE Controller Manager's own configuration (ControllerManagerConfig, spire.spiffe.io/v1alpha1), or assumes
// one where none is given. Source: SCM v0.7.0, api/v1alpha1/controllermanagerconfig_types.go, and the hardened SPIRE charts
// (docs/spire-facts.md §7).
import { canonicalText, isRecord, own, typeName, type JsonRecord } from '../../base/json.ts'
import { SCM_CLASS_LABEL } from '../names.ts'
import { FieldReader } from './field-reader.ts'
import { selectorProblem } from './label-match.ts'
import type { LabelSelector } from './label-selector.ts'
import { hasVariable, startProblems } from './scm-schema.ts'
import {
  BUILT_IN_IGNORE_NAMESPACES,
  CHART_IGNORE_NAMESPACES,
  type ScmSettingName,
  type ScmSettings,
} from './scm-settings.ts'

/** Other sources for SCM's settings than its configuration. */
export interface ScmEvidence {
  /** kleym's own trust domain. */
  readonly trustDomain: string | undefined
  /** kleym's own configured class; undefined or empty where it has none. */
  readonly className: string | undefined
  /** The `className` of every ClusterSPIFFEID of the snapshot, empty ones included. */
  readonly clusterSpiffeIdClasses: readonly string[]
}

/** Settings, and what was wrong with the mapping that they were read from: plain sentences. */
export interface ScmConfigReading {
  readonly settings: ScmSettings
  readonly problems: readonly string[]
}

/**
 * Reads a ControllerManagerConfig mapping; `config` undefined means that there is none. Fields that a given
 * configuration leaves out take SCM's own defaults. Never throws.
 */
export function readScmSettings(config: unknown, source: string, evidence: ScmEvidence): ScmConfigReading {
  if (config === undefined) return { settings: assumedScmSettings(evidence), problems: [] }
  const problems: string[] = []
  const problem = (text: string): void => void problems.push(text)
  if (!isRecord(config)) problem(`the configuration is ${typeName(config)}, not a mapping`)
  const fields = new ConfigReader(isRecord(config) ? config : {}, '.', problem)
  const trustDomain = fields.expanded('trustDomain')
  const reconcile = fields.mapping(RECONCILE)
  const caches = readCacheNamespaces(fields, problem)
  const isStatic = fields.literal(STATIC_PATH) !== undefined
  const className = fields.literal('className') === undefined ? '' : fields.expanded('className')
  const assumed: ScmSettingName[] = []
  if (trustDomain === undefined && evidence.trustDomain !== undefined) assumed.push('trustDomain')
  if (className === undefined) assumed.push('className')
  const settings: ScmSettings = {
    source,
    assumed,
    trustDomain: trustDomain ?? evidence.trustDomain,
    clusterName: fields.expanded('clusterName'),
    clusterDomain: fields.expanded('clusterDomain'),
    className: className ?? classFromEvidence(evidence),
    watchClassless: fields.flag('watchClassless'),
    // Go decodes null over a default list as the empty list: nothing is ignored then.
    ignoreNamespaces:
      own(config, 'ignoreNamespaces') === null
        ? []
        : (fields.texts('ignoreNamespaces') ?? BUILT_IN_IGNORE_NAMESPACES),
    parentIDTemplate: fields.literal('parentIDTemplate'),
    clusterSPIFFEIDLabelSelector: labelsIn(
      fields.mapping('clusterSPIFFEIDLabelSelector'),
      '.clusterSPIFFEIDLabelSelector',
      problem,
    ),
    filterByClassName: fields.flag('filterByClassName'),
    ...caches,
    // With static manifests it reads none of the cluster.
    reconcileClusterSPIFFEIDs:
      !isStatic && (reconcile === undefined || own(reconcile, 'clusterSPIFFEIDs') === true),
    reconcileClusterStaticEntries:
      !isStatic && (reconcile === undefined || own(reconcile, 'clusterStaticEntries') === true),
    entryIDPrefix: fields.literal('entryIDPrefix') ?? '',
    entryIDPrefixCleanup: fields.text('entryIDPrefixCleanup'),
    entryRenderCache: fields.flag('enableEntryRenderCache'),
    gcIntervalSeconds: secondsOf(fields.value('gcInterval')),
    unfollowed: unfollowedIn(isRecord(config) ? config : {}, fields),
  }
  for (const name of ['trustDomain', 'clusterName'] as const) {
    if ((fields.value(name) ?? '') === '') problem(`.${name} is missing; SCM does not start without it`)
  }
  if (settings.filterByClassName && settings.className === '') {
    problem('.filterByClassName is set without .className; SCM does not start like that')
  } else if (settings.filterByClassName && className !== undefined) {
    checkLabels(new Map([[SCM_CLASS_LABEL, className]]), '.filterByClassName with .className', problem)
  }
  if (isRecord(config)) problems.push(...startProblems(config))
  return { settings, problems }
}

/** Settings that change nothing about entries: what is logged, measured and led. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'apiVersion',
  'kind',
  'metadata',
  'metrics',
  'health',
  'leaderElection',
  'logLevel',
  'logEncoding',
  'gracefulShutDown',
  'syncPeriod',
])
/** Of these a part is followed alone: whether static manifests are read, and not what is in them. */
const STATIC_PATH = 'staticManifestPath'
const RECONCILE = 'reconcile'

/** All that is not read, whatever it is. */
function unfollowedIn(config: JsonRecord, fields: ConfigReader): ReadonlyMap<string, string> {
  const others = Object.entries(config).filter(
    ([name, value]) =>
      value !== null && !WITHOUT_EFFECT.has(name) && (name === STATIC_PATH || !fields.hasRead(name)),
  )
  const reconcile = own(config, RECONCILE)
  const federated = own(reconcile, 'clusterFederatedTrustDomains') ?? reconcile === undefined
  return new Map([
    ...others.map(([name, value]) => [name, canonicalText(value)] as const),
    ['reconcile.clusterFederatedTrustDomains', canonicalText(federated)],
  ])
}

/** The settings that the hardened SPIRE charts install; each one that is assumed is listed in `assumed`. */
export function assumedScmSettings(evidence: ScmEvidence): ScmSettings {
  const assumed: ScmSettingName[] = ['className', 'watchClassless', 'ignoreNamespaces']
  if (evidence.trustDomain !== undefined) assumed.unshift('trustDomain')
  return {
    source: 'the SPIRE chart',
    assumed,
    trustDomain: evidence.trustDomain,
    clusterName: undefined,
    clusterDomain: undefined,
    className: classFromEvidence(evidence),
    watchClassless: false,
    ignoreNamespaces: CHART_IGNORE_NAMESPACES,
    parentIDTemplate: undefined,
    clusterSPIFFEIDLabelSelector: new Map(),
    filterByClassName: false,
    cacheNamespaces: undefined,
    reconcileClusterSPIFFEIDs: true,
    reconcileClusterStaticEntries: true,
    entryIDPrefix: '',
    entryIDPrefixCleanup: undefined,
    entryRenderCache: undefined,
  }
}

/**
 * The chart always gives SCM a class, `<release namespace>-<release name>`, so an undefined result stands for a class
 * that exists and is not known, never for none.
 */
function classFromEvidence(evidence: ScmEvidence): string | undefined {
  if (evidence.className !== undefined && evidence.className !== '') return evidence.className
  const classes = new Set(evidence.clusterSpiffeIdClasses)
  classes.delete('')
  const [only, another] = [...classes]
  return another === undefined ? only : undefined
}

/** A whole number of nanoseconds; what is none keeps SCM from starting, which is reported. */
function secondsOf(nanoseconds: unknown): number | undefined {
  return typeof nanoseconds === 'number' && nanoseconds > 0 ? nanoseconds / 1e9 : undefined
}

function readCacheNamespaces(
  fields: ConfigReader,
  problem: (text: string) => void,
): Pick<ScmSettings, 'cacheNamespaces' | 'cacheFieldSelected'> {
  const single = fields.expanded('cacheNamespace')
  const several = fields.mapping('cacheNamespaces')
  if (single === undefined && several === undefined) return { cacheNamespaces: undefined }
  const caches = new Map<string, LabelSelector | undefined>()
  const byField = new Set<string>()
  if (single !== undefined) caches.set(single, undefined)
  for (const [namespace, narrowing] of Object.entries(several ?? {})) {
    const where = `.cacheNamespaces[${JSON.stringify(namespace)}]`
    if (narrowing !== null && !isRecord(narrowing)) {
      problem(`${where} is ${typeName(narrowing)}, not a mapping`)
    }
    const matchLabels = labelsIn(own(narrowing, 'labelSelectors'), `${where}.labelSelectors`, problem)
    caches.set(namespace, matchLabels.size === 0 ? undefined : { matchLabels, matchExpressions: [] })
    if (textsIn(own(narrowing, 'fieldSelectors'), `${where}.fieldSelectors`, problem).size > 0)
      byField.add(namespace)
  }
  if (caches.size === 0) return { cacheNamespaces: undefined }
  return { cacheNamespaces: caches, ...(byField.size === 0 ? {} : { cacheFieldSelected: byField }) }
}

/** The labels that SCM asks the API server for. */
function labelsIn(
  value: unknown,
  where: string,
  problem: (text: string) => void,
): ReadonlyMap<string, string> {
  const labels = textsIn(value, where, problem)
  checkLabels(labels, where, problem)
  return labels
}

/** The API server refuses a list by labels that no object can have: SCM's cache never fills, and SCM ends. */
function checkLabels(
  labels: ReadonlyMap<string, string>,
  where: string,
  problem: (text: string) => void,
): void {
  const isKnown = [...labels].every((pair) => !pair.some(hasVariable))
  const why = isKnown ? selectorProblem({ matchLabels: labels, matchExpressions: [] }) : undefined
  if (why !== undefined) problem(`${where} asks for a label that no object can have: ${why}`)
}

/** Texts by their keys, as Go reads them: null is the empty text, and any other value keeps SCM from starting. */
function textsIn(
  value: unknown,
  where: string,
  problem: (text: string) => void,
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  if (value === undefined || value === null) return texts
  if (!isRecord(value)) problem(`${where} is ${typeName(value)}, not a mapping`)
  for (const [key, item] of isRecord(value) ? Object.entries(value) : []) {
    if (item === null || typeof item === 'string') texts.set(key, item ?? '')
    else problem(`${where}[${JSON.stringify(key)}] is ${typeName(item)}, not a string`)
  }
  return texts
}

/** Reads the fields of the configuration. */
class ConfigReader extends FieldReader {
  readonly #read = new Set<string>()

  override value(name: string): unknown {
    this.#read.add(name)
    return super.value(name)
  }

  /** Whether a field was asked for. */
  hasRead(name: string): boolean {
    return this.#read.has(name)
  }

  /** A non-empty string; undefined where it is absent, or where SCM's `-expand-env` would replace a part of it. */
  expanded(name: string): string | undefined {
    const written = this.literal(name)
    return written === undefined || !hasVariable(written) ? written : undefined
  }

  /** A non-empty string as written. */
  literal(name: string): string | undefined {
    const text = this.text(name)
    return text === '' ? undefined : text
  }
}
