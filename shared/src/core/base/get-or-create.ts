// The one way to fill a map of collections.

/** The value of a key, made at its first use. (`Map.getOrInsertComputed` is not in every runtime that we ship on.) */
export function getOrCreate<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}
