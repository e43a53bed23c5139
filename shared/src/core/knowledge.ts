// Why something is not known, as a value: an unknown carries its reason and never collapses into zero, empty or false.

/** Why something is not known: a closed set of words, so that a retry never rewrites a message. */
export interface Ignorance {
  /** What was tried: an API verb, or `read` for a file. */
  readonly verb: 'get' | 'list' | 'watch' | 'discover' | 'read'
  /** What was looked for, as users name it: `InferencePool.inference.networking.k8s.io`. */
  readonly what: string
  /** The class of the failure. */
  readonly cause: 'forbidden' | 'absent' | 'unreachable' | 'timed out' | 'refused' | 'malformed' | 'not given'
}

/** One sentence without raw error text, for a person: `cannot list InferencePool: forbidden`. */
export function ignoranceText(why: Ignorance): string {
  return `cannot ${why.verb} ${why.what}: ${why.cause}`
}
