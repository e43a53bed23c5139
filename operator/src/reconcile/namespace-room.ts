// How many bindings of a namespace may have an output (docs/contract.md §8, "Quiet and fair"). A binding has one if its output
// is there, or if its status names an output that a user has deleted by hand. Tenants can write neither.
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { namespaceWritten } from '@kleym/shared/core/model/namespaced-name.ts'
import type { CachedBinding } from '../caches/cached-binding.ts'
import type { Caches } from '../caches/caches.ts'

export interface NamespaceRoomOptions {
  readonly caches: Pick<Caches, 'bindings' | 'outputs'>
  /** Undefined: no limit. */
  readonly bindingsPerNamespace: number | undefined
  /** Asks for a key to be reconciled soon. */
  readonly wake: (key: string) => void
}

export class NamespaceRoom {
  readonly #options: NamespaceRoomOptions
  /** By namespace, the bindings that hold a place, with how many outputs, statuses and looks keep it. */
  readonly #holders = new Map<string, Map<string, number>>()
  /** Those whose look keeps it: an output may be on its way. */
  readonly #entering = new Set<string>()
  /** By namespace, who is held back, the longest first. */
  readonly #held = new Map<string, Set<string>>()

  constructor(options: NamespaceRoomOptions) {
    this.#options = options
    const { bindings, outputs } = options.caches
    outputs.store.subscribe((change) => {
      const before = change.kind === 'added' ? undefined : change.before.bindingKey
      const now = change.kind === 'removed' ? undefined : change.now.bindingKey
      if (before === now) return
      // In this order nobody loses its place for a moment.
      if (now !== undefined) this.#count(now, 1)
      if (before !== undefined) this.#count(before, -1)
    })
    bindings.store.subscribe((change) => {
      const before = change.kind !== 'added' && mayHaveItBack(change.before)
      const now = change.kind !== 'removed' && mayHaveItBack(change.now)
      const { key } = change.kind === 'removed' ? change.before : change.now
      if (before !== now) this.#count(key, now ? 1 : -1)
      if (change.kind === 'removed') drop(this.#held, key)
    })
  }

  /** The limit that holds a binding back from an output; undefined if it may have one, for which there is a place until `ended`. */
  fullFor(key: string): number | undefined {
    const { bindingsPerNamespace: most } = this.#options
    if (most === undefined) return undefined
    const holders = this.#holders.get(namespaceWritten(key))
    const own = holders?.get(key) ?? 0
    const others = (holders?.size ?? 0) - (own > 0 ? 1 : 0)
    // Outputs may have come since it was taken up, as after a restore of the datastore: a look alone keeps nothing against them.
    if (own === (this.#entering.has(key) ? 1 : 0) && others >= most) {
      this.ended(key)
      add(this.#held, key)
      return most
    }
    this.#enter(key)
    return undefined
  }

  /** A look has ended, and nothing of the binding is on its way: if it has come to no output, its place is another's. */
  ended(key: string): void {
    if (this.#entering.delete(key)) this.#count(key, -1)
  }

  #enter(key: string): void {
    if (this.#entering.has(key)) return
    this.#entering.add(key)
    this.#count(key, 1)
  }

  #count(key: string, change: 1 | -1): void {
    const namespace = namespaceWritten(key)
    const holders = getOrCreate(this.#holders, namespace, () => new Map<string, number>())
    const count = (holders.get(key) ?? 0) + change
    if (count > 0) {
      holders.set(key, count)
      drop(this.#held, key)
      return
    }
    holders.delete(key)
    this.#takeUp(namespace, holders.size)
    if (holders.size === 0) this.#holders.delete(namespace)
  }

  /** Keeps the place for the first one that is held back; when its look has ended without an output, it is the next one's. */
  #takeUp(namespace: string, size: number): void {
    const [first] = this.#held.get(namespace) ?? []
    if (first === undefined || size >= (this.#options.bindingsPerNamespace ?? 0)) return
    this.#enter(first)
    this.#options.wake(first)
  }
}

/** Whether the output that a status names is written again if a hand deletes it. */
function mayHaveItBack({ namesOutput, meta }: CachedBinding): boolean {
  return namesOutput && meta.deletedAt === undefined
}

function add(sets: Map<string, Set<string>>, key: string): void {
  getOrCreate(sets, namespaceWritten(key), () => new Set<string>()).add(key)
}

/** Takes a key out of the set of its namespace, and the set too where it is the last. */
function drop(sets: Map<string, Set<string>>, key: string): void {
  const namespace = namespaceWritten(key)
  const set = sets.get(namespace)
  set?.delete(key)
  if (set?.size === 0) sets.delete(namespace)
}
