// What a chain is about: the registrations that give a container its identities, or the one that is nearest to doing so.
import {
  type Analysis,
  type State,
  Holdings,
  type ContainerHolding,
  openVerdicts,
} from '../../analysis/index.ts'
import { mayBecome, mayGive } from '../../base/go/template/mentions.ts'
import type { ClusterSpiffeId } from '../../model/objects/clusterspiffeid.ts'
import type { Container, LacksContainerSelectors, Node, Pod } from '../../model/objects/pod.ts'
import { sourceText, type EntrySource, containerVerdicts, type Registration } from '../../predict/index.ts'

/** A container that is asked about. */
export interface Asked {
  readonly analysis: Analysis
  /** Whether the answer is about a cluster as it is: then what kleym must still write gives no identity. */
  readonly isLiveState: boolean
  readonly pod: Pod
  readonly container: Container
  /** Only this identity; undefined: any. */
  readonly spiffeId: string | undefined
}

/** One registration, as the prediction has it and as settings that were not given leave it. */
export interface ChainCandidate {
  readonly source: EntrySource
  /** Under the settings that are assumed. */
  readonly assumed: Registration
  /** In all worlds. */
  readonly settled: Registration
  /** kleym must still write it. */
  readonly isPending: boolean
  /** The binding behind it, `namespace/name`; undefined: it is of no binding. */
  readonly binding: string | undefined
  /** The object, where it is a ClusterSPIFFEID. */
  readonly object: ClusterSpiffeId | undefined
}

/** The registrations that a chain follows. */
export interface ChainSubject extends Asked {
  readonly state: State
  readonly holding: ContainerHolding
  /** Those that give the identity: all of them must pass each hop. Else the one that is nearest; none: nothing selects the pod. */
  readonly candidates: readonly ChainCandidate[]
  /** What agents do not find of the pod: the hop "attested" is about that, and no other. */
  readonly lacked: LacksContainerSelectors | undefined
  /** Whether the candidates give it. */
  readonly isGiven: boolean
}

/** Finds what a chain is about. */
export function subjectOf(given: Asked): ChainSubject {
  const { lacksContainerSelectors: lacked, ...pod } = given.pod
  const asked: Asked = lacked === undefined ? given : { ...given, pod }
  const { analysis, isLiveState, container, spiffeId } = asked
  const settling = openVerdicts(analysis)
  const isNow = isLiveState && analysis.changes.all.length > 0
  const state = isNow ? analysis.now : analysis.settled
  const holding = new Holdings(state, settling).ofContainer(asked.pod, container)
  const pending = isNow ? analysis.settled.unwritten : new Set<string>()
  const there = candidatesIn(state, asked, holding, false)
  const coming =
    pending.size === 0
      ? []
      : candidatesIn(
          analysis.settled,
          asked,
          new Holdings(analysis.settled, settling).ofContainer(asked.pod, container),
          true,
        ).filter(
          ({ source }) => pending.has(source.name) && !there.some((one) => one.source.name === source.name),
        )
  const all = [...there, ...coming].filter((one) => isMeant(one, spiffeId))
  const giving = all.filter(({ assumed, isPending }) => assumed.verdict === 'issued' && !isPending)
  const [nearest] = all.toSorted((left, right) => distance(left) - distance(right))
  return {
    ...asked,
    state,
    holding,
    lacked,
    candidates: giving.length > 0 ? giving : nearest === undefined ? [] : [nearest],
    isGiven: giving.length > 0,
  }
}

function candidatesIn(
  state: State,
  { pod, container }: Asked,
  { registrationsOf }: ContainerHolding,
  isPending: boolean,
): readonly ChainCandidate[] {
  const assumed = new Map(
    containerVerdicts(state.prediction(), pod, container).map((one) => [sourceText(one.source), one]),
  )
  const bindings = state.bindingsByOutput()
  const objects = new Map(state.outputs.map(({ object }) => [object.meta.name, object]))
  return registrationsOf(pod, container).map((settled) => {
    const { source } = settled
    const isId = source.kind === 'ClusterSPIFFEID'
    return {
      source,
      assumed: assumed.get(sourceText(source)) ?? settled,
      settled,
      isPending,
      binding: isId ? bindings.get(source.name) : undefined,
      object: isId ? objects.get(source.name) : undefined,
    }
  })
}

/** Whether a registration gives the identity that is asked about, or may. */
function isMeant({ assumed, object }: ChainCandidate, wanted: string | undefined): boolean {
  if (wanted === undefined) return true
  const { spiffeId } = assumed
  if (spiffeId !== undefined) return spiffeId === wanted || mayBecome(spiffeId, wanted)
  return object === undefined || mayGive(object.spec.spiffeIDTemplate, [wanted])
}

/** What goes furthest comes first. */
const NEAREST: readonly Registration['verdict'][] = [
  'depends',
  'unknown',
  'refused',
  'failed',
  'masked',
  'ignored',
  'dead',
  'displaced',
]

/** How far a registration is from giving its identity: those of bindings first, and last those that are for another container. */
function distance({ assumed, binding, isPending }: ChainCandidate): number {
  const isElsewhere = assumed.verdict === 'dead' && assumed.selector?.startsWith('k8s:container-') === true
  const group = isElsewhere ? 2 : binding !== undefined || isPending ? 0 : 1
  return group * NEAREST.length + NEAREST.indexOf(assumed.verdict)
}

/** `ClusterSPIFFEID/default`, `binding team-a/chat (ClusterSPIFFEID/kleym-...)`. */
export function candidateText({ source, binding }: Pick<ChainCandidate, 'source' | 'binding'>): string {
  return binding === undefined ? sourceText(source) : `binding ${binding} (${sourceText(source)})`
}

/** The node of the pod; `none`: it is on none that is there; undefined: the nodes were not read. */
function nodeOf({ pod, analysis }: Pick<Asked, 'pod' | 'analysis'>): Node | 'none' | undefined {
  const { nodes } = analysis.snapshot
  return nodes === undefined && pod.nodeName !== undefined
    ? undefined
    : (nodes?.find(({ name }) => name === pod.nodeName) ?? 'none')
}

/** The UID of the pod's node; undefined: not known. */
export function nodeUidOf(asked: Pick<Asked, 'pod' | 'analysis'>): string | undefined {
  const node = nodeOf(asked)
  return node === 'none' ? undefined : node?.uid
}

/** A pod that is on no node that is there has no entry; the hop after "installed" says so. */
export function isWithoutNode(asked: Asked): boolean {
  return asked.pod.exists && nodeOf(asked) === 'none'
}

/** Whether something is registered for the container: what is dead has a selector that it does not have. */
export function isRegistered({ candidates }: Pick<ChainSubject, 'candidates'>): boolean {
  return candidates.some(({ assumed }) => assumed.verdict !== 'dead')
}
