// Which containers of a cluster an entry of the server is for: by its parent and its selectors, as agents hand it out
// (docs/spire-facts.md §6).
import { splitSelector } from '../spire/prediction.ts'
import { getOrCreate } from '../../base/get-or-create.ts'
import type { Container, Node, Pod } from '../../model/objects/pod.ts'
import { known, NO, open, YES, type Truth } from '../../model/truth/truth.ts'
import { atRuntime } from '../../model/truth/unknown.ts'
import { judgeContainer, type ContainerMatch } from '../spire/attestor.ts'
import { clusterOfParent, isNodeEntry } from './entry-owner.ts'
import { podUidOf, type ServerEntry } from './server-entry.ts'

/** The containers that get an entry, and those that may. */
export interface EntryHolders {
  readonly certain: readonly HolderContainer[]
  readonly possible: readonly HolderContainer[]
  /** Why a container may be one that is not among these; undefined: these are all. */
  readonly whyOthers?: string
}

/** A container of a pod. */
export interface HolderContainer {
  readonly pod: Pod
  readonly container: string
}

/** What holders are looked for among. */
export interface HolderWorld {
  readonly pods: readonly Pod[]
  readonly nodes: readonly Node[] | undefined
  readonly clusterName: string | undefined
}

/**
 * So many pods are looked at, each for one entry, before `isHeld` answers that it is not known: at 0.2 µs each, 20 s. Only
 * entries of no namespace, pod or node are compared with all pods.
 */
const LOOKS_MAX = 100_000_000

/** Finds the holders of entries. */
export class EntryHolderIndex {
  readonly #world: HolderWorld
  readonly #byUid = new Map<string, Pod>()
  readonly #byNamespace = new Map<string, Pod[]>()
  /** By the UID of the node; an empty one: the node is not known. */
  readonly #byNode = new Map<string, Pod[]>()
  readonly #nodeUids: ReadonlyMap<string, string | undefined>
  #looksLeft: number

  constructor(world: HolderWorld, looksMax = LOOKS_MAX) {
    this.#world = world
    this.#looksLeft = looksMax
    this.#nodeUids = new Map((world.nodes ?? []).map(({ name, uid }) => [name, uid]))
    for (const pod of world.pods) {
      if (pod.uid !== undefined) this.#byUid.set(pod.uid, pod)
      getOrCreate(this.#byNamespace, pod.namespace, () => []).push(pod)
      getOrCreate(this.#byNode, this.#nodeUidOf(pod) ?? '', () => []).push(pod)
    }
  }

  /** The containers of this cluster that get an entry. */
  of(entry: ServerEntry): EntryHolders {
    const certain: HolderContainer[] = []
    const possible: HolderContainer[] = []
    for (const { isCertain, ...holder } of this.#holdersAmong(this.#candidates(entry), entry))
      (isCertain ? certain : possible).push(holder)
    return { certain, possible }
  }

  /** Whether a container of this cluster gets an entry, or may; undefined: not known, as too many pods were looked at before. */
  isHeld(entry: ServerEntry): boolean | undefined {
    const candidates = this.#candidates(entry)
    if (candidates.length > this.#looksLeft) return undefined
    this.#looksLeft -= candidates.length
    return this.#holdersAmong(candidates, entry).next().done !== true
  }

  *#holdersAmong(
    pods: readonly Pod[],
    entry: ServerEntry,
  ): Generator<HolderContainer & { readonly isCertain: boolean }, undefined> {
    const selectors = entry.selectors.map(splitSelector)
    const isOfAgent = clusterOfParent(entry) !== undefined
    for (const pod of pods) {
      // An ID that is no agent's is an alias, which the agent of any node may have.
      const parent = isOfAgent ? this.#isParentOf(entry, pod) : ALIAS
      if (parent === NO) continue
      for (const container of pod.containers) {
        const { state } = judgeContainer(pod, container, { selectors, storeSvid: entry.fields.storeSvid })
        if (state === 'dead') continue
        const isCertain = state === 'issued' && parent === YES && pod.perhaps === undefined
        yield { pod, container: container.name, isCertain }
      }
    }
  }

  /** The pods among which all holders of an entry are. */
  #candidates(entry: ServerEntry): readonly Pod[] {
    const cluster = clusterOfParent(entry)
    if (isNodeEntry(entry) || (cluster !== undefined && cluster !== (this.#world.clusterName ?? cluster)))
      return []
    const uid = podUidOf(entry)
    if (uid !== undefined) {
      const pod = this.#byUid.get(uid)
      return pod === undefined ? [] : [pod]
    }
    const namespace = entry.selectors.find((one) => one.startsWith(NAMESPACE))?.slice(NAMESPACE.length)
    if (namespace !== undefined) return this.#byNamespace.get(namespace) ?? []
    if (cluster === undefined) return this.#world.pods
    const onNode = this.#byNode.get(entry.parentId.slice(entry.parentId.lastIndexOf('/') + 1)) ?? []
    const onAny = this.#byNode.get('') ?? []
    return onNode.length === 0 ? onAny : [...onNode, ...onAny]
  }

  #nodeUidOf({ nodeName }: Pod): string | undefined {
    return this.#nodeUids.get(nodeName ?? '')
  }

  /** Whether the agent of the pod's node is the parent of an entry. */
  #isParentOf(entry: ServerEntry, pod: Pod): Truth {
    const node = this.#nodeUidOf(pod)
    if (node === undefined) return pod.exists && pod.nodeName === undefined ? NO : NODE
    return known(entry.parentId.endsWith(`/${node}`))
  }
}

/** Whether a container has the selectors of an entry. */
export function judgeServerEntry(
  pod: Pod,
  container: Container,
  { selectors, fields: { storeSvid } }: Pick<ServerEntry, 'selectors' | 'fields'>,
): ContainerMatch {
  return judgeContainer(pod, container, { selectors: selectors.map(splitSelector), storeSvid })
}

const ALIAS = open(atRuntime('the agents of an alias are known to the server'))
const NODE = open(atRuntime("the pod's node is not known", 'Node'))
const NAMESPACE = 'k8s:ns:'
