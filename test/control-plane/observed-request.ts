// A request as a proxy sees it: read whole, and remembered with what becomes of it.
import type { IncomingMessage, ServerResponse } from 'node:http'

/** What a test may look at. */
export interface ObservedRequest {
  /** From 1, in order of arrival. */
  readonly number: number
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly userAgent: string
  readonly isWatch: boolean
  /** The parsed body; undefined when there is none, text when it is no JSON. */
  readonly body: unknown
  /** What became of it. */
  outcome: 'pending' | 'answered' | 'dropped' | 'held'
  /** The status code that the client was sent, or that the server answered to a client that never saw it. */
  status?: number
}

const WRITES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Whether a request changes something: for enumerating write points. */
export function isWrite(request: ObservedRequest): boolean {
  return WRITES.has(request.method)
}

/** One exchange that passes through. */
export interface ProxiedExchange {
  readonly observed: ObservedRequest
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: Buffer
}

/** Reads a request to its end and adds it to `requests`, of which the last `most` are kept. Rejects when its client goes before that. */
export async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  requests: ObservedRequest[],
  most: number,
): Promise<ProxiedExchange> {
  const chunks: Buffer[] = []
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  const path = request.url ?? '/'
  const observed: ObservedRequest = {
    number: (requests.at(-1)?.number ?? 0) + 1,
    method: request.method ?? 'GET',
    path,
    userAgent: request.headers['user-agent'] ?? '',
    isWatch: /[?&]watch=(true|1)(&|$)/.test(path),
    body: body.length === 0 ? undefined : parsed(body.toString('utf8')),
    outcome: 'pending',
  }
  requests.push(observed)
  if (requests.length > most) requests.splice(0, requests.length - most)
  return { observed, request, response, body }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
