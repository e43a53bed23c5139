// Everything that follows from one snapshot, in the order in which data flows: compile, collide and plan, predict. Both the
// views and the findings read this and nothing else.
import { NO_OPEN_SETTINGS, type OpenSettings } from '../settings/assumptions.ts'
import { BINDING, CLUSTER_SPIFFE_ID, qualifiedKind } from '../../model/kinds.ts'
import {
  compile,
  type Compiled,
  type Config,
  judgeOwnership,
  type LiveOutput,
  type OpenOf,
  type OutputsKnown,
  settling,
} from '../../decide/index.ts'
import { lazy } from '../../base/lazy.ts'
import { indexPods } from '../../model/objects/pod-index.ts'
import type { ScmSettings } from '../../model/objects/scm-settings.ts'
import type { CompiledSnapshot } from '../settings/compiled-snapshot.ts'
import { referencesIn, type Snapshot, perhapsPodsOf, podsInQuestionOf } from '../../snapshot/index.ts'
import { driveAtOnce, type Steps } from '../../base/steps.ts'
import { Changes, NO_CHANGES } from './changes.ts'
import { ownershipFacts } from './ownership-facts.ts'
import { State } from './state.ts'
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
  const { first, outputs, changes, ...last } = yield* settling(
    compiled,
    live,
    outputsKnown(snapshot),
    openDecisions(snapshot),
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
      undecided: undecidedBindings(compiled, outputs),
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

/** Which bindings documents leave undecided: another binding may collide with them, a ClusterSPIFFEID may have the name of their output. */
function openDecisions({ rest, bindings }: Snapshot): OpenOf | undefined {
  if (rest.isEmpty) return undefined
  const read = new Set<string>(bindings.read.map(({ key }) => key))
  return ({ binding, result }) => {
    const { namespace, name } = binding.meta
    // One that was read stands twice: it alone is in doubt, since what it declares is known.
    const peer = rest.part(
      [qualifiedKind(BINDING)],
      { namespace },
      (one) => one.name === undefined || one.name === name || !read.has(`${one.namespace ?? ''}/${one.name}`),
    )
    if (peer !== undefined) return { check: 'collision', why: peer.why }
    if (result.kind !== 'resolved') return undefined
    const output = { name: result.output.metadata.name }
    const holder = rest.part([OUTPUTS], output, (one) => one.name !== undefined || one.mayBeOutput === true)
    return holder === undefined ? undefined : { check: 'output', why: holder.why }
  }
}

const OUTPUTS = qualifiedKind(CLUSTER_SPIFFE_ID)
