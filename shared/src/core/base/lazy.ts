// Values that are made at their first use, and kept.

/** A function that makes a value at its first call, and returns the same one at every call. */
export function lazy<T extends object>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
