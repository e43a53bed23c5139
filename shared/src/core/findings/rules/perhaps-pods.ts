// Whether pods of kinds that kleym does not read, or containers that a webhook may add, could matter to an answer: then it is
// not complete, whatever else was found.
import type { Analysis } from '../../analysis/index.ts'
import type { Concern } from '../finding/rule.ts'
import { splitNamespacedName } from '../../model/namespaced-name.ts'
import { mayBecome } from '../../base/go/template/mentions.ts'
import { podText } from '../../model/objects/pod-index.ts'
import type { Container, Pod } from '../../model/objects/pod.ts'
import { madeBy } from '../../snapshot/index.ts'
import { containerVerdicts, isPossible, type Registration } from '../../predict/index.ts'
import type { UnknownReason } from '../../model/unknown-reason.ts'

/** The pods and containers that could matter and cannot be read, one reason for each object that makes them. */
export function unreadPodsThatMatter(analysis: Analysis, concern: Concern): readonly UnknownReason[] {
  const perhaps = analysis.podsInQuestion.filter((pod) => isOpenPod(pod) && concern.pods?.has(pod) !== false)
  if (perhaps.length === 0) return []
  const byOutput = analysis.settled.bindingsByOutput()
  const wanted = [...byOutput].filter(([, key]) => concern.bindings?.has(key) !== false)
  const asked = concern.spiffeId === undefined ? [] : [concern.spiffeId]
  const { namespace } = concern
  const here = givingOf(analysis, wanted, asked)
  // Of pods elsewhere, a namespace is concerned by those that may hold an identity of its own.
  const own = wanted.filter(([, key]) => splitNamespacedName(key).namespace === namespace)
  const elsewhere = namespace === undefined ? here : givingOf(analysis, own, [])
  const prediction = analysis.settled.prediction()
  const reasons = perhaps.flatMap((pod) => {
    const mayGive = pod.namespace === namespace ? here : elsewhere
    const open = pod.containers.find(
      (container) =>
        (pod.perhaps !== undefined || container.injectedBy !== undefined) &&
        containerVerdicts(prediction, pod, container).some(
          (one) => mayGive(one) && (pod.perhaps !== undefined || isForOne(one)),
        ),
    )
    if (open === undefined) return []
    return pod.perhaps === undefined ? injectedInto(pod, open) : madeBy(pod.ref, 'the pods')
  })
  return [...new Map(reasons.map((why) => [why.what, why])).values()]
}

/** Whether a registration may give an identity of these outputs, by name and binding, or one that is asked about. */
function givingOf(
  { settled }: Analysis,
  wanted: readonly (readonly [output: string, binding: string])[],
  asked: readonly string[],
): (one: Registration) => boolean {
  const names = new Set(wanted.map(([name]) => name))
  const ids = new Set([
    ...asked,
    ...settled.outputs.flatMap(({ object }) =>
      names.has(object.meta.name) ? [object.spec.spiffeIDTemplate] : [],
    ),
  ])
  // An ID with a placeholder, such as `<node name>`, may become one of them.
  const isOne = (spiffeId: string): boolean =>
    ids.has(spiffeId) || (spiffeId.includes('<') && ids.values().some((id) => mayBecome(spiffeId, id)))
  return ({ verdict, source, spiffeId = '' }) =>
    isPossible({ verdict }) &&
    ((source.kind === 'ClusterSPIFFEID' && names.has(source.name)) || isOne(spiffeId))
}

function isOpenPod({ perhaps, containers }: Pod): boolean {
  return perhaps !== undefined || containers.some(({ injectedBy }) => injectedBy !== undefined)
}

/** Whether a registration is for one container alone: without that container it gives nothing. */
function isForOne({ outcome }: Registration): boolean {
  return outcome.entry?.selectors.some(({ value }) => value.startsWith('container-name:')) === true
}

function injectedInto(pod: Pod, { name, injectedBy }: Container): UnknownReason {
  const what = `container ${name} that the webhook of ${injectedBy} adds to ${podText(pod)}`
  return { verb: 'read', what, cause: 'not given' }
}
