// Faults as a library: an HTTPS proxy between a client and the API server that does by rule what networks and servers do
// by accident. It serves the API server's own certificate, so a kubeconfig differs in its port alone. HTTP/1.1 only.
import { readFileSync } from 'node:fs'
import { Agent, createServer, request as httpsRequest } from 'node:https'
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ControlPlane } from './control-plane.ts'
import { until } from '@kleym/testing/wait.ts'

/** What happens to a request. */
export type Fault =
  /** Answered by the proxy; the server never sees the request. */
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly reason?: string
      readonly retryAfterSeconds?: number
    }
  /** The connection breaks and the server never sees the request. */
  | { readonly kind: 'drop' }
  /** The server carries the request out; the connection breaks before its answer passes. */
  | { readonly kind: 'drop answer' }
  /** The request waits in the proxy; `release` forwards it, even when its client is gone, or drops it. */
  | { readonly kind: 'hold' }
  /** The server carries the request out; `release` passes its answer or drops it. Of a watch, it holds every byte. */
  | { readonly kind: 'hold answer' }

export interface Rule {
  readonly method?: string
  /** Tried on the path with its query. */
  readonly path?: RegExp
  /** Anything else, e.g. the user agent or the body. */
  readonly when?: (request: ObservedRequest) => boolean
  /** The first matching request that is hit, counted from 1; 1 when absent. */
  readonly nth?: number
  /** How many are hit from there; 1 when absent, `Infinity` for all. */
  readonly count?: number
  readonly fault: Fault
}

/** A rule in force. */
export interface Injection {
  /** The requests that it has hit, oldest first. */
  readonly hits: readonly ObservedRequest[]
  /** Waits until it has hit `count` requests. */
  hit(count?: number): Promise<void>
  /** Lets go of everything that is held now and in future: `forward` (or pass the answer) when absent, or `drop`. */
  release(how?: 'forward' | 'drop'): void
  /** No further request is hit. What is held stays held until `release`. */
  remove(): void
}

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

/** What can be done to the watches that are open now. */
export interface OpenWatches {
  readonly count: number
  /** Ends them as a server does whose timeout has come. */
  end(): void
  /** Breaks their connections. */
  drop(): void
  /** Passes nothing more of them, with the connections open; later watches are not touched. */
  stall(): void
  /** Goes on with what is stalled, bytes held back included. */
  resume(): void
}

export interface FaultProxy {
  readonly server: string
  /** A kubeconfig whose server is this proxy. */
  kubeconfig(user?: string): string
  kubeconfigForServiceAccount(namespace: string, name: string): Promise<string>
  inject(rule: Rule): Injection
  /** Every request so far. */
  readonly requests: readonly ObservedRequest[]
  /** The open watches, of the paths that match when a pattern is given. */
  watches(path?: RegExp): OpenWatches
  /** Breaks every connection of every client; held requests stay. */
  dropConnections(): void
  stop(): Promise<void>
}

const WRITES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Whether a request changes something: for enumerating write points. */
export function isWrite(request: ObservedRequest): boolean {
  return WRITES.has(request.method)
}

type Verdict = 'forward' | 'drop'

interface ActiveRule {
  readonly rule: Rule
  readonly hits: ObservedRequest[]
  seen: number
  removed: boolean
  verdict?: Verdict
  readonly held: Set<(verdict: Verdict) => void>
}

interface OpenWatch {
  readonly path: string
  readonly answer: IncomingMessage
  readonly response: ServerResponse
}

/** One exchange that passes through. */
interface Exchange {
  readonly observed: ObservedRequest
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: Buffer
}

/** Starts a proxy on a loopback port of its own. */
export async function startFaultProxy(controlPlane: ControlPlane): Promise<FaultProxy> {
  const requests: ObservedRequest[] = []
  const rules: ActiveRule[] = []
  const watches = new Set<OpenWatch>()
  const sockets = new Set<Duplex>()
  const upstream = new Agent({ keepAlive: true, ca: controlPlane.ca })
  const proxy = createServer(
    {
      cert: readFileSync(controlPlane.serving.certificate),
      key: readFileSync(controlPlane.serving.key),
      ALPNProtocols: ['http/1.1'],
    },
    (request, response) => {
      // What cannot be sent because the client is gone is no fault of the proxy's.
      response.on('error', () => undefined)
      // A request whose client vanishes while its body comes is no exchange yet.
      receive(request, response, requests).then(
        (exchange) =>
          decide(exchange, rules, (after) => forward(exchange, { controlPlane, upstream, watches }, after)),
        () => response.destroy(),
      )
    },
  )
  proxy.keepAliveTimeout = 0
  proxy.requestTimeout = 0
  proxy.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    proxy.once('error', reject)
    proxy.listen(0, '127.0.0.1', resolve)
  })
  const server = `https://127.0.0.1:${portOf(proxy.address())}`
  const dropConnections = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    server,
    requests,
    kubeconfig: (user) => controlPlane.kubeconfig(user, server),
    kubeconfigForServiceAccount: (namespace, name) =>
      controlPlane.kubeconfigForServiceAccount(namespace, name, server),
    inject: (rule) => inject(rules, rule),
    watches: (path) => openWatches([...watches].filter((watch) => path?.test(watch.path) !== false)),
    dropConnections,
    stop: async () => {
      const closed = new Promise((resolve) => {
        proxy.close(resolve)
      })
      dropConnections()
      upstream.destroy()
      await closed
    },
  }
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new TypeError('the proxy has no port')
  return address.port
}

function inject(rules: ActiveRule[], rule: Rule): Injection {
  const active: ActiveRule = { rule, hits: [], seen: 0, removed: false, held: new Set() }
  rules.push(active)
  return {
    hits: active.hits,
    hit: async (count = 1) => {
      await until(
        () => active.hits.length >= count,
        `${count} request(s) to be hit by '${rule.fault.kind}' on ${rule.method ?? 'any method'} ${String(rule.path ?? '')}`,
      )
    },
    release: (how = 'forward') => {
      active.verdict = how
      for (const go of active.held) go(how)
      active.held.clear()
    },
    remove: () => {
      active.removed = true
    },
  }
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  requests: ObservedRequest[],
): Promise<Exchange> {
  const chunks: Buffer[] = []
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  const path = request.url ?? '/'
  const observed: ObservedRequest = {
    number: requests.length + 1,
    method: request.method ?? 'GET',
    path,
    userAgent: request.headers['user-agent'] ?? '',
    isWatch: /[?&]watch=(true|1)(&|$)/.test(path),
    body: body.length === 0 ? undefined : parsed(body.toString('utf8')),
    outcome: 'pending',
  }
  requests.push(observed)
  return { observed, request, response, body }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The oldest rule that is due for a request; every rule that matches counts it. */
function dueRule(rules: readonly ActiveRule[], request: ObservedRequest): ActiveRule | undefined {
  let due: ActiveRule | undefined = undefined
  for (const active of rules) {
    const { method, path, when, nth = 1, count = 1 } = active.rule
    if (active.removed) continue
    if (method !== undefined && method !== request.method) continue
    if (path !== undefined && !path.test(request.path)) continue
    if (when !== undefined && !when(request)) continue
    active.seen++
    if (due === undefined && active.seen >= nth && active.seen < nth + count) due = active
  }
  due?.hits.push(request)
  return due
}

/** What to do with an answer that has come: at once, or when the returned promise says so. */
type AnswerGate = () => Verdict | Promise<Verdict>

function decide(exchange: Exchange, rules: readonly ActiveRule[], pass: (gate: AnswerGate) => void): void {
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
      return pass(() => released(active, exchange))
  }
}

async function passWhenReleased(
  active: ActiveRule,
  exchange: Exchange,
  pass: (gate: AnswerGate) => void,
): Promise<void> {
  if ((await released(active, exchange)) === 'drop') drop(exchange)
  else pass(() => 'forward')
}

function released(active: ActiveRule, { observed }: Exchange): Promise<Verdict> {
  if (active.verdict !== undefined) return Promise.resolve(active.verdict)
  observed.outcome = 'held'
  return new Promise((resolve) => {
    active.held.add(resolve)
  })
}

function drop({ observed, response }: Exchange): void {
  observed.outcome = 'dropped'
  response.destroy()
}

/** A failure Status, as apimachinery writes it. */
function answer({ observed, response }: Exchange, fault: Extract<Fault, { kind: 'answer' }>): void {
  const { status, retryAfterSeconds } = fault
  const reason = fault.reason ?? REASONS[status] ?? 'InternalError'
  const body = Buffer.from(
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
    'content-type': 'application/json',
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

interface Passage {
  readonly controlPlane: ControlPlane
  readonly upstream: Agent
  readonly watches: Set<OpenWatch>
}

function forward(exchange: Exchange, passage: Passage, gate: AnswerGate): void {
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
  if (!WRITES.has(observed.method)) response.once('close', () => onward.destroy())
  onward.end(body)
}

async function deliver(
  exchange: Exchange,
  incoming: IncomingMessage,
  watches: Set<OpenWatch>,
  gate: AnswerGate,
): Promise<void> {
  const verdict = await gate()
  exchange.observed.status = incoming.statusCode ?? 0
  if (verdict === 'forward') return relay(exchange, incoming, watches)
  // Read to its end all the same: the server has then carried the request out.
  incoming.resume()
  drop(exchange)
}

const BETWEEN_HOPS = new Set(['connection', 'keep-alive'])

function relay({ observed, response }: Exchange, incoming: IncomingMessage, watches: Set<OpenWatch>): void {
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

function openWatches(watches: readonly OpenWatch[]): OpenWatches {
  const each = (act: (watch: OpenWatch) => void) => (): void => watches.forEach(act)
  return {
    count: watches.length,
    end: each(({ answer: from, response }) => {
      from.unpipe(response)
      response.end()
    }),
    drop: each(({ response }) => response.destroy()),
    stall: each(({ answer: from, response }) => {
      from.unpipe(response)
      from.pause()
    }),
    resume: each(({ answer: from, response }) => from.pipe(response)),
  }
}
