// What a proxy does with a request: pass it to the API server and its answer to the client, or answer or break it.
import { request as httpsRequest, type Agent } from 'node:https'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { ControlPlane } from './control-plane.ts'
import { dueRule, released, type ActiveRule, type Fault, type HeldRelease } from './fault-rules.ts'
import { isWrite, type ProxiedExchange } from './observed-request.ts'
import type { OpenWatch } from './proxied-watches.ts'

/** What to do with an answer that has come: at once, or when the returned promise says so. */
type AnswerGate = () => HeldRelease | Promise<HeldRelease>

/** Does to a request what the rules say; `pass` forwards it, and its gate decides on the answer. */
export function decide(
  exchange: ProxiedExchange,
  rules: readonly ActiveRule[],
  pass: (gate: AnswerGate) => void,
): void {
  const active = dueRule(rules, exchange.observed)
  if (active === undefined) return pass(() => 'forward')
  const { fault } = active.rule
  switch (fault.kind) {
    case 'answer':
      return answer(exchange, fault)
    case 'drop':
      return drop(exchange)
    case 'drop answer':
      return pass(() => 'drop')
    case 'hold':
      return void passWhenReleased(active, exchange, pass)
    case 'hold answer':
      return pass(() => released(active, exchange.observed))
  }
}

async function passWhenReleased(
  active: ActiveRule,
  exchange: ProxiedExchange,
  pass: (gate: AnswerGate) => void,
): Promise<void> {
  if ((await released(active, exchange.observed)) === 'drop') drop(exchange)
  else pass(() => 'forward')
}

function drop({ observed, response }: ProxiedExchange): void {
  observed.outcome = 'dropped'
  response.destroy()
}

/** A failure Status, as apimachinery writes it. */
function answer({ observed, response }: ProxiedExchange, fault: Extract<Fault, { kind: 'answer' }>): void {
  const { status, retryAfterSeconds, page } = fault
  const reason = fault.reason ?? REASONS[status] ?? 'InternalError'
  const body = Buffer.from(
    page ??
      JSON.stringify({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: `answered by the fault proxy: ${reason}`,
        reason,
        code: status,
        ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
      }),
  )
  observed.outcome = 'answered'
  observed.status = status
  response.writeHead(status, {
    'content-type': page === undefined ? 'application/json' : 'text/html',
    'content-length': body.length,
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
  })
  response.end(body)
}

const REASONS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

/** Where requests go, and which of them are watches. */
export interface Passage {
  readonly controlPlane: ControlPlane
  readonly upstream: Agent
  readonly watches: Set<OpenWatch>
}

/** Sends a request on to the API server; `gate` decides whether its answer passes. */
export function forward(exchange: ProxiedExchange, passage: Passage, gate: AnswerGate): void {
  const { observed, request, response, body } = exchange
  const onward: ClientRequest = httpsRequest(
    {
      agent: passage.upstream,
      host: '127.0.0.1',
      port: passage.controlPlane.port,
      method: observed.method,
      path: observed.path,
      headers: { ...request.headers, ...(body.length > 0 ? { 'content-length': body.length } : {}) },
    },
    (incoming) => {
      incoming.on('error', () => drop(exchange))
      void deliver(exchange, incoming, passage.watches, gate)
    },
  )
  // As a client of the server itself would see it.
  onward.on('error', () => drop(exchange))
  // A watch whose client is gone is over; a write goes on, as it would in a server that has read it.
  if (!isWrite(observed)) response.once('close', () => onward.destroy())
  onward.end(body)
}

async function deliver(
  exchange: ProxiedExchange,
  incoming: IncomingMessage,
  watches: Set<OpenWatch>,
  gate: AnswerGate,
): Promise<void> {
  const release = await gate()
  exchange.observed.status = incoming.statusCode ?? 0
  if (release === 'forward') return relay(exchange, incoming, watches)
  // Read to its end all the same: the server has then carried the request out.
  incoming.resume()
  drop(exchange)
}

const BETWEEN_HOPS = new Set(['connection', 'keep-alive'])

function relay(
  { observed, response }: ProxiedExchange,
  incoming: IncomingMessage,
  watches: Set<OpenWatch>,
): void {
  observed.outcome = 'answered'
  const headers = Object.entries(incoming.headers).filter(([name]) => !BETWEEN_HOPS.has(name))
  response.writeHead(incoming.statusCode ?? 502, Object.fromEntries(headers))
  // The status line of a watch comes before its first event.
  response.flushHeaders()
  incoming.pipe(response)
  if (!observed.isWatch) return
  const watch = { path: observed.path, answer: incoming, response }
  watches.add(watch)
  response.once('close', () => watches.delete(watch))
}
