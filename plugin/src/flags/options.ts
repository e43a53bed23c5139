// The options of the commands, as the code behind them reads them: typed, checked, without oclif.
import { OUTPUT_LABEL_FLAG, readOutputLabels } from '@kleym/shared/core/decide/index.ts'
import type { SettingsSource, ScmConfigText } from '@kleym/shared/core/analysis/index.ts'
import type { FlagSuppression } from '@kleym/shared/core/findings/index.ts'
import { parseSuppress } from './parse-suppress.ts'
import { parseWithout, type ObjectName } from '../sources/kind-name.ts'
import type { FileArguments } from '../sources/load.ts'
import { STDIN_ARGUMENT } from '../sources/stdin.ts'
import type { ColourFlag } from '../io/palette.ts'
import { KleymError } from '../io/errors.ts'
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
  /** Whether the answer is about all namespaces, rather than about the one in force. */
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
  throw new KleymError({
    code: 'usage',
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
      without: (flags.without ?? []).map(parseWithout),
      namespace: namespaceOf(flags, 'namespace'),
      cluster: clusterOptions(flags, cwd),
      scmNamespaces: scmNamespace === undefined ? SCM_NAMESPACES : [scmNamespace],
      isScmNamespaceGiven: scmNamespace !== undefined,
    },
    settings: {
      trustDomain: flags['trust-domain'],
      className: flags['clusterspiffeid-class-name'],
      outputLabels: outputLabelsOf(flags['output-label']),
      variantLabelKey: flags['variant-label-key'],
      scmConfig: flags['scm-config'],
      file: settingsFileOf(flags),
    },
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
  throw new KleymError({
    code: 'usage',
    what: `--${flag} needs a name`,
    where: 'the command line',
    why: 'its value is empty',
    fix: 'name the namespace, or leave the flag out',
  })
}

function settingsFileOf({ config, 'no-config': isNone = false }: CommonFlags): SettingsFileChoice {
  if (config === undefined || !isNone) return { path: config, isNone }
  throw new KleymError({
    code: 'usage',
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
  return new KleymError({ code: 'usage', what: '--summary has no meaning here', where, why, fix })
}

/** The formats in which a command has an answer, for its help. */
export function formatsOf(command: string): readonly OutputFormat[] {
  return OUTPUT_FORMATS.filter((format) => commandsWith(format)?.includes(command) ?? true)
}

/** The commands that have an answer in a format; undefined: all of them. */
function commandsWith(format: OutputFormat): readonly string[] | undefined {
  if (format === 'spire') return ['who-selects']
  if (format === 'html') return WITH_PAGE
  if (format === 'openreports') return WITH_REPORTS
  return format === 'mermaid' || format === 'dot' ? WITH_DIAGRAM : undefined
}

/** The commands whose frame has a diagram. */
const WITH_DIAGRAM: readonly string[] = ['explain', 'conflicts', 'map']
/** The commands whose findings are about the state of a cluster. */
const WITH_REPORTS: readonly string[] = ['conflicts', 'policies', 'verify']
/** The commands whose frame has a page. */
const WITH_PAGE: readonly string[] = ['map']

/** Throws a usage error for a format in which a command has no answer. */
export function requireFormat(format: OutputFormat, command: string): void {
  const able = commandsWith(format)
  if (able === undefined || able.includes(command)) return
  if (format === 'spire') throw noEntries(command)
  if (format === 'openreports') throw noReports(command, able)
  const isPage = format === 'html'
  throw new KleymError({
    code: 'usage',
    what: isPage ? `${command} makes no page` : `${command} draws no diagram`,
    where: `-o ${format}`,
    why: isPage
      ? `only ${able.join(' and ')} makes one: who holds what, to look at`
      : `only ${able.join(', ')} have one: a derivation, who clashes with whom, who holds what`,
    fix: `ask one of them: kubectl kleym ${able[0] ?? ''} -o ${format}, or use another format`,
    docs: `kubectl kleym ${command} --help`,
  })
}

function noReports(command: string, able: readonly string[]): KleymError {
  return new KleymError({
    code: 'usage',
    what: `${command} makes no reports of openreports.io`,
    where: '-o openreports',
    why: `only ${able.join(', ')} find something about the state of a cluster`,
    fix: `ask one of them: kubectl kleym ${able[0] ?? ''} -o openreports, or use another format`,
    docs: `kubectl kleym ${command} --help`,
  })
}

/** The error of a form that registration entries alone have. */
export function noEntries(command: string): KleymError {
  return new KleymError({
    code: 'usage',
    what: `${command} prints no registration entries`,
    where: '-o spire',
    why: 'it is the form in which spire-server prints its entries, and only who-selects --entries has that',
    fix: 'ask for the entries: kubectl kleym who-selects -A --entries -o spire, or use another format',
    docs: `kubectl kleym ${command} --help`,
  })
}

/** Throws a usage error where there is nothing to read, or the flags name what cannot go together. */
export function requireSources(
  flags: Pick<CommonFlags, 'filename' | 'kustomize' | 'offline' | 'live'>,
  command: string,
): void {
  const docs = `kubectl kleym ${command} --help`
  const files = flags.filename ?? []
  if (!flags.offline && flags.live !== undefined) {
    throw new KleymError({
      code: 'usage',
      what: '--live stands beside a cluster',
      where: `--live ${flags.live}`,
      why: 'it stands for the cluster, and without --offline the cluster is read',
      fix: 'add --offline, or leave --live out',
      docs,
    })
  }
  if (
    flags.offline &&
    files.length === 0 &&
    (flags.kustomize ?? []).length === 0 &&
    flags.live === undefined
  ) {
    throw new KleymError({
      code: 'usage',
      what: 'nothing to read',
      why: '--offline answers from files alone, and no file is given',
      fix: `name the files: kubectl kleym ${command} --offline -R -f DIR`,
      docs,
    })
  }
  if (files.filter((file) => file === STDIN_ARGUMENT).length > 1) {
    throw new KleymError({
      code: 'usage',
      what: 'stdin is given twice',
      where: '-f -',
      why: 'it can be read only once',
      fix: 'write -f - once',
      docs,
    })
  }
}

/** The flags by which a question is about files. */
export interface FileFlags {
  readonly offline: boolean
  readonly filename?: readonly string[] | undefined
  readonly kustomize?: readonly string[] | undefined
  readonly live?: string | undefined
  readonly without?: readonly string[] | undefined
}

/** The first of them that was given, as it is written; undefined: none was. */
export function givenFileFlag({
  offline,
  filename,
  kustomize,
  live,
  without,
}: FileFlags): string | undefined {
  if (offline) return '--offline'
  if ((filename ?? []).length > 0) return '-f'
  if ((kustomize ?? []).length > 0) return '-k'
  if (live !== undefined) return '--live'
  return (without ?? []).length > 0 ? '--without' : undefined
}
