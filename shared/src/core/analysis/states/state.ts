// One state of a cluster: the outputs that are there, and everything that follows from them. An analysis has two: the one
// that was read (`now`), and the one in which kleym has done all that it has to do (`settled`).
import { lazy } from '../../base/lazy.ts'
import {
  TRUST_DOMAIN_PLACEHOLDER,
  type ClaimIndex,
  type Action,
  type Judgement,
  type LiveOutput,
  type Pass,
} from '../../decide/index.ts'
import { whyNoAgentOn } from '../../model/objects/agent-nodes.ts'
import { whyUnserved } from '../../model/objects/spire-setup.ts'
import type { ClusterSpiffeId } from '../../model/objects/clusterspiffeid.ts'
import { BINDING, qualifiedKind } from '../../model/kinds.ts'
import { SPIRE_GROUP } from '../../model/names.ts'
import { namespaceWritten, type NamespacedName } from '../../model/namespaced-name.ts'
import { resolvePolicies, type Policies } from '../policies/policies.ts'
import { type Snapshot } from '../../snapshot/index.ts'
import type { PolicyContext } from '../policies/policy-context.ts'
import type { CompiledSnapshot } from '../settings/compiled-snapshot.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { unknownReasonText } from '../../model/unknown-reason.ts'
import {
  predict,
  type EntrySource,
  type Prediction,
  type PredictionInput,
  type SelectionCounts,
} from '../../predict/index.ts'
import { Holdings } from '../holdings/holdings.ts'
import { undecidedOn, type UndecidedBindings } from '../holdings/undecided.ts'

/** What a state is made from, beside the compiled snapshot. */
export interface StateParts extends Pass {
  /** All ClusterSPIFFEIDs that are there in this state, and whose they are. */
  readonly outputs: readonly LiveOutput[]
  /** The names of those among `outputs` that kleym must still create or update in the cluster. */
  readonly unwritten: ReadonlySet<string>
  /** Bindings that may get an output beside these; none in what is there now. */
  readonly undecided: UndecidedBindings
}

/**
 * A state. What follows from it (`prediction`, `policies`) reads this state alone, and is worked out at the first call. It is a class
 * with private fields so that the compiler refuses a copy with other data by spread, whose methods would still answer
 * from the data of the original.
 */
export class State implements PolicyContext {
  /** What all states of the snapshot have in common. */
  readonly base: CompiledSnapshot
  /** What each binding comes to among the others, by `namespace/name`. */
  readonly judgements: ReadonlyMap<string, Judgement>
  /** The writes of kleym's next pass. */
  readonly actions: readonly Action[]
  /** What bindings and outputs claim. */
  readonly claims: ClaimIndex
  readonly outputs: readonly LiveOutput[]
  readonly unwritten: ReadonlySet<string>
  readonly undecided: UndecidedBindings
  /** The keys of the bindings behind kleym's own outputs, by the name of the ClusterSPIFFEID. */
  readonly bindingsByOutput = lazy(
    (): ReadonlyMap<string, NamespacedName> =>
      new Map(
        this.outputs.flatMap(({ object, ownership }) =>
          ownership.kind === 'ours' ? [[object.meta.name, ownership.binding] as const] : [],
        ),
      ),
  )
  #prediction: Prediction | undefined
  #policies: Policies | undefined

  constructor(
    base: CompiledSnapshot,
    { judgements, actions, claims, outputs, unwritten, undecided }: StateParts,
  ) {
    this.base = base
    this.judgements = judgements
    this.actions = actions
    this.claims = claims
    this.outputs = outputs
    this.unwritten = unwritten
    this.undecided = undecided
  }

  /** What SPIRE does with the outputs of this state. */
  prediction(): Prediction {
    if (this.#prediction !== undefined) return this.#prediction
    const { snapshot, podsInQuestion, settings } = this.base
    const whyKept = this.#whyKept()
    const holdings = lazy(() => new Holdings(this))
    this.#prediction = predict({
      clusterSpiffeIds: this.outputs.map(({ object }) => predictable(object)),
      staticEntries: snapshot.staticEntries.read,
      namespaces: snapshot.namespaces.read,
      nodes: snapshot.nodes,
      pods: podsInQuestion,
      endpoints: snapshot.endpoints,
      settings,
      whyIncomplete: (pod) => whyUnread(snapshot, pod.namespace) ?? whyUndecided(this.undecided, pod),
      unread: (pod, container) => holdings().unread(pod, container),
      whyDoubted: ({ kind, name }) => whyDoubted(snapshot, kind, name),
      whyUnserved: this.#unserved(),
      ...(whyKept.size > 0 && { whyKept: ({ name }) => whyKept.get(name) }),
    })
    return this.#prediction
  }

  /** Why no agent may give out what SCM asks for, of what there is; undefined: nothing shows any reason. */
  #unserved(): PredictionInput['whyUnserved'] {
    const { snapshot, settings } = this.base
    const everywhere = whyUnserved(settings, snapshot.spireSetup)
    if (everywhere !== undefined) return () => everywhere
    const { nodes = [], agentNodes } = snapshot
    const whys = new Map(
      nodes.flatMap((node) => {
        const why = whyNoAgentOn(node, agentNodes)
        return why === undefined ? [] : [[node.name, { why, isOnServer: true }] as const]
      }),
    )
    return whys.size === 0
      ? undefined
      : (pod) => (pod?.nodeName === undefined || pod.getsNode === true ? undefined : whys.get(pod.nodeName))
  }

  /** Whether objects select pods, or containers, more often than so many times. */
  hasMoreSelections(than: SelectionCounts): boolean {
    const { snapshot, podsInQuestion: pods } = this.base
    const objects = this.outputs.length + snapshot.staticEntries.read.length
    const containers = pods.reduce((sum, pod) => sum + pod.containers.length, 0)
    // What has few pods or few objects, as nearly all has, needs no counting, and perhaps no prediction.
    if (pods.length * objects <= than.ofPods && containers * objects <= than.ofContainers) return false
    return this.prediction().hasMoreSelections(than)
  }

  /** Why a binding that was not read may keep kleym from writing an output, by its name: the two may claim the same containers. */
  #whyKept(): ReadonlyMap<string, string> {
    const { snapshot } = this.base
    if (this.unwritten.size === 0 || snapshot.rest.isEmpty) return new Map()
    return new Map(
      this.outputs.flatMap(({ object: { meta }, ownership }) => {
        if (ownership.kind !== 'ours' || !this.unwritten.has(meta.name)) return []
        const namespace = namespaceWritten(ownership.binding)
        const gap = snapshot.rest.of(qualifiedKind(BINDING), { namespace })
        return gap === undefined
          ? []
          : [
              [
                meta.name,
                `another binding of ${namespace} may claim the same containers: ${unknownReasonText(gap)}`,
              ],
            ]
      }),
    )
  }

  /** The access policies of the snapshot, resolved against `prediction`. */
  policies(): Policies {
    this.#policies ??= resolvePolicies(this)
    return this.#policies
  }
}

function whyUnread(snapshot: Snapshot, namespace: string): string | undefined {
  const gap = snapshot.rest.displacing(namespace)
  return gap === undefined ? undefined : `a ClusterSPIFFEID that was not read (${unknownReasonText(gap)})`
}

function whyUndecided(undecided: UndecidedBindings, pod: Pod): string | undefined {
  if (undecided.size === 0) return undefined
  const [first] = undecidedOn(undecided, pod)
  return first === undefined
    ? undefined
    : `the ClusterSPIFFEID of binding ${first.binding}, which is undetermined (${unknownReasonText(first.why)}),`
}

/** Why a registration that was read may be another one: it stands twice. */
function whyDoubted({ rest }: Snapshot, kind: EntrySource['kind'], name: string): string | undefined {
  if (rest.isEmpty) return undefined
  const doubled = rest.part(
    [qualifiedKind({ kind, group: SPIRE_GROUP })],
    { name },
    (one) => one.name === name,
  )
  return doubled === undefined ? undefined : `${kind}/${name} is in doubt: ${unknownReasonText(doubled.why)}`
}

/** Where kleym's trust domain is not known, its outputs are predicted as if it were SCM's: any other never renders. */
function predictable(object: ClusterSpiffeId): ClusterSpiffeId {
  const { spiffeIDTemplate } = object.spec
  if (!spiffeIDTemplate.includes(TRUST_DOMAIN_PLACEHOLDER)) return object
  const template = spiffeIDTemplate.replace(TRUST_DOMAIN_PLACEHOLDER, '{{ .TrustDomain }}')
  return { ...object, spec: { ...object.spec, spiffeIDTemplate: template } }
}
