// Which containers of a cluster an entry of the server is for: by its parent and its selectors, as agents hand it out
// (docs/spire-facts.md §6).
import { getOrCreate } from '../../get-or-create.ts'
import type { Node, Pod } from '../../objects/pod.ts'
import { judgeContainer } from '../attestor.ts'
import { clusterOfParent, isNodeEntry } from './entry-owner.ts'
import { podUidOf, type ServerEntry } from './server-entry.ts'

/** The containers that get an entry, and those that may. */
export interface EntryHolders {
  readonly certain: readonly HolderContainer[]
  readonly possible: readonly HolderContainer[]
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

/** Finds the holders of entries; indexes the pods at the first question. */
export class EntryHolderIndex {
  readonly #world: HolderWorld
  readonly #byUid = new Map<string, Pod>()
  readonly #byNamespace = new Map<string, Pod[]>()
  readonly #nodeUids: ReadonlyMap<string, string | undefined>

  constructor(world: HolderWorld) {
    this.#world = world
    for (const pod of world.pods) {
      if (pod.uid !== undefined) this.#byUid.set(pod.uid, pod)
      getOrCreate(this.#byNamespace, pod.namespace, () => []).push(pod)
    }
    this.#nodeUids = new Map((world.nodes ?? []).map(({ name, uid }) => [name, uid]))
  }

  /** The containers of this cluster that get an entry. */
  of(entry: ServerEntry): EntryHolders {
    const certain: HolderContainer[] = []
    const possible: HolderContainer[] = []
    if (isNodeEntry(entry)) return { certain, possible }
    const selectors = entry.selectors.map(splitSelector)
    for (const pod of this.#candidates(entry)) {
      const parent = this.#isParentOf(entry, pod)
      if (parent === 'no') continue
      for (const container of pod.containers) {
        const { state } = judgeContainer(pod, container, { selectors, storeSvid: entry.fields.storeSvid })
        if (state === 'dead') continue
        const isCertain = state === 'issued' && parent === 'yes' && pod.perhaps === undefined
        ;(isCertain ? certain : possible).push({ pod, container: container.name })
      }
    }
    return { certain, possible }
  }

  #candidates(entry: ServerEntry): readonly Pod[] {
    const uid = podUidOf(entry)
    if (uid !== undefined) {
      const pod = this.#byUid.get(uid)
      return pod === undefined ? [] : [pod]
    }
    const namespace = entry.selectors.find((one) => one.startsWith(NAMESPACE))?.slice(NAMESPACE.length)
    return namespace === undefined ? this.#world.pods : (this.#byNamespace.get(namespace) ?? [])
  }

  /** Whether the agent of the pod's node asks for entries with this parent: its own, or one that an alias gives it. */
  #isParentOf(entry: ServerEntry, pod: Pod): 'yes' | 'no' | 'perhaps' {
    const cluster = clusterOfParent(entry)
    if (cluster === undefined) return 'perhaps'
    const { clusterName } = this.#world
    if (clusterName !== undefined && cluster !== clusterName) return 'no'
    const node = this.#nodeUids.get(pod.nodeName ?? '')
    if (node === undefined) return pod.exists && pod.nodeName === undefined ? 'no' : 'perhaps'
    return entry.parentId.endsWith(`/${node}`) ? 'yes' : 'no'
  }
}

const NAMESPACE = 'k8s:ns:'

function splitSelector(text: string): { type: string; value: string; placeholders: readonly string[] } {
  const colon = text.indexOf(':')
  return { type: text.slice(0, colon), value: text.slice(colon + 1), placeholders: [] }
}
