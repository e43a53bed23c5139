// Everything that an answer needs, read before anything is decided: files, what stands for the live side, settings.
import { analyse, type Analysis } from '@kleym/shared/core/analysis.ts'
import { finding, type Finding } from '@kleym/shared/core/findings/finding.ts'
import { SCM_SUBJECT } from '@kleym/shared/core/findings/install-rules.ts'
import {
  operatorClaims,
  settleSettings,
  statusClaims,
  CLASS_NAME_FLAG,
  TRUST_DOMAIN_FLAG,
  type OperatorSettings,
  type SettingsClaim,
} from '@kleym/shared/core/install/operator-settings.ts'
import type { Ignorance } from '@kleym/shared/core/knowledge.ts'
import { compareBytes } from '@kleym/shared/core/text/bytes.ts'
import { readMeta } from '@kleym/shared/core/objects/meta.ts'
import type { RawObject } from '@kleym/shared/core/objects/raw.ts'
import { readScmSettings } from '@kleym/shared/core/objects/scm-config.ts'
import type { ScmSettings } from '@kleym/shared/core/objects/scm-settings.ts'
import { readSnapshot, type Snapshot } from '@kleym/shared/core/snapshot.ts'
import { trustDomainProblem } from '@kleym/shared/core/spire/spiffe-id.ts'
import { KleymError } from '../cli/errors.ts'
import type { CommonOptions, SettingsOptions } from '../cli/options.ts'
import { configMapTexts, loadFiles, type LoadedFiles, type SourceIo } from '../sources/load.ts'
import { placeText, type InputProblem } from '../sources/problem.ts'
import { readScmConfigFile, scmConfigsIn } from '../sources/scm-config.ts'
import { withPossibleNames } from './names.ts'
import { overlay, without } from './overlay.ts'
import { WANTED_KINDS } from './wanted.ts'

export interface World {
  /** The state that the question is about: the live side with the files applied. */
  readonly after: Analysis
  /** The live side; the same as `after` where the files are all there is. */
  readonly before: Analysis
  readonly operator: OperatorSettings
  /** Findings about what was read rather than about what it means. */
  readonly inputFindings: readonly Finding[]
  /** What could not be read. */
  readonly problems: readonly InputProblem[]
  /** For stderr. */
  readonly notes: readonly string[]
}

/** Reads all sources. Throws a KleymError for what the command line gets wrong; all else is in `problems`. */
export async function gather(options: CommonOptions, io: SourceIo): Promise<World> {
  const { sources, settings } = options
  requireValidSettings(settings)
  const rules = { wanted: WANTED_KINDS, namespace: sources.namespace }
  const live =
    sources.live === undefined
      ? undefined
      : await loadFiles(
          { files: [sources.live], recursive: true, kustomize: undefined },
          { ...rules, dumps: true },
          io,
        )
  const files = await loadFiles(sources.files, { ...rules, dumps: live === undefined }, io)
  const named = withPossibleNames(removeNamed(overlay(live?.objects ?? [], files.objects), options))
  const unread = [...(live?.problems ?? []), ...files.problems, ...named.problems]
  refuseWrongPaths(unread)
  const { objects } = named
  const gaps = gapsOf(unread)
  const after = readSnapshot({ objects, gaps })
  // What the question starts from: the live side, or all files where only something is taken away from them.
  const start = live?.objects ?? (sources.without.length > 0 ? files.objects : undefined)
  const before =
    start === undefined ? undefined : readSnapshot({ objects: withPossibleNames(start).objects, gaps })
  const operator = settleSettings([
    flagClaim(settings),
    ...operatorClaims(objects),
    ...statusClaims(after.bindings),
  ])
  const scm = await scmSettings(settings, objects, after, operator, io)
  const analysis = analyse(after, operator.config, scm.settings)
  return {
    after: analysis,
    before: before === undefined ? analysis : analyse(before, operator.config, scm.settings),
    operator,
    inputFindings: [...operator.disagreements, ...scm.findings],
    problems: [...unread, ...scm.problems],
    notes: [...skippedNotes(files, live), ...scm.notes, ...assumptionNotes(operator, scm.settings)],
  }
}

function requireValidSettings({ trustDomain }: SettingsOptions): void {
  if (trustDomain === undefined) return
  const problem = trustDomainProblem(trustDomain)
  if (problem === undefined) return
  throw new KleymError({
    code: 'usage',
    what: 'the trust domain is not valid',
    where: `${TRUST_DOMAIN_FLAG} ${trustDomain}`,
    why: problem,
    fix: 'give a name such as example.org: no scheme, no slash, lower-case letters, digits, dots, dashes, underscores',
  })
}

/** A path that does not exist is a wrong command line: an answer about the rest would be an answer to nobody's question. */
function refuseWrongPaths(problems: readonly InputProblem[]): void {
  const wrong = problems.find(({ kind }) => kind === 'path')
  if (wrong === undefined) return
  const { what, where, why, fix } = wrong
  throw new KleymError({ code: 'usage', what, where, why, fix })
}

function removeNamed(objects: readonly RawObject[], { sources }: CommonOptions): readonly RawObject[] {
  let kept = objects
  for (const gone of sources.without) {
    const result = without(kept, gone, sources.namespace)
    if (!result.removed) {
      const path = [gone.kind, gone.namespace ?? sources.namespace, gone.name].join('/')
      throw new KleymError({
        code: 'not-found',
        what: 'the object to leave out is not there',
        where: `--without ${path}`,
        why: 'no object of that kind, namespace and name is among the files',
        fix: 'write KIND[.GROUP]/[NAMESPACE/]NAME of an object that is there',
      })
    }
    kept = result.kept
  }
  return kept
}

/**
 * A document that could not be understood may have held anything, so nothing counts as missing. An object that stands
 * twice hides nothing: both are known, and the answer is about the first.
 */
function gapsOf(problems: readonly InputProblem[]): ReadonlyMap<string, Ignorance> {
  const first = problems.find(({ kind }) => kind !== 'duplicate')
  if (first === undefined) return new Map()
  const cause = first.kind === 'failed' ? 'unreachable' : 'malformed'
  return new Map([['*', { verb: 'read', what: first.where, cause }]])
}

function flagClaim({ trustDomain, className }: SettingsOptions): SettingsClaim {
  return { source: 'the command line', subject: undefined, trustDomain, className }
}

interface ScmReading {
  readonly settings: ScmSettings
  readonly notes: readonly string[]
  readonly findings: readonly Finding[]
  readonly problems: readonly InputProblem[]
}

async function scmSettings(
  { scmConfig }: SettingsOptions,
  objects: readonly RawObject[],
  { clusterSpiffeIds }: Snapshot,
  { config, classNameSource }: OperatorSettings,
  io: SourceIo,
): Promise<ScmReading> {
  const evidence = {
    trustDomain: config.trustDomain.kind === 'set' ? config.trustDomain.value : undefined,
    className: classNameSource === undefined ? undefined : config.className,
    clusterSpiffeIdClasses: clusterSpiffeIds.map(({ spec }) => spec.className),
  }
  const given = scmConfig === undefined ? undefined : await readScmConfigFile(scmConfig, io.cwd)
  const found = given === undefined ? await scmConfigsIn(objects) : []
  const chosen = given ?? found[0]
  const { settings, problems } = readScmSettings(
    chosen?.config,
    chosen?.source ?? 'the SPIRE chart',
    evidence,
  )
  const several =
    found.length > 1 ? [`${found.length} SCM configurations are in the files; ${chosen?.source} is used`] : []
  return {
    settings,
    notes: several,
    findings: problems.map((problem) =>
      finding('KLM414', {
        subject: SCM_SUBJECT,
        summary: problem,
        evidence: [`SCM's settings: ${settings.source}`],
      }),
    ),
    problems: chosen === undefined ? unreadScmConfigs(objects) : [],
  }
}

/** ConfigMaps that mean to hold SCM's configuration and do not: assuming settings in its place would be a guess. */
function unreadScmConfigs(objects: readonly RawObject[]): readonly InputProblem[] {
  return objects.flatMap((object) => {
    if (object.value['kind'] !== 'ConfigMap') return []
    return configMapTexts(object)
      .filter(([, text]) => /^["\s{]*kind"?:\s*"?ControllerManagerConfig\b/m.test(text))
      .map(([key]): InputProblem => {
        const { namespace, name } = readMeta(object.value)
        const { origin } = object
        return {
          kind: 'malformed',
          what: `cannot read SCM's configuration in ConfigMap ${namespace}/${name}`,
          where: origin === undefined ? `data[${JSON.stringify(key)}]` : placeText(origin),
          why: `data[${JSON.stringify(key)}] does not parse as a ControllerManagerConfig of spire.spiffe.io`,
          fix: 'correct the ConfigMap, or give the configuration with --scm-config',
        }
      })
  })
}

function skippedNotes(files: LoadedFiles, live: LoadedFiles | undefined): readonly string[] {
  const counts = new Map<string, number>()
  for (const [kind, count] of [...(live?.skipped ?? []), ...files.skipped])
    counts.set(kind, (counts.get(kind) ?? 0) + count)
  if (counts.size === 0) return []
  const kinds = [...counts]
    .toSorted(([a], [b]) => compareBytes(a, b))
    .map(([kind, count]) => `${count} ${kind}`)
  return [`skipped what is not used: ${kinds.join(', ')}`]
}

function assumptionNotes(
  { trustDomainSource, classNameSource }: OperatorSettings,
  scm: ScmSettings,
): readonly string[] {
  const notes: string[] = []
  if (trustDomainSource === undefined) notes.push(`the trust domain is not known: pass ${TRUST_DOMAIN_FLAG}`)
  if (classNameSource === undefined)
    notes.push(`kleym's class is not known and taken to be none: pass ${CLASS_NAME_FLAG}`)
  if (scm.assumed.includes('className')) {
    const name = scm.className === undefined ? 'a class that is not known' : `class ${scm.className}`
    notes.push(
      `SCM's settings are assumed as the SPIRE charts set them (${name}): pass --scm-config to be sure`,
    )
  }
  return notes
}
