// Who holds each identity of a state, and how a test names them.
import { type Analysis, Holdings, idsOf, openVerdicts } from '../../analysis/index.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { isOfPart, partOf, workloadsOf } from '../../model/objects/pod-workloads.ts'
import { TRUST_DOMAIN } from '../../predict/index.ts'
import { trustDomainIn } from '../../model/spiffe-id.ts'
import type { Steps } from '../../base/steps.ts'
import { whyOpenText, YES } from '../../model/truth/truth.ts'
import { compareBytes, compareKeys } from '../../base/text/bytes.ts'
import { SelectablePods } from './container-selector.ts'
import { patternOfHoles } from './id-pattern.ts'
import type { ContainersWritten } from './schema.ts'

/** A container, and what it holds for certain. */
export interface IdHolder {
  readonly pod: Pod
  readonly container: string
  /** Whether a webhook adds it, if it is there. */
  readonly isAdded: boolean
  readonly ids: ReadonlySet<string>
  /** What it may hold, as far as that is known: a part of `possible` is certain. */
  readonly possible: ReadonlySet<string>
  /** What may give it any other identity; undefined where nothing does. */
  readonly open: string | undefined
}

/** All containers of a state. */
export interface HoldersFound {
  /** By identity; a part of an ID that is known only when the pod runs is `*`. */
  readonly holders: ReadonlyMap<string, readonly IdHolder[]>
  readonly namespaces: ReadonlyMap<string, readonly IdHolder[]>
  /** The identities that some container may hold beside those that certainly do. */
  readonly notCertain: ReadonlySet<string>
  /** What may give any identity, and where, a sentence each. */
  readonly leftOut: readonly string[]
}

/** Finds them in what an analysis settles to. One step for each pod. */
export function* findingHolders(analysis: Analysis): Steps<HoldersFound> {
  const holdings = new Holdings(analysis.settled, { ...openVerdicts(analysis), isOfLater: true })
  const pods = new SelectablePods(analysis)
  const holders = new Map<string, IdHolder[]>()
  const namespaces = new Map<string, IdHolder[]>()
  const notCertain = new Set<string>()
  const leftOut = new Set<string>()
  for (const pod of analysis.podsInQuestion) {
    yield
    for (const { container, there, held, perhaps, other } of holdings.of(pod, pods.containersOf(pod))) {
      const isAdded = container.injectedBy !== undefined
      // A pattern names a trust domain: of an ID whose trust domain is open there is none.
      const unnamed = perhaps.find(({ spiffeId = '' }) => trustDomainIn(spiffeId) === TRUST_DOMAIN)
      const open = whyOpenText(other) ?? unnamed?.why
      const ids = there === YES ? idsOf(held).map(patternOfHoles) : []
      const possible = idsOf([...held, ...perhaps]).map(patternOfHoles)
      // What a pod is given as a whole is pinned of all its containers, those that a webhook adds too.
      if (!isAdded) for (const id of possible) if (!ids.includes(id)) notCertain.add(id)
      const holder = {
        pod,
        container: container.name,
        isAdded,
        ids: new Set(ids),
        possible: new Set(possible),
        open,
      }
      getOrCreate(namespaces, pod.namespace, () => []).push(holder)
      for (const id of holder.ids) getOrCreate(holders, id, () => []).push(holder)
      if (open !== undefined) leftOut.add(`what containers of namespace ${pod.namespace} hold: ${open}`)
    }
  }
  return { holders, namespaces, notCertain, leftOut: [...leftOut].toSorted(compareBytes) }
}

/** The holders, by workload where all its pods hold it, else pod by pod; each by its container, so that another one is seen. */
export function selectorsOf(
  id: string,
  holders: readonly IdHolder[],
  namespaces: ReadonlyMap<string, readonly IdHolder[]>,
): ContainersWritten[] {
  const named = new Map<string, ContainersWritten>()
  for (const holder of holders) {
    const selector = selectorOf(id, holder, namespaces.get(holder.pod.namespace) ?? [])
    named.set(JSON.stringify(selector), selector)
  }
  return [...named].toSorted(compareKeys).map(([, selector]) => selector)
}

function selectorOf(id: string, holder: IdHolder, all: readonly IdHolder[]): ContainersWritten {
  const { namespace } = holder.pod
  const isTold = (candidate: ContainersWritten): boolean => {
    const same = all.filter(({ pod }) => isOf(pod, candidate))
    const isAddedTo = same.some(({ isAdded, possible }) => isAdded && possible.has(id))
    return isAddedTo && same.every(({ isAdded, ids, possible }) => (isAdded ? possible : ids).has(id))
  }
  // What is given to a pod as a whole, whatever container a webhook adds.
  const whole = candidatesOf(holder.pod).find(isTold)
  if (whole !== undefined) return { namespace, ...whole }
  return nearestSelector(holder, all, ({ ids }) => ids.has(id))
}

/** A selector and one of its containers, for all containers: those that are alike, once. */
export function groupsOf(all: readonly IdHolder[]): readonly (readonly [ContainersWritten, IdHolder])[] {
  const groups = new Map<string, readonly [ContainersWritten, IdHolder]>()
  // A container that a webhook may add is no subject that is certain.
  for (const holder of all.filter(({ isAdded }) => !isAdded)) {
    const text = holdingText(holder)
    const selector = nearestSelector(holder, all, (one) => holdingText(one) === text)
    groups.set(JSON.stringify(selector), [selector, holder])
  }
  return [...groups].toSorted(compareKeys).map(([, group]) => group)
}

function holdingText({ ids, possible }: IdHolder): string {
  return [[...ids], [...possible]].map((list) => list.toSorted(compareBytes).join(' ')).join('\n')
}

/** The widest selector of a container whose containers are all alike. */
function nearestSelector(
  { pod, container }: IdHolder,
  all: readonly IdHolder[],
  isAlike: (one: IdHolder) => boolean,
): ContainersWritten {
  const { namespace } = pod
  for (const candidate of candidatesOf(pod)) {
    const same = all.filter((one) => one.container === container && isOf(one.pod, candidate))
    if (same.every(isAlike)) return { namespace, ...candidate, container }
  }
  return { namespace, pod: pod.ref.name, container }
}

/** What names the pods of one kind: the workload, a part of it, the pod itself. */
function candidatesOf(pod: Pod): readonly ContainersWritten[] {
  const [workload] = workloadsOf(pod).toReversed()
  const part = partOf(pod)
  return [
    ...(workload === undefined ? [] : [{ workload: `${workload.kind.toLowerCase()}/${workload.name}` }]),
    ...(workload === undefined || part === undefined
      ? []
      : [{ workload: `${workload.kind.toLowerCase()}/${workload.name}`, part }]),
    ...(pod.ref.kind === 'Pod' ? [{ pod: pod.ref.name }] : []),
  ]
}

function isOf(pod: Pod, { workload, part, pod: name }: ContainersWritten): boolean {
  if (name !== undefined) return pod.ref.kind === 'Pod' && pod.ref.name === name
  if (part !== undefined && isOfPart(pod, part) !== true) return false
  return workloadsOf(pod).some((one) => `${one.kind.toLowerCase()}/${one.name}` === workload)
}
