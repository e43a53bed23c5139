// One value for all that are equal.

/** How many different ones are remembered. Lists come in the order of namespaces and names, so the alike are together. */
const REMEMBERED = 10_000

/** The first value that was given with this text, of those that are remembered. It is shared: callers must not change it. */
export function remembered<T>(known: Map<string, T>, text: string, value: T): T {
  const before = known.get(text)
  if (before !== undefined) return before
  if (known.size >= REMEMBERED) known.clear()
  known.set(text, value)
  return value
}
