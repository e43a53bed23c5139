// What the operator serves: /healthz and /readyz for the kubelet over plain HTTP, and /metrics for a scraper, over HTTPS
// and for those who may get it where that is asked for.
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { readKeyPair, watchKeyPair } from './certificate.ts'
import {
  DEFAULT_LIMITS,
  listen,
  plain,
  PROBE_LIMITS,
  router,
  serverOptions,
  type Reply,
  type Route,
  type RunningServer,
  type ServerLimits,
} from './http.ts'
import { errorClass, type Log } from '../telemetry/log.ts'
import { TooManyReviews, type Access, type Reviewer } from './metrics-access.ts'
import type { BindAddress, TlsFiles } from '../settings/settings.ts'

export const METRICS_PATH = '/metrics'

export interface ProbeServerOptions {
  readonly address: BindAddress
  /** Undefined when ready, else why not, in words for a person. */
  readonly notReady: () => string | undefined
  readonly log: Log
  /** `PROBE_LIMITS` when absent. */
  readonly limits?: ServerLimits
}

/** Serves /healthz, which says that the process turns, and /readyz. Rejects with a `ListenError`. */
export function serveProbes(options: ProbeServerOptions): Promise<RunningServer> {
  const { address, notReady, log, limits = PROBE_LIMITS } = options
  const routes: Record<string, Route> = {
    '/healthz': async () => plain(200, 'ok'),
    '/readyz': async () => {
      const why = notReady()
      return why === undefined ? plain(200, 'ok') : plain(503, `not ready: ${why}`)
    },
  }
  const server = createServer(serverOptions(limits), router(routes, log))
  return listen(server, { address, flag: '--health-probe-bind-address', limits, log })
}

export interface MetricsServerOptions {
  readonly address: BindAddress
  readonly render: () => Promise<{ readonly contentType: string; readonly body: string }>
  /** HTTPS, and a bearer token that may get the path; plain HTTP without a token when absent. */
  readonly secure?: SecureOptions | undefined
  readonly log: Log
  /** `DEFAULT_LIMITS` when absent. */
  readonly limits?: ServerLimits
}

export interface SecureOptions {
  readonly files: TlsFiles
  /** Reads a text file. */
  readonly readFile: (path: string) => Promise<string>
  readonly reviewer: Reviewer
  readonly clock: Clock
}

/** Serves /metrics. Rejects with a `ListenError`, or with a `CertificateError` for files that cannot be used. */
export async function serveMetrics(options: MetricsServerOptions): Promise<RunningServer> {
  const { address, render, secure, log, limits = DEFAULT_LIMITS } = options
  const listening = { address, flag: '--metrics-bind-address', limits, log }
  const rendered = together(render)
  const metrics: Route = async () => {
    const { contentType, body } = await rendered()
    return { status: 200, body, headers: { 'Content-Type': contentType } }
  }
  if (secure === undefined)
    return listen(createServer(serverOptions(limits), router({ [METRICS_PATH]: metrics }, log)), listening)

  const files = { ...secure, log }
  const first = await readKeyPair(files)
  const tls = { minVersion: 'TLSv1.2' } as const
  const server = createTlsServer(
    { ...serverOptions(limits), ...tls, ...first, handshakeTimeout: limits.headersMs },
    router({ [METRICS_PATH]: guarded(metrics, secure.reviewer, log) }, log),
  )
  const running = await listen(server, listening)
  const unwatch = watchKeyPair(files, first, (pair) => server.setSecureContext({ ...tls, ...pair }))
  return {
    port: running.port,
    close: () => {
      unwatch()
      return running.close()
    },
  }
}

/** One call for all who ask before it begins: it takes milliseconds, and every pod may ask, as often as it likes. */
function together<T>(make: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | undefined
  const begin = async (): Promise<T> => {
    await setImmediate()
    next = undefined
    return make()
  }
  return () => (next ??= begin())
}

/** A route for those alone whom the reviewer allows it. */
function guarded(route: Route, reviewer: Reviewer, log: Log): Route {
  let failing: string | undefined
  const review = async (token: string): Promise<Access | Reply> => {
    try {
      const access = await reviewer.review(token)
      failing = undefined
      return access
    } catch (error) {
      if (error instanceof TooManyReviews) return plain(503, 'busy', { 'Retry-After': '1' })
      if (failing !== errorClass(error)) log.warn('could not review a token for the metrics', { error })
      failing = errorClass(error)
      return plain(503, 'the API server cannot be asked who you are', { 'Retry-After': '5' })
    }
  }
  return async (request) => {
    const token = bearerToken(request)
    const access = token === undefined ? 'unknown token' : await review(token)
    if (typeof access !== 'string') return access
    if (access === 'unknown token')
      return plain(401, 'unauthorized: send a bearer token', { 'WWW-Authenticate': 'Bearer' })
    return access === 'allowed' ? route(request) : plain(403, `forbidden: needs get of ${METRICS_PATH}`)
  }
}

/** The token of RFC 6750; undefined where there is none, or nothing that could be one. */
function bearerToken({ headers }: IncomingMessage): string | undefined {
  return /^bearer +([\w.~+/-]+=*) *$/i.exec(headers.authorization ?? '')?.[1]
}
