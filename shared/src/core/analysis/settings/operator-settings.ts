// The settings of kleym itself: from the operator's Deployment (its arguments, then its environment) and from the statuses of
// bindings, and where they contradict each other (docs/contract.md §3; docs/offline.md, "Settings").
import type { Each } from '../../base/each.ts'
import {
  ANNOTATION_BINDING,
  ANNOTATION_OUTPUT_LABELS,
  BINDING_KIND,
  DEFAULT_VARIANT_LABEL_KEY,
  VARIANT_LABEL_KEY_FLAG,
} from '../../model/names.ts'
import type { ClusterSpiffeId } from '../../model/objects/clusterspiffeid.ts'
import { namespacedName } from '../../model/namespaced-name.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { dig, isRecord, keysOf, listAt, stringAt, type JsonRecord } from '../../base/json.ts'
import {
  type Config,
  CLASS_NAME_ENV,
  CLASS_NAME_FLAG,
  TRUST_DOMAIN_ENV,
  TRUST_DOMAIN_FLAG,
  VARIANT_LABEL_KEY_ENV,
  OUTPUT_LABEL_FLAG,
  readOutputLabels,
  variantLabelKeyProblem,
} from '../../decide/index.ts'
import { type Subject, bindingSubject } from '../../model/objects/subject.ts'
import type { Binding } from '../../model/objects/binding.ts'
import { readMeta } from '../../model/objects/meta.ts'
import type { RawObject } from '../../model/objects/raw.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { trustDomainProblem } from '../../model/spiffe-id.ts'

/** The settings of one source; undefined for a setting that the source does not have. */
export interface SettingsSource {
  /** For a person: `Deployment kleym-system/kleym`. */
  readonly source: string
  readonly subject: Subject | undefined
  readonly trustDomain: string | undefined
  readonly className: string | undefined
  /** Undefined where this source says nothing of them: a status holds none. */
  readonly outputLabels?: ReadonlyMap<string, string> | undefined
  /** Undefined where this source does not tell it: a status does with a variant alone. */
  readonly variantLabelKey?: string | undefined
  /** Of an operator's Deployment alone. */
  readonly bindingsPerNamespace?: number | undefined
}

/** The settings that count, and where sources disagree about them. */
export interface OperatorSettings {
  readonly config: Config
  /** Where the trust domain and the class come from; undefined where no source tells them. */
  readonly trustDomainSource: string | undefined
  readonly classNameSource: string | undefined
  /** Undefined where no source tells the output labels, which are then none. */
  readonly outputLabelsSource: string | undefined
  /** Undefined where no source tells the label key of variants, which the config has then not. */
  readonly variantLabelKeySource: string | undefined
  readonly contradictions: readonly Contradiction[]
  /** What a later source says otherwise: what such a setting decides is not known. */
  readonly disputes: readonly Dispute[]
}

/** An object that gives other settings than those that count, a line of evidence for each. */
export interface Contradiction {
  readonly subject: Subject
  readonly evidence: readonly string[]
}

/** A setting for which two sources give different values; `used` is the one that the answer takes. */
export interface Dispute {
  readonly setting: SettingName
  readonly used: { readonly value: string; readonly source: string }
  readonly other: { readonly value: string; readonly source: string }
}

/** The settings of each operator Deployment among some objects. */
export function deploymentSettings(objects: readonly RawObject[]): readonly SettingsSource[] {
  return objects.flatMap(({ value }) => {
    if (value['kind'] !== 'Deployment') return []
    const { namespace, name } = readMeta(value)
    return listAt(value, 'spec', 'template', 'spec', 'containers').flatMap((container) => {
      const settings = containerSettings(container)
      if (settings === undefined) return []
      const subject = { kind: 'Deployment', namespace, name }
      return [{ source: `Deployment ${namespacedName(namespace, name)}`, subject, ...settings }]
    })
  })
}

/** The settings that the operator wrote into the statuses of bindings. */
export function statusSettings(bindings: Each<Binding>): readonly SettingsSource[] {
  return bindings.flatMap((binding) => {
    const { status } = binding
    if (status?.trustDomain === undefined) return []
    return {
      source: `the status of binding ${binding.key}`,
      subject: bindingSubject(binding),
      trustDomain: status.trustDomain,
      className: status.clusterSPIFFEIDClassName ?? '',
      variantLabelKey: status.variantLabelKey,
    }
  })
}

/**
 * The output labels that kleym's outputs show: no status holds them, and an answer that took them for none would call each
 * of them drift. While they are being changed, the labels that most outputs have.
 */
export function outputSettings(outputs: Iterable<ClusterSpiffeId>): readonly SettingsSource[] {
  const counts = new Map<string, { readonly labels: ReadonlyMap<string, string>; count: number }>()
  for (const { meta } of outputs) {
    if (!meta.annotations.has(ANNOTATION_BINDING)) continue
    const keys = meta.annotations.get(ANNOTATION_OUTPUT_LABELS)?.split(',') ?? []
    const labels = new Map(
      keys.flatMap((key) => (meta.labels.has(key) ? [[key, meta.labels.get(key) ?? '']] : [])),
    )
    getOrCreate(counts, labelsText(labels) ?? '', () => ({ labels, count: 0 })).count += 1
  }
  const [most] = [...counts].toSorted(
    ([leftText, left], [rightText, right]) => right.count - left.count || compareBytes(leftText, rightText),
  )
  if (most === undefined) return []
  const source = "kleym's ClusterSPIFFEIDs"
  return [
    {
      source,
      subject: undefined,
      trustDomain: undefined,
      className: undefined,
      outputLabels: most[1].labels,
    },
  ]
}

/**
 * Takes each setting from the first source that has it; every later source that differs contradicts it, and leaves open what the setting
 * decides. `isChange`: tells of a source that another which differs from it is a change, and no contradiction.
 */
export function mergeSettings(
  sources: readonly SettingsSource[],
  isChange: (source: string) => boolean = () => false,
): OperatorSettings {
  const trustDomain = sources.find((one) => one.trustDomain !== undefined)
  const className = sources.find((one) => one.className !== undefined)
  const outputLabels = sources.find((one) => one.outputLabels !== undefined)
  const variantLabelKey = sources.find((one) => one.variantLabelKey !== undefined)
  const most = sources.find((one) => one.bindingsPerNamespace !== undefined)?.bindingsPerNamespace
  const firsts = { trustDomain, className, outputLabels, variantLabelKey }
  // Of two Deployments either may be the one that serves, a changed one too.
  const isGiven = (source: string): boolean =>
    isChange(source) && sources.some((one) => one.source === source && one.subject === undefined)
  const disputes = sources
    .flatMap((one) => disputesOf(one, firsts).filter(({ setting }) => !isBehind(one, firsts[setting])))
    .filter(({ used, other }) => !isGiven(used.source) && !isGiven(other.source))
  const isKeyDisputed = disputes.some(({ setting }) => setting === 'variantLabelKey')
  return {
    config: {
      trustDomain:
        trustDomain?.trustDomain === undefined
          ? { kind: 'not known' }
          : { kind: 'set', value: trustDomain.trustDomain },
      className: className?.className ?? '',
      ...(outputLabels?.outputLabels === undefined ? {} : { outputLabels: outputLabels.outputLabels }),
      ...(variantLabelKey?.variantLabelKey === undefined || isKeyDisputed
        ? {}
        : { variantLabelKey: variantLabelKey.variantLabelKey }),
      ...(most !== undefined && { bindingsPerNamespace: most }),
    },
    trustDomainSource: trustDomain?.source,
    classNameSource: className?.source,
    outputLabelsSource: outputLabels?.source,
    variantLabelKeySource: isKeyDisputed ? undefined : variantLabelKey?.source,
    contradictions: contradictionsOf(sources, firsts, isChange),
    disputes,
  }
}

/**
 * Whether a source only shows what has not been carried out yet: outputs that are being changed, and a status until the operator has
 * rewritten it.
 */
function isBehind({ subject }: SettingsSource, first: SettingsSource | undefined): boolean {
  return subject === undefined || (subject.kind === BINDING_KIND && first?.subject?.kind === 'Deployment')
}

/** The settings of kleym itself, with what a person calls them. */
const SETTINGS = {
  trustDomain: 'the trust domain',
  className: 'the class',
  outputLabels: 'the output labels',
  variantLabelKey: 'the variant label key',
} as const
/** One of them. */
export type SettingName = keyof typeof SETTINGS

/** The first source of each setting. */
type FirstSources = Readonly<Record<SettingName, SettingsSource | undefined>>

/** What a source says of a setting, as text; undefined if it says nothing. */
function valueIn(source: SettingsSource | undefined, setting: SettingName): string | undefined {
  return setting === 'outputLabels' ? labelsText(source?.outputLabels) : source?.[setting]
}

/** The settings for which a source gives another value than the first that has them. */
function disputesOf(source: SettingsSource, firsts: FirstSources): readonly Dispute[] {
  return keysOf(SETTINGS).flatMap((setting) => {
    const first = firsts[setting]
    const [used, other] = [valueIn(first, setting), valueIn(source, setting)]
    if (first === undefined || used === undefined || other === undefined || used === other) return []
    return {
      setting,
      used: { value: used, source: first.source },
      other: { value: other, source: source.source },
    }
  })
}

function contradictionsOf(
  sources: readonly SettingsSource[],
  firsts: FirstSources,
  isChange: (source: string) => boolean,
): readonly Contradiction[] {
  const bySubject = new Map<string, { subject: Subject; evidence: string[] }>()
  for (const one of sources) {
    const { subject } = one
    if (subject === undefined) continue
    for (const { setting, used, other } of disputesOf(one, firsts)) {
      // A status of before the change says what was set before.
      if (isBehind(one, firsts[setting]) && isChange(used.source)) continue
      getOrCreate(bySubject, one.source, () => ({ subject, evidence: [] })).evidence.push(
        `${SETTINGS[setting]} is ${valueText(other.value)} here, and ${valueText(used.value)} by ${used.source}`,
      )
    }
  }
  return [...bySubject.values()]
}

/** Output labels as a person writes them; undefined where nothing is said of them. */
function labelsText(labels: ReadonlyMap<string, string> | undefined): string | undefined {
  return labels === undefined
    ? undefined
    : [...labels]
        .map(([key, value]) => `${key}=${value}`)
        .toSorted(compareBytes)
        .join(', ')
}

function containerSettings(container: unknown): Omit<SettingsSource, 'source' | 'subject'> | undefined {
  const args = argumentsOf(container)
  const env = listAt(container, 'env')
  const flagged = args.some((arg) => arg.startsWith(CLASS_NAME_FLAG))
  const named = env.some((item) => [TRUST_DOMAIN_ENV, CLASS_NAME_ENV].includes(stringAt(item, 'name') ?? ''))
  const image = (stringAt(container, 'image') ?? '').split('/').at(-1) ?? ''
  const isOperator = flagged || named || (/^kleym(-operator)?([:@]|$)/.test(image) && args.length > 0)
  if (!isRecord(container) || !isOperator) return undefined
  const domain = settingIn(container, args, TRUST_DOMAIN_FLAG, TRUST_DOMAIN_ENV)
  const className = settingIn(container, args, CLASS_NAME_FLAG, CLASS_NAME_ENV)
  // With any other value the operator does not start.
  const trustDomain =
    domain.kind === 'set' && trustDomainProblem(domain.value) === undefined ? domain.value : undefined
  const labels = readOutputLabels(argumentsNamed(args, OUTPUT_LABEL_FLAG))
  const isKnown = trustDomain !== undefined && labels.kind === 'labels'
  const classUnset = trustDomain === undefined || className.kind === 'not told' ? undefined : ''
  return {
    trustDomain,
    className: className.kind === 'set' ? className.value : classUnset,
    outputLabels: isKnown ? labels.labels : undefined,
    variantLabelKey: trustDomain === undefined ? undefined : variantLabelKeyIn(container, args),
    bindingsPerNamespace: limitOf(argumentsNamed(args, '--bindings-per-namespace').at(-1)),
  }
}

/** A limit as the operator reads it. One that is filled in later may be the least: 1. */
function limitOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  return /^\d{1,9}$/.test(value) ? Number(value) : 1
}

/** What a container says about a setting: `not told` if only something unread has the value, such as a ConfigMap. */
type Setting = { readonly kind: 'set'; readonly value: string } | { readonly kind: 'unset' | 'not told' }

/** A setting as the operator reads it: the last of its flags, else the variable. */
function settingIn(container: JsonRecord, args: readonly string[], flag: string, name: string): Setting {
  const given = argumentsNamed(args, flag).at(-1)
  if (given !== undefined) return written(given)
  const last = listAt(container, 'env').findLast((item) => stringAt(item, 'name') === name)
  // Kubernetes takes a variable without a value for an empty one.
  if (last !== undefined)
    return dig(last, 'valueFrom') === undefined
      ? written(stringAt(last, 'value') ?? '')
      : { kind: 'not told' }
  return { kind: listAt(container, 'envFrom').length === 0 ? 'unset' : 'not told' }
}

/** What the kubelet or a template engine is to fill in: no class and no domain has any of these. */
const FILLED_IN_LATER = /\$[({]|\{[{%]|</

function written(value: string): Setting {
  return FILLED_IN_LATER.test(value) ? { kind: 'not told' } : { kind: 'set', value }
}

/** The label key of variants in the settings of an operator's container; undefined if they do not show it. */
function variantLabelKeyIn(container: JsonRecord, args: readonly string[]): string | undefined {
  const isFlagged = args.some((arg) => arg.split('=', 1)[0] === VARIANT_LABEL_KEY_FLAG)
  if (isFlagged) return usableKey(argumentsNamed(args, VARIANT_LABEL_KEY_FLAG).at(-1))
  const named = listAt(container, 'env').filter((item) => stringAt(item, 'name') === VARIANT_LABEL_KEY_ENV)
  const last = named.at(-1)
  if (last !== undefined) {
    // Kubernetes takes a variable without a value for an empty one.
    const value = stringAt(last, 'value') ?? (dig(last, 'valueFrom') === undefined ? '' : undefined)
    return value === '' ? DEFAULT_VARIANT_LABEL_KEY : usableKey(value)
  }
  // A ConfigMap or Secret may set it, and neither is read.
  return listAt(container, 'envFrom').length === 0 ? DEFAULT_VARIANT_LABEL_KEY : undefined
}

/** `$(…)` is no label key either. */
function usableKey(value: string | undefined): string | undefined {
  return value !== undefined && variantLabelKeyProblem(value) === undefined ? value : undefined
}

/** Command and arguments of each container of a Deployment. */
export function commandLines(deployment: JsonRecord): readonly (readonly string[])[] {
  return listAt(deployment, 'spec', 'template', 'spec', 'containers').map(argumentsOf)
}

function argumentsOf(container: unknown): readonly string[] {
  return [...listAt(container, 'command'), ...listAt(container, 'args')].filter(
    (arg) => typeof arg === 'string',
  )
}

/** The value of `--flag=value` or `--flag value`, the last of them; undefined with `$(…)`, which only the kubelet can expand. */
export function argument(args: readonly string[], flag: string): string | undefined {
  const value = argumentsNamed(args, flag).at(-1)
  return value === undefined || value.includes('$(') ? undefined : value
}

/** Every value of a flag, as written. */
function argumentsNamed(args: readonly string[], flag: string): readonly string[] {
  return args.flatMap((arg, at) => {
    if (arg.startsWith(`${flag}=`)) return [arg.slice(flag.length + 1)]
    const next = arg === flag ? args[at + 1] : undefined
    return next === undefined ? [] : [next]
  })
}

/** A value as a person reads it. */
export function valueText(value: string): string {
  return value === '' ? '(none)' : value
}
