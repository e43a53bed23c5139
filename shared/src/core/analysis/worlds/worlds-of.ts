// Which settings an answer about a snapshot assumes, and the worlds that stand for all ways in which they may be. An answer is worked
// out in each of them: what all of them show is certain, what some show depends on the settings in which they differ
// (docs/assumptions.md has the settings as a table). Why these worlds stand for all others:
//
// - Classes and trust domains are compared for equality alone. What matters is whether kleym's is SCM's: one world in which it is, one
//   with a value that no object names. The same of labels: SCM asks for some, and kleym's outputs carry them or not. SCM's trust domain
//   is also compared with that of each registration, and is part of IDs: each that a registration names has a world too.
// - Each of several SCMs that may be meant is a world of its own: its configuration is known.
// - Of an SCM whose configuration is not known, nothing says which registrations of others it handles: its class, its label filter, its
//   namespaces and its switches allow any subset. Sets have too many values for a world each, so each such registration applies
//   perhaps (`areOthersOpen`), and so does all that follows from it. That allows more than there is, so no finding is missed. The outputs
//   of kleym on one pod are all handled or none is: they share class, labels and namespace. Hence two worlds: all, and none. Worlds
//   in which it handles exactly those of one class stand beside these: rules say more of what is certain.
// - Outputs that have no effect for two reasons have none for one. So worlds differ from the one that is assumed in one setting, beside
//   which SCM is meant.
//
// If no registration but kleym's outputs is there, most of these come to the same: a class that SCM does not handle is like another one.
// Such worlds stay apart, since they say which settings decide, and are evaluated once (`sameAs`).
import { present } from '../../base/present.ts'
import { NO } from '../../model/truth/truth.ts'
import { classLabelProblem, isClassLabel, type Config } from '../../decide/index.ts'
import {
  NO_OPEN_SETTINGS,
  type AssumedSetting,
  type Assumption,
  type OpenSettings,
  type OwnOutputs,
  type SettingsWorld,
} from '../settings/assumptions.ts'
import { valueText, type Dispute, type SettingName } from '../settings/operator-settings.ts'
import { CLUSTER_SPIFFE_ID_KIND, SCM_CLASS_LABEL } from '../../model/names.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { compareBytes, distinct } from '../../base/text/bytes.ts'
import {
  CLASS_PLACEHOLDER,
  doTheSame,
  settingsText,
  type ScmSettings,
} from '../../model/objects/scm-settings.ts'
import { allNamespaces, isAnyClassed, type Snapshot } from '../../snapshot/index.ts'
import { isClassHandled, NamespaceFilter, unseenHandling } from '../../predict/index.ts'
import { parseFederatedTrustDomain, trustDomainIn } from '../../model/spiffe-id.ts'

/** What is known of the settings, beside their values. */
export interface SettingsKnown {
  /** Whether anything gives kleym's class. */
  readonly className: boolean
  /** Whether anything gives kleym's trust domain. */
  readonly trustDomain: boolean
  /** kleym's settings for which the environment or a settings file gives another value. */
  readonly disputes: readonly Dispute[]
  readonly settings: ScmSettings
  /** The other SCMs that may be the one that acts on kleym's output, and those that run beside it. */
  readonly acting: readonly ScmSettings[]
  readonly beside: readonly ScmSettings[]
}

/** The settings that are open for one snapshot. */
export function openSettingsOf(snapshot: Snapshot, config: Config, known: SettingsKnown): OpenSettings {
  const hasBindings = snapshot.bindings.isAnyRead
  if (!hasBindings && !hasRegistrations(snapshot)) return NO_OPEN_SETTINGS
  const others = known.acting.filter(
    (one) =>
      !doTheSame(one, known.settings) ||
      (one.clusterName !== known.settings.clusterName && isClusterNamed(snapshot)),
  )
  return {
    assumptions: present(
      scmAssumption(known.settings),
      others.length > 0 && whichScm(known.settings, others),
      ...(hasBindings ? ownAssumptions(config, known) : []),
    ),
    worlds: worldsOf(snapshot, config, known, others),
    beside: known.beside.filter((one) => handlesAny(snapshot, one)),
  }
}

function scmAssumption(settings: ScmSettings): Assumption | undefined {
  const { assumed, className } = settings
  if (assumed.includes('className')) {
    const name = className === undefined || className === CLASS_PLACEHOLDER ? '' : ` (class ${className})`
    return {
      setting: 'scm',
      what: "SCM's settings",
      assumed: `they are assumed to be as the SPIRE charts set them${name}`,
      otherwise: 'with others SCM may ignore what is shown as issued, and issue what is shown as ignored',
      fix: 'pass --scm-config',
    }
  }
  if (!assumed.includes('trustDomain') && settings.trustDomain !== undefined) return undefined
  return {
    setting: 'scm trust domain',
    what: "SCM's trust domain",
    assumed: `it is assumed to be kleym's`,
    otherwise: 'SCM refuses to render IDs of another one',
    fix: 'pass a --scm-config that has it',
  }
}

function ownAssumptions(
  { trustDomain, className, outputLabels }: Config,
  { className: isClassKnown, trustDomain: isTrustDomainKnown, settings, disputes }: SettingsKnown,
): readonly Assumption[] {
  const isNamed = className !== '' && className !== CLASS_PLACEHOLDER
  const own: Assumption[] = []
  if (!isClassKnown)
    own.push({
      setting: 'class',
      what: "kleym's class",
      assumed: `it is assumed to be SCM's${isNamed ? `, ${className}` : className === '' ? ', which has none' : ', whatever that is'}`,
      otherwise: 'SCM ignores outputs of another class',
      fix: 'pass --clusterspiffeid-class-name',
    })
  if (outputLabels === undefined && settings.clusterSPIFFEIDLabelSelector.size > 0)
    own.push({
      setting: 'output labels',
      what: "kleym's output labels",
      assumed: 'they are assumed to be none',
      otherwise: 'SCM sees only outputs with its labels',
      fix: 'pass --output-label',
    })
  if (!isTrustDomainKnown)
    own.push({
      setting: 'trust domain',
      what: "kleym's trust domain",
      assumed: `it is assumed to be SCM's${trustDomain.kind === 'set' ? `, ${trustDomain.value}` : ''}`,
      otherwise: 'SCM refuses to render IDs of another one',
      fix: 'pass --trust-domain',
    })
  return [...own, ...disputes.flatMap((one) => disputed(one) ?? [])]
}

/** What a disputed setting is called; a binding whose variant label key is disputed is undetermined, which says more. */
const DISPUTED: Readonly<Record<SettingName, Pick<Assumption, 'setting' | 'what'> | undefined>> = {
  className: { setting: 'class', what: "kleym's class" },
  trustDomain: { setting: 'trust domain', what: "kleym's trust domain" },
  outputLabels: { setting: 'output labels', what: "kleym's output labels" },
  variantLabelKey: undefined,
}

function disputed({ setting, used, other }: Dispute): Assumption | undefined {
  const named = DISPUTED[setting]
  if (named === undefined) return undefined
  return {
    ...named,
    assumed: `it is assumed to be ${valueText(used.value)}, as ${used.source} says`,
    otherwise: `${other.source} says ${valueText(other.value)}`,
    fix: 'make the two agree',
    isDisputed: true,
  }
}

function whichScm(first: ScmSettings, others: readonly ScmSettings[]): Assumption {
  return {
    setting: 'which scm',
    what: 'which SCM serves the nodes of a pod',
    assumed: `it is assumed to be that of ${first.source}`,
    otherwise: `another SCM may be meant, whose settings differ: ${others.map(({ source }) => source).join(', ')}`,
    fix: 'pass its configuration with --scm-config',
  }
}

/** Whether an ID, or a selector, may hold the name of the cluster. */
function isClusterNamed({ clusterSpiffeIds }: Snapshot): boolean {
  const named = clusterSpiffeIds.some(({ spec: { spiffeIDTemplate, workloadSelectorTemplates } }) =>
    [spiffeIDTemplate, ...workloadSelectorTemplates].some((template) => template.includes('ClusterName')),
  )
  return named !== NO
}

/** A way in which one setting may be other than it is assumed. */
interface Change {
  readonly setting: AssumedSetting
  readonly value: string
  readonly when: string
  readonly settings?: (assumed: ScmSettings) => ScmSettings
  readonly areOthersOpen?: true
  readonly own?: (settings: ScmSettings) => OwnOutputs
}

/** More classes or trust domains of objects than these have no world of their own. */
const NAMED_MAX = 3

/** Stands for any trust domain, any class and any label that no object names. */
const ANOTHER_DOMAIN = 'another.invalid'
const ANOTHER_CLASS = 'another-class.invalid'
const ANOTHER_LABEL = 'another-label.invalid'

/** Each SCM that may act, as it is assumed to be and with each change. */
function worldsOf(
  snapshot: Snapshot,
  config: Config,
  known: SettingsKnown,
  others: readonly ScmSettings[],
): readonly SettingsWorld[] {
  const changes = changesOf(snapshot, config, known)
  if (others.length === 0 && changes.length === 0) return []
  const worlds = [known.settings, ...others].flatMap((scm, at): readonly SettingsWorld[] => {
    const own: OwnOutputs =
      at > 0 && !known.className && scm.className !== undefined ? { className: scm.className } : {}
    const isIt: readonly Change[] =
      at === 0 ? [] : [{ setting: 'which scm', value: scm.source, when: `it is the SCM of ${scm.source}` }]
    return [
      worldWith(config, scm, own, isIt),
      ...changes.map((change) => worldWith(config, scm, own, [...isIt, change])),
    ]
  })
  const first = new Map<string, number>()
  return worlds.map((world, at) => {
    const sameAs = getOrCreate(first, whatObjectsTell(snapshot, config, world), () => at)
    return sameAs === at ? world : { ...world, sameAs }
  })
}

/** What tells worlds apart, given the objects, as text. */
function whatObjectsTell(
  snapshot: Snapshot,
  config: Config,
  { settings, own, areOthersOpen }: SettingsWorld,
): string {
  const { className, watchClassless, ignoreNamespaces, ...rest } = settings
  const ownClass = own.className ?? config.className
  const isSeenByLabels = settings.filterByClassName || settings.clusterSPIFFEIDLabelSelector.size > 0
  const isOwnAlone = !isAnyClassed(snapshot) && !isSeenByLabels
  // A class is then SCM's or not, which is not known of an output without one and an SCM whose class is not known.
  const ofClass = isOwnAlone
    ? [
        isClassHandled(ownClass, settings),
        className === undefined && ownClass === '',
        ownClass === CLASS_PLACEHOLDER ? undefined : classLabelProblem(ownClass),
      ]
    : [areOthersOpen, ownClass, className, watchClassless]
  const ignored = mayIgnore(snapshot, settings) ? ignoreNamespaces : []
  return settingsText([ofClass, own.labels, own.trustDomain, ignored, rest])
}

/** Whether SCM may ignore something that is here. */
function mayIgnore(snapshot: Snapshot, settings: ScmSettings): boolean {
  const filter = new NamespaceFilter(settings)
  const isIgnored = (name: string): boolean => filter.whyNamespaceIgnored(name) !== undefined
  return allNamespaces(snapshot)?.some(isIgnored) !== false || filter.faults().length > 0
}

function worldWith(
  config: Config,
  scm: ScmSettings,
  assumed: OwnOutputs,
  changes: readonly Change[],
): SettingsWorld {
  const settings = changes.reduce((sofar, change) => change.settings?.(sofar) ?? sofar, scm)
  const [changed] = changes.flatMap((change) => change.own?.(settings) ?? [])
  const own = { ...assumed, ...changed }
  return {
    values: new Map(changes.map(({ setting, value }) => [setting, value])),
    when: changes.map(({ when }) => when).join(', and '),
    settings,
    own,
    areOthersOpen: changes.some(({ areOthersOpen }) => areOthersOpen === true),
    areOutputsHandled: areHandled(config, settings, own),
  }
}

/** Whether SCM handles kleym's outputs by what they all have in common. */
function areHandled(config: Config, settings: ScmSettings, own: OwnOutputs): boolean {
  const className = own.className ?? config.className
  const labels = new Map([...(config.outputLabels ?? []), ...(own.labels ?? [])])
  if (isClassLabel(className)) labels.set(SCM_CLASS_LABEL, className)
  const trustDomain =
    own.trustDomain ?? (config.trustDomain.kind === 'set' ? config.trustDomain.value : undefined)
  return (
    isClassHandled(className, settings) &&
    unseenHandling(labels, settings, { kind: CLUSTER_SPIFFE_ID_KIND, name: '' }) === undefined &&
    (trustDomain === undefined || settings.trustDomain === undefined || trustDomain === settings.trustDomain)
  )
}

function changesOf(snapshot: Snapshot, config: Config, known: SettingsKnown): readonly Change[] {
  const { className, trustDomain, disputes, settings } = known
  const hasBindings = snapshot.bindings.isAnyRead
  // A value that another source says has a world of its own: what it would show is not known not to be so. The last ones are those of the
  // environment and the settings file: no number of objects crowds them out.
  const otherValues = (name: SettingName): readonly string[] =>
    [...new Set(disputes.flatMap(({ setting, other }) => (setting === name ? [other.value] : [])))].slice(
      -NAMED_MAX,
    )
  const isDisputed = (name: SettingName): boolean => otherValues(name).length > 0
  const isOpen = (name: SettingName, isGiven: boolean): boolean =>
    hasBindings && (!isGiven || isDisputed(name))
  const changes: Change[] = []
  if (settings.assumed.includes('className')) changes.push(...changesOfScm(snapshot, config, known))
  else if (settings.assumed.includes('trustDomain') && config.trustDomain.kind === 'set')
    changes.push(...changesOfDomain(snapshot, config.trustDomain.value))
  if (isOpen('className', className))
    changes.push(
      ...[...otherValues('className'), ANOTHER_CLASS].map((value) => ({
        setting: 'class' as const,
        value,
        when: `kleym's class is ${value === ANOTHER_CLASS ? 'another one' : valueText(value)}`,
        own: () => ({ className: value }),
      })),
    )
  const areLabelsOpen = isOpen('outputLabels', config.outputLabels !== undefined)
  if (areLabelsOpen && settings.clusterSPIFFEIDLabelSelector.size > 0)
    changes.push(
      {
        setting: 'output labels',
        value: 'those that SCM asks for',
        when: "kleym's outputs carry the labels that SCM asks for",
        own: (one) => ({ labels: one.clusterSPIFFEIDLabelSelector }),
      },
      {
        setting: 'output labels',
        value: 'others',
        when: "kleym's outputs carry other labels than SCM asks for",
        own: (one) => ({
          labels: new Map([...one.clusterSPIFFEIDLabelSelector.keys()].map((key) => [key, ANOTHER_LABEL])),
        }),
      },
    )
  if (isOpen('trustDomain', trustDomain))
    changes.push(
      ...[...otherValues('trustDomain'), ANOTHER_DOMAIN].map((value) => ({
        setting: 'trust domain' as const,
        value,
        when: `kleym's trust domain is ${value === ANOTHER_DOMAIN ? 'another one' : value}`,
        settings: (one: ScmSettings) => ({ ...one, trustDomain: one.trustDomain ?? `scm.${ANOTHER_DOMAIN}` }),
        own: () => ({ trustDomain: value }),
      })),
    )
  return changes
}

/** SCM refuses to render IDs of others too in any trust domain but its own, which may be one that they name. */
function changesOfDomain({ clusterSpiffeIds }: Snapshot, assumed: string): readonly Change[] {
  const named = clusterSpiffeIds.read.map(({ spec }) => trustDomainIn(spec.spiffeIDTemplate))
  const plain = named.filter((name) => name !== assumed && parseFederatedTrustDomain(name).ok)
  const domains = distinct(plain)
  return [
    domainChange(ANOTHER_DOMAIN, 'another one', ANOTHER_DOMAIN),
    ...domains.slice(0, NAMED_MAX).map((name) => domainChange(name, name, name)),
    ...(domains.length > NAMED_MAX ? [domainChange('others', 'one that registrations name', undefined)] : []),
  ]
}

function domainChange(value: string, when: string, trustDomain: string | undefined): Change {
  return {
    setting: 'scm trust domain',
    value,
    when: `SCM's trust domain is ${when}`,
    settings: (one) => ({ ...one, trustDomain }),
  }
}

/**
 * For an SCM with unknown settings: it handles kleym's outputs or not, and in both cases any registrations of others. Worlds in
 * which it handles exactly one class are more precise.
 */
function changesOfScm(snapshot: Snapshot, config: Config, known: SettingsKnown): readonly Change[] {
  const hasBindings = snapshot.bindings.isAnyRead
  const named = hasRegistrations(snapshot) ? classesIn(snapshot, known.settings) : []
  return present(
    ...named.flatMap(({ className, watchClassless }) =>
      [true, ...(snapshot.staticEntries.isAnyRead ? [false] : [])].map(
        (reconcileClusterStaticEntries): Change => ({
          setting: 'scm',
          value: JSON.stringify([className, watchClassless, reconcileClusterStaticEntries]),
          when: `${whenText(className, watchClassless)}${reconcileClusterStaticEntries ? '' : ', and reconciles no static entries'}`,
          settings: (one) => ({
            ...ignoringNone(one, className),
            watchClassless,
            reconcileClusterStaticEntries,
          }),
          own: () => (known.className ? {} : { className }),
        }),
      ),
    ),
    {
      setting: 'scm',
      value: 'other',
      when: 'SCM handles other registrations of others',
      settings: (one) => ({
        ...ignoringNone(one, config.className),
        ...(!hasBindings && withOpenDomain(one)),
      }),
      areOthersOpen: true,
    },
    hasBindings &&
      ({
        setting: 'scm',
        value: 'none of ours',
        when: "SCM handles none of kleym's outputs",
        settings: (one: ScmSettings) => ({
          ...ignoringNone(one, ANOTHER_CLASS),
          watchClassless: false,
          ...withOpenDomain(one),
        }),
        areOthersOpen: true,
      } as const),
  )
}

/** Its trust domain, where that is not known: it is assumed to be kleym's for the sake of kleym's outputs alone. */
function withOpenDomain({ assumed }: ScmSettings): Partial<ScmSettings> {
  return assumed.includes('trustDomain') ? { trustDomain: undefined } : {}
}

function ignoringNone(one: ScmSettings, className: string): ScmSettings {
  return { ...one, className, ignoreNamespaces: [] }
}

/** Each class that objects have, none and the one that is assumed; with `watchClassless` too if an object has none. */
function classesIn(
  snapshot: Snapshot,
  assumed: ScmSettings,
): readonly Pick<ScmSettings & { readonly className: string }, 'className' | 'watchClassless'>[] {
  const found = new Set(classesOf(snapshot))
  const isClassless = found.delete('')
  const named = [...found].toSorted(compareBytes).slice(0, NAMED_MAX)
  const classes = [...new Set([assumed.className ?? CLASS_PLACEHOLDER, '', ...named])]
  return [false, ...(isClassless ? [true] : [])].flatMap((watchClassless) =>
    classes
      .filter((className) => className !== '' || !watchClassless)
      .map((className) => ({ className, watchClassless })),
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

/** Whose a ClusterSPIFFEID is does not matter here: an annotation proves nothing. */
function hasRegistrations({ clusterSpiffeIds, staticEntries }: Snapshot): boolean {
  return clusterSpiffeIds.isAnyRead || staticEntries.isAnyRead
}

function classesOf({ clusterSpiffeIds, staticEntries }: Snapshot): readonly string[] {
  return [...clusterSpiffeIds.read, ...staticEntries.read].map(({ spec }) => spec.className)
}

function handlesAny(snapshot: Snapshot, settings: ScmSettings): boolean {
  return classesOf(snapshot).some((className) => isClassHandled(className, settings))
}
