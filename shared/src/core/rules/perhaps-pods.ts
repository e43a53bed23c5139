// Whether pods of kinds that kleym does not read could matter to an answer: then it is not complete, whatever else was found.
import type { Analysis } from '../analysis/analysis.ts'
import { bindingsByOutput } from '../analysis/state.ts'
import type { Pod } from '../objects/pod.ts'
import { madeBy } from '../snapshot/snapshot.ts'
import { containerVerdicts, type Registration } from '../spire/registration.ts'
import type { UnknownReason } from '../unknown-reason.ts'

/** What an answer is about. */
export interface Concern {
  /** The bindings that it is about, by `namespace/name`; undefined: all of them. */
  readonly bindings?: ReadonlySet<string>
  /** The pods that it is about; undefined: all of them. */
  readonly pods?: ReadonlySet<Pod>
  /** The namespace that it is about; undefined: all of them. */
  readonly namespace?: string | undefined
  /** The SPIFFE ID that it is about, whatever gives it; undefined: those of bindings. */
  readonly spiffeId?: string
}

/** The pods that could matter and cannot be read, one reason for each object that makes them. */
export function unreadPodsThatMatter(analysis: Analysis, concern: Concern = {}): readonly UnknownReason[] {
  const perhaps = analysis.podsInQuestion.filter((pod) => pod.perhaps !== undefined && isAsked(pod, concern))
  if (perhaps.length === 0) return []
  const byOutput = bindingsByOutput(analysis.settled)
  const wanted = new Map([...byOutput].filter(([, key]) => concern.bindings?.has(key) !== false))
  const ids = new Set([
    ...(concern.spiffeId === undefined ? [] : [concern.spiffeId]),
    ...analysis.settled.outputs.flatMap(({ object }) =>
      wanted.has(object.meta.name) ? [object.spec.spiffeIDTemplate] : [],
    ),
  ])
  const mayGive = ({ verdict, source, spiffeId }: Registration): boolean =>
    isOpen(verdict) &&
    ((source.kind === 'ClusterSPIFFEID' && wanted.has(source.name)) || ids.has(spiffeId ?? ''))
  const prediction = analysis.settled.prediction()
  const matter = perhaps.filter((pod) =>
    pod.containers.some((container) => containerVerdicts(prediction, pod, container).some(mayGive)),
  )
  return [...new Map(matter.map((pod) => [JSON.stringify(pod.ref), madeBy(pod.ref, 'the pods')])).values()]
}

function isAsked(pod: Pod, { pods, namespace }: Concern): boolean {
  return pods?.has(pod) !== false && (namespace === undefined || pod.namespace === namespace)
}

function isOpen(verdict: Registration['verdict']): boolean {
  return verdict === 'depends' || verdict === 'unknown'
}
