// What kleym and SCM are set to, from all who can say: the command line, the operator's Deployment, statuses, SCM's
// ConfigMap (docs/offline.md, "Settings"). A setting that none of them shows is assumed, and a note says so.
import { present } from '@kleym/shared/core/base/present.ts'
import type { Each } from '@kleym/shared/core/base/each.ts'
import { mayHoldScmConfig } from '@kleym/shared/core/model/subject-groups.ts'
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import {
  type OpenSettings,
  openSettingsOf,
  deploymentSettings,
  outputSettings,
  mergeSettings,
  statusSettings,
  type OperatorDeployment,
  operatorsIn,
  type OperatorSettings,
  type SettingsSource,
  scmContainersOf,
  type ConfigMapKey,
  type ScmContainer,
  acts,
  rivalScms,
  scmInstances,
  type ScmConfigText,
  type ScmInstance,
} from '@kleym/shared/core/analysis/index.ts'
import { finding, type Finding, disagreements, SCM_SUBJECT } from '@kleym/shared/core/findings/index.ts'
import {
  CLASS_NAME_FLAG,
  TRUST_DOMAIN_FLAG,
  VARIANT_LABEL_KEY_FIX,
  variantLabelKeyProblem,
} from '@kleym/shared/core/decide/index.ts'
import type { Binding } from '@kleym/shared/core/model/objects/binding.ts'
import type { ClusterSpiffeId } from '@kleym/shared/core/model/objects/clusterspiffeid.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { readScmSettings, type ScmEvidence } from '@kleym/shared/core/model/objects/scm-config.ts'
import {
  CLASS_PLACEHOLDER,
  doTheSame,
  type ScmSettings,
} from '@kleym/shared/core/model/objects/scm-settings.ts'
import type { Snapshot } from '@kleym/shared/core/snapshot/index.ts'
import { VARIANT_LABEL_KEY_FLAG } from '@kleym/shared/core/model/names.ts'
import { trustDomainProblem } from '@kleym/shared/core/model/spiffe-id.ts'
import { KleymError } from '../io/errors.ts'
import { SCM_NAMESPACES } from '../flags/flags.ts'
import type { SettingsOptions } from '../flags/options.ts'
import { configMapTexts } from '../sources/load.ts'
import { placeText, type InputProblem } from '../sources/problem.ts'
import { readScmConfigFile, scmConfigsIn } from '../sources/scm-config.ts'

/** Throws a usage error for a trust domain, or a label key of variants, that cannot be one. */
export function requireValidSettings({ trustDomain, variantLabelKey }: SettingsOptions): void {
  if (trustDomain !== undefined)
    requireNone(trustDomainProblem(trustDomain), {
      what: 'the trust domain is not valid',
      where: `${TRUST_DOMAIN_FLAG} ${trustDomain}`,
      fix: 'give a name such as example.org: no scheme, no slash, lower-case letters, digits, dots, dashes, underscores',
    })
  if (variantLabelKey === undefined) return
  const why = variantLabelKey === '' ? 'is empty' : variantLabelKeyProblem(variantLabelKey)
  requireNone(why && `it ${why}`, {
    what: 'the variant label key is not valid',
    where: `${VARIANT_LABEL_KEY_FLAG} ${variantLabelKey}`,
    fix: VARIANT_LABEL_KEY_FIX,
  })
}

function requireNone(
  why: string | undefined,
  words: { readonly what: string; readonly where: string; readonly fix: string },
): void {
  if (why !== undefined) throw new KleymError('usage', { ...words, why })
}

/** kleym's own settings, with what is found where sources contradict each other. */
export interface OperatorReading extends OperatorSettings {
  readonly disagreements: readonly Finding[]
  /** The operator's Deployments among the objects. */
  readonly deployments: readonly OperatorDeployment[]
}

function readingOf(settings: OperatorSettings, { deployments }: SettingsObjects): OperatorReading {
  return {
    ...settings,
    disagreements: disagreements(settings.contradictions),
    deployments: operatorsIn(deployments),
  }
}

/** The objects of one side of an answer that say what kleym is set to. */
export interface SettingsObjects {
  /** Those of the operator first. */
  readonly deployments: readonly RawObject[]
  /** Those with a status, at least. */
  readonly bindings: Each<Binding>
  readonly outputs: Iterable<ClusterSpiffeId>
}

/**
 * kleym's own settings: the command line first, then the operators' Deployments, statuses, outputs, the environment, the settings file.
 * `change`: the objects of a change. What they and the command line give otherwise than the objects before it is what the change makes
 * of them.
 */
export function operatorSettings(
  settings: SettingsOptions,
  objects: SettingsObjects,
  change?: readonly RawObject[],
): OperatorReading {
  const { fallbacks = [] } = settings
  const claims = claimsOf(objects)
  // An operator that is there and does not tell a setting may be set to anything, whatever the one before the change was.
  const isOperatorThere = claims.some(({ subject }) => subject?.kind === 'Deployment')
  const changing =
    change && new Set([COMMAND_LINE, ...deploymentSettings(change).map(({ source }) => source)])
  return readingOf(
    mergeSettings(
      [
        flagClaim(settings),
        ...claims,
        ...fallbacks.filter(({ subject }) => subject !== undefined || !isOperatorThere),
      ],
      (source) => changing?.has(source) === true,
    ),
    objects,
  )
}

/**
 * What kleym is set to before a change: what the objects of that side say, and the command line only where they do not. A
 * setting that is given otherwise than it is there is a change, too.
 */
export function operatorSettingsBefore(settings: SettingsOptions, objects: SettingsObjects): OperatorReading {
  const { fallbacks = [] } = settings
  return readingOf(
    mergeSettings(
      [...claimsOf(objects), flagClaim(settings), ...fallbacks],
      (source) => source === COMMAND_LINE,
    ),
    objects,
  )
}

function claimsOf({ deployments, bindings, outputs }: SettingsObjects): readonly SettingsSource[] {
  return [...deploymentSettings(deployments), ...statusSettings(bindings), ...outputSettings(outputs)]
}

const COMMAND_LINE = 'the command line'

/** What the command line says. */
export function flagClaim({
  trustDomain,
  className,
  outputLabels,
  variantLabelKey,
}: Pick<SettingsOptions, 'trustDomain' | 'className' | 'outputLabels' | 'variantLabelKey'>): SettingsSource {
  return {
    source: COMMAND_LINE,
    subject: undefined,
    trustDomain,
    className,
    outputLabels,
    variantLabelKey,
  }
}

/** Evidence of SCM's settings where its configuration was not read. */
export function scmEvidence(
  { config, classNameSource }: OperatorSettings,
  clusterSpiffeIds: Iterable<ClusterSpiffeId>,
): ScmEvidence {
  return {
    trustDomain: config.trustDomain.kind === 'set' ? config.trustDomain.value : undefined,
    className: classNameSource === undefined ? undefined : config.className,
    clusterSpiffeIdClasses: [...clusterSpiffeIds].map(({ spec }) => spec.className),
  }
}

/** SCM's settings, and what there is to say about reading them. */
export interface ScmReading {
  readonly settings: ScmSettings
  /** All that were found, that of `settings` first; none where it was given, or none was found. */
  readonly instances: readonly ScmInstance[]
  /** The SCMs beside the one of `settings`; if a configuration was given, those of other classes. */
  readonly others: readonly ScmInstance[]
  /** Those that a source of less weight says: one of them may be the one that serves. */
  readonly disputed: readonly ScmInstance[]
  /** The containers that run SCM, as far as workloads are among the objects. */
  readonly containers: readonly ScmContainer[]
  readonly notes: readonly string[]
  readonly findings: readonly Finding[]
  /** Those that delete the entries of another. */
  readonly rivals: readonly Finding[]
  /** Where what was given is none of those that the objects hold. */
  readonly disagreements: readonly Finding[]
  readonly problems: readonly InputProblem[]
  /** The configurations as they were found, of those that count; none: the settings are assumed. */
  readonly texts: readonly ScmConfigText[]
}

/** Both settings that an answer rests on. */
export interface SettingsReading {
  readonly operator: OperatorReading
  readonly scm: ScmReading
}

/**
 * kleym's settings with SCM's: a class or a trust domain of kleym's that nothing gives is assumed to be SCM's, whatever that is.
 * Every command shows the same value, and what rests on it depends (`openSettingsAbout`).
 */
export function withSettingsOfScm({ operator, scm }: SettingsReading): SettingsReading {
  return withClassOfScm({ operator: withTrustDomainOfScm(operator, scm.settings), scm })
}

function withTrustDomainOfScm(operator: OperatorReading, { trustDomain }: ScmSettings): OperatorReading {
  if (operator.config.trustDomain.kind === 'set' || trustDomain === undefined) return operator
  return { ...operator, config: { ...operator.config, trustDomain: { kind: 'set', value: trustDomain } } }
}

function withClassOfScm({ operator, scm }: SettingsReading): SettingsReading {
  if (operator.classNameSource !== undefined) return { operator, scm }
  const isSaid = scm.settings.className !== undefined || !scm.settings.assumed.includes('className')
  const className = scm.settings.className ?? CLASS_PLACEHOLDER
  return {
    operator: { ...operator, config: { ...operator.config, className } },
    scm: isSaid ? scm : { ...scm, settings: { ...scm.settings, className } },
  }
}

/** What an answer about a snapshot does not know of these settings. */
export function openSettingsAbout(snapshot: Snapshot, { operator, scm }: SettingsReading): OpenSettings {
  const { others } = scm
  const [first] = scm.instances
  // Where none of several acts on kleym's output, which of them is meant is a guess; --scm-config says it. One that reconciles no
  // ClusterSPIFFEIDs is none of those beside one that does.
  const isCandidate = (one: ScmInstance): boolean =>
    first !== undefined &&
    (acts(one) ||
      (!acts(first) && (one.settings.reconcileClusterSPIFFEIDs || !first.settings.reconcileClusterSPIFFEIDs)))
  return openSettingsOf(snapshot, operator.config, {
    className: operator.classNameSource !== undefined,
    trustDomain: operator.trustDomainSource !== undefined,
    disputes: operator.disputes,
    settings: scm.settings,
    acting: [...others.filter(isCandidate), ...scm.disputed].map(({ settings }) => settings),
    beside: others.filter((one) => !isCandidate(one)).map(({ settings }) => settings),
  })
}

/** Whatever tells SCM's settings, read; which of it counts depends on kleym's own. */
export interface ScmSources {
  /** The file of --scm-config. */
  readonly given: ScmConfigText | undefined
  /** What the environment and the settings file say, in this order; the first that says something counts if nothing else does. */
  readonly fallbacks: readonly (readonly ScmConfigText[])[]
  /** All configurations among the objects, those in the usual place first. */
  readonly found: readonly ScmConfigText[]
  readonly containers: readonly ScmContainer[]
  /** ConfigMaps with a configuration that cannot be read: it may be that of a further SCM. */
  readonly unread: readonly InputProblem[]
}

/** Reads what tells SCM's settings: the file of --scm-config, else the objects. */
export async function readScmSources(
  { scmConfig, fallbacks = [] }: Pick<SettingsOptions, 'scmConfig' | 'fallbacks'>,
  objects: readonly RawObject[],
  cwd: string,
): Promise<ScmSources> {
  const given = scmConfig === undefined ? undefined : await readScmConfigFile(scmConfig, cwd)
  const found = (await scmConfigsIn(objects)).toSorted(byUsualPlace)
  return {
    given,
    fallbacks: fallbacks.flatMap(({ scm }) => (scm.length > 0 ? [scm] : [])),
    found,
    containers: scmContainersOf(objects.map(({ value }) => value)),
    unread: given === undefined ? unreadScmConfigs(objects, found) : [],
  }
}

/**
 * SCM's settings: from --scm-config, else from what stands for it among the objects, else as the SPIRE charts set them.
 * `classFollows`: where kleym's class is not known, it is that of any SCM.
 */
export function scmReading(
  { given, fallbacks: [first = [], ...later], found, containers, unread }: ScmSources,
  clusterSpiffeIds: Iterable<ClusterSpiffeId>,
  operator: OperatorSettings,
  { classFollows, isChange = false }: { readonly classFollows: boolean; readonly isChange?: boolean },
): ScmReading {
  const evidence = scmEvidence(operator, clusterSpiffeIds)
  const reading = given === undefined ? undefined : readScmSettings(given.config, given.source, evidence)
  const isFollowing = classFollows && operator.classNameSource === undefined
  // A class of kleym's that follows is that of any SCM, or of the one that was given.
  const output = isFollowing
    ? { ...operator.config, className: reading?.settings.className }
    : operator.config
  const isNoneElse = given === undefined && found.length === 0
  const all = scmInstances(isNoneElse ? first : found, containers, output, evidence)
  const instances = reading === undefined ? all : []
  const ofFallback = (isNoneElse ? later : [first, ...later]).flatMap((texts) =>
    scmInstances(texts, [], output, evidence),
  )
  const inForce = [...(reading === undefined ? [] : [reading]), ...all].map(({ settings: one }) => one)
  const disputed = ofFallback.filter((one) => !inForce.some((other) => doTheSame(one.settings, other)))
  const contradicting = reading === undefined ? [] : scmContradicting(reading.settings, all)
  const { settings, problems } =
    reading ?? instances[0] ?? readScmSettings(undefined, 'the SPIRE chart', evidence)
  return {
    settings,
    instances,
    others:
      given === undefined
        ? all.slice(1)
        : scmsBesideGiven(given, all, output, {
            evidence,
            isClassKnown: operator.classNameSource !== undefined,
          }),
    disputed: [...(isChange ? [] : contradicting), ...disputed],
    containers,
    notes: severalNotes(instances, operator),
    disagreements: present(
      scmDisagreement(settings, 'given', contradicting),
      ...disputed.flatMap((one) => scmDisagreement(settings, 'used', [one]) ?? []),
    ),
    findings: problems.map((problem) =>
      finding('KLM414', {
        subject: SCM_SUBJECT,
        summary: problem,
        evidence: [`SCM's settings: ${settings.source}`],
      }),
    ),
    rivals: rivalScms(found, containers).map((one) => finding('KLM419', { subject: SCM_SUBJECT, ...one })),
    problems: unread,
    texts: given === undefined ? (isNoneElse ? first : found) : [given],
  }
}

/**
 * The SCMs that run beside the SCM of --scm-config. That SCM replaces the one of its class. If it acts on kleym's output, it
 * also replaces any other that does; this is known only with kleym's class.
 */
function scmsBesideGiven(
  given: ScmConfigText,
  all: readonly ScmInstance[],
  output: Parameters<typeof scmInstances>[2],
  { evidence, isClassKnown }: { readonly evidence: ScmEvidence; readonly isClassKnown: boolean },
): readonly ScmInstance[] {
  const [chosen] = scmInstances([given], [], output, evidence)
  return all.filter(
    (one) =>
      one.settings.className !== chosen?.settings.className &&
      !(isClassKnown && acts(one) && chosen !== undefined && acts(chosen)),
  )
}

/** Reads SCM's settings and decides which count. */
export async function scmSettings(
  settings: SettingsOptions,
  objects: readonly RawObject[],
  { clusterSpiffeIds }: Pick<Snapshot, 'clusterSpiffeIds'>,
  operator: OperatorSettings,
  { cwd, ...how }: { readonly cwd: string; readonly classFollows: boolean; readonly isChange?: boolean },
): Promise<ScmReading> {
  return scmReading(await readScmSources(settings, objects, cwd), clusterSpiffeIds.read, operator, how)
}

/**
 * SCM's settings before a change: those of the objects of that side. The given settings count only if these objects hold none,
 * or hold an equivalent one.
 */
export async function scmSettingsBefore(
  settings: SettingsOptions,
  ...rest: Parameters<typeof scmSettings> extends [unknown, ...infer Rest] ? Rest : never
): Promise<ScmReading> {
  const given = await scmSettings(settings, ...rest)
  if (settings.scmConfig === undefined) return given
  const found = await scmSettings({ ...settings, scmConfig: undefined }, ...rest)
  const isAsGiven = found.instances.some((one) => doTheSame(one.settings, given.settings))
  return found.instances.length === 0 || isAsGiven ? given : found
}

/**
 * First those where SCM usually is: a user who may create a Deployment can make it look like SCM, but not in SPIRE's own
 * namespace.
 */
function byUsualPlace(left: ScmConfigText, right: ScmConfigText): number {
  return Number(isInUsualPlace(right)) - Number(isInUsualPlace(left))
}

function isInUsualPlace({ at }: ScmConfigText): boolean {
  return at !== undefined && SCM_NAMESPACES.includes(at.namespace)
}

/** The SCMs among the objects, if none of them is equivalent to the given one. */
function scmContradicting(given: ScmSettings, found: readonly ScmInstance[]): readonly ScmInstance[] {
  return found.some((one) => doTheSame(one.settings, given)) ? [] : found
}

/** That configurations make other entries than one of more weight; none: nothing is said. */
function scmDisagreement(
  { source }: ScmSettings,
  how: 'given' | 'used',
  found: readonly ScmInstance[],
): Finding | undefined {
  if (found.length === 0) return undefined
  return finding('KLM520', {
    subject: SCM_SUBJECT,
    summary: "SCM's settings are not the same everywhere",
    evidence: found.map(
      ({ settings }) => `${settings.source} makes other entries than ${source}, which is ${how}`,
    ),
  })
}

/** Which of several this answer is about, and why. */
function severalNotes(
  instances: readonly ScmInstance[],
  { classNameSource }: OperatorSettings,
): readonly string[] {
  const [first, ...others] = instances
  if (first === undefined || others.length === 0) return []
  const which = `there are ${instances.length} SCM configurations; ${first.settings.source} is used`
  if (classNameSource === undefined) return [which]
  const acting = instances.filter(acts).length
  if (acting === 0) return [`${which}, and none of them handles kleym's class`]
  return [`${which}: ${acting === 1 ? 'it handles' : `one of ${acting} that handle`} kleym's class`]
}

/** ConfigMaps that mean to hold SCM's configuration and do not: assuming settings in its place would be a guess. */
function unreadScmConfigs(
  objects: readonly RawObject[],
  found: readonly ScmConfigText[],
): readonly InputProblem[] {
  const read = new Set(found.flatMap(({ at }) => (at === undefined ? [] : configMapKeyText(at))))
  return objects.flatMap((object) => {
    if (object.value['kind'] !== 'ConfigMap') return []
    const { namespace, name } = readMeta(object.value)
    return configMapTexts(object)
      .filter(([key]) => !read.has(configMapKeyText({ namespace, name, key })))
      .filter(([, text]) => mayHoldScmConfig(text))
      .filter(([, text]) => /^["\s{]*kind"?:\s*"?ControllerManagerConfig\b/m.test(text))
      .map(([key]): InputProblem => {
        const { origin } = object
        return {
          kind: 'malformed',
          what: `cannot read SCM's configuration in ConfigMap ${namespacedName(namespace, name)}`,
          where: origin === undefined ? `data[${JSON.stringify(key)}]` : placeText(origin),
          why: `data[${JSON.stringify(key)}] does not parse as a ControllerManagerConfig of spire.spiffe.io`,
          fix: 'correct the ConfigMap, or give the configuration with --scm-config',
        }
      })
  })
}

function configMapKeyText({ namespace, name, key }: ConfigMapKey): string {
  return JSON.stringify([namespace, name, key])
}

/** That SCM's configuration is that of the files, where a settings file or the environment gives settings and not this one. */
export function scmRemarks(
  { scmConfig, fallbacks = [] }: SettingsOptions,
  { texts, settings }: ScmReading,
): readonly string[] {
  const sources = fallbacks.filter(({ subject }) => subject !== undefined)
  const isGiven = scmConfig !== undefined || sources.some(({ scm }) => scm.length > 0)
  if (isGiven || sources.length === 0 || texts.length === 0) return []
  return [
    `SCM's configuration is that of the files (${settings.source}), since ${sources.map(({ source }) => source).join(' and ')} gives none`,
  ]
}

/** What `status` and `watch` take for granted because no source shows it, one sentence each. */
export function assumptionNotes(
  { trustDomainSource, classNameSource }: OperatorSettings,
  scm: ScmSettings,
): readonly string[] {
  const notes: string[] = []
  if (trustDomainSource === undefined) notes.push(`the trust domain is not known: pass ${TRUST_DOMAIN_FLAG}`)
  if (classNameSource === undefined) notes.push(`kleym's class is not known: pass ${CLASS_NAME_FLAG}`)
  if (scm.assumed.includes('className')) {
    const name = scm.className === undefined ? 'a class that is not known' : `class ${scm.className}`
    notes.push(
      `SCM's settings are assumed as the SPIRE charts set them (${name}): pass --scm-config to be sure`,
    )
  }
  return notes
}
