// What the objects say about the facts that agents alone can tell: where that changes, so may what agents hand out. Two states in which
// an answer is open are the same only if this is (docs/assumptions.md, "Two sides of a comparison").
import { listAt, own, stringAt } from '../../base/json.ts'
import type { Container, Pod } from '../../model/objects/pod.ts'
import { judgeSelector } from './attestor.ts'
import type { EntryOutcome, EntrySelector } from './prediction.ts'

/** The objects beside a pod: the labels of its Namespace, and on which Nodes it may run. */
export interface PodSurroundings {
  readonly namespace: () => unknown
  readonly nodes: () => unknown
}

/** What decides, beside the verdict on an entry, whether an agent hands it to a container of the pod; nothing where that is not open. */
export function factsBehind(
  { entry, source, verdict }: EntryOutcome,
  pod: Pod,
  container: Container,
  around: PodSurroundings,
): readonly unknown[] {
  // Whether its parent is the agent of the pod's node.
  const ofParent = source.kind === 'ClusterStaticEntry' && verdict.state === 'depends' ? [around.nodes()] : []
  const open = (entry?.selectors ?? []).filter(
    (selector) => judgeSelector(pod, container, selector).match === 'depends',
  )
  return [...ofParent, ...open.map((selector) => factBehind(selector, pod, container, around))]
}

function factBehind(
  { type, value }: EntrySelector,
  { spec }: Pod,
  { name }: Container,
  { namespace, nodes }: PodSurroundings,
): unknown {
  // Other attestors look at the process: at its user, its program and its image.
  if (type !== 'k8s') return spec
  const kind = value.slice(0, value.indexOf(':'))
  if (kind === 'ns-label') return namespace()
  if (kind === 'node-name') return nodes()
  if (!kind.includes('image')) return undefined
  const images = ['containers', 'initContainers'].map((list) =>
    listAt(spec, list).map((one) => [own(one, 'name'), stringAt(one, 'image')]),
  )
  return kind.startsWith('pod-') ? images : images.flat().filter(([of]) => of === name)
}
