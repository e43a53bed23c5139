// What is known and what is not, as values. An unknown carries its reason and never collapses into zero, empty or
// false (docs/concepts.md, "Not knowing").

/** Why something is not known: a closed set of words, so that a retry never rewrites a message. */
export interface Ignorance {
  /** What was tried: an API verb, or `read` for a file. */
  readonly verb: 'get' | 'list' | 'watch' | 'discover' | 'read'
  /** What was looked for, as users name it: `InferencePool.inference.networking.k8s.io`. */
  readonly what: string
  /** The class of the failure. */
  readonly cause: 'forbidden' | 'absent' | 'unreachable' | 'timed out' | 'refused' | 'malformed' | 'not given'
}

export interface Known<T> {
  readonly known: true
  readonly value: T
}

export interface Unknown {
  readonly known: false
  readonly why: Ignorance
}

/** A value that may not have been readable. */
export type Knowledge<T> = Known<T> | Unknown

/** Wraps a value that was read. */
export function known<T>(value: T): Known<T> {
  return { known: true, value }
}

/** Wraps the reason why a value could not be read. */
export function unknown(why: Ignorance): Unknown {
  return { known: false, why }
}

/** One sentence without raw error text, for a person: `cannot list InferencePool: forbidden`. */
export function ignoranceText(why: Ignorance): string {
  return `cannot ${why.verb} ${why.what}: ${why.cause}`
}
