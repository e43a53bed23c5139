// The little of HTTP that the operator serves. Every pod of the cluster may connect: limits are short, answers constant.
import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { codeOf } from '@kleym/shared/kube/failures.ts'
import type { Log } from '../telemetry/log.ts'
import type { BindAddress } from '../settings/settings.ts'

/** What the connections of one server may cost. */
export interface ServerLimits {
  /** Within which the headers (and the TLS handshake before them) must be there, in milliseconds. */
  readonly headersMs: number
  /** Within which the whole request must be there, in milliseconds. */
  readonly requestMs: number
  /** How often connections are looked at for that, in milliseconds. */
  readonly checkMs: number
  readonly headerBytes: number
  /** The most connections at a time; for a further one, the connection that has been idle longest is closed. */
  readonly connections: number
  /** After how many requests a connection ends; 0: when it has been idle for a while. */
  readonly requestsPerConnection: number
}

export const DEFAULT_LIMITS: ServerLimits = {
  headersMs: 5_000,
  requestMs: 10_000,
  checkMs: 1_000,
  headerBytes: 16 * 1024,
  connections: 256,
  requestsPerConnection: 0,
}

/**
 * The kubelet waits a second for a probe, and asks on a new connection each time: a client that takes longer is another one,
 * and must not hold a connection that a probe needs.
 */
export const PROBE_LIMITS: ServerLimits = {
  ...DEFAULT_LIMITS,
  headersMs: 1_000,
  requestMs: 1_000,
  checkMs: 250,
  requestsPerConnection: 1,
}

export interface Reply {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Answers GET and HEAD of one path; a rejection is a bug, and answered with 500. */
export type Route = (request: IncomingMessage) => Promise<Reply>

export interface RunningServer {
  readonly port: number
  /** Ends all connections at once. Resolves when nothing listens any more. */
  close(): Promise<void>
}

/** A server cannot listen: one line that says where, why and how to fix it. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}

/** A reply of one line of text. */
export function plain(status: number, line: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, body: `${line}\n`, headers: { 'Content-Type': 'text/plain; charset=utf-8', ...headers } }
}

/** The limits, as Node's servers take them. */
export function serverOptions({ headersMs, requestMs, checkMs, headerBytes }: ServerLimits): ServerOptions {
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkMs,
    maxHeaderSize: headerBytes,
  }
}

/** Answers each path by its route; other paths with 404, other methods with 405. */
export function router(routes: Readonly<Record<string, Route>>, log: Log): RequestListener {
  const byPath = new Map(Object.entries(routes))
  const reply = async (request: IncomingMessage): Promise<Reply> => {
    const route = byPath.get(request.url?.split('?', 1)[0] ?? '')
    if (route === undefined) return plain(404, 'not found')
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return plain(405, 'only GET and HEAD', { Allow: 'GET, HEAD' })
    try {
      return await route(request)
    } catch (error) {
      log.error('could not answer a request', { path: request.url, error })
      return plain(500, 'internal error')
    }
  }
  return (request, response) => void reply(request).then((made) => send(request, response, made))
}

function send(request: IncomingMessage, response: ServerResponse, { status, body, headers }: Reply): void {
  const hasBody = 'content-length' in request.headers || 'transfer-encoding' in request.headers
  response.writeHead(status, {
    ...headers,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    // The servers read no request bodies: the connection ends instead.
    ...(hasBody ? { Connection: 'close' } : {}),
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}

export interface Listening {
  readonly address: BindAddress
  /** The flag that says where, for the error. */
  readonly flag: string
  readonly limits: ServerLimits
  readonly log: Log
}

/** Makes a server listen. Rejects with a `ListenError`. */
export async function listen(
  server: Server,
  { address, flag, limits, log }: Listening,
): Promise<RunningServer> {
  boundConnections(server, limits.connections)
  server.maxRequestsPerSocket = limits.requestsPerConnection
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(
    { port: address.port, ...(address.host === undefined ? {} : { host: address.host }) },
    resolve,
  )
  try {
    await promise
  } catch (error) {
    throw listenError(address, flag, error)
  }
  server.off('error', reject)
  server.on('error', (error) => log.error('a server could not take a connection', { flag, error }))
  const bound = server.address()
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : address.port,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}

/**
 * Keeps the connections of a server to `most`. Node would turn the newest away, which lets a client that holds idle ones keep the
 * kubelet out; here the one goes that has been idle longest, and the newest where all are being answered.
 */
function boundConnections(server: Server, most: number): void {
  const open = new Map<string, Socket>()
  /** Those that are not being answered, in the order in which that began. */
  const idle = new Map<string, Socket>()
  server.on('connection', (socket) => {
    const peer = peerOf(socket)
    // It has gone already.
    if (peer === undefined) {
      socket.destroy()
      return
    }
    open.set(peer, socket)
    idle.set(peer, socket)
    socket.once('close', () => {
      if (open.get(peer) !== socket) return
      open.delete(peer)
      idle.delete(peer)
    })
    for (const [longest, victim] of idle) {
      if (open.size <= most) break
      open.delete(longest)
      idle.delete(longest)
      victim.destroy()
    }
  })
  server.on('request', ({ socket }, response) => {
    const peer = peerOf(socket) ?? ''
    const connection = open.get(peer)
    if (connection === undefined) return
    idle.delete(peer)
    response.once('close', () => {
      if (open.get(peer) === connection) idle.set(peer, connection)
    })
  })
}

/** A connection by its other end: below TLS there is another socket than the one that a request tells of. */
function peerOf({ remoteAddress, remotePort }: Socket): string | undefined {
  return remotePort === undefined ? undefined : `${remoteAddress} ${remotePort}`
}

const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something else listens there; free the port, or give another',
  EACCES: 'this process may not use that port; give one above 1023',
  EADDRNOTAVAIL: 'this machine has no such address; leave the host out to listen on all',
  ENOTFOUND: 'there is no such host; give an IP address, or leave the host out to listen on all',
}

function listenError({ host, port }: BindAddress, flag: string, error: unknown): ListenError {
  const code = codeOf(error)
  const where = `${flag}=${host?.includes(':') === true ? `[${host}]` : (host ?? '')}:${port}`
  const why = WHY[code] ?? `${error instanceof Error ? error.message : String(error)}; give another address`
  return new ListenError(`${where}: cannot listen: ${why}`, { cause: error })
}
