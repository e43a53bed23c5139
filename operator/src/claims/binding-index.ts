// What is kept of every binding as it was last compiled, and how to find bindings by what they name.
import type { Claim } from '@kleym/shared/core/decide/index.ts'
import { Members } from './members.ts'
import type { MissingRef } from './missing-refs.ts'

/** A compiled binding: the rest of it is compiled again where it is needed, as ten thousand of them would fill the memory. */
export interface IndexedBinding {
  readonly claim: Claim | undefined
  /** The name of the output that it renders. */
  readonly renderedName: string | undefined
  /** `namespace/name` of the pool and of the objective that it names. */
  readonly poolKey: string | undefined
  readonly objectiveKey: string | undefined
  /** Whether it reads a cache that must still be filled. */
  readonly waits: boolean
  /** References that no cache holds and that no live read has looked for. */
  readonly unverified: readonly MissingRef[]
  /** Whether a first list or a live read that is under way will soon say what it comes to. */
  readonly isPending: boolean
}

/** Bindings by key, and their keys by what they name. */
export class BindingIndex {
  readonly #bindings = new Map<string, IndexedBinding>()
  readonly #byRef = { pool: new Members(), objective: new Members() }
  readonly #byRenderedName = new Map<string, string>()

  get(key: string): IndexedBinding | undefined {
    return this.#bindings.get(key)
  }

  /** Sets what is kept of a binding; undefined where it is gone. */
  set(key: string, now: IndexedBinding | undefined): void {
    const before = this.#bindings.get(key)
    if (now === undefined) this.#bindings.delete(key)
    else this.#bindings.set(key, now)
    this.#byRef.pool.move(key, before?.poolKey, now?.poolKey)
    this.#byRef.objective.move(key, before?.objectiveKey, now?.objectiveKey)
    if (before?.renderedName === now?.renderedName) return
    if (before?.renderedName !== undefined) this.#byRenderedName.delete(before.renderedName)
    if (now?.renderedName !== undefined) this.#byRenderedName.set(now.renderedName, key)
  }

  /** The keys of the bindings that name the pool, or the objective, `refKey` (`namespace/name`); a live view. */
  naming(kind: MissingRef['kind'], refKey: string): Iterable<string> {
    return this.#byRef[kind].of(refKey)
  }

  /** `namespace/name` of every pool, or objective, that a binding names; a live view. */
  refKeys(kind: MissingRef['kind']): Iterable<string> {
    return this.#byRef[kind].keys()
  }

  /** The key of the binding that renders an output of this name. */
  rendering(outputName: string): string | undefined {
    return this.#byRenderedName.get(outputName)
  }
}
