// Everything that an answer needs, read before anything is decided: a cluster or what stands for it, files, settings.
import { analyse, type Analysis } from '@kleym/shared/core/analysis/analysis.ts'
import { dependsOnOutsideScope } from '@kleym/shared/core/rules/outside-scope.ts'
import type { Finding } from '@kleym/shared/core/findings/finding.ts'
import { marksOf, type ObjectMark } from '@kleym/shared/core/findings/suppress-annotation.ts'
import type { OperatorSettings } from '@kleym/shared/core/install/operator-settings.ts'
import type { UnknownReason } from '@kleym/shared/core/unknown-reason.ts'
import type { RawObject } from '@kleym/shared/core/objects/raw.ts'
import type { OnProgress } from '@kleym/shared/core/on-progress.ts'
import type { Snapshot } from '@kleym/shared/core/snapshot/snapshot.ts'
import { readOperatorDeployment } from '@kleym/shared/core/install/operator-deployment.ts'
import { statusFindings } from '@kleym/shared/core/rules/status-rules.ts'
import type { LiveSide } from '../cluster/live-side.ts'
import type { ClusterSession } from '../cluster/session.ts'
import type { CommandContext } from '../io/context.ts'
import { KleymError } from '../io/errors.ts'
import { DEFAULT_NAMESPACE } from '../flags/flags.ts'
import type { CommonOptions } from '../flags/options.ts'
import { loadFiles, type LoadedFiles } from '../sources/load.ts'
import type { InputProblem } from '../sources/problem.ts'
import { liveSnapshot } from './live-snapshot.ts'
import { progressOf, release } from './memory.ts'
import { bindingsWithStatus, isEnough, scopeOf } from './scope.ts'
import { withPossibleNames } from './names.ts'
import { overlay, without } from './overlay.ts'
import { skippedNotes, unreadNotes } from './notes.ts'
import { namespacesToRead, type Question } from './question.ts'
import { assumptionNotes, operatorSettings, requireValidSettings, scmSettings } from './settings.ts'
import { WANTED_KINDS } from './wanted-kinds.ts'
import { mergeReads } from './merge-reads.ts'

export interface AnswerInput {
  /** The state that the question is about: the live side with the files applied. */
  readonly after: Analysis
  /** The live side; the same as `after` where nothing changes it, and where the files are all there is. */
  readonly before: Analysis
  readonly operator: OperatorSettings
  /** Findings about what was read rather than about what it means. */
  readonly inputFindings: readonly Finding[]
  /** What could not be read of files. */
  readonly problems: readonly InputProblem[]
  /** Where the objects of `after` stand in files, and what they say about suppressing findings. */
  readonly marks: readonly ObjectMark[]
  /** For stderr. */
  readonly notes: readonly string[]
  /** Whether a cluster was read, rather than files alone. */
  readonly isLive: boolean
  /** The namespace to which the answer is limited; undefined: none. */
  readonly namespaceInForce: string | undefined
}

/** Reads all sources. Throws a KleymError for what the command line gets wrong; all else is in `problems`. */
export async function gather(
  options: CommonOptions,
  question: Question,
  context: CommandContext,
): Promise<AnswerInput> {
  requireValidSettings(options.settings)
  const { sources } = options
  const cluster = sources.offline ? undefined : await openCluster(options, context)
  try {
    const given = sources.namespace ?? cluster?.namespace
    const gathering = new Gathering(options, context, {
      namespace: given ?? DEFAULT_NAMESPACE,
      inForce: question.allNamespaces ? undefined : given,
    })
    await gathering.readFiles()
    return cluster === undefined
      ? await gathering.world(undefined, { question })
      : await gathering.readCluster(cluster, question)
  } finally {
    cluster?.close()
  }
}

/** Loaded where it is needed: the client and what it stands on cost a start as much as the answer. */
async function openCluster({ sources }: CommonOptions, context: CommandContext): Promise<ClusterSession> {
  const session = await import('../cluster/session.ts')
  return session.openCluster(sources.cluster, context)
}

/** What was made of the objects that were read, before anything is worked out. */
interface Objects {
  readonly after: Snapshot
  /** Where `after` is a part of all that was read: the whole of it. */
  readonly whole: (() => Snapshot) | undefined
  /** The live side, where files or `--without` change it. */
  readonly before: Snapshot | undefined
  readonly operator: OperatorSettings
  readonly scm: Awaited<ReturnType<typeof scmSettings>>
  readonly marks: readonly ObjectMark[]
  readonly unread: readonly InputProblem[]
  readonly onProgress: OnProgress
}

const NO_FILES: LoadedFiles = { objects: [], problems: [], documents: 0, skipped: new Map() }

class Gathering {
  readonly #options: CommonOptions
  readonly #context: CommandContext
  readonly #namespace: string
  readonly #inForce: string | undefined
  #files = NO_FILES
  /** What `--live` holds: it stands for the cluster. */
  #dump: LoadedFiles | undefined

  constructor(
    options: CommonOptions,
    context: CommandContext,
    { namespace, inForce }: { readonly namespace: string; readonly inForce: string | undefined },
  ) {
    this.#options = options
    this.#context = context
    this.#namespace = namespace
    this.#inForce = inForce
  }

  async readFiles(): Promise<void> {
    const { files, live, offline } = this.#options.sources
    const rules = { wanted: WANTED_KINDS, namespace: this.#namespace }
    if (live !== undefined) {
      const folder = { files: [live], recursive: true, kustomize: undefined }
      this.#dump = await loadFiles(folder, { ...rules, dumps: true }, this.#context)
    }
    const dumps = offline && live === undefined
    this.#files = await loadFiles(files, { ...rules, dumps }, this.#context)
    refuseWrongPaths([...(this.#dump?.problems ?? []), ...this.#files.problems])
  }

  /** No more than the question takes, and everything where what was read may be changed by what was not. */
  async readCluster(cluster: ClusterSession, question: Question): Promise<AnswerInput> {
    const { sources, settings } = this.#options
    const scmNamespaces = settings.scmConfig === undefined ? sources.scmNamespaces : []
    const changes = { files: this.#files.objects, without: sources.without }
    const namespaces = namespacesToRead(question, this.#inForce, changes)
    const read = (from: readonly string[] | undefined): Promise<LiveSide> =>
      cluster.read({
        namespaces: from,
        scmNamespaces,
        isScmNamespaceGiven: sources.isScmNamespaceGiven,
        kind: question.kind,
        policies: question.policies === true,
        files: this.#files.objects,
      })
    const side = await read(namespaces)
    if (namespaces === undefined) return this.#worldOfAll(side)
    const world = await this.world(side)
    const { after } = world
    const namesAnybody = question.resolves === true && after.snapshot.accessPolicies.length > 0
    if (!namesAnybody && !dependsOnOutsideScope(after)) return world
    return this.#worldOfAll(mergeReads(await read(undefined), side))
  }

  /** Nothing is read again: a hundred thousand objects need not stay beside what was made of them. */
  #worldOfAll(side: LiveSide): Promise<AnswerInput> {
    return this.world(side, { onRead: () => release(side.objects, this.#context) })
  }

  /**
   * `onRead` is called once the objects have been read and are not needed any more; the answer to `question` need not take
   * all that was read.
   */
  async world(
    side: LiveSide | undefined,
    { question, onRead }: { readonly question?: Question; readonly onRead?: () => void } = {},
  ): Promise<AnswerInput> {
    const { after, whole, before, operator, scm, marks, unread, onProgress } = await this.#read(
      side,
      question,
    )
    onRead?.()
    const analysed = (snapshot: Snapshot): Analysis =>
      analyse(snapshot, operator.config, scm.settings, onProgress)
    const first = analysed(after)
    const analysis = whole === undefined || isEnough(first) ? first : analysed(whole())
    return {
      after: analysis,
      before: before === undefined ? analysis : analysed(before),
      operator,
      inputFindings: [
        ...operator.disagreements,
        ...scm.findings,
        ...(side === undefined || before !== undefined
          ? []
          : statusFindings(analysis, side.operatorDeployments?.map(readOperatorDeployment))),
      ],
      problems: [...unread, ...scm.problems],
      marks,
      notes: [
        ...skippedNotes([this.#dump, this.#files]),
        ...scm.notes,
        ...unreadNotes(analysis, side),
        ...assumptionNotes(operator, scm.settings),
      ],
      isLive: side !== undefined,
      namespaceInForce: this.#inForce,
    }
  }

  /** All that is made of the objects themselves. */
  async #read(side: LiveSide | undefined, question: Question | undefined): Promise<Objects> {
    const { settings, sources } = this.#options
    const live = side?.objects ?? this.#dump?.objects
    const named = withPossibleNames(this.#withoutNamed(overlay(live ?? [], this.#files.objects), side))
    const unread = [...(this.#dump?.problems ?? []), ...this.#files.problems, ...named.problems]
    const { objects } = named
    const gaps = new Map([...(side?.gaps ?? []), ...gapsOf(unread)])
    const onProgress = progressOf(objects.length, this.#context)
    const isChanged = this.#files.objects.length > 0 || sources.without.length > 0
    // What the question starts from: the live side, or all files where only something is taken away from them.
    const start = live ?? (sources.without.length > 0 ? this.#files.objects : undefined)
    // The labelled ones first: anybody may have a Deployment whose arguments look like the operator's.
    const deployments = [...(side?.operatorDeployments ?? []), ...objects]
    const isOneState = start === undefined || !isChanged
    // What could not be read may be of any namespace.
    const within =
      isOneState && question !== undefined && gaps.size === 0 ? scopeOf(objects, question) : undefined
    const after = liveSnapshot(objects, { gaps, side, onProgress, within })
    const statuses = within === undefined ? after.bindings : bindingsWithStatus(objects)
    const operator = operatorSettings(settings, deployments, statuses)
    const scmObjects = [...objects, ...(side?.scmWorkloads ?? [])]
    const scm = await scmSettings(settings, scmObjects, after, operator, this.#context.cwd)
    const before = isOneState
      ? undefined
      : liveSnapshot(withPossibleNames(start).objects, { gaps, side, onProgress })
    const whole =
      within === undefined ? undefined : (): Snapshot => liveSnapshot(objects, { gaps, side, onProgress })
    return { after, whole, before, operator, scm, marks: marksOf(objects), unread, onProgress }
  }

  #withoutNamed(objects: readonly RawObject[], side: LiveSide | undefined): readonly RawObject[] {
    let kept = objects
    for (const gone of this.#options.sources.without) {
      const result = without(kept, gone, this.#namespace)
      if (!result.removed) {
        const path = [gone.kind, gone.namespace ?? this.#namespace, gone.name].join('/')
        throw new KleymError({
          code: 'not-found',
          what: 'the object to leave out is not there',
          where: `--without ${path}`,
          why: `no object of that kind, namespace and name is ${side === undefined ? 'among the files' : 'in the cluster or among the files'}`,
          fix: 'write KIND[.GROUP]/[NAMESPACE/]NAME of an object that is there',
        })
      }
      kept = result.kept
    }
    return kept
  }
}

/** A path that does not exist is a wrong command line: an answer about the rest would be an answer to nobody's question. */
function refuseWrongPaths(problems: readonly InputProblem[]): void {
  const wrong = problems.find(({ kind }) => kind === 'path')
  if (wrong === undefined) return
  const { what, where, why, fix } = wrong
  throw new KleymError({ code: 'usage', what, where, why, fix })
}

/**
 * A document that could not be understood may have held anything, so nothing counts as missing. An object that stands
 * twice hides nothing: both are known, and the answer is about the first.
 */
function gapsOf(problems: readonly InputProblem[]): ReadonlyMap<string, UnknownReason> {
  const first = problems.find(({ kind }) => kind !== 'duplicate')
  if (first === undefined) return new Map()
  const cause = first.kind === 'failed' ? 'unreachable' : 'malformed'
  return new Map([['*', { verb: 'read', what: first.where, cause }]])
}
