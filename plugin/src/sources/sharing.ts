// Equal values kept once. The pods of a workload say the same of themselves but for a name, a UID and a node, and a list
// of a hundred thousand of them would say it as often.
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { remembered } from '@kleym/shared/core/base/remembered.ts'

/** Gives one and the same for what is equal. The result is shared: callers must not change it. */
export class Sharing {
  readonly #texts = new Map<string, string>()
  readonly #values = new Map<string, unknown>()
  readonly #made = new WeakMap<object, Made>()

  /** For texts that many objects have in common; whatever is no text is given back as it is. */
  text(value: unknown): unknown {
    return typeof value === 'string' ? remembered(this.#texts, value, value) : value
  }

  /** For any JSON value; two are equal where they have the same JSON, the order of keys included. */
  value(value: unknown): unknown {
    return typeof value === 'object' ? this.made(value, undefined, () => value) : this.text(value)
  }

  /**
   * The value of what is made of a mapping or a list. Items of a list that were made of one template have many of these in common: of the
   * very same one, and the same beside it, it is made once.
   */
  made(source: unknown, beside: unknown, make: () => unknown): unknown {
    const isKept = typeof source === 'object' && source !== null
    const before = isKept ? this.#made.get(source) : undefined
    if (before !== undefined && before.beside === beside) return before.value
    const made = make()
    const value = remembered<unknown>(this.#values, JSON.stringify(made), made)
    if (isKept) this.#made.set(source, { beside, value })
    return value
  }

  /** The object with some of its fields shared. */
  fields(object: JsonRecord, fields: readonly string[]): JsonRecord {
    const shared: Record<string, unknown> = { ...object }
    for (const field of fields) if (Object.hasOwn(object, field)) shared[field] = this.value(object[field])
    return shared
  }
}

/** What was made of a mapping or a list, and of what beside it. */
interface Made {
  readonly beside: unknown
  readonly value: unknown
}
