// The settings of the SPIRE Controller Manager that decide what it does with a ClusterSPIFFEID
// (ControllerManagerConfig, SCM v0.7.0; docs/spire-facts.md §2 and §7).
import type { LabelSelector } from './label-selector.ts'

/** The settings of an SCM, with what it defaults to. */
export interface ScmSettings {
  /** Where these came from, for a person: a file, a ConfigMap, or the SPIRE chart's defaults. */
  readonly source: string
  /** The names of the settings that were not given and are taken from the SPIRE chart's defaults. */
  readonly assumed: readonly ScmSettingName[]
  /** Undefined where it is not known. */
  readonly trustDomain: string | undefined
  readonly clusterName: string | undefined
  readonly clusterDomain: string | undefined
  /** The controller's class; undefined if it is not known, empty if it has none. */
  readonly className: string | undefined
  readonly watchClassless: boolean
  /** Go regular expressions, unanchored. */
  readonly ignoreNamespaces: readonly string[]
  /** Undefined: SCM's built-in template. */
  readonly parentIDTemplate: string | undefined
  /** Only ClusterSPIFFEIDs with these labels are seen at all (0.7.0). */
  readonly clusterSPIFFEIDLabelSelector: ReadonlyMap<string, string>
  /** Only ClusterSPIFFEIDs whose label `spire.spiffe.io/class-name` is the class are seen at all (0.7.0). */
  readonly filterByClassName: boolean
  /** The namespaces that SCM's cache holds, each with the label selector that narrows its pods; undefined: all. */
  readonly cacheNamespaces: ReadonlyMap<string, LabelSelector | undefined> | undefined
  /** The cached namespaces that a field selector narrows further, which kleym does not follow. */
  readonly cacheFieldSelected?: ReadonlySet<string>
  readonly reconcileClusterSPIFFEIDs: boolean
  readonly reconcileClusterStaticEntries: boolean
  readonly entryIDPrefix: string
  /**
   * The IDs that SCM removes beside those of its prefix: the prefix of before, or empty for IDs without any (no dot in
   * them); undefined: none (docs/spire-facts.md §3).
   */
  readonly entryIDPrefixCleanup: string | undefined
  /** The foreign trust domains whose bundles its server holds, if given: no object says so. */
  readonly serverBundles?: ReadonlySet<string>
  /** Whether SCM keeps rendered entries (`enableEntryRenderCache`, off by default); undefined where it is not known. */
  readonly entryRenderCache: boolean | undefined
  /** For how long it waits after a pass without an event (`gcInterval`); undefined: its default. */
  readonly gcIntervalSeconds?: number | undefined
  /** Settings that kleym does not follow, each as text; undefined: no configuration is given. */
  readonly unfollowed?: ReadonlyMap<string, string> | undefined
  /** The ClusterSPIFFEIDs of kleym's own, by name, if of no other registration it is known whether SCM handles it. */
  readonly sureOfOnly?: ReadonlySet<string>
}

/** A setting that may be assumed. */
export type ScmSettingName =
  | 'trustDomain'
  | 'clusterName'
  | 'clusterDomain'
  | 'className'
  | 'watchClassless'
  | 'ignoreNamespaces'

/** Stands for a class that is not known, where kleym's is assumed to be SCM's; no class that SCM can have equals it. */
export const CLASS_PLACEHOLDER = '<class>'
/** The `ignoreNamespaces` of the hardened SPIRE charts. */
export const CHART_IGNORE_NAMESPACES: readonly string[] = [
  'kube-system',
  'kube-public',
  'local-path-storage',
  'openshift-.*',
  'ibm-.*',
]
/** The `ignoreNamespaces` that SCM itself defaults to. */
export const BUILT_IN_IGNORE_NAMESPACES: readonly string[] = ['kube-system', 'kube-public', 'spire-system']
/** The `parentIDTemplate` that SCM itself defaults to. */
export const DEFAULT_PARENT_ID_TEMPLATE =
  'spiffe://{{ .TrustDomain }}/spire/agent/k8s_psat/{{ .ClusterName }}/{{ .NodeMeta.UID }}'

/** Whether two SCMs make the same of any objects. */
export function doTheSame(one: ScmSettings, other: ScmSettings): boolean {
  return effectOf(one) === effectOf(other)
}

/** The settings that decide what SCM makes of objects, as text, without their source and without mere names. */
function effectOf(settings: ScmSettings): string {
  const { source: _, assumed: __, clusterName: ___, unfollowed: ____, ...rest } = settings
  const { entryIDPrefix: _____, entryIDPrefixCleanup: ______, ...effect } = rest
  return settingsText(effect)
}

/** In which setting that kleym does not follow two configurations differ, as a sentence; undefined: in none that both show. */
export function unfollowedDifference(
  { unfollowed: before }: ScmSettings,
  { unfollowed: after }: ScmSettings,
): string | undefined {
  if (before === undefined || after === undefined) return undefined
  const names = [...new Set([...before.keys(), ...after.keys()])]
  const differing = names.find((name) => before.get(name) !== after.get(name))
  return differing && `SCM's ${differing} is another one on the other side`
}

/** Settings as text: equal ones have the same. */
export function settingsText(settings: unknown): string {
  return JSON.stringify(settings, (_key, value: unknown) =>
    value instanceof Map || value instanceof Set ? [...value] : value,
  )
}

/** A prefix of the IDs of entries. SCM adds the dot where it is missing. */
export function dotted(prefix: string): string {
  return prefix === '' || prefix.endsWith('.') ? prefix : `${prefix}.`
}
