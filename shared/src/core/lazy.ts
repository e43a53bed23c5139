// What is worked out at the first question, and kept.

/** The same value at every call, made at the first. */
export function lazy<T extends object>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
