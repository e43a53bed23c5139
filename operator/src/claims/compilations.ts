// The latest compilations. A binding that is worked on is compiled when one of its facts changes, and decided after each
// of its writes: in between, what was compiled still holds. Those of all bindings would fill the memory.
import type { Compiled } from '@kleym/shared/core/decide/index.ts'
import type { CachedBinding } from '../caches/cached-binding.ts'

/** More than the bindings that are worked on at the same time, by default. */
const KEPT_MAX = 16

/** The compilations of bindings by their facts as they are now: the caller compiles anew whenever one changes. */
export class Compilations {
  readonly #kept = new Map<string, { readonly binding: CachedBinding; readonly compiled: Compiled }>()

  /** Undefined where there is none of this very version of the binding. */
  of(binding: CachedBinding): Compiled | undefined {
    const kept = this.#kept.get(binding.key)
    return kept?.binding === binding ? kept.compiled : undefined
  }

  /** Takes the place of the oldest one where there are too many. */
  keep(binding: CachedBinding, compiled: Compiled): void {
    this.#kept.delete(binding.key)
    this.#kept.set(binding.key, { binding, compiled })
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest)
  }
}
