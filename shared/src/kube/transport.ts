// One HTTP exchange with an API server: a request out, a response back, and every way in which that can fail as a
// ConnectionError. No Kubernetes in here. On node:http(s), because the client library opens a connection per request.
// Bodies are text with a content length: Node sends that together with the head, in one write to the TLS connection; on
// chunked text Node 26.10 hangs, and a DELETE body needs the length.
import {
  request as httpRequest,
  type Agent,
  type ClientRequest,
  type ClientRequestArgs,
  type IncomingMessage,
} from 'node:http'
import { request as httpsRequest } from 'node:https'
import { urlToHttpOptions } from 'node:url'
import type { Clock } from './clock.ts'
import { ConnectionError } from './errors.ts'
import { codeOf, connectionError, failureOf } from './failures.ts'

/** After how long without traffic TCP asks whether the other end is there, as client-go: firewalls are more patient. */
export const TCP_PROBE_MS = 30_000

/** Where requests go, taken apart once: Node takes a URL apart for every request. */
export interface Server {
  /** `https://host:6443`, for messages. */
  readonly origin: string
  readonly address: Pick<ClientRequestArgs, 'protocol' | 'hostname' | 'port'>
}

/** The server at a URL, whose path is left to the requests. */
export function serverAt(url: URL): Server {
  const { protocol, hostname, port } = urlToHttpOptions(url)
  return { origin: url.origin, address: { protocol, hostname, port } }
}

export interface Outgoing {
  readonly method: string
  readonly server: Server
  /** With its query, and encoded. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body?: string | undefined
  readonly agent: Agent
}

export interface Limits {
  readonly clock: Clock
  /** For all of a call, or until the first byte of a watch; in milliseconds. */
  readonly timeoutMs: number
  /** Each of them ends the call. */
  readonly signals: readonly AbortSignal[]
}

/** A response under way. */
export interface Incoming {
  readonly response: IncomingMessage
  /** True when the signal or the time limit has ended the exchange. */
  isEnded(): boolean
  /** How the exchange failed, as the ConnectionError that its reader throws; `thrown` is what reading threw. */
  failure(thrown: unknown): ConnectionError
  /** The answer may take as long as it wants from here on; the signals go on counting. */
  unbind(): void
  /** The exchange is over: releases timer and signals, and the connection where the answer was not read to its end. */
  done(): void
}

/** `GET https://host/path`, as messages name an exchange; without the query, which can be long. */
export function exchangeName({ method, server, path }: Pick<Outgoing, 'method' | 'server' | 'path'>): string {
  const query = path.indexOf('?')
  return `${method} ${server.origin}${query < 0 ? path : path.slice(0, query)}`
}

/** All that a request may name; Node refuses blanks and what is not ASCII with an error of its own. */
const ENCODED = /^[\x21-\x7e]+$/

/** Sends a request and resolves with its response's head; rejects with a ConnectionError. */
export async function send(outgoing: Outgoing, limits: Limits): Promise<Incoming> {
  // To open a request is to open a connection.
  if (limits.signals.some((signal) => signal.aborted))
    throw connectionError('aborted', exchangeName(outgoing), { neverSent: true })
  // A version in it may be a server's own word.
  if (!ENCODED.test(outgoing.path))
    throw connectionError('malformed', exchangeName(outgoing), {
      neverSent: true,
      detail: 'its path holds what no path may',
    })
  const request = open(outgoing)
  const state: State = { connected: false, ended: undefined }
  const failure = (thrown: unknown, answered: boolean): ConnectionError =>
    connectionError(state.ended ?? failureOf(thrown), exchangeName(outgoing), {
      neverSent: !answered && !state.connected,
      cause: thrown,
    })
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | undefined
    // At once, also for a request that still waits for a connection: runtimes differ in what they report to it.
    const { release, unbind } = watchLimits(limits, (why) => {
      state.ended ??= why
      reject(failure(undefined, answer !== undefined))
      if (answer === undefined) request.destroy()
      else answer.destroy(new Error(why))
    })
    watchConnection(request, state)
    request.on('error', (error) => {
      release()
      const why = failure(error, answer !== undefined)
      reject(isStale(request, state, error) ? new StaleConnection(why) : why)
    })
    request.on('response', (response) => {
      answer = response
      // A reader gets the error by reading; there may be no reader.
      response.on('error', () => undefined)
      resolve({
        response,
        isEnded: () => state.ended !== undefined,
        failure: (thrown) => failure(thrown, true),
        unbind,
        done: () => {
          release()
          if (!response.complete) request.destroy()
        },
      })
    })
    request.end(outgoing.body)
  })
}

/** Calls `end` when the time is up or a signal is tripped. */
function watchLimits(
  { clock, timeoutMs, signals }: Limits,
  end: (why: 'aborted' | 'timed out') => void,
): { readonly release: () => void; readonly unbind: () => void } {
  const abort = (): void => end('aborted')
  const unbind = clock.after(timeoutMs, () => end('timed out'))
  for (const signal of signals) signal.addEventListener('abort', abort, { once: true })
  const release = (): void => {
    unbind()
    for (const signal of signals) signal.removeEventListener('abort', abort)
  }
  return { release, unbind }
}

/** The connection was kept alive, and was found dead before anything came back: the server may never have seen the request. */
export class StaleConnection extends ConnectionError {
  constructor(error: ConnectionError) {
    super(error.failure, error.message, { neverSent: error.neverSent, cause: error.cause })
  }
}

/**
 * Reads a body to its end; rejects with a ConnectionError, also where it is longer than `limit` bytes. By events, as an
 * iterator waits for several promises more, which is felt where every write of thousands is answered.
 */
export async function readBody(incoming: Incoming, what: string, limit: number): Promise<Buffer> {
  const { response } = incoming
  const chunks: Buffer[] = []
  let length = 0
  try {
    return await new Promise((resolve, reject) => {
      const broken = (error?: unknown): void => reject(incoming.failure(error))
      // A stream that has ended already emits no event any more.
      if (response.destroyed && !response.readableEnded) broken(response.errored)
      const tooLarge = (): void => {
        chunks.length = 0
        reject(new BodyTooLarge(what, `longer than ${limit} bytes`))
      }
      if (Number(response.headers['content-length']) > limit) tooLarge()
      response.on('data', (chunk: Buffer) => {
        length += chunk.length
        if (length <= limit) chunks.push(chunk)
        else tooLarge()
      })
      response.on('error', broken)
      response.on('end', () => {
        // A body that is cut can also just end, on runtimes other than Node.
        if (response.complete) resolve(Buffer.concat(chunks, length))
        else broken()
      })
      response.on('close', () => {
        if (!response.readableEnded) broken()
      })
    })
  } finally {
    incoming.done()
  }
}

/** A body is more than its reader takes; a smaller page of a list may not be. */
export class BodyTooLarge extends ConnectionError {
  /** `how` is `longer than 5 bytes`. */
  constructor(what: string, how: string) {
    const { failure, message } = connectionError('malformed', what, {
      neverSent: false,
      detail: `its body is ${how}`,
    })
    super(failure, message, { neverSent: false })
  }
}

/** The body as it comes; throws a ConnectionError where it breaks off. */
export async function* chunksOf(incoming: Incoming): AsyncGenerator<Buffer> {
  const { response } = incoming
  try {
    for await (const chunk of response) if (Buffer.isBuffer(chunk)) yield chunk
  } catch (error) {
    throw incoming.failure(error)
  }
  // A body that is cut can also just end, on runtimes other than Node.
  if (!response.complete) throw incoming.failure(undefined)
}

interface State {
  /** Bytes of the request may have left. */
  connected: boolean
  /** We ended it ourselves. */
  ended: 'aborted' | 'timed out' | undefined
}

function open({ method, server, path, headers, body, agent }: Outgoing): ClientRequest {
  const { address } = server
  const start = address.protocol === 'http:' ? httpRequest : httpsRequest
  const request = start({
    ...address,
    method,
    path,
    agent,
    headers: { ...headers, ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }) },
  })
  // Also for watches, whose connections no agent keeps: else a peer that is gone without a word is never noticed.
  request.setSocketKeepAlive(true, TCP_PROBE_MS)
  return request
}

/** The request leaves when its connection is made; for one that is made already (kept alive, proxied) it may have left. */
function watchConnection(request: ClientRequest, state: State): void {
  request.on('socket', (socket) => {
    if (request.reusedSocket || !socket.connecting) {
      state.connected = true
      return
    }
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
      state.connected = true
    })
  })
}

function isStale(request: ClientRequest, state: State, error: unknown): boolean {
  return request.reusedSocket && state.ended === undefined && ['ECONNRESET', 'EPIPE'].includes(codeOf(error))
}
