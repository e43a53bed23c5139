// Everything that one snapshot comes to, in the order in which data flows: compile, collide and plan, predict. Both the
// views and the findings read this and nothing else.
import { CLUSTER_SPIFFE_ID, qualifiedKind } from '../kinds.ts'
import type { NamespacedName } from '../namespaced-name.ts'
import { compile, type Compiled } from '../compile/compile.ts'
import { TRUST_DOMAIN_PLACEHOLDER, type Config } from '../compile/config.ts'
import type { ClusterSpiffeId } from '../objects/clusterspiffeid.ts'
import type { Pod } from '../objects/pod.ts'
import type { ScmSettings } from '../objects/scm-settings.ts'
import { indexPods, type PodIndex } from '../objects/pod-index.ts'
import { lazy } from '../lazy.ts'
import { judgeOwnership } from '../plan/ownership.ts'
import type { Action, Judgement, LiveOutput, OutputsKnown } from '../plan/plan.ts'
import { settle, type Settled } from '../plan/settle.ts'
import { resolvePolicies, type Policies } from '../policies/policies.ts'
import { bindingsIn, referencesIn, subjectsOf, type Snapshot } from '../snapshot/snapshot.ts'
import { IGNORE_PROGRESS, reporting, type OnProgress } from '../on-progress.ts'
import { predict } from '../spire/predict.ts'
import type { Prediction } from '../spire/prediction.ts'

export interface Analysis {
  readonly snapshot: Snapshot
  readonly config: Config
  readonly settings: ScmSettings
  /** For long work on all of this. */
  readonly onProgress: OnProgress
  /** In the order of `snapshot.bindings`. */
  readonly compiled: readonly Compiled[]
  /** The ClusterSPIFFEIDs of the snapshot, and whose they are. */
  readonly live: readonly LiveOutput[]
  readonly settled: Settled
  /** The pods that questions are about: existing ones, and those of templates that none represents. */
  readonly subjects: readonly Pod[]
  /** The changes that are due, by binding. Worked out at the first call, as is whatever follows. */
  readonly changesByBinding: () => ReadonlyMap<string, readonly Action[]>
  /** The same pods, by their labels. */
  readonly pods: () => PodIndex
  /** What SPIRE does once kleym has done all it has to do. Worked out at the first call. */
  readonly prediction: () => Prediction
  /** What SPIRE does with the ClusterSPIFFEIDs of the snapshot as they are. Worked out at the first call. */
  readonly predictionNow: () => Prediction
  /** The access policies, resolved against `prediction`. Worked out at the first call. */
  readonly policies: () => Policies
}

/** Works a snapshot out. Pure. `onProgress` is told of it here, and of whatever is worked out of the analysis later. */
export function analyse(
  snapshot: Snapshot,
  config: Config,
  settings: ScmSettings,
  onProgress: OnProgress = IGNORE_PROGRESS,
): Analysis {
  const references = referencesIn(snapshot)
  const compiled = snapshot.bindings.map((binding) => {
    onProgress()
    return compile(binding, references, config)
  })
  const renderedNames = new Map(
    compiled.flatMap(({ binding, result }) =>
      result.kind === 'resolved' ? [[binding.key, result.output.metadata.name] as const] : [],
    ),
  )
  const facts = {
    binding: bindingsIn(snapshot),
    renderedName: (key: NamespacedName) => renderedNames.get(key),
  }
  const live = snapshot.clusterSpiffeIds.map((object) => ({
    object,
    ownership: judgeOwnership(object, facts),
  }))
  const settled = settle(compiled, live, outputsKnown(snapshot), onProgress)
  const subjects = subjectsOf(snapshot, onProgress)
  const predictWith = (outputs: readonly LiveOutput[]): Prediction =>
    predict({
      clusterSpiffeIds: outputs.map(({ object }) => predictable(object)),
      staticEntries: snapshot.staticEntries,
      namespaces: snapshot.namespaces,
      nodes: snapshot.nodes,
      pods: subjects,
      endpoints: snapshot.endpoints,
      settings,
      onProgress,
    })
  const prediction = lazy(() => predictWith(settled.outputs))
  return {
    snapshot,
    config,
    settings,
    onProgress,
    compiled,
    live,
    settled,
    subjects,
    changesByBinding: lazy(() => Map.groupBy(settled.changes, ({ binding }) => binding)),
    pods: lazy(() => indexPods(reporting(subjects, onProgress))),
    prediction,
    predictionNow: lazy(() => predictWith(live)),
    policies: lazy(() =>
      resolvePolicies({ snapshot, config, settings, compiled, settled, subjects, prediction }),
    ),
  }
}

function outputsKnown({ absentKinds, gaps }: Snapshot): OutputsKnown {
  const kind = qualifiedKind(CLUSTER_SPIFFE_ID)
  return absentKinds.has(kind) ? 'not served' : (gaps.get(kind) ?? 'known')
}

/** Where kleym's trust domain is not known, its outputs are predicted as if it were SCM's: any other never renders. */
function predictable(object: ClusterSpiffeId): ClusterSpiffeId {
  const { spiffeIDTemplate } = object.spec
  if (!spiffeIDTemplate.includes(TRUST_DOMAIN_PLACEHOLDER)) return object
  const template = spiffeIDTemplate.replace(TRUST_DOMAIN_PLACEHOLDER, '{{ .TrustDomain }}')
  return { ...object, spec: { ...object.spec, spiffeIDTemplate: template } }
}

/** The judgement of a binding as the operator sees it now; undefined for a key that is not there. */
export function judgementOf(analysis: Analysis, key: string): Judgement | undefined {
  return analysis.settled.first.judgements.get(key)
}

/** The judgement of a binding once everything has settled. */
export function settledJudgementOf(analysis: Analysis, key: string): Judgement | undefined {
  return analysis.settled.judgements.get(key)
}

/** The binding behind a ClusterSPIFFEID of ours; undefined for a foreign one. */
export function bindingOfOutput(analysis: Analysis): ReadonlyMap<string, NamespacedName> {
  return new Map(
    analysis.settled.outputs.flatMap(({ object, ownership }) =>
      ownership.kind === 'ours' ? [[object.meta.name, ownership.binding] as const] : [],
    ),
  )
}
