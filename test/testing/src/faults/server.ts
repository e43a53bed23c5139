// A real HTTP or HTTPS server on a loopback port that does to each request what a test says, and remembers what came.
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { Behaviour } from './behaviour.ts'
import { certificate } from './certificates.ts'

/** A request as it came. */
export interface Seen {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  /** Which connection brought it, from 1. */
  readonly connection: number
  /** Which request of that connection it is, from 1. */
  readonly nth: number
}

/** How the server talks TLS; plain HTTP when absent. */
export interface FaultTls {
  readonly certificate: 'server' | 'named-server'
  /** Only clients with a certificate of `ca.crt`. */
  readonly demandClient?: boolean
}

/** A server at work. */
export interface FaultServer extends AsyncDisposable {
  readonly url: URL
  readonly seen: readonly Seen[]
  /** Connections that were made so far. */
  connections(): number
  /** Connections that are open now. */
  open(): number
}

/** Starts a server; `await using` stops it. */
export async function faultServer(
  behave: (request: Seen) => Behaviour,
  tls?: FaultTls,
): Promise<FaultServer> {
  const seen: Seen[] = []
  const sockets = new Map<Socket, { readonly connection: number; requests: number }>()
  let made = 0
  const server = listen(tls, (request, response) => {
    void readText(request).then((body) => {
      const from = sockets.get(request.socket)
      if (from === undefined) return
      from.requests += 1
      const entry: Seen = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body,
        connection: from.connection,
        nth: from.requests,
      }
      seen.push(entry)
      return act(behave(entry), response)
    })
  })
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    made += 1
    sockets.set(socket, { connection: made, requests: 0 })
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: new URL(`${tls === undefined ? 'http' : 'https'}://127.0.0.1:${portOf(server)}`),
    seen,
    connections: () => made,
    open: () => sockets.size,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets.keys()) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function listen(
  tls: FaultTls | undefined,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  // Idle connections stay: when they end is the test's to say.
  if (tls === undefined) return createHttpServer({ keepAliveTimeout: 0 }, answer)
  const identity = {
    cert: certificate(`${tls.certificate}.crt`),
    key: certificate(`${tls.certificate}.key`),
  }
  const client =
    tls.demandClient === true
      ? { ca: certificate('ca.crt'), requestCert: true, rejectUnauthorized: true }
      : {}
  return createHttpsServer({ keepAliveTimeout: 0, ...identity, ...client }, answer)
}

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address()
  if (address === null || typeof address === 'string') throw new Error('the fault server does not listen')
  return address.port
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

async function act(behaviour: Behaviour, response: ServerResponse): Promise<void> {
  switch (behaviour.kind) {
    case 'answer':
      response.writeHead(behaviour.status, {
        ...behaviour.headers,
        'content-length': String(behaviour.body.length),
      })
      response.end(behaviour.body)
      return
    case 'stream':
      response.writeHead(200, { 'content-type': 'application/json' })
      response.flushHeaders()
      for (const chunk of behaviour.chunks) {
        await new Promise<void>((resolve) => response.write(chunk, () => resolve()))
        await turn()
      }
      if (behaviour.ending === 'end') response.end()
      if (behaviour.ending === 'drop') response.socket?.destroy()
      return
    case 'drop':
      response.socket?.destroy()
      return
    case 'stall':
      return
    case 'garbage':
      response.socket?.end('this is no HTTP\r\n\r\n')
  }
}
