// Equal values kept once. The pods of a workload say the same of themselves but for a name, a UID and a node, and a list
// of a hundred thousand of them would say it as often.
import { remembered } from '@kleym/shared/core/base/remembered.ts'
import { sizeOf } from '@kleym/shared/core/base/value-size.ts'

/** Gives one and the same for what is equal. The result is shared: callers must not change it. */
export class Sharing {
  readonly #texts = new Map<string, string>()
  readonly #values = new Map<string, unknown>()
  readonly #known = new WeakMap<object, unknown>()
  readonly #last = new Map<string, Made>()
  readonly #sizes = new WeakMap<object, number>()

  /** For texts that many objects have in common; whatever is no text is given back as it is. */
  text(value: unknown): unknown {
    return typeof value === 'string' ? remembered(this.#texts, value, value) : value
  }

  /** For any JSON value; two are equal where they have the same JSON, the order of keys included. */
  value(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return this.text(value)
    const before = this.#known.get(value)
    if (before !== undefined) return before
    const shared = remembered<unknown>(this.#values, JSON.stringify(value), value)
    this.#known.set(value, shared)
    if (shared === value) this.#sizes.set(value, sizeOf(value))
    return shared
  }

  /** How much a value takes, as `sizeOf` counts. What is shared is measured once, and counted wherever it stands. */
  sizeOf(value: unknown): number {
    return sizeOf(value, Infinity, this.#sizes)
  }

  /**
   * The value of what is made of some parts, and of nothing else. Items of a list that come from one template have most parts in common:
   * if all are the very ones of the item before, what stood at this place is the value.
   */
  made(place: string, parts: readonly unknown[], make: () => unknown): unknown {
    const before = this.#last.get(place)
    if (before !== undefined && areSame(before.parts, parts)) return before.value
    const value = this.value(make())
    this.#last.set(place, { parts, value })
    return value
  }

  /** Shares some fields of an object that is the caller's own, and gives it back. */
  fields(object: Record<string, unknown>, fields: readonly string[]): Record<string, unknown> {
    for (const field of fields) if (Object.hasOwn(object, field)) object[field] = this.value(object[field])
    return object
  }
}

function areSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  if (some.length !== others.length) return false
  for (let at = 0; at < some.length; at++) if (some[at] !== others[at]) return false
  return true
}

/** What was made last, and of what. */
interface Made {
  readonly parts: readonly unknown[]
  readonly value: unknown
}
