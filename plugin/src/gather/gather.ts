// Everything that an answer needs, read before anything is decided: a cluster or a dump of one, files, settings.
import {
  type Finding,
  dependsOnOutsideScope,
  findingsInWorlds,
  marksOf,
  type ObjectMark,
  lostOperatorFindings,
  statusRule,
} from '@kleym/shared/core/findings/index.ts'
import type { Subject } from '@kleym/shared/core/model/objects/subject.ts'
import {
  analysing,
  type Analysis,
  type ScmConfigText,
  readOperatorDeployment,
} from '@kleym/shared/core/analysis/index.ts'
import { qualifiedKind } from '@kleym/shared/core/model/kinds.ts'
import {
  unknownReasonFix,
  unknownReasonText,
  type UnknownReason,
} from '@kleym/shared/core/model/unknown-reason.ts'
import { missingRbacRules } from '../cluster/rbac.ts'
import { canonicalText } from '@kleym/shared/core/base/json.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import { concernsAll, isSpirePart } from '@kleym/shared/core/answers/index.ts'
import { sha256Hex } from '@kleym/shared/core/base/text/sha256.ts'
import { objectKey } from '@kleym/shared/core/model/objects/object-key.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import type { Drive, Steps } from '@kleym/shared/core/base/steps.ts'
import { reading, type Snapshot, type Rest } from '@kleym/shared/core/snapshot/index.ts'
import type { LiveSide } from '../cluster/live-side.ts'
import type { ClusterSession } from '../cluster/session.ts'
import type { CommandContext } from '../io/context.ts'
import { KleymError } from '../io/errors.ts'
import { DEFAULT_NAMESPACE } from '../flags/flags.ts'
import type { CommonOptions } from '../flags/options.ts'
import { withFallbacks } from '../settings/in-force.ts'
import { readNamesFiles } from '../sources/names-file.ts'
import { loadFiles, STDIN, type DesiredState, type LoadedFiles } from '../sources/load.ts'
import type { MisspelledObject } from '../sources/near-miss.ts'
import type { Opaque } from '../sources/door.ts'
import type { InputProblem } from '../sources/problem.ts'
import type { ObjectName } from '../sources/kind-name.ts'
import { snapshotSource } from './snapshot-source.ts'
import { refuseTooManySelections } from './answer-limits.ts'
import { driverFor, release } from './memory.ts'
import { bindingsWithStatus, isEnough, scopeOf } from './scope.ts'
import { withPossibleNames } from './names.ts'
import { markOfNearMiss, nearMissFindings } from './near-misses.ts'
import { afterDeletionOf, isNamed, openChanges, overlay, takenToStay } from './overlay.ts'
import { suspendedNotes, takenAway, takenFromKinds } from './taken-away.ts'
import { installOfDump, NOTHING_LIVE, readLiveInstall } from './live-install.ts'
import { skippedNotes, unreadNotes } from './notes.ts'
import { gapsOf, unreadObjects, unreadParts } from './unread-parts.ts'
import { idleSubjects, irrelevantNote, mayChange, scopeOfAnswer } from './relevant-problems.ts'
import { namespacesToRead, readsFederation, type Question } from './question.ts'
import {
  openSettingsAbout,
  operatorSettings,
  operatorSettingsBefore,
  requireValidSettings,
  scmRemarks,
  scmSettings,
  scmSettingsBefore,
  type OperatorReading,
  type SettingsObjects,
  withSettingsOfScm,
  type SettingsReading,
} from './settings.ts'
import { CLUSTER_KINDS, FEDERATION_KINDS, SPIRE_KINDS, WANTED_KINDS } from './wanted-kinds.ts'
import { mergeReads } from './merge-reads.ts'

/** What a command works with. */
export interface AnswerInput {
  /** The state that the question is about: the live side with the files applied. */
  readonly after: Analysis
  /** The live side; the same as `after` where nothing changes it, and where the files are all there is. */
  readonly before: Analysis
  readonly operator: OperatorReading
  /** SCM's configurations that count, as they were found; absent or none: its settings are assumed. */
  readonly scmConfigs?: readonly ScmConfigText[]
  /** Findings about what was read rather than about what it means. */
  readonly inputFindings: readonly Finding[]
  /** What could not be read of files. */
  readonly problems: readonly InputProblem[]
  /** Where the objects of `after` are in files, and what they say about suppressing findings. */
  readonly marks: readonly ObjectMark[]
  /** How many documents the files hold, of whatever kind; absent: no files were read. */
  readonly documents?: number
  /** Of a desired state: equal for two that hold the same objects, whatever else the files hold. */
  readonly contents?: string
  /** A desired state by itself. */
  readonly desired?: DesiredState
  /** Of a desired state: what it leaves unread, by what tells that another state leaves the same unread. */
  readonly unreadParts?: ReadonlyMap<string, Rest>
  /** For stderr. */
  readonly notes: readonly string[]
  /** What the answer says of where settings come from; for stderr if its format has no place for it. */
  readonly remarks?: readonly string[]
  /**
   * With `--live`: the objects of it that stand in none of the files. The answer treats them as unchanged, since a deleted
   * manifest looks like one that was not given.
   */
  readonly takenToStay?: readonly Subject[]
  /** Whether a cluster was read, rather than files alone. */
  readonly isLive: boolean
  /** The kube context that was read; absent: files alone. */
  readonly contextName?: string | undefined
  /** The namespace to which the answer is limited; undefined: none. */
  readonly namespaceInForce: string | undefined
  /** SPIRE's own parts among the files; absent: they were not asked for. */
  readonly spireObjects?: readonly RawObject[]
  /** How long work on all of this is driven. */
  readonly drive: Drive
}

/** What was gathered, and how more can be worked out of it. */
export interface GatheredInput extends AnswerInput {
  /** Works out another state of the same cluster or files, under the settings of `after`. */
  readonly analyse: (snapshot: Snapshot) => Steps<Analysis>
}

/** Reads all sources. Throws a KleymError for what the command line gets wrong; all else is in `problems`. */
export async function gather(
  given: CommonOptions,
  question: Question,
  context: CommandContext,
): Promise<GatheredInput> {
  requireValidSettings(given.settings)
  const { sources } = given
  const cluster = sources.offline ? undefined : await openCluster(given, context)
  try {
    const choice = { ...sources, connected: cluster?.contextName }
    const options = { ...given, settings: await withFallbacks(given.settings, choice, context) }
    const namespace = sources.namespace ?? cluster?.namespace
    const gathering = new Gathering(options, context, {
      namespace: namespace ?? DEFAULT_NAMESPACE,
      inForce: question.allNamespaces ? undefined : namespace,
      contextName: cluster?.contextName,
    })
    await gathering.readFiles(question)
    return cluster === undefined
      ? await gathering.answerInput(undefined, { question })
      : await gathering.readCluster(cluster, question)
  } finally {
    cluster?.close()
  }
}

/** Loaded where it is needed: the client and its modules cost a start as much as the answer. */
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
  readonly settings: SettingsReading
  /** Those of `before`, as its own objects have them. */
  readonly settingsBefore: SettingsReading
  readonly marks: readonly ObjectMark[]
  readonly unread: readonly InputProblem[]
  /** The same of what notes tell. */
  readonly noted: readonly InputProblem[]
  /** Problems that the answer does not depend on, whatever it is about. */
  readonly idle: readonly InputProblem[]
  readonly drive: Drive
}

/** Files of so few bytes are answered about in less time than it takes to compile what answers. */
const SMALL = 256 * 1024

const NO_FILES: LoadedFiles = {
  objects: [],
  problems: [],
  notes: [],
  documents: 0,
  skipped: new Map(),
  noObjects: [],
  nearMisses: [],
  accounts: new Map(),
  beside: [],
  definedKinds: [],
  routes: new Map(),
}

class Gathering {
  readonly #options: CommonOptions
  readonly #context: CommandContext
  readonly #namespace: string
  readonly #inForce: string | undefined
  readonly #contextName: string | undefined
  #files = NO_FILES
  /** Whether the answer asks for the SPIFFE IDs in any string. */
  #asksForMentions = false
  /** Files of names, on both sides of a change. */
  #named: readonly RawObject[] = []
  /** What the cluster has of what the files change and no list brings. */
  #install = NOTHING_LIVE
  /** What `--live` holds: it is read in the place of a cluster. */
  #dump: LoadedFiles | undefined

  constructor(
    options: CommonOptions,
    context: CommandContext,
    {
      namespace,
      inForce,
      contextName,
    }: {
      readonly namespace: string
      readonly inForce: string | undefined
      readonly contextName: string | undefined
    },
  ) {
    this.#options = options
    this.#context = context
    this.#namespace = namespace
    this.#inForce = inForce
    this.#contextName = contextName
  }

  get #nearMisses(): readonly MisspelledObject[] {
    return [...(this.#dump?.nearMisses ?? []), ...this.#files.nearMisses]
  }

  async readFiles({
    federation = false,
    clusters = false,
    spire = false,
    names,
    aboutFiles = false,
  }: Pick<Question, 'aboutFiles' | 'clusters' | 'federation' | 'spire' | 'names'>): Promise<void> {
    this.#asksForMentions = names === 'strings'
    this.#named = await readNamesFiles(this.#options.sources.names ?? [], this.#context.cwd)
    const { files, live, offline, isDesiredState } = this.#options.sources
    const more = [
      ...(clusters ? CLUSTER_KINDS : federation === false ? [] : FEDERATION_KINDS),
      ...(spire ? SPIRE_KINDS : []),
    ]
    const rules = {
      wanted: [...WANTED_KINDS, ...more],
      namespace: this.#namespace,
      mentions: this.#asksForMentions,
      isCompared: isDesiredState === true || live !== undefined || (aboutFiles && !offline),
    }
    if (live !== undefined) {
      const folder = { files: [live], flag: '--live' as const, recursive: true, kustomize: [] }
      this.#dump = await loadFiles(folder, { ...rules, dumps: true }, this.#context)
    }
    const dumps = offline && live === undefined && isDesiredState !== true
    const isQuick = offline && live === undefined
    this.#files = await loadFiles(files, { ...rules, dumps }, this.#context, (bytes) => {
      if (isQuick && bytes <= SMALL) this.#context.expectShortRun?.()
    })
    refuseWrongPaths([...(this.#dump?.problems ?? []), ...this.#files.problems], this.#options.output)
    if (this.#dump !== undefined) this.#dump = withoutEmpty(this.#dump, this.#options.output)
    this.#files = withoutEmpty(this.#files, this.#options.output)
  }

  /** No more than the question takes, and everything where what was read may be changed by what was not. */
  async readCluster(cluster: ClusterSession, question: Question): Promise<GatheredInput> {
    const { sources, settings } = this.#options
    const scmNamespaces = settings.scmConfig === undefined ? sources.scmNamespaces : []
    const { objects, beside, definedKinds } = this.#files
    const isCompared = question.aboutFiles === true
    const changes = {
      files: isCompared ? [...objects, ...beside] : objects,
      definesKinds: isCompared && definedKinds.some(({ parts }) => parts !== undefined),
      without: sources.without,
    }
    const namespaces = namespacesToRead(question, this.#inForce, changes)
    const read = async (from: readonly string[] | undefined, few?: LiveSide): Promise<LiveSide> => {
      const found = await cluster.read({
        namespaces: from,
        scmNamespaces,
        isScmNamespaceGiven: sources.isScmNamespaceGiven,
        output: settings,
        kind: question.kind,
        policies: question.policies === true,
        names: question.names !== undefined,
        configMaps: question.names === 'strings' && sources.configMaps === true,
        federation: readsFederation(question, changes),
        imports: question.clusters === true,
        files: objects,
      })
      const all = few === undefined ? found : mergeReads(found, few)
      const isAll = from === undefined
      if (isCompared) this.#install = await readLiveInstall(cluster.counterparts, all, this.#files, isAll)
      return all
    }
    const side = await read(namespaces)
    if (namespaces === undefined) return this.#inputOfAll(side)
    const input = await this.answerInput(side)
    const { before, after } = input
    const resolved = after.snapshot.accessPolicies.read.filter(
      ({ meta }) =>
        question.resolves === 'all' || (question.resolves === 'own' && namespaces.includes(meta.namespace)),
    )
    const reachesAll =
      dependsOnOutsideScope(after) ||
      this.#install.mayTakeRights ||
      (isCompared && concernsAll(before.settled, after.settled))
    if (resolved.length === 0 && !reachesAll) return input
    return this.#inputOfAll(await read(undefined, side))
  }

  /** Nothing is read again: a hundred thousand objects need not stay beside what was made of them. */
  #inputOfAll(side: LiveSide): Promise<GatheredInput> {
    return this.answerInput(side, { onRead: () => release(side.objects, this.#context) })
  }

  /**
   * `onRead` is called once the objects have been read and are not needed any more; the answer to `question` need not take
   * all that was read.
   */
  async answerInput(
    side: LiveSide | undefined,
    { question, onRead }: { readonly question?: Question; readonly onRead?: () => void } = {},
  ): Promise<GatheredInput> {
    const { after, whole, before, settings, settingsBefore, marks, unread, noted, idle, drive } =
      await this.#read(side, question)
    onRead?.()
    const { scm } = settings
    const disagreements = [...settings.operator.disagreements, ...scm.disagreements]
    const operator = { ...settings.operator, disagreements }
    const scope = scopeOfAnswer(question, this.#inForce, this.#options.settings)
    const analysed = (snapshot: Snapshot, of: SettingsReading): Analysis => drive(analysisSteps(snapshot, of))
    const first = analysed(after, settings)
    const analysis = whole === undefined || isEnough(first) ? first : analysed(whole(), settings)
    const analysisBefore = before === undefined ? analysis : analysed(before, settingsBefore)
    const sides = [...new Set([analysis, analysisBefore])]
    for (const one of sides) refuseTooManySelections(one)
    // What was not read elsewhere may matter as what would be left out on a cluster.
    const isAboutAll = unread.length > 0 && sides.some((one) => dependsOnOutsideScope(one, scope.namespaces))
    const reached = isAboutAll ? { ...scope, namespaces: undefined } : scope
    const [relevant, irrelevant] = [true, false].map((wanted) =>
      unread.filter((problem) => mayChange(problem, reached) === wanted),
    )
    return {
      after: analysis,
      analyse: (snapshot) => analysisSteps(snapshot, settings),
      before: analysisBefore,
      operator,
      scmConfigs: scm.texts,
      inputFindings: [
        ...nearMissFindings(this.#nearMisses),
        ...disagreements,
        ...scm.rivals,
        // What its own configuration shows: another SCM has another one.
        ...findingsInWorlds(analysis, (world) =>
          world.settings.source === scm.settings.source ? scm.findings : [],
        ),
        ...(side === undefined || before !== undefined
          ? lostOperatorFindings(operator.deployments, settingsBefore.operator.deployments, unread[0]?.what)
          : statusRule.find(analysis, side.operatorDeployments?.map(readOperatorDeployment))),
      ],
      problems: [...(relevant ?? []), ...scm.problems],
      marks: [...marks, ...this.#nearMisses.map(markOfNearMiss)],
      documents: (this.#dump?.documents ?? 0) + this.#files.documents,
      notes: [
        ...(this.#dump?.notes ?? []),
        ...this.#files.notes,
        ...[...idle, ...(irrelevant ?? [])].map(irrelevantNote),
        ...skippedNotes([this.#dump, this.#files]),
        ...suspendedNotes(this.#files, this.#options.sources.appliedOver),
        ...scm.notes,
        ...unreadNotes(analysis, side && this.#withInstall(side)),
      ],
      remarks: [
        ...(this.#options.settings.remarks ?? []),
        ...(side === undefined ? scmRemarks(this.#options.settings, scm) : []),
      ],
      isLive: side !== undefined,
      contextName: this.#contextName,
      namespaceInForce: this.#inForce,
      ...(question?.spire === true && {
        spireObjects: [...(this.#dump?.objects ?? []), ...this.#files.objects].filter(isSpirePart),
      }),
      drive,
      ...(this.#options.sources.isDesiredState === true
        ? {
            contents: contentsOf(this.#files.objects),
            desired: this.#files,
            unreadParts: await unreadParts([...unread, ...noted], this.#context.cwd),
          }
        : {}),
      ...(this.#dump === undefined || this.#files.objects.length === 0
        ? {}
        : { takenToStay: takenToStay(this.#dump.objects, this.#files.objects) }),
    }
  }

  /** All that is made of the objects themselves. */
  async #read(side: LiveSide | undefined, question: Question | undefined): Promise<Objects> {
    const { settings, sources } = this.#options
    const live = (side && this.#withInstall(side).objects) ?? this.#dump?.objects
    const compared = question?.aboutFiles === true ? this.#dump : undefined
    const install = compared === undefined ? this.#install : installOfDump(compared, this.#files)
    const besideLive = this.#dump?.beside ?? this.#install.beside
    const laid = overlay(live ?? [], this.#files.objects)
    const problems = [...(this.#dump?.problems ?? []), ...this.#files.problems, ...laid.problems]
    const beside = {
      operators: this.#laidOver(side?.operatorDeployments),
      scms: this.#laidOver(side?.scmWorkloads),
    }
    const left = this.#withoutNamed([laid.objects, beside.operators, beside.scms], side, problems)
    const [kept = [], operators = [], scms = []] = left
    const named = withPossibleNames(kept)
    const objects = [...named.objects, ...this.#named]
    const all: readonly Opaque[] = [
      ...problems,
      ...openChanges(this.#files.objects, sources.appliedOver?.objects ?? []),
      ...takenAway(this.#files, sources.appliedOver),
      ...takenFromKinds(laid.objects, this.#files.definedKinds, {
        definedKinds: install.definedKinds,
        unread: install.unreadKinds,
      }),
      ...named.problems,
    ]
    // What is live shows what the charts have made.
    const found = all.filter(({ isShownBy }) => isShownBy?.(objects) !== true)
    const told = found.filter(({ isNoted }) => isNoted !== true)
    const noted = found.filter(({ isNoted }) => isNoted === true)
    const idle = idleSubjects(told, objects, question)
    const unread = told.filter((problem) => !idle.has(problem))
    const gaps = new Map([...(side?.gaps ?? []), ...gapsOf(unread)])
    const parts = [...unread, ...noted, ...idle].flatMap(unreadObjects)
    const drive = driverFor(objects.length, this.#context)
    const about = {
      gaps,
      unread: parts,
      side,
      asksForMentions: this.#asksForMentions,
      beside: overlay(besideLive, this.#files.beside).objects,
    }
    const isGiven = this.#files.objects.length + this.#files.beside.length > 0
    const isChanged = isGiven || sources.without.length > 0
    // What the question starts from: the live side, or all files where only something is taken away from them.
    const start = live ?? (sources.without.length > 0 ? this.#files.objects : undefined)
    // The labelled ones first: the arguments of any other Deployment may look like the operator's.
    const deployments = [...operators, ...objects]
    const isOneState = start === undefined || !isChanged
    // What could not be read may be of any namespace.
    const onlyNamespaces =
      isOneState && question !== undefined && gaps.size === 0 && parts.length === 0
        ? scopeOf(objects, question)
        : undefined
    const after = drive(reading(snapshotSource(objects, { ...about, onlyNamespaces })), 'little')
    const statuses = onlyNamespaces === undefined ? after.bindings.read : bindingsWithStatus(objects)
    const { cwd } = this.#context
    const read = async (
      { isBefore, ...from }: SettingsObjects & { readonly isBefore: boolean },
      among: readonly RawObject[],
      snapshot: Snapshot,
    ): Promise<SettingsReading> => {
      const scmObjects = [...among, ...(isBefore ? (side?.scmWorkloads ?? []) : scms)]
      const isChange = start !== undefined && isChanged
      const operator = isBefore
        ? operatorSettingsBefore(settings, from)
        : operatorSettings(settings, from, isChange ? this.#files.objects : undefined)
      const how = { cwd, classFollows: true, isChange: isChange || isBefore }
      const scm = await (isBefore ? scmSettingsBefore : scmSettings)(
        settings,
        scmObjects,
        snapshot,
        operator,
        how,
      )
      // JavaScriptCore keeps what its code for a long loop of an async function was given: a hundred thousand pods.
      scmObjects.length = 0
      return withSettingsOfScm({ operator, scm })
    }
    const settingsAfter = await read(
      {
        isBefore: sources.isBefore === true,
        deployments,
        bindings: statuses,
        outputs: after.clusterSpiffeIds.read,
      },
      objects,
      after,
    )
    const before = isOneState
      ? undefined
      : drive(
          reading(
            snapshotSource([...withPossibleNames(start).objects, ...this.#named], {
              ...about,
              beside: live === undefined ? this.#files.beside : besideLive,
              unreadBeside: install.unread,
            }),
          ),
          'little',
        )
    const settingsBefore =
      before === undefined
        ? settingsAfter
        : await read(
            {
              isBefore: true,
              deployments: [...(side?.operatorDeployments ?? []), ...(start ?? [])],
              bindings: before.bindings.read,
              outputs: before.clusterSpiffeIds.read,
            },
            start ?? [],
            before,
          )
    const whole =
      onlyNamespaces === undefined
        ? undefined
        : (): Snapshot => drive(reading(snapshotSource(objects, about)), 'little')
    return {
      after,
      whole,
      before,
      settings: settingsAfter,
      settingsBefore,
      marks: marksOf(objects),
      unread,
      noted,
      idle: [...idle],
      drive,
    }
  }

  /** The live side with what the files change and no list brings. */
  #withInstall(side: LiveSide): LiveSide {
    const { objects, unread, unreadKinds } = this.#install
    const unverifiedRefs = [...side.unverifiedRefs, ...unread.values(), ...unreadKinds.values()]
    return objects.length + unread.size + unreadKinds.size === 0
      ? side
      : { ...side, objects: [...side.objects, ...objects], unverifiedRefs }
  }

  /** What was read for its own sake, as the files leave it. */
  #laidOver(live: readonly RawObject[] = []): readonly RawObject[] {
    const keys = new Set(live.map(({ value }) => objectKey(value)))
    const files = this.#files.objects.filter(({ value }) => keys.has(objectKey(value)))
    return overlay(live, files).objects
  }

  /** Lists of objects without those that are to be left out, and what goes along with them. */
  #withoutNamed(
    lists: readonly (readonly RawObject[])[],
    side: LiveSide | undefined,
    problems: readonly InputProblem[],
  ): readonly (readonly RawObject[])[] {
    const { without } = this.#options.sources
    if (without.length === 0) return lists
    const objects = [...new Set(lists.flat())]
    const parts = problems.flatMap(unreadObjects).map(({ kind, why }) => [kind, why] as const)
    const deleted = without.flatMap((gone) => {
      const named = objects.filter(({ value }) => isNamed(value, gone, this.#namespace))
      if (named.length > 0) return named
      const path = [gone.kind, gone.namespace ?? this.#namespace, gone.name].join('/')
      const where = `--without ${path}`
      const why = whyHidden(gone, [...(side?.gaps ?? []), ...gapsOf(problems), ...parts])
      if (why !== undefined) {
        throw new KleymError(why.verb === 'read' ? 'input' : 'unreachable', {
          what: 'cannot tell whether the object to leave out is there',
          where,
          why: unknownReasonText(why),
          fix: missingRbacRules([why]).join(' ') || unknownReasonFix(why),
        })
      }
      throw new KleymError('not-found', {
        what: 'the object to leave out is not there',
        where,
        why: `no object of that kind, namespace and name is ${side === undefined ? 'among the files' : 'in the cluster or among the files'}`,
        fix: 'write KIND[.GROUP]/[NAMESPACE/]NAME of an object that is there',
      })
    })
    const left = new Set(afterDeletionOf(deleted, objects))
    return lists.map((list) => list.filter((one) => left.has(one)))
  }
}

/** Why an object that was not found may be there all the same; undefined: it is not. */
function whyHidden(
  { kind, group }: ObjectName,
  gaps: readonly (readonly [kind: string, why: UnknownReason])[],
): UnknownReason | undefined {
  const isAbout = (one: string): boolean =>
    one === '*' || (group === undefined ? one.split('.')[0] === kind : one === qualifiedKind({ kind, group }))
  return gaps.find(([one]) => isAbout(one))?.[1]
}

/** Works a snapshot out under some settings, and what of them matters to it. */
function analysisSteps(snapshot: Snapshot, of: SettingsReading): Steps<Analysis> {
  return analysing(snapshot, of.operator.config, of.scm.settings, openSettingsAbout(snapshot, of))
}

/** What may be empty is no problem. Folders that may not have been refused. */
function withoutEmpty(
  files: LoadedFiles,
  { allowEmpty = false }: Pick<CommonOptions['output'], 'allowEmpty'>,
): LoadedFiles {
  return { ...files, problems: files.problems.filter(({ kind }) => kind !== 'empty' || !allowEmpty) }
}

/** A path that does not exist is a wrong command line: an answer about the rest would answer another question. */
function refuseWrongPaths(
  problems: readonly InputProblem[],
  { allowEmpty = false }: Pick<CommonOptions['output'], 'allowEmpty'>,
): void {
  const wrong = problems.find(
    ({ kind, where }) => kind === 'path' || (kind === 'empty' && where !== STDIN && !allowEmpty),
  )
  if (wrong === undefined) return
  const { what, where, why, fix } = wrong
  throw new KleymError('usage', { what, where, why, fix })
}

/** The objects in a total order, without their places in files and their formatting. */
function contentsOf(objects: readonly RawObject[]): string {
  return sha256Hex(
    objects
      .map(({ value }) => canonicalText(value))
      .toSorted(compareBytes)
      .join('\n'),
  )
}
