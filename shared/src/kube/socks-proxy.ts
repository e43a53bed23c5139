// Connections through a SOCKS 5 proxy (RFC 1928). The proxy resolves the server's name, for `socks5://` as for `socks5h://`:
// net/http has it so, and kubectl with it. Node's agents know HTTP proxies alone.
import { once } from 'node:events'
import { Agent as HttpAgent, type AgentOptions as HttpAgentOptions, type ClientRequestArgs } from 'node:http'
import { Agent as HttpsAgent, type AgentOptions, type RequestOptions } from 'node:https'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { proxyPort, withoutBrackets } from './proxy.ts'

type Done = (error: Error | null, stream: Duplex) => void

/** Whether a proxy speaks SOCKS. */
export function isSocks({ protocol }: URL): boolean {
  return protocol === 'socks5:' || protocol === 'socks5h:'
}

/** An agent of plain HTTP whose connections lead through a proxy. */
export class SocksAgent extends HttpAgent {
  readonly #proxy: URL

  constructor(proxy: URL, options: HttpAgentOptions) {
    super(options)
    this.#proxy = proxy
  }

  override createConnection(options: ClientRequestArgs, done?: Done): undefined {
    void tunnel(this.#proxy, options, done, (socket) => socket)
  }
}

/** An agent of HTTPS whose connections lead through a proxy, all to one server. */
export class SocksTlsAgent extends HttpsAgent {
  readonly #proxy: URL

  constructor(proxy: URL, options: AgentOptions) {
    super(options)
    this.#proxy = proxy
  }

  override getName(): string {
    return 'server'
  }

  override createConnection(options: RequestOptions & ConnectionOptions, done?: Done): undefined {
    void tunnel(this.#proxy, options, done, (socket) => connectTls({ ...options, socket }))
  }
}

/** Makes a connection through the proxy, and tells of it, or of why there is none, once. Never rejects. */
async function tunnel(
  proxy: URL,
  { host, port }: ClientRequestArgs,
  done: Done | undefined,
  dress: (socket: Socket) => Duplex,
): Promise<void> {
  const server = { host: withoutBrackets(host ?? ''), port: Number(port) }
  const socket = connect({ host: withoutBrackets(proxy.hostname), port: proxyPort(proxy) })
  let stream: Duplex = socket
  let failure: Error | null = null
  try {
    // Apart from what the proxy says, so that its errors keep their codes.
    await once(socket, 'connect')
    // Few ever need it.
    const { askForTunnel } = await import('./socks-client.ts')
    await askForTunnel(proxy, server, socket)
    stream = dress(socket)
  } catch (error) {
    socket.destroy()
    failure = error instanceof Error ? error : new Error(String(error))
  }
  done?.(failure, stream)
}
