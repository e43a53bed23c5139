// What a broken exchange was, in a word and a sentence: from the codes of Node's network and TLS errors. Only codes
// are read, never texts: they differ between Node, Bun and their versions.
import { stringAt } from '../core/base/json.ts'
import type { UnknownReason } from '../core/model/unknown-reason.ts'
import type { Resource } from './api.ts'
import { ApiError, ConnectionError, type ConnectionFailure } from './errors.ts'

const FAILURES: ReadonlyMap<string, ConnectionFailure> = new Map([
  ['ECONNREFUSED', 'refused'],
  ['EHOSTUNREACH', 'refused'],
  ['ENETUNREACH', 'refused'],
  ['EADDRNOTAVAIL', 'refused'],
  ['ERR_SOCKS_PROXY', 'refused'],
  ['ENOTFOUND', 'unresolved'],
  ['EAI_AGAIN', 'unresolved'],
  ['ETIMEDOUT', 'timed out'],
  ['EPROTO', 'tls'],
  ['ECONNRESET', 'reset'],
  ['EPIPE', 'reset'],
])

/** Prefixes of whole families of codes: OpenSSL's verification errors, Node's TLS errors, llhttp's parse errors. */
const FAMILIES: readonly (readonly [RegExp, ConnectionFailure])[] = [
  [/^(?:ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/, 'tls'],
  [/^(?:INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH)$/, 'tls'],
  [/^HPE_/, 'malformed'],
  [/^EAI_/, 'unresolved'],
]

/** `ECONNRESET` of a thrown thing, also where its class has it, as for some of Bun's; empty where it has no code. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** The class of a network error; what is unknown counts as a broken connection. */
export function failureOf(error: unknown): ConnectionFailure {
  const code = codeOf(error)
  return FAILURES.get(code) ?? FAMILIES.find(([family]) => family.test(code))?.[1] ?? 'reset'
}

const SENTENCES: Readonly<Record<ConnectionFailure, string>> = {
  aborted: 'the call was ended',
  refused: 'nothing answers there; check that the API server runs and that its address is right',
  reset: 'the connection broke',
  'timed out': 'no answer came in time; check the network between here and the API server',
  unresolved: 'the name of the server cannot be resolved; check the address and the DNS',
  tls: "the server's certificate is not trusted, or the server does not trust the client's: pass --certificate-authority FILE, and check the server's name and the client certificate",
  malformed: 'the answer cannot be read; check that this is the address of a Kubernetes API server',
  'no credentials': 'there are no credentials to send',
}

/** A ConnectionError that says what was tried (`GET https://...`), why it failed, and what to check. */
export function connectionError(
  failure: ConnectionFailure,
  what: string,
  options: { readonly neverSent: boolean; readonly cause?: unknown; readonly detail?: string },
): ConnectionError {
  const detail = options.detail ?? codeOf(options.cause)
  return new ConnectionError(
    failure,
    `${what}: ${SENTENCES[failure]}${detail === '' ? '' : ` (${detail})`}`,
    { neverSent: options.neverSent, cause: options.cause },
  )
}

/** Why something is not known, from what a call threw: for conditions and messages that must not change by retries. */
export function ignoranceOf(error: unknown, verb: UnknownReason['verb'], what: string): UnknownReason {
  return { verb, what, cause: causeOf(error) }
}

function causeOf(error: unknown): UnknownReason['cause'] {
  if (error instanceof ConnectionError) {
    if (error.failure === 'timed out' || error.failure === 'malformed') return error.failure
    return 'unreachable'
  }
  return error instanceof ApiError ? causeOfStatus(error.status) : 'failed'
}

function causeOfStatus(status: number): UnknownReason['cause'] {
  if (status === 401 || status === 403) return 'forbidden'
  if (status === 404) return 'absent'
  if (status === 408 || status === 504) return 'timed out'
  if (status === 409) return 'conflicting writes'
  if (status === 429) return 'throttled'
  return status >= 500 ? 'failed' : 'refused'
}

/**
 * Whether the API server says that an object is not there: a Status of reason NotFound that names it. Nothing else proves that
 * (docs/contract.md §8): a proxy's page with 404 says nothing about the object.
 */
export function isNotFound(error: unknown, { plural }: Pick<Resource, 'plural'>, name: string): boolean {
  return (
    error instanceof ApiError &&
    error.status === 404 &&
    error.reason === 'NotFound' &&
    stringAt(error.details, 'name') === name &&
    stringAt(error.details, 'kind') === plural
  )
}

/**
 * Whether a kind may not be served: a 404 that names no object. Seen on kube-apiserver 1.36.3: an unknown group, version or plural
 * is `404 page not found` as plain text, also for writes and right after a CRD is deleted. (While a CRD terminates, which its
 * instances' finalizers can hold up, reads go on and a create is 403 Forbidden.) A proxy may say the same of anything, so that
 * only discovery tells.
 */
export function mayBeKindAbsent(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404 && stringAt(error.details, 'name') === undefined
}
