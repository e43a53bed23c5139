// How many bindings of a namespace may have an output (docs/contract.md §8, "Quiet and fair"). Only a binding that never had one is
// held back: the finalizer tells, which is there before the first output and until the binding is deleted.
import { getOrCreate } from '@kleym/shared/core/get-or-create.ts'
import { namespaceWritten } from '@kleym/shared/core/namespaced-name.ts'
import type { Caches } from '../caches/caches.ts'
import { hasOurs } from '../caches/kept-finalizers.ts'

export interface NamespaceRoomOptions {
  readonly caches: Pick<Caches, 'bindings'>
  /** Undefined: no limit. */
  readonly bindingsPerNamespace: number | undefined
  /** Asks for a key to be reconciled soon. */
  readonly wake: (key: string) => void
}

export class NamespaceRoom {
  readonly #options: NamespaceRoomOptions
  /** How many bindings of each namespace have the finalizer. */
  readonly #counts = new Map<string, number>()
  /** Those that are about to get it. */
  readonly #entering = new Set<string>()
  /** By namespace, who is held back, the longest first. */
  readonly #held = new Map<string, Set<string>>()

  constructor(options: NamespaceRoomOptions) {
    this.#options = options
    options.caches.bindings.store.subscribe((change) => {
      const before = change.kind !== 'added' && hasOurs(change.before.finalizers)
      const now = change.kind !== 'removed' && hasOurs(change.now.finalizers)
      const { key } = change.kind === 'removed' ? change.before : change.now
      const namespace = namespaceWritten(key)
      if (now) this.#entering.delete(key)
      if (now || change.kind === 'removed') this.#forgetHeld(namespace, key)
      if (before === now) return
      const count = (this.#counts.get(namespace) ?? 0) + (now ? 1 : -1)
      if (count === 0) this.#counts.delete(namespace)
      else this.#counts.set(namespace, count)
      if (!now) this.#takeUp(namespace)
    })
  }

  /** The limit that holds a binding back from its first output; undefined if it may have one, which it then keeps room for. */
  fullFor(key: string): number | undefined {
    const { bindingsPerNamespace: most, caches } = this.#options
    const binding = caches.bindings.store.get(key)
    if (most === undefined || binding === undefined || hasOurs(binding.finalizers)) return undefined
    const namespace = namespaceWritten(key)
    if (!this.#entering.has(key)) {
      if (this.#sizeOf(namespace) >= most) {
        getOrCreate(this.#held, namespace, () => new Set<string>()).add(key)
        return most
      }
      this.#entering.add(key)
    }
    return undefined
  }

  /** The look at a binding has ended: if it has come to no finalizer, its room is another's. */
  ended(key: string): void {
    if (this.#entering.delete(key)) this.#takeUp(namespaceWritten(key))
  }

  #sizeOf(namespace: string): number {
    const entering = [...this.#entering].filter((key) => namespaceWritten(key) === namespace)
    return (this.#counts.get(namespace) ?? 0) + entering.length
  }

  #takeUp(namespace: string): void {
    const [first] = this.#held.get(namespace) ?? []
    if (first === undefined || this.#sizeOf(namespace) >= (this.#options.bindingsPerNamespace ?? 0)) return
    this.#forgetHeld(namespace, first)
    this.#options.wake(first)
  }

  #forgetHeld(namespace: string, key: string): void {
    const held = this.#held.get(namespace)
    held?.delete(key)
    if (held?.size === 0) this.#held.delete(namespace)
  }
}
