// The options of the commands, as the code behind them reads them: typed, checked, without oclif.
import type { FlagSuppression } from '@kleym/shared/core/findings/suppress-flag.ts'
import { parseSuppress } from './parse-suppress.ts'
import { kindNamed, parseObjectName, parseWithout, type ObjectName } from '../sources/kind-name.ts'
import type { FileArguments } from '../sources/load.ts'
import type { ColourFlag } from '../io/palette.ts'
import { KleymError } from '../io/errors.ts'
import { clusterOptions, type ClusterFlags, type ClusterOptions } from './cluster-flags.ts'
import { SCM_NAMESPACES, type FailOn, type OutputFormat } from './flags.ts'

export interface SourceOptions {
  readonly files: FileArguments
  /** Whether the files are all there is. */
  readonly offline: boolean
  /** The folder that stands for the cluster. */
  readonly live: string | undefined
  readonly without: readonly ObjectName[]
  /** As given with `-n`; undefined: the context's, or offline none at all. */
  readonly namespace: string | undefined
  readonly cluster: ClusterOptions
  /** Where SCM's ConfigMap is looked for. */
  readonly scmNamespaces: readonly string[]
  /** Whether `--scm-namespace` was given: then it is nowhere else. */
  readonly isScmNamespaceGiven?: boolean
}

export interface SettingsOptions {
  /** As written: unchecked. Undefined: not given. */
  readonly trustDomain: string | undefined
  readonly className: string | undefined
  readonly scmConfig: string | undefined
}

export interface OutputOptions {
  readonly format: OutputFormat
  readonly failOn: FailOn
  readonly colour: ColourFlag
  /** The findings that the command line suppresses. */
  readonly suppress: readonly FlagSuppression[]
}

export interface CommonOptions {
  readonly sources: SourceOptions
  readonly settings: SettingsOptions
  readonly output: OutputOptions
}

/** What `explain` is asked. */
export interface ExplainOptions extends CommonOptions {
  /** Names of bindings (`chat`, `team-a/chat`); empty: those in scope. */
  readonly bindings: readonly string[]
  /** Finding codes (`KLM201`), whose pages are printed; then nothing is read. */
  readonly codes: readonly string[]
  readonly allNamespaces: boolean
  /** A label selector as written. */
  readonly selector: string | undefined
}

/** What `diff` is asked. */
export interface DiffOptions extends CommonOptions {
  readonly allNamespaces: boolean
}

/** What `status` is asked. */
export interface StatusOptions extends CommonOptions {
  readonly allNamespaces: boolean
}

/** What `who-selects` is asked. */
export interface WhoSelectsOptions extends CommonOptions {
  /** The object whose containers are asked about; undefined: those in scope. */
  readonly target: ObjectName | undefined
  readonly allNamespaces: boolean
  /** A label selector as written. */
  readonly selector: string | undefined
  readonly container: string | undefined
  /** Asks the reverse: which containers would hold this ID. */
  readonly spiffeId: string | undefined
  /** Prints registration entries instead of containers. */
  readonly entries: boolean
}

/** What `conflicts` is asked. */
export interface ConflictsOptions extends CommonOptions {
  readonly allNamespaces: boolean
}

/** What `policies` is asked. */
export interface PoliciesOptions extends CommonOptions {
  /** Names of access policies (`tools`, `agents/tools`); empty: those in scope. */
  readonly policies: readonly string[]
  readonly allNamespaces: boolean
}

/** The flags that every command has, as oclif parses them. */
export interface CommonFlags extends ClusterFlags {
  readonly filename?: readonly string[] | undefined
  readonly recursive: boolean
  readonly kustomize?: string | undefined
  readonly offline: boolean
  readonly live?: string | undefined
  readonly without?: readonly string[] | undefined
  readonly namespace?: string | undefined
  readonly 'trust-domain'?: string | undefined
  readonly 'clusterspiffeid-class-name'?: string | undefined
  readonly 'scm-config'?: string | undefined
  readonly 'scm-namespace'?: string | undefined
  readonly output: OutputFormat
  readonly 'fail-on': FailOn
  readonly suppress?: readonly string[] | undefined
  readonly color: ColourFlag
}

/** The common options; throws a usage error when there is nothing to read. */
export function commonOptions(flags: CommonFlags, command: string, cwd: string): CommonOptions {
  requireFormat(flags.output, command)
  requireSources(flags, command)
  return optionsWithoutSources(flags, cwd)
}

/** The common options where a command can do without sources. */
export function optionsWithoutSources(flags: CommonFlags, cwd: string): CommonOptions {
  const scmNamespace = flags['scm-namespace'] ?? ''
  return {
    sources: {
      files: { files: flags.filename ?? [], recursive: flags.recursive, kustomize: flags.kustomize },
      offline: flags.offline,
      live: flags.live,
      without: (flags.without ?? []).map(parseWithout),
      namespace: flags.namespace === '' ? undefined : flags.namespace,
      cluster: clusterOptions(flags, cwd),
      scmNamespaces: scmNamespace === '' ? SCM_NAMESPACES : [scmNamespace],
      isScmNamespaceGiven: scmNamespace !== '',
    },
    settings: {
      trustDomain: flags['trust-domain'],
      className: flags['clusterspiffeid-class-name'],
      scmConfig: flags['scm-config'],
    },
    output: {
      format: flags.output,
      failOn: flags['fail-on'],
      colour: flags.color,
      suppress: (flags.suppress ?? []).map(parseSuppress),
    },
  }
}

/** The commands whose answer is a graph. */
const DRAWN: readonly string[] = ['explain', 'conflicts']

/** Throws a usage error for a format in which a command has no answer. */
export function requireFormat(format: OutputFormat, command: string): void {
  if (format !== 'mermaid' || DRAWN.includes(command)) return
  throw new KleymError({
    code: 'usage',
    what: `${command} draws no diagram`,
    where: '-o mermaid',
    why: `only ${DRAWN.join(' and ')} have one: a derivation, and who clashes with whom`,
    fix: `ask one of them: kubectl kleym ${DRAWN[0] ?? ''} -o mermaid, or use another format`,
    docs: `kubectl kleym ${command} --help`,
  })
}

function requireSources(flags: CommonFlags, command: string): void {
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
  if (flags.offline && files.length === 0 && flags.kustomize === undefined && flags.live === undefined) {
    throw new KleymError({
      code: 'usage',
      what: 'nothing to read',
      why: '--offline answers from files alone, and no file is given',
      fix: `name the files: kubectl kleym ${command} --offline -R -f DIR`,
      docs,
    })
  }
  if (files.filter((file) => file === '-').length > 1) {
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

/** What `who-selects` asks about: one object with pods, else what its flags select. */
export function parseTarget(text: string | undefined): ObjectName | undefined {
  if (text === undefined) return undefined
  if (!text.includes('/')) {
    const kind = kindNamed(text)
    throw new KleymError({
      code: 'usage',
      what: 'cannot tell which object is meant',
      where: text,
      why: kind === undefined ? 'it is not KIND/NAME' : `it names the kind ${kind}, and no object of it`,
      fix: kind === undefined ? `write pod/${text}, or deployment/${text}` : `write ${text}/NAME`,
      docs: 'kubectl kleym who-selects --help',
    })
  }
  const target = parseObjectName(text, 'the argument')
  if (POD_KINDS.includes(target.kind)) return target
  throw new KleymError({
    code: 'usage',
    what: `a ${target.kind} runs no containers`,
    where: text,
    why: 'who-selects tells which identities containers get',
    fix: `name one of ${POD_KINDS.join(', ')}`,
    docs: 'kubectl kleym who-selects --help',
  })
}

/** The kinds that have pods, or a template of them. */
export const POD_KINDS: readonly string[] = [
  'Pod',
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'ReplicaSet',
  'Job',
  'CronJob',
  'LeaderWorkerSet',
]
