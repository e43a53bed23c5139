// The one way to fill a map of collections, and to keep what was made of a key.

/** What a `Map` and a `WeakMap` have in common. */
interface Keeping<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): unknown
}

/** The value of a key, made at its first use. (`Map.getOrInsertComputed` is not in every runtime that we ship on.) */
export function getOrCreate<Key, Value>(map: Keeping<Key, Value>, key: Key, make: () => Value): Value {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}
