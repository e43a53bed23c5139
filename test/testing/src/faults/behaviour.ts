// What a server can do to a request, right and wrong, as values: the vocabulary of every test about faults.
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'

/** How a body that is sent in parts goes on after its last one. */
export type Ending = 'end' | 'drop' | 'stall'

/** What the fault server does to one request. */
export type Behaviour =
  /** A whole answer. */
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: Buffer
    }
  /** A head and parts of a body, each in a packet of its own as far as the network allows. */
  | { readonly kind: 'stream'; readonly chunks: readonly Buffer[]; readonly ending: Ending }
  /** The connection is cut without a byte of an answer. */
  | { readonly kind: 'drop' }
  /** No byte, and no end. */
  | { readonly kind: 'stall' }
  /** Bytes that are no HTTP. */
  | { readonly kind: 'garbage' }

/** An answer in JSON. */
export function json(
  body: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Readonly<Record<string, string>> } = {},
): Behaviour {
  return {
    kind: 'answer',
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify(body)),
  }
}

/** Plain text, as the API server answers for what it does not serve. */
export function text(body: string, status = 200): Behaviour {
  return { kind: 'answer', status, headers: { 'content-type': 'text/plain' }, body: Buffer.from(body) }
}

/** A failure Status, as the API server writes it. */
export function failure(
  status: number,
  reason: string,
  more: { readonly details?: JsonRecord; readonly headers?: Readonly<Record<string, string>> } = {},
): Behaviour {
  return json(failureStatus(status, reason, more.details), { status, headers: more.headers ?? {} })
}

/** The Status object itself, e.g. for an ERROR event. */
export function failureStatus(code: number, reason: string, details?: JsonRecord): JsonRecord {
  const message = `a fault: ${reason}`
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message,
    reason,
    code,
    ...(details && { details }),
  }
}

/** An answer in pieces, a packet each, and how it ends. */
export function stream(chunks: readonly (Buffer | string)[], ending: Ending = 'end'): Behaviour {
  return { kind: 'stream', chunks: chunks.map((chunk) => Buffer.from(chunk)), ending }
}

/** Watch events, one per line and packet. */
export function events(list: readonly object[], ending: Ending = 'end'): Behaviour {
  return stream(
    list.map((event) => `${JSON.stringify(event)}\n`),
    ending,
  )
}

/** The connection breaks without an answer. */
export const drop: Behaviour = { kind: 'drop' }
/** The request is never answered. */
export const stall: Behaviour = { kind: 'stall' }
/** Bytes that are no HTTP. */
export const garbage: Behaviour = { kind: 'garbage' }
