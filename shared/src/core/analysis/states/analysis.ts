// Everything that follows from one snapshot, in the order in which data flows: compile, collide and plan, predict. Both the
// views and the findings read this and nothing else.
import { NO_OPEN_SETTINGS, type OpenSettings } from '../settings/assumptions.ts'
import { BINDING, CLUSTER_SPIFFE_ID, qualifiedKind } from '../../model/kinds.ts'
import {
  compile,
  type Compiled,
  type Config,
  DEFAULT_BINDINGS_PER_NAMESPACE,
  judgeOwnership,
  type LiveOutput,
  type OpenOf,
  type OutputsKnown,
  settling,
  type Action,
  type OwnershipFacts,
} from '../../decide/index.ts'
import { groupsBy } from '../../base/groups.ts'
import { lazy } from '../../base/lazy.ts'
import { indexPods } from '../../model/objects/pod-index.ts'
import type { ScmSettings } from '../../model/objects/scm-settings.ts'
import type { CompiledSnapshot } from '../settings/compiled-snapshot.ts'
import {
  referencesIn,
  type Snapshot,
  perhapsPodsOf,
  podsInQuestionOf,
  bindingsIn,
} from '../../snapshot/index.ts'
import { driveAtOnce, type Steps } from '../../base/steps.ts'
import { State } from './state.ts'
import type { UnknownReason } from '../../model/unknown-reason.ts'
import { NONE_UNDECIDED, undecidedBindings } from '../holdings/undecided.ts'

/** A snapshot, its two states, and what lies between them. */
export interface Analysis extends CompiledSnapshot {
  /** As it was read: the live outputs, and what the operator says of each binding before its writes have their effect. */
  readonly now: State
  /** Once kleym has done everything that it has to do. */
  readonly settled: State
  /** The net change from `now` to `settled`. */
  readonly changes: Changes
}

/** Works a snapshot out. Pure. */
export function analyse(
  snapshot: Snapshot,
  config: Config,
  settings: ScmSettings,
  openSettings: OpenSettings = NO_OPEN_SETTINGS,
): Analysis {
  return driveAtOnce(analysing(snapshot, config, settings, openSettings))
}

/** The same in steps, several for each binding and output. */
export function* analysing(
  snapshot: Snapshot,
  config: Config,
  settings: ScmSettings,
  openSettings: OpenSettings = NO_OPEN_SETTINGS,
): Steps<Analysis> {
  const references = referencesIn(snapshot)
  const compiled: Compiled[] = []
  for (const binding of snapshot.bindings.read) {
    yield
    compiled.push(compile(binding, references, config))
  }
  const live = liveOutputs(snapshot, compiled)
  const full = withoutRoom(compiled, snapshot.bindings, live, config)
  const { first, outputs, changes, ...last } = yield* settling(
    compiled,
    live,
    outputsKnown(snapshot),
    openDecisions(snapshot, full),
  )
  yield
  const registered = [...live, ...outputs].map(({ object }) => object)
  const registrations = { registered, variantLabelKey: config.variantLabelKey }
  const certain = yield* podsInQuestionOf(snapshot, registrations)
  const perhaps = perhapsPodsOf(snapshot, registrations, certain)
  const podsInQuestion = perhaps.length === 0 ? certain : [...certain, ...perhaps]
  yield
  // A witness, or a pod of two pools, is one that is certain.
  const pods = lazy(() => indexPods(certain))
  const base = { snapshot, config, settings, openSettings, compiled, podsInQuestion, pods }
  const unwritten = new Set(
    changes.flatMap((change) => (change.kind === 'delete' ? [] : [change.output.metadata.name])),
  )
  return {
    ...base,
    now: new State(base, { ...first, outputs: live, unwritten: new Set(), undecided: NONE_UNDECIDED }),
    settled: new State(base, {
      ...last,
      outputs,
      unwritten,
      undecided: undecidedBindings(compiled, outputs, full),
    }),
    changes: new Changes(changes),
  }
}

/** The analysis of a cluster that stays in one state: both of its states are this one, and nothing changes. */
export function unchanged(state: State): Analysis {
  return { ...state.base, now: state, settled: state, changes: NO_CHANGES }
}

function liveOutputs(snapshot: Snapshot, compiled: readonly Compiled[]): readonly LiveOutput[] {
  const facts = ownershipFacts(snapshot, compiled)
  return snapshot.clusterSpiffeIds.read.map((object) => ({
    object,
    ownership: judgeOwnership(object, facts),
  }))
}

function outputsKnown({ absentKinds, rest }: Snapshot): OutputsKnown {
  return absentKinds.has(OUTPUTS) ? 'not served' : (rest.gaps.get(OUTPUTS) ?? 'known')
}

/** Why bindings may find no place for an output, by their keys. */
type WithoutRoom = ReadonlyMap<string, UnknownReason>

/**
 * The bindings without an output for which their namespace has no room: which of them come first is not known. Those whose output is there,
 * or is named by a status, keep their place (docs/contract.md §8, "Quiet and fair").
 */
function withoutRoom(
  compiled: readonly Compiled[],
  { read: bindings }: Snapshot['bindings'],
  live: readonly LiveOutput[],
  { bindingsPerNamespace: most = DEFAULT_BINDINGS_PER_NAMESPACE }: Config,
): WithoutRoom {
  const crowded =
    most === 0
      ? []
      : groupsBy(compiled, ({ binding }) => binding.meta.namespace).filter(({ length }) => length > most)
  if (crowded.length === 0) return new Map()
  const placed = new Set<string>([
    ...live.flatMap(({ ownership }) => (ownership.kind === 'ours' ? ownership.binding : [])),
    ...bindings.flatMap(({ key, status, meta }) =>
      status?.clusterSPIFFEID !== undefined && meta.deletedAt === undefined ? key : [],
    ),
  ])
  const hasPlace = ({ binding: { key } }: Compiled): boolean => placed.has(key)
  return new Map(
    crowded.flatMap((all) => {
      const asking = all.filter((one) => !hasPlace(one) && mayGetOutput(one))
      if (all.filter(hasPlace).length + asking.length <= most) return []
      const why = {
        verb: 'create',
        what: 'ClusterSPIFFEID',
        namespace: all[0].binding.meta.namespace,
        cause: 'more than --bindings-per-namespace',
      } as const
      return asking.map(({ binding }) => [binding.key, why] as const)
    }),
  )
}

function mayGetOutput({ binding: { meta }, result }: Compiled): boolean {
  return result.kind === 'resolved' && meta.deletedAt === undefined
}

/** Which bindings documents leave undecided: another binding may collide with them, a ClusterSPIFFEID may have the name of their output. */
function openDecisions({ rest, bindings }: Snapshot, full: WithoutRoom): OpenOf | undefined {
  const ofRoom: OpenOf = ({ binding }) => {
    const why = full.get(binding.key)
    return why && { check: 'output', why }
  }
  if (rest.isEmpty) return full.size === 0 ? undefined : ofRoom
  const read = new Set<string>(bindings.read.map(({ key }) => key))
  return (one) => {
    const { binding, result } = one
    const { namespace, name } = binding.meta
    // One that was read stands twice: it alone is in doubt, since what it declares is known.
    const peer = rest.part(
      [qualifiedKind(BINDING)],
      { namespace },
      (part) =>
        part.name === undefined || part.name === name || !read.has(`${part.namespace ?? ''}/${part.name}`),
    )
    if (peer !== undefined) return { check: 'collision', why: peer.why }
    if (result.kind !== 'resolved') return ofRoom(one)
    const output = { name: result.output.metadata.name }
    const holder = rest.part(
      [OUTPUTS],
      output,
      (part) => part.name !== undefined || part.mayBeOutput === true,
    )
    return holder === undefined ? ofRoom(one) : { check: 'output', why: holder.why }
  }
}

const OUTPUTS = qualifiedKind(CLUSTER_SPIFFE_ID)

/** Writes, all of them and by binding. */
export class Changes {
  /** In byte order of the names of the ClusterSPIFFEIDs. */
  readonly all: readonly Action[]
  #byBinding: ReadonlyMap<string, readonly Action[]> | undefined

  constructor(all: readonly Action[]) {
    this.all = all
  }

  /** Those on behalf of a binding, by `namespace/name`. */
  of(binding: string): readonly Action[] {
    this.#byBinding ??= Map.groupBy(this.all, (action) => action.binding)
    return this.#byBinding.get(binding) ?? []
  }
}

/** No change at all. */
export const NO_CHANGES = new Changes([])

/** The facts of a snapshot and of what its bindings compile to. */
export function ownershipFacts(snapshot: Snapshot, compiled: readonly Compiled[]): OwnershipFacts {
  const renderedNames = new Map<string, string>(
    compiled.flatMap(({ binding, result }) =>
      result.kind === 'resolved' ? [[binding.key, result.output.metadata.name]] : [],
    ),
  )
  const bindingOf = bindingsIn(snapshot)
  return {
    binding: bindingOf,
    renderedName: (key) => renderedNames.get(key),
    recordedOutput: (key) => {
      const found = bindingOf(key)
      return found.state === 'found' ? found.object.status?.clusterSPIFFEID : undefined
    },
  }
}
