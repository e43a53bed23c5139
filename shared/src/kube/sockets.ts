// The connections to one API server: kept alive for calls, and one of its own for each watch, so that watches never
// take the sockets that calls wait for. Built anew when the credentials of the connection change (a rotated client
// certificate); what is under way then ends on the old connections.
import { createHash } from 'node:crypto'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { isSocks, SocksAgent, SocksTlsAgent } from './socks-proxy.ts'
import type { Cluster, Credentials } from './cluster.ts'
import { TCP_PROBE_MS } from './transport.ts'

/** Shorter than the 90 s after which kube-apiserver closes an idle connection, so that it is we who close it. */
const IDLE_MS = 60_000
/** Connections for calls at a time; further calls wait. */
export const MAX_SOCKETS = 16

/** One set of connections, and what goes with every request on them. */
export interface SocketSession {
  readonly headers: Readonly<Record<string, string | string[]>>
  /** Kept alive and bounded. */
  readonly pooled: HttpAgent
  /** A new connection for each request: watches, and the second try of a call whose kept-alive connection was dead. */
  readonly fresh: HttpAgent
}

export interface Sockets {
  /** The session of now. Rejects with a ClusterConfigError. */
  session(refresh?: boolean): Promise<SocketSession>
  /** Ends every connection. */
  close(): void
}

interface Agents {
  readonly key: string
  readonly pooled: HttpAgent
  readonly fresh: HttpAgent
}

/**
 * Node's agent keeps connections under a name that holds the whole certificates, and makes it several times for each
 * request. All connections of one of ours lead to one server with one set of credentials: any name will do.
 */
class ServerAgent extends HttpsAgent {
  override getName(): string {
    return 'server'
  }
}

/** Connections to a cluster's server, at most `maxSockets` for calls. */
export function createSockets(cluster: Cluster, maxSockets: number = MAX_SOCKETS): Sockets {
  let agents: Agents | undefined
  // The same object until it is read again: a digest of its certificates for each request is felt.
  let latest: Credentials | undefined
  const retired = new Set<Agents>()
  return {
    session: async (refresh) => {
      const credentials = await cluster.credentials(refresh)
      if (agents === undefined || credentials !== latest) {
        const key = keyOf(credentials)
        if (agents?.key !== key) {
          if (agents !== undefined) retire(agents, retired)
          agents = { key, ...agentsFor(cluster, credentials, maxSockets) }
        }
        latest = credentials
      }
      return { headers: credentials.headers, pooled: agents.pooled, fresh: agents.fresh }
    },
    close: () => {
      for (const { pooled, fresh } of agents === undefined ? retired : [...retired, agents]) {
        pooled.destroy()
        fresh.destroy()
      }
      retired.clear()
      agents = undefined
    },
  }
}

/** Closes what is idle; what is in use ends by itself, and is closed when it has been idle for a minute. */
function retire(agents: Agents, retired: Set<Agents>): void {
  for (const sockets of Object.values(agents.pooled.freeSockets))
    for (const socket of sockets ?? []) socket.destroy()
  retired.add(agents)
  for (const old of retired)
    if (old !== agents && isUnused(old.pooled) && isUnused(old.fresh)) retired.delete(old)
}

function isUnused(agent: HttpAgent): boolean {
  return Object.keys(agent.sockets).length + Object.keys(agent.requests).length === 0
}

function agentsFor(
  { server, proxy: url }: Cluster,
  credentials: Credentials,
  maxSockets: number,
): Omit<Agents, 'key'> {
  const socks = url !== undefined && isSocks(url) ? url : undefined
  // Whether there is a proxy is decided: Node's own reading of NO_PROXY is not Go's.
  const proxy =
    url === undefined || socks !== undefined
      ? {}
      : { proxyEnv: { HTTPS_PROXY: url.href, HTTP_PROXY: url.href } }
  const pool = { keepAlive: true, keepAliveMsecs: TCP_PROBE_MS, timeout: IDLE_MS, maxSockets, ...proxy }
  const single = { keepAlive: false, ...proxy }
  if (server.protocol === 'http:')
    return socks === undefined
      ? { pooled: new HttpAgent(pool), fresh: new HttpAgent(single) }
      : { pooled: new SocksAgent(socks, pool), fresh: new SocksAgent(socks, single) }
  const { headers: _, ...tls } = credentials
  if (socks !== undefined)
    return {
      pooled: new SocksTlsAgent(socks, { ...pool, ...tls }),
      fresh: new SocksTlsAgent(socks, { ...single, ...tls }),
    }
  return {
    pooled: new ServerAgent({ ...pool, ...tls }),
    fresh: new ServerAgent({ ...single, ...tls }),
  }
}

/** Equal for credentials that can share a connection; a token does not belong to it. */
function keyOf({ ca, cert, key, servername, rejectUnauthorized }: Credentials): string {
  const hash = createHash('sha256')
  for (const part of [ca, cert, key, servername, String(rejectUnauthorized)])
    hash.update(part === undefined ? 'absent' : `${part.length}:`).update(part ?? '')
  return hash.digest('base64')
}
