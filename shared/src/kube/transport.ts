// One HTTP exchange with an API server: a request out, a response back, and every way in which that can fail as a
// ConnectionError. No Kubernetes in here. On node:http(s), because the client library opens a connection per request.
// Bodies are Buffers with a content length: Node 26.10 hangs on chunked text, and a DELETE body needs the length.
import { request as httpRequest, type Agent, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Clock } from './clock.ts'
import { ConnectionError } from './errors.ts'
import { codeOf, connectionError, failureOf } from './failures.ts'

export interface Outgoing {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body?: Buffer | undefined
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
export function exchangeName({ method, url }: Pick<Outgoing, 'method' | 'url'>): string {
  return `${method} ${url.origin}${url.pathname}`
}

/** Sends a request and resolves with its response's head; rejects with a ConnectionError. */
export async function send(outgoing: Outgoing, limits: Limits): Promise<Incoming> {
  // To open a request is to open a connection.
  if (limits.signals.some((signal) => signal.aborted))
    throw connectionError('aborted', exchangeName(outgoing), { neverSent: true })
  const request = open(outgoing)
  const state: State = { connected: false, ended: undefined }
  const failure = (thrown: unknown, answered: boolean): ConnectionError =>
    connectionError(state.ended ?? failureOf(thrown), exchangeName(outgoing), {
      neverSent: !answered && !state.connected,
      cause: thrown,
    })
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | undefined
    // At once, also for a request that still waits for a connection: runtimes differ in what they tell it.
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
      // Whoever reads hears of errors by reading; nobody need read.
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

/** Reads a body to its end; rejects with a ConnectionError, also where it is longer than `limit` bytes. */
export async function readBody(incoming: Incoming, what: string, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of chunksOf(incoming)) {
      length += chunk.length
      if (length > limit)
        throw connectionError('malformed', what, {
          neverSent: false,
          detail: `its body is longer than ${limit} bytes`,
        })
      chunks.push(chunk)
    }
  } finally {
    incoming.done()
  }
  return Buffer.concat(chunks, length)
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

function open({ method, url, headers, body, agent }: Outgoing): ClientRequest {
  const start = url.protocol === 'http:' ? httpRequest : httpsRequest
  return start(url, {
    method,
    agent,
    headers: { ...headers, ...(body !== undefined && { 'content-length': String(body.length) }) },
  })
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
