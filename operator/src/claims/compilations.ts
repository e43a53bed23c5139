// The latest compilations. A binding that is worked on is compiled when one of its facts changes, and decided after each
// of its writes: in between, what was compiled still holds. Those of all bindings would fill the memory.
import type { Compiled } from '@kleym/shared/core/compile/compile.ts'
import type { Binding } from '@kleym/shared/core/objects/binding.ts'

/** More than the bindings that are worked on at the same time, by default. */
const KEPT_MAX = 16

/** Of a binding, the compilation of the facts as they are now, as long as it is compiled and kept anew when they change. */
export class Compilations {
  readonly #kept = new Map<string, Compiled>()

  /** Undefined where there is none of this very version of the binding. */
  of(binding: Binding): Compiled | undefined {
    const kept = this.#kept.get(binding.key)
    return kept?.binding === binding ? kept : undefined
  }

  /** Takes the place of the oldest one where there are too many. */
  keep(compiled: Compiled): void {
    const { key } = compiled.binding
    this.#kept.delete(key)
    this.#kept.set(key, compiled)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest)
  }
}
