// What can go wrong between kleym and an API server, as two types: the server said no, or there was no answer.

/**
 * The longest wait that a server may ask for, in milliseconds. kube-apiserver asks for seconds; a proxy before it that asks
 * for an hour would keep the identity of a deleted binding in force for the hour.
 */
export const RETRY_AFTER_MAX_MS = 30_000

/**
 * The answer was a failure: the API server's with a Status, or, where `isStatus` is false, a text that a proxy may have written. Reasons:
 * apimachinery's `metav1.StatusReason`.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** The HTTP status code, e.g. 409. */
  readonly status: number
  /** Whether the body was a `Status`: nothing else says for certain what became of a request. */
  readonly isStatus: boolean
  /** `Status.reason`, e.g. `NotFound`, `AlreadyExists`, `Conflict`, `Expired`; empty where the body held none. */
  readonly reason: string
  /** How long the server asks to wait before the next try, in milliseconds; at most RETRY_AFTER_MAX_MS. */
  readonly retryAfterMs: number | undefined
  /** `Status.details`, for a caller that must tell causes apart; unchecked. */
  readonly details: unknown

  constructor(answer: {
    readonly status: number
    readonly reason: string
    readonly message: string
    readonly retryAfterMs?: number
    readonly details?: unknown
    readonly isStatus?: boolean
  }) {
    super(answer.message)
    this.status = answer.status
    this.reason = answer.reason
    this.isStatus = answer.isStatus ?? true
    this.retryAfterMs =
      answer.retryAfterMs === undefined ? undefined : Math.min(answer.retryAfterMs, RETRY_AFTER_MAX_MS)
    this.details = answer.details
  }
}

export type ConnectionFailure =
  | 'aborted'
  | 'refused'
  | 'reset'
  | 'timed out'
  | 'unresolved'
  | 'tls'
  | 'malformed'
  /** There are none to send: an exec plugin failed, a token file is gone. */
  | 'no credentials'

/** There is no answer, or none that can be read; a write may or may not have been carried out. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly failure: ConnectionFailure
  /** True where the request cannot have reached the server: no connection was made. */
  readonly neverSent: boolean

  constructor(failure: ConnectionFailure, message: string, options: ErrorOptions & { neverSent: boolean }) {
    super(message, { cause: options.cause })
    this.failure = failure
    this.neverSent = options.neverSent
  }
}
