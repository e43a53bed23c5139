// Who holds each identity of a state, and how a test names them.
import { type Analysis, Holdings, idsOf, openVerdicts } from '../../analysis/index.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import { lazy } from '../../base/lazy.ts'
import type { Pod } from '../../model/objects/pod.ts'
import { workingOn } from '../../model/objects/pods-alike.ts'
import { isOfPart, partOf, workloadsOf, type WorkloadName } from '../../model/objects/pod-workloads.ts'
import { TRUST_DOMAIN } from '../../predict/index.ts'
import { trustDomainIn } from '../../model/spiffe-id.ts'
import type { Steps } from '../../base/steps.ts'
import { whyOpenText, YES } from '../../model/truth/truth.ts'
import { compareBytes, compareKeys, distinct } from '../../base/text/bytes.ts'
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
  readonly namespaces: ReadonlyMap<string, NamespaceHolders>
  /** The identities that some container may hold beside those that certainly do. */
  readonly notCertain: ReadonlySet<string>
  /** What may give any identity, and where, a sentence each. */
  readonly leftOut: readonly string[]
  /** Why it is not certain which containers hold one of `notCertain`, a sentence each. */
  readonly unsure: readonly string[]
}

/** Finds them in what an analysis settles to. A step for each pod that is not like one before. */
export function* findingHolders(analysis: Analysis): Steps<HoldersFound> {
  const holdings = new Holdings(analysis.settled, { ...openVerdicts(analysis), isOfLater: true })
  const pods = new SelectablePods(analysis)
  const holders = new Map<string, IdHolder[]>()
  const namespaces = new Map<string, NamespaceHolders>()
  const notCertain = new Set<string>()
  const leftOut = new Set<string>()
  const unsure = new Set<string>()
  const heldBy = (pod: Pod): readonly (Omit<IdHolder, 'pod'> & Unsure)[] =>
    holdings
      .of(pod, pods.containersOf(pod))
      .map(({ container: { name, injectedBy }, there, held, perhaps, other }) => {
        // A pattern names a trust domain: of an ID whose trust domain is open there is none.
        const unnamed = perhaps.find(({ spiffeId = '' }) => trustDomainIn(spiffeId) === TRUST_DOMAIN)
        return {
          container: name,
          isAdded: injectedBy !== undefined,
          ids: new Set(there === YES ? idsOf(held).map(patternOfHoles) : []),
          possible: new Set(idsOf([...held, ...perhaps]).map(patternOfHoles)),
          unsure: [...(there === YES ? [] : held), ...perhaps].map(
            ({ spiffeId = '', why }) => [patternOfHoles(spiffeId), why ?? whyOpenText(there) ?? ''] as const,
          ),
          open: whyOpenText(other) ?? unnamed?.why,
        }
      })
  yield* workingOn(analysis.podsInQuestion, heldBy, (pod, containers) => {
    for (const { unsure: notSure, ...one } of containers) {
      const holder = { pod, ...one }
      const { isAdded, ids, open } = one
      // What a pod is given as a whole is pinned of all its containers, those that a webhook adds too.
      if (!isAdded)
        for (const [id, why] of notSure)
          if (!ids.has(id)) {
            notCertain.add(id)
            unsure.add(`which containers hold ${id}: ${why}`)
          }
      getOrCreate(namespaces, pod.namespace, () => new NamespaceHolders()).all.push(holder)
      for (const id of ids) getOrCreate(holders, id, () => []).push(holder)
      if (open !== undefined) leftOut.add(`what containers of namespace ${pod.namespace} hold: ${open}`)
    }
  })
  return { holders, namespaces, notCertain, leftOut: distinct([...leftOut]), unsure: distinct([...unsure]) }
}

/** What a container may hold, by its ID, and why that is not certain. */
interface Unsure {
  readonly unsure: readonly (readonly [id: string, why: string])[]
}

/** The holders, by workload where all its pods hold it, else pod by pod; each by its container, so that another one is seen. */
export function selectorsOf(
  id: string,
  holders: readonly IdHolder[],
  namespaces: HoldersFound['namespaces'],
): ContainersWritten[] {
  // What is given to a pod as a whole, whatever container a webhook adds. Each place is asked once: a workload may have thousands of pods.
  const isTold = answered(
    ({ holders: same }: Place) =>
      same.every(({ isAdded, ids, possible }) => (isAdded ? possible : ids).has(id)) &&
      same.some(({ isAdded }) => isAdded),
  )
  const isHeld = answered(({ holders: same }: Place) => same.every(({ ids }) => ids.has(id)))
  const selectors = new Set<ContainersWritten>()
  for (const holder of holders) {
    const namespace = namespaces.get(holder.pod.namespace)
    const mayBeWhole = namespace !== undefined && namespace.added().length > 0
    const whole = mayBeWhole ? namespace.placesOf(holder.pod).find(isTold) : undefined
    selectors.add(whole?.selector ?? nearestSelector(holder, namespace, isHeld))
  }
  return [...new Map([...selectors].map((one) => [JSON.stringify(one), one]))]
    .toSorted(compareKeys)
    .map(([, selector]) => selector)
}

/** A selector and one of its containers, for all containers of a namespace: those that are alike, once. */
export function groupsOf(namespace: NamespaceHolders): readonly (readonly [ContainersWritten, IdHolder])[] {
  const groups = new Map<string, readonly [ContainersWritten, IdHolder]>()
  const textOf = answered(({ ids, possible }: IdHolder) =>
    [[...ids], [...possible]].map((list) => list.toSorted(compareBytes).join(' ')).join('\n'),
  )
  const areAlike = answered(({ holders: [first, ...others] }: Place) =>
    others.every((one) => first !== undefined && textOf(one) === textOf(first)),
  )
  // A container that a webhook may add is no subject that is certain.
  for (const holder of namespace.all.filter(({ isAdded }) => !isAdded)) {
    const selector = nearestSelector(holder, namespace, areAlike)
    groups.set(JSON.stringify(selector), [selector, holder])
  }
  return [...groups].toSorted(compareKeys).map(([, group]) => group)
}

/** A question that is asked about each thing once. */
function answered<Of, Answer>(ask: (of: Of) => Answer): (of: Of) => Answer {
  const answers = new Map<Of, Answer>()
  return (of) => getOrCreate(answers, of, () => ask(of))
}

/** The widest selector of a container whose containers are all alike. */
function nearestSelector(
  { pod, container }: IdHolder,
  namespace: NamespaceHolders | undefined,
  areAlike: (place: Place) => boolean,
): ContainersWritten {
  for (const place of namespace?.placesOf(pod) ?? []) {
    const ofContainer = place.ofContainer(container)
    if (areAlike(ofContainer)) return ofContainer.selector
  }
  return { namespace: pod.namespace, pod: pod.ref.name, container }
}

/** What a selector names. A workload is one place, whichever of its pods asks. */
class Place {
  readonly selector: ContainersWritten
  readonly holders: readonly IdHolder[]
  readonly #byContainer: () => ReadonlyMap<string, readonly IdHolder[]>
  readonly #ofContainers = new Map<string, Place>()

  constructor(selector: ContainersWritten, holders: readonly IdHolder[]) {
    this.selector = selector
    this.holders = holders
    this.#byContainer = lazy(() => Map.groupBy(holders, (one) => one.container))
  }

  ofContainer(container: string): Place {
    return getOrCreate(
      this.#ofContainers,
      container,
      () => new Place({ ...this.selector, container }, this.#byContainer().get(container) ?? []),
    )
  }
}

/** The containers of a namespace, and the places that they are in. */
export class NamespaceHolders {
  readonly all: IdHolder[] = []
  /** Those that a webhook adds. */
  readonly added = lazy(() => this.all.filter(({ isAdded }) => isAdded))
  readonly #byPod = lazy(() => Map.groupBy(this.all, ({ pod }) => pod))
  readonly #byName = lazy(() => this.#holdersBy(({ ref }) => (ref.kind === 'Pod' ? [ref.name] : [])))
  readonly #byWorkload = lazy(() => this.#holdersBy((pod) => workloadsOf(pod).map(workloadText)))
  readonly #places = new Map<string, Place>()

  of(pod: Pod): readonly IdHolder[] {
    return this.#byPod().get(pod) ?? []
  }

  /** The places that a pod is in, the widest first: its workload, a part of that, the pod itself. */
  *placesOf(pod: Pod): Generator<Place, void, void> {
    const { namespace, ref } = pod
    const workload = workloadsOf(pod).map(workloadText).at(-1)
    const part = partOf(pod)
    if (workload !== undefined) {
      const all = this.#byWorkload().get(workload) ?? []
      yield getOrCreate(this.#places, workload, () => new Place({ namespace, workload }, all))
      if (part !== undefined)
        yield getOrCreate(this.#places, JSON.stringify([workload, part]), () => {
          const holders = all.filter((one) => isOfPart(one.pod, part) === true)
          return new Place({ namespace, workload, part }, holders)
        })
    }
    if (ref.kind === 'Pod') yield new Place({ namespace, pod: ref.name }, this.#byName().get(ref.name) ?? [])
  }

  #holdersBy(keysOf: (pod: Pod) => readonly string[]): ReadonlyMap<string, readonly IdHolder[]> {
    const byKey = new Map<string, IdHolder[]>()
    for (const [pod, holders] of this.#byPod())
      for (const key of keysOf(pod)) getOrCreate(byKey, key, () => []).push(...holders)
    return byKey
  }
}

function workloadText({ kind, name }: WorkloadName): string {
  return `${kind.toLowerCase()}/${name}`
}
