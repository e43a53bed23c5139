// What an API server answered: its body, bounded, as an object or as the failure that it reports.
import type { IncomingMessage } from 'node:http'
import { isRecord, own, stringAt, type JsonRecord } from '../core/base/json.ts'
import type { Clock } from './clock.ts'
import { ApiError } from './errors.ts'
import { connectionError } from './failures.ts'

/** More than any page of 500 objects; a body beyond it is not read on. */
export const BODY_BYTES = 256 * 1024 * 1024
/** How much of a failure's text is kept where it is no Status. */
const TEXT_LENGTH = 200

export interface HttpAnswer {
  readonly status: number
  /** Where its headers are. */
  readonly head: Pick<IncomingMessage, 'headers'>
  readonly body: Buffer
}

/**
 * The object in a successful answer, read by `parse`, which throws where there is none. Throws the ApiError of any other, or a
 * ConnectionError (malformed).
 */
export function objectIn(answer: HttpAnswer, what: string, clock: Clock, parse?: ParseText): JsonRecord {
  if (answer.status < 200 || answer.status > 299) throw apiError(answer, clock)
  const parsed = parseJson(answer.body.toString('utf8'), parse)
  if (isRecord(parsed)) return parsed
  throw connectionError('malformed', what, { neverSent: false, detail: 'its body is not a JSON object' })
}

const COMMA = 0x2c
const BRACKET = 0x5b
const BRACE = 0x7b

/** Whether a JSON text has more values than `most`, or may have: commas and brackets in its strings count too. */
export function hasMoreValues(body: Buffer, most: number): boolean {
  // Each value but the first has a byte of its own before it, and each a byte more: what it says, or the bracket that ends it.
  if (body.length < 2 * most) return false
  let values = 1
  // By index: an iterator takes 25 times as long in JavaScriptCore, and a large cluster sends hundreds of megabytes.
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]
    if (byte === COMMA || byte === BRACKET || byte === BRACE) values += 1
  }
  return values > most
}

/** Gives what JSON.parse gives, and throws where that throws. */
export type ParseText = (text: string) => unknown

/** The value of a JSON text; undefined where it is none. */
export function parseJson(text: string, parse: ParseText = JSON.parse): unknown {
  try {
    return parse(text)
  } catch {
    return undefined
  }
}

function apiError(answer: HttpAnswer, clock: Clock): ApiError {
  const text = answer.body.toString('utf8')
  const parsed = parseJson(text)
  const asked = retryAfterMs(answer.head.headers['retry-after'], clock)
  if (isRecord(parsed) && parsed['kind'] === 'Status') return statusError(parsed, answer.status, asked)
  return new ApiError({
    status: answer.status,
    isStatus: false,
    reason: '',
    message: text.trim().slice(0, TEXT_LENGTH) || `HTTP status ${answer.status} without a text`,
    ...(asked !== undefined && { retryAfterMs: asked }),
  })
}

/** The ApiError that a `Status` object reports; `asked` is what the Retry-After header said, in milliseconds. */
export function statusError(status: JsonRecord, httpStatus: number, asked?: number): ApiError {
  const code = status['code']
  const details = own(status, 'details')
  const seconds = own(details, 'retryAfterSeconds')
  const wait = asked ?? (typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined)
  return new ApiError({
    status: typeof code === 'number' && code >= 300 && code < 600 ? code : httpStatus,
    reason: stringAt(status, 'reason') ?? '',
    message: stringAt(status, 'message') ?? `HTTP status ${httpStatus} without a message`,
    ...(wait !== undefined && { retryAfterMs: wait }),
    ...(details !== undefined && { details }),
  })
}

/** A Retry-After header in milliseconds from now: seconds, or an HTTP date (RFC 9110 §10.2.3); undefined for neither. */
function retryAfterMs(header: string | undefined, clock: Clock): number | undefined {
  if (header === undefined) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - clock.now().getTime())
}
