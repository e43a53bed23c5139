// What is said to a SOCKS 5 proxy before a connection through it can be used.
import type { Socket } from 'node:net'
import { SocksClient } from 'socks'
import { proxyPort } from './proxy.ts'

/** The code of an error that the proxy tells of: it cannot reach the server, or does not take us (`failures.ts`). */
const SOCKS_ERROR = 'ERR_SOCKS_PROXY'

/** Asks a proxy, on a connection to it, to lead to a server. Rejects where it does not. */
export async function askForTunnel(
  proxy: URL,
  server: { readonly host: string; readonly port: number },
  socket: Socket,
): Promise<void> {
  const user = decodeURIComponent(proxy.username)
  try {
    await SocksClient.createConnection({
      command: 'connect',
      destination: server,
      existing_socket: socket,
      proxy: {
        host: proxy.hostname,
        port: proxyPort(proxy),
        type: 5,
        ...(user !== '' && { userId: user, password: decodeURIComponent(proxy.password) }),
      },
    })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw Object.assign(new Error(why, { cause: error }), { code: SOCKS_ERROR })
  }
}
