// Which settings an answer about a snapshot assumes, and by which other settings of SCM it is worked out too.
// docs/assumptions.md has the same as a table.
import { isClassHandled } from '../spire/common-fields.ts'
import type { Config } from '../compile/config.ts'
import { CLASS_PLACEHOLDER, type ScmSettings } from '../objects/scm-settings.ts'
import { compareBytes } from '../text/bytes.ts'
import type { Snapshot } from '../snapshot/snapshot.ts'
import type { Alternative, Assumption, OpenSettings } from '../assumptions/assumptions.ts'

/** What is known of the settings, beside their values. */
export interface SettingsKnown {
  /** Whether anything gives kleym's class. */
  readonly className: boolean
  readonly settings: ScmSettings
  /** The other SCMs that may be the one that acts on kleym's output, and those that run beside it. */
  readonly acting: readonly ScmSettings[]
  readonly beside: readonly ScmSettings[]
}

/** More classes than these are not tried one by one; the answer depends on SCM's settings whatever they show. */
const CLASSES_MAX = 8

/** The settings that are open for one snapshot. */
export function openSettingsOf(snapshot: Snapshot, config: Config, known: SettingsKnown): OpenSettings {
  const hasBindings = snapshot.bindings.length > 0
  const isAnything = hasBindings || snapshot.clusterSpiffeIds.length > 0 || snapshot.staticEntries.length > 0
  if (!isAnything) return { assumptions: [], alternatives: [] }
  const others = known.acting.filter((one) => !doTheSame(one, known.settings))
  return {
    assumptions: [
      ...scmAssumptions(known.settings),
      ...(others.length === 0 ? [] : [whichScm(known.settings, others)]),
      ...(hasBindings ? ownAssumptions(config, known) : []),
    ],
    alternatives: hasRegistrations(snapshot) ? alternatives(snapshot, known, others) : [],
  }
}

function scmAssumptions(settings: ScmSettings): readonly Assumption[] {
  const { assumed, className } = settings
  if (assumed.includes('className')) {
    const name = className === undefined || className === CLASS_PLACEHOLDER ? '' : ` (class ${className})`
    return [
      {
        setting: 'scm',
        what: "SCM's settings",
        assumed: `they are taken to be as the SPIRE charts set them${name}`,
        otherwise: 'others may ignore what is shown as issued, and give what is shown as ignored',
        fix: 'pass --scm-config',
      },
    ]
  }
  if (!assumed.includes('trustDomain') && settings.trustDomain !== undefined) return []
  return [
    {
      setting: 'scm trust domain',
      what: "SCM's trust domain",
      assumed: `it is taken to be kleym's`,
      otherwise: 'SCM refuses to render IDs of any other',
      fix: 'pass a --scm-config that has it',
    },
  ]
}

function ownAssumptions(
  { trustDomain, className, outputLabels }: Config,
  { className: isClassKnown, settings }: SettingsKnown,
): readonly Assumption[] {
  const isNamed = className !== '' && className !== CLASS_PLACEHOLDER
  const own: Assumption[] = []
  if (!isClassKnown)
    own.push({
      setting: 'class',
      what: "kleym's class",
      assumed: `it is taken to be SCM's${isNamed ? `, ${className}` : className === '' ? ', which has none' : ', whatever that is'}`,
      otherwise: 'SCM ignores output of any other',
      fix: 'pass --clusterspiffeid-class-name',
    })
  if (outputLabels === undefined && settings.clusterSPIFFEIDLabelSelector.size > 0)
    own.push({
      setting: 'output labels',
      what: "kleym's output labels",
      assumed: 'they are taken to be none',
      otherwise: 'SCM sees output with its labels only',
      fix: 'pass --output-label',
    })
  if (trustDomain.kind === 'not known')
    own.push({
      setting: 'trust domain',
      what: "kleym's trust domain",
      assumed: "it is taken to be SCM's",
      otherwise: 'SCM refuses to render IDs of any other',
      fix: 'pass --trust-domain',
    })
  return own
}

function whichScm(first: ScmSettings, others: readonly ScmSettings[]): Assumption {
  return {
    setting: 'which scm',
    what: 'which SCM serves the nodes of a pod',
    assumed: `it is taken to be that of ${first.source}`,
    otherwise: `it may be that of ${others.map(({ source }) => source).join(', ')}, which does otherwise`,
    fix: 'pass its configuration with --scm-config',
  }
}

/** Whether two SCMs make the same of any objects. */
export function doTheSame(one: ScmSettings, other: ScmSettings): boolean {
  return effectOf(one) === effectOf(other)
}

/** All that decides what SCM makes of objects, as text; where it came from and what only names things is no part of it. */
function effectOf(settings: ScmSettings): string {
  const { source: _, assumed: __, clusterName: ___, ...rest } = settings
  const { entryIDPrefix: ____, entryIDPrefixCleanup: _____, ...effect } = rest
  return JSON.stringify(effect, (_key, value: unknown) =>
    value instanceof Map ? [...value] : value instanceof Set ? [...value] : value,
  )
}

/** Whose a ClusterSPIFFEID is does not matter here: an annotation proves nothing. */
function hasRegistrations({ clusterSpiffeIds, staticEntries }: Snapshot): boolean {
  return clusterSpiffeIds.length > 0 || staticEntries.length > 0
}

function alternatives(
  snapshot: Snapshot,
  { className, settings, beside }: SettingsKnown,
  others: readonly ScmSettings[],
): readonly Alternative[] {
  const classFollows = !className
  return [
    ...(settings.assumed.includes('className') ? otherClasses(snapshot, settings, classFollows) : []),
    ...others.map((one) => ({ settings: one, classFollows, when: `it is the SCM of ${one.source}` })),
    ...beside
      .filter((one) => handlesAny(snapshot, one))
      .map((one) => ({ settings: one, classFollows: false, when: undefined })),
  ]
}

/** SCM with each class that objects have, with and without `watchClassless`, and with no namespace ignored. */
function otherClasses(
  snapshot: Snapshot,
  assumed: ScmSettings,
  classFollows: boolean,
): readonly Alternative[] {
  const found = new Set(classesOf(snapshot))
  const isClassless = found.delete('')
  const named = [...found].toSorted(compareBytes).slice(0, CLASSES_MAX)
  const own = assumed.className ?? CLASS_PLACEHOLDER
  const classes = [...new Set([own, '', ...named])]
  return [false, ...(isClassless ? [true] : [])].flatMap((watchClassless) =>
    classes
      .filter((className) => className !== '' || !watchClassless)
      .map((className) => ({
        settings: { ...assumed, className, watchClassless, ignoreNamespaces: [] },
        classFollows,
        when: whenText(className, watchClassless),
      })),
  )
}

function whenText(className: string, watchClassless: boolean): string {
  const name =
    className === ''
      ? 'SCM has no class'
      : className === CLASS_PLACEHOLDER
        ? 'SCM has a class of its own'
        : `SCM's class is ${className}`
  return `${name}${watchClassless ? ', it has watchClassless' : ''} and ignores no namespace`
}

function classesOf({ clusterSpiffeIds, staticEntries }: Snapshot): readonly string[] {
  return [...clusterSpiffeIds, ...staticEntries].map(({ spec }) => spec.className)
}

function handlesAny(snapshot: Snapshot, settings: ScmSettings): boolean {
  return classesOf(snapshot).some((className) => isClassHandled(className, settings))
}
