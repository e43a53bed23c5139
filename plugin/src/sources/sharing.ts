// Equal values kept once. The pods of a workload say the same of themselves but for a name, a UID and a node, and a list
// of a hundred thousand of them would say it as often.
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'

/** How many different ones are remembered. Lists come in the order of namespaces and names, so the alike are together. */
const REMEMBERED = 10_000

/** Gives one and the same for what is equal. The result is shared: callers must not change it. */
export class Sharing {
  readonly #texts = new Map<string, string>()
  readonly #values = new Map<string, unknown>()

  /** For texts that many objects have in common; whatever is no text is given back as it is. */
  text(value: unknown): unknown {
    return typeof value === 'string' ? remembered(this.#texts, value, value) : value
  }

  /** For any JSON value; two are equal where they have the same JSON, the order of keys included. */
  value(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return this.text(value)
    return remembered<unknown>(this.#values, JSON.stringify(value), value)
  }

  /** The object with some of its fields shared. */
  fields(object: JsonRecord, fields: readonly string[]): JsonRecord {
    const shared: Record<string, unknown> = { ...object }
    for (const field of fields) if (Object.hasOwn(object, field)) shared[field] = this.value(object[field])
    return shared
  }
}

function remembered<T>(known: Map<string, T>, key: string, value: T): T {
  const before = known.get(key)
  if (before !== undefined) return before
  if (known.size >= REMEMBERED) known.clear()
  known.set(key, value)
  return value
}
