// The options of the commands, as the code behind them reads them: typed, checked, without oclif.
import { OUTPUT_LABEL_FLAG, readOutputLabels } from '@kleym/shared/core/decide/index.ts'
import type { SettingsSource, ScmConfigText } from '@kleym/shared/core/analysis/index.ts'
import type { FlagSuppression } from '@kleym/shared/core/findings/index.ts'
import { parseSuppress } from './parse-suppress.ts'
import type { DesiredState } from '../sources/load.ts'
import { parseObjectName, type ObjectName } from '../sources/kind-name.ts'
import type { FileArguments } from '../sources/load.ts'
import { requireStdinOnce } from '../sources/stdin.ts'
import type { ColourFlag } from '../io/palette.ts'
import { KleymError, wrongUsage } from '../io/errors.ts'
import { echoOf } from './echo.ts'
import { findingFilter, type FindingFilter } from './finding-filter.ts'
import type { InferredFlags } from '@oclif/core/interfaces'
import { clusterOptions, type clusterFlags, type ClusterOptions } from './cluster-flags.ts'
import {
  OUTPUT_FORMATS,
  SCM_NAMESPACES,
  type FailOn,
  type OutputFormat,
  type outputFlags,
  type settingsFlags,
  type sourceFlags,
} from './flags.ts'

/** Where the state comes from. */
export interface SourceOptions {
  readonly files: FileArguments
  /** Whether the files are all there is. */
  readonly offline: boolean
  /** The folder that stands for the cluster. */
  readonly live: string | undefined
  /** The files are a desired state: what a server writes counts in none of them, not even in a dump. */
  readonly isDesiredState?: boolean
  /** The files are what was before a change: what they say of settings counts before what the command line says. */
  readonly isBefore?: boolean
  /** The objects of the desired state over which this one is applied. */
  readonly appliedOver?: DesiredState
  readonly without: readonly ObjectName[]
  /** `--configmaps`: those of the cluster are read for the IDs in them. */
  readonly configMaps?: boolean
  /** The files of `--names`; absent: none. */
  readonly names?: readonly string[]
  /** As given with `-n`; undefined: the context's, or offline none at all. */
  readonly namespace: string | undefined
  readonly cluster: ClusterOptions
  /** Where SCM's ConfigMap is looked for. */
  readonly scmNamespaces: readonly string[]
  /** Whether `--scm-namespace` was given: then it is nowhere else. */
  readonly isScmNamespaceGiven?: boolean
}

/**
 * What the environment or a settings file says: it counts if neither the command line nor an object says otherwise. Without a subject: what
 * the objects before a change say, which counts if those after it hold no operator.
 */
export interface SettingsFallback extends SettingsSource {
  readonly scm: readonly ScmConfigText[]
}

/** Which settings file counts. */
export interface SettingsFileChoice {
  /** As given with `--config`; undefined: the one that is found from the working folder. */
  readonly path: string | undefined
  /** `--no-config`. */
  readonly isNone: boolean
}

/** What the install and SPIRE are set to, where the command line says it. */
export interface SettingsOptions {
  readonly file?: SettingsFileChoice
  /** The environment first; undefined until they are read. */
  readonly fallbacks?: readonly SettingsFallback[] | undefined
  /** What a person should know about where settings come from, a sentence each. */
  readonly remarks?: readonly string[]
  /** As written: unchecked. Undefined: not given. */
  readonly trustDomain: string | undefined
  readonly className: string | undefined
  /** Undefined where the flag is not given. */
  readonly outputLabels: ReadonlyMap<string, string> | undefined
  /** As written: unchecked. Undefined: not given. */
  readonly variantLabelKey?: string | undefined
  readonly scmConfig: string | undefined
}

/** How the answer comes out. */
export interface OutputOptions {
  readonly format: OutputFormat
  readonly failOn: FailOn
  readonly colour: ColourFlag
  /** The findings that the command line suppresses. */
  readonly suppress: readonly FlagSuppression[]
  /** Whether an answer from files with nothing to check is complete. */
  readonly allowEmpty?: boolean
  /** Whether nothing is taken for granted. */
  readonly strict?: boolean
  /** Which findings are shown; those that are not count all the same. */
  readonly show?: FindingFilter | undefined
  /** Whether the text is its first lines alone. */
  readonly summary?: boolean
  /** The flags that say where the answer comes from, as given: ` --offline -f pr`. */
  readonly echo?: string
}

/** What every command with sources is asked. An answer with arguments or flags of its own extends it, in its run.ts. */
export interface CommonOptions {
  /** Whether the answer is about all namespaces, rather than about the current one. */
  readonly allNamespaces: boolean
  readonly sources: SourceOptions
  readonly settings: SettingsOptions
  readonly output: OutputOptions
}

type ParsedFlags = Omit<
  InferredFlags<typeof sourceFlags & typeof settingsFlags & typeof outputFlags & typeof clusterFlags>,
  'json'
>

/** The flags of every command with sources, as oclif parses them; those that have a default are always there. */
export type CommonFlags = Partial<ParsedFlags> &
  Pick<ParsedFlags, 'recursive' | 'offline' | 'output' | 'fail-on' | 'allow-empty' | 'color'> & {
    readonly 'all-namespaces': boolean
    readonly names?: readonly string[] | undefined
    readonly configmaps?: boolean
  }

/** The labels of `--output-label`; throws a usage error for one that is none. */
export function outputLabelsOf(given: readonly string[] | undefined): SettingsOptions['outputLabels'] {
  if (given === undefined) return undefined
  const read = readOutputLabels(given)
  if (read.kind === 'labels') return read.labels
  const { argument, why, fix } = read
  throw new KleymError('usage', {
    what: 'the output label is not valid',
    where: `${OUTPUT_LABEL_FLAG} ${argument}`,
    why,
    fix,
  })
}

/** The common options; throws a usage error when there is nothing to read. */
export function commonOptions(flags: CommonFlags, command: string, cwd: string): CommonOptions {
  requireFormat(flags.output, command)
  requireSources(flags, command)
  return optionsWithoutSources(flags, cwd)
}

/** The common options where a command can do without sources. */
export function optionsWithoutSources(flags: CommonFlags, cwd: string): CommonOptions {
  requireText(flags)
  const scmNamespace = namespaceOf(flags, 'scm-namespace')
  return {
    allNamespaces: flags['all-namespaces'],
    sources: {
      files: filesOf(flags),
      offline: flags.offline,
      live: flags.live,
      names: flags.names ?? [],
      configMaps: flags.configmaps === true,
      without: (flags.without ?? []).map((text) => parseObjectName(text, '--without')),
      namespace: namespaceOf(flags, 'namespace'),
      cluster: clusterOptions(flags, cwd),
      scmNamespaces: scmNamespace === undefined ? SCM_NAMESPACES : [scmNamespace],
      isScmNamespaceGiven: scmNamespace !== undefined,
    },
    settings: { ...settingsOf(flags), file: settingsFileOf(flags) },
    output: {
      format: flags.output,
      failOn: flags['fail-on'],
      colour: flags.color,
      suppress: (flags.suppress ?? []).map(parseSuppress),
      allowEmpty: flags['allow-empty'],
      strict: flags.strict === true,
      show: findingFilter(flags.code, flags.severity),
      summary: flags.summary === true,
      echo: echoOf({ ...flags }),
    },
  }
}

/** What the flags say of settings; throws a usage error for an output label that is none. */
export function settingsOf(
  flags: Pick<
    CommonFlags,
    'trust-domain' | 'clusterspiffeid-class-name' | 'output-label' | 'variant-label-key' | 'scm-config'
  >,
): SettingsOptions {
  return {
    trustDomain: flags['trust-domain'],
    className: flags['clusterspiffeid-class-name'],
    outputLabels: outputLabelsOf(flags['output-label']),
    variantLabelKey: flags['variant-label-key'],
    scmConfig: flags['scm-config'],
  }
}

/** Which files the flags name. */
export function filesOf(
  flags: Pick<CommonFlags, 'filename' | 'recursive' | 'kustomize' | 'exclude' | 'render'>,
): FileArguments {
  return {
    files: flags.filename ?? [],
    recursive: flags.recursive,
    kustomize: flags.kustomize ?? [],
    exclude: flags.exclude ?? [],
    render: flags.render === true,
  }
}

/** The namespace of a flag. An empty one is an unset variable of a script, and would mean another namespace than the one meant. */
export function namespaceOf<Flag extends string>(
  flags: Readonly<Partial<Record<Flag, string | undefined>>>,
  flag: Flag,
): string | undefined {
  const name = flags[flag]
  if (name !== '') return name
  throw new KleymError('usage', {
    what: `--${flag} needs a name`,
    where: 'the command line',
    why: 'its value is empty',
    fix: 'name the namespace, or leave the flag out',
  })
}

function settingsFileOf({ config, 'no-config': isNone = false }: CommonFlags): SettingsFileChoice {
  if (config === undefined || !isNone) return { path: config, isNone }
  throw new KleymError('usage', {
    what: 'a settings file is given and refused at once',
    where: `--config ${config} --no-config`,
    why: 'only one of the two can count',
    fix: 'leave one of them out',
  })
}

/** The formats that begin with an answer for people. */
const WITH_FIRST_LINES: ReadonlySet<OutputFormat> = new Set(['text', 'wide', 'markdown'])

function requireText({ summary, output }: Pick<CommonFlags, 'summary' | 'output'>): void {
  if (summary !== true || WITH_FIRST_LINES.has(output)) return
  throw noSummary(`-o ${output}`, `-o ${output} has no first lines`, `leave --summary out, or use -o text`)
}

/** The error for `--summary` where there are no first lines that it could mean. */
export function noSummary(where: string, why: string, fix: string): KleymError {
  return new KleymError('usage', { what: '--summary has no meaning here', where, why, fix })
}

/** A format in which some commands alone have an answer, and what is said of the others. */
interface FormatOfSome {
  readonly commands: readonly string[]
  /** What another command does not do. */
  readonly lack: string
  readonly why: string
  /** What to do instead, a command at its end; absent: ask the first of them. */
  readonly ask?: string
}

const DIAGRAM: FormatOfSome = {
  commands: ['explain', 'conflicts', 'map'],
  lack: 'draws no diagram',
  why: 'only explain, conflicts, map have one: a derivation, who clashes with whom, who holds what',
}

const FORMATS_OF_SOME: Partial<Record<OutputFormat, FormatOfSome>> = {
  mermaid: DIAGRAM,
  dot: DIAGRAM,
  html: {
    commands: ['map'],
    lack: 'makes no page',
    why: 'only map makes one: who holds what, to look at',
  },
  openreports: {
    commands: ['conflicts', 'policies', 'verify'],
    lack: 'makes no reports of openreports.io',
    why: 'only conflicts, policies, verify find something about the state of a cluster',
  },
  spire: {
    commands: ['who-selects'],
    lack: 'prints no registration entries',
    why: 'it is the form in which spire-server prints its entries, and only who-selects --entries has that',
    ask: 'ask for the entries: kubectl kleym who-selects -A --entries',
  },
}

/** The formats in which a command has an answer, for its help. */
export function formatsOf(command: string): readonly OutputFormat[] {
  return OUTPUT_FORMATS.filter((format) => FORMATS_OF_SOME[format]?.commands.includes(command) ?? true)
}

/** Throws a usage error for a format in which a command has no answer. */
export function requireFormat(format: OutputFormat, command: string): void {
  const of = FORMATS_OF_SOME[format]
  if (of === undefined || of.commands.includes(command)) return
  const { lack, why, ask = `ask one of them: kubectl kleym ${of.commands[0] ?? ''}` } = of
  throw wrongUsage(command, {
    what: `${command} ${lack}`,
    where: `-o ${format}`,
    why,
    fix: `${ask} -o ${format}, or use another format`,
  })
}

/** Throws a usage error where there is nothing to read, or the flags name what cannot go together. */
export function requireSources(
  flags: Pick<CommonFlags, 'filename' | 'kustomize' | 'offline' | 'live'>,
  command: string,
): void {
  const files = flags.filename ?? []
  if (!flags.offline && flags.live !== undefined) {
    throw wrongUsage(command, {
      what: '--live cannot be used with a cluster',
      where: `--live ${flags.live}`,
      why: 'it takes the place of the cluster, and without --offline the cluster is read',
      fix: 'add --offline, or leave --live out',
    })
  }
  if (
    flags.offline &&
    files.length === 0 &&
    (flags.kustomize ?? []).length === 0 &&
    flags.live === undefined
  ) {
    throw wrongUsage(command, {
      what: 'nothing to read',
      why: '--offline answers from files alone, and no file is given',
      fix: `name the files: kubectl kleym ${command} --offline -R -f DIR`,
    })
  }
  requireStdinOnce(command, files, 'write -f - once', '-f -')
}

/** The flags by which a question is about files. */
export type FileFlags = Pick<CommonFlags, 'offline' | 'filename' | 'kustomize' | 'live' | 'without'>

/** The first of them that was given, as it is written; undefined: none was. */
export function givenFileFlag(flags: FileFlags): string | undefined {
  const { offline, filename = [], kustomize = [], live, without = [] } = flags
  if (offline) return '--offline'
  if (filename.length > 0) return '-f'
  if (kustomize.length > 0) return '-k'
  if (live !== undefined) return '--live'
  return without.length > 0 ? '--without' : undefined
}
