// Calls on a session: credentials, connections, and the two retries that there are: a 401 once, with fresh credentials,
// and a GET once whose kept-alive connection was dead. All other failures are the caller's to judge.
import process from 'node:process'
import type { JsonRecord } from '../core/base/json.ts'
import { BODY_BYTES, hasMoreValues, objectIn, type HttpAnswer, type ParseText } from './answer.ts'
import type { Clock } from './clock.ts'
import type { Cluster } from './cluster.ts'
import type { ConnectionError } from './errors.ts'
import { codeOf, connectionError } from './failures.ts'
import { createSockets, type SocketSession } from './sockets.ts'
import {
  BodyTooLarge,
  exchangeName,
  readBody,
  send,
  serverAt,
  StaleConnection,
  type Incoming,
  type Outgoing,
} from './transport.ts'

/** How long a call may take before it fails with `timed out`. */
export const CALL_TIMEOUT_MS = 30_000

/** An exchange that is over, for metrics. */
export interface RequestReport {
  readonly method: string
  /** Absent where there was no answer. */
  readonly status: number | undefined
  /** From the request to the head of its answer. */
  readonly ms: number
}

export interface ClientOptions {
  /** `kleym-operator/0.1.0 (linux-x64)`. */
  readonly userAgent: string
  readonly clock: Clock
  /** For each call; CALL_TIMEOUT_MS when absent. A watch must begin within it. */
  readonly timeoutMs?: number
  /** Called for every exchange, also one that is tried again. */
  readonly onRequest?: (report: RequestReport) => void
  /** What an answer may hold; BODY_BYTES and no limit of values when absent. */
  readonly answers?: AnswerLimits
  /** Called when an answer was larger than its reader takes: what had come of it is no longer in use. */
  readonly onTooLarge?: () => void
  /** Reads are asked for as gzip, as kubectl asks: fewer bytes on the way, for some CPU time of the API server. */
  readonly gzip?: boolean
  /** Connections for calls at a time; MAX_SOCKETS when absent. Watches have their own. */
  readonly maxSockets?: number
}

/** The most that an answer may hold: parsed, a body of brackets takes fifty times its length. */
export interface AnswerLimits {
  readonly bytes: number
  /** Mappings and lists, and what stands in them. */
  readonly values: number
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface HttpCall {
  readonly method: HttpMethod
  /** From the root of the server, with its query. */
  readonly path: string
  /** Sent as JSON; nothing when undefined. */
  readonly body?: unknown
  /** `application/json` when absent. */
  readonly contentType?: string
  readonly signal?: AbortSignal | undefined
  /** A longer body of the answer is not read on (BodyTooLarge); BODY_BYTES when absent. */
  readonly bodyBytes?: number | undefined
  /** `application/json` when absent. */
  readonly accept?: string | undefined
  /** JSON.parse when absent. */
  readonly parse?: ParseText | undefined
  /** How the answer may be encoded. */
  readonly encoding?: 'gzip'
}

/** An answer whose body is still to be read. */
export interface Stream {
  readonly incoming: Incoming
  /** `GET https://host/path`, for messages. */
  readonly what: string
}

/** All reject with an ApiError or a ConnectionError. */
export interface Exchange {
  /** The object that a call is answered with. */
  readonly object: (call: HttpCall) => Promise<JsonRecord>
  /** A successful answer, on a connection of its own and with no end but the server's; end it with `incoming.done()`. */
  readonly stream: (call: HttpCall) => Promise<Stream>
  /** Ends all that is under way, and refuses what comes later. */
  readonly close: () => void
}

export function createExchange(cluster: Cluster, options: ClientOptions): Exchange {
  const sockets = createSockets(cluster, options.maxSockets)
  const closing = new AbortController()
  const server = serverAt(cluster.server)
  // A server may be served below a path, as Rancher's are.
  const root = cluster.server.pathname.replace(/\/+$/, '')
  const target = ({ method, path }: HttpCall): Target => ({ method, server, path: root + path })
  const nameOf = (call: HttpCall): string => exchangeName(target(call))
  const session = async (call: HttpCall, refresh?: boolean): Promise<SocketSession> => {
    try {
      return await sockets.session(refresh)
    } catch (error) {
      throw noCredentials(error, nameOf(call))
    }
  }
  const begin = (call: HttpCall, over: SocketSession, agent: Outgoing['agent']): Promise<Incoming> =>
    report(options, call.method, () =>
      send(
        { ...target(call), body: bodyOf(call), headers: headersOf(call, over, options), agent },
        {
          clock: options.clock,
          timeoutMs: options.timeoutMs ?? CALL_TIMEOUT_MS,
          signals: call.signal === undefined ? [closing.signal] : [closing.signal, call.signal],
        },
      ),
    )
  /** Nothing has been carried out on a 401: any call can be made again. */
  const authenticated = async <T extends { readonly status: number }>(
    call: HttpCall,
    run: (over: SocketSession) => Promise<T>,
  ): Promise<T> => {
    const over = await session(call)
    const first = await run(over)
    if (first.status !== 401) return first
    // Another call may have brought fresh credentials meanwhile.
    const now = await session(call)
    return run(isSame(now, over) ? await session(call, true) : now)
  }
  const answer = async (call: HttpCall, incoming: Incoming): Promise<HttpAnswer> => {
    const limits = { ...options.answers, pageBytes: call.bodyBytes }
    try {
      const body = await bodyOfAnswer(incoming, nameOf(call), limits)
      return { status: incoming.response.statusCode ?? 0, head: incoming.response, body }
    } catch (error) {
      if (error instanceof BodyTooLarge) options.onTooLarge?.()
      throw error
    }
  }
  return {
    object: async (asked) => {
      const isZipped = options.gzip === true && asked.method === 'GET'
      const call: HttpCall = isZipped ? { ...asked, encoding: 'gzip' } : asked
      const final = await authenticated(call, async (over) =>
        answer(call, await beginPooled(call, over, begin)),
      )
      return objectIn(final, nameOf(call), options.clock, call.parse)
    },
    stream: async (call) => {
      const what = nameOf(call)
      const final = await authenticated(call, async (over) => {
        const incoming = await begin(call, over, over.fresh)
        if (incoming.response.statusCode !== 200) return answer(call, incoming)
        incoming.unbind()
        return { status: 200, incoming }
      })
      if ('incoming' in final) return { incoming: final.incoming, what }
      objectIn(final, what, options.clock)
      throw connectionError('malformed', what, { neverSent: false, detail: `HTTP status ${final.status}` })
    },
    close: () => {
      closing.abort()
      sockets.close()
    },
  }
}

async function bodyOfAnswer(
  incoming: Incoming,
  what: string,
  limits: Partial<AnswerLimits> & { readonly pageBytes: number | undefined },
): Promise<Buffer> {
  const { bytes = BODY_BYTES, pageBytes = BODY_BYTES, values } = limits
  const most = Math.min(bytes, pageBytes)
  const sent = await readBody(incoming, what, most)
  const body = incoming.response.headers['content-encoding'] === 'gzip' ? unzipped(sent, what, most) : sent
  if (values !== undefined && hasMoreValues(body, values))
    throw new BodyTooLarge(what, `of more than ${values} values`)
  return body
}

/** The smallest buffer that zlib takes. */
const MIN_CHUNK_BYTES = 64

/** What a gzip holds; throws a ConnectionError where it is none, or holds more than `most` bytes. */
function unzipped(sent: Buffer, what: string, most: number): Buffer {
  try {
    // Loaded here: it takes a start some milliseconds, and small answers are not compressed.
    const zlib = process.getBuiltinModule('node:zlib')
    // Its last four bytes say how much it holds: one buffer takes that, and what tells that it is all.
    const said = sent.readUInt32LE(sent.length - 4) + 1
    const chunkSize = Math.max(MIN_CHUNK_BYTES, Math.min(most, said))
    return zlib.gunzipSync(sent, { maxOutputLength: most, chunkSize })
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw new BodyTooLarge(what, `longer than ${most} bytes`)
    throw connectionError('malformed', what, { neverSent: false, cause: error })
  }
}

type Begin = (call: HttpCall, over: SocketSession, agent: Outgoing['agent']) => Promise<Incoming>

/** A read may be sent again where its connection was dead; a write may have been carried out, and is not. */
async function beginPooled(call: HttpCall, over: SocketSession, begin: Begin): Promise<Incoming> {
  try {
    return await begin(call, over, over.pooled)
  } catch (error) {
    if (call.method === 'GET' && error instanceof StaleConnection) return begin(call, over, over.fresh)
    throw error
  }
}

async function report(
  { clock, onRequest }: ClientOptions,
  method: HttpMethod,
  run: () => Promise<Incoming>,
): Promise<Incoming> {
  const from = clock.monotonicMs()
  let status: number | undefined
  try {
    const incoming = await run()
    status = incoming.response.statusCode
    return incoming
  } finally {
    onRequest?.({ method, status, ms: clock.monotonicMs() - from })
  }
}

type Target = Pick<Outgoing, 'method' | 'server' | 'path'>

function bodyOf({ body }: HttpCall): string | undefined {
  return body === undefined ? undefined : JSON.stringify(body)
}

function headersOf(
  call: HttpCall,
  { headers }: SocketSession,
  { userAgent }: ClientOptions,
): Outgoing['headers'] {
  return {
    ...headers,
    accept: call.accept ?? 'application/json',
    ...(call.encoding !== undefined && { 'accept-encoding': call.encoding }),
    'user-agent': userAgent,
    ...(call.body !== undefined && { 'content-type': call.contentType ?? 'application/json' }),
  }
}

function isSame(one: SocketSession, other: SocketSession): boolean {
  return one.pooled === other.pooled && JSON.stringify(one.headers) === JSON.stringify(other.headers)
}

function noCredentials(error: unknown, what: string): ConnectionError {
  return connectionError('no credentials', what, {
    neverSent: true,
    cause: error,
    detail: error instanceof Error ? error.message : '',
  })
}
