// Proxies of an environment or a kubeconfig, as clients see them: an HTTP proxy that makes tunnels, and a SOCKS 5 proxy.
// Both lead wherever a client wants to go to one port of this machine, and remember where that was.
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export interface TestProxy extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, `socks5://127.0.0.1:PORT`. */
  readonly url: string
  /** `host:port` of each tunnel, in their order; of SOCKS with `user:password@` before it where there was one. */
  readonly tunnels: readonly string[]
}

/** An HTTP proxy that takes CONNECT alone. */
export async function httpProxy(to: number): Promise<TestProxy> {
  const tunnels: string[] = []
  const sockets = new Set<Socket>()
  const server = createHttpServer().on('connect', ({ url = '' }, from: Socket) => {
    tunnels.push(url)
    join(from, to, sockets, () => from.write('HTTP/1.1 200 OK\r\n\r\n'))
  })
  return started(server, 'http', tunnels, sockets)
}

/** RFC 1928 §3: the version, no authentication, and name with password (RFC 1929). */
const VERSION = 5
const NO_AUTH = 0
const PASSWORD = 2
/** RFC 1928 §6: carried out, and not allowed by the rules. */
const GRANTED = 0
const DENIED = 2

export interface SocksOptions {
  /** Asks for a name and a password. */
  readonly asksForPassword?: boolean
  /** Refuses to connect. */
  readonly denies?: boolean
}

/** A SOCKS 5 proxy; it takes each message of a client in one piece, as loopback brings them. */
export async function socksProxy(to: number, options: SocksOptions = {}): Promise<TestProxy> {
  const tunnels: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((from) => {
    sockets.add(from)
    from.on('error', () => undefined)
    let user = ''
    const serve = (request: Buffer): void => {
      tunnels.push(`${user}${destinationIn(request)}`)
      const answer = (verdict: number): void => {
        from.write(Buffer.from([VERSION, verdict, 0, 1, 0, 0, 0, 0, 0, 0]))
      }
      if (options.denies === true) answer(DENIED)
      else join(from, to, sockets, () => answer(GRANTED))
    }
    from.once('data', () => {
      if (options.asksForPassword !== true) {
        from.once('data', serve)
        from.write(Buffer.from([VERSION, NO_AUTH]))
        return
      }
      from.once('data', (login: Buffer) => {
        const nameEnds = 2 + login.readUInt8(1)
        user = `${login.toString('utf8', 2, nameEnds)}:${login.toString('utf8', nameEnds + 1)}@`
        from.once('data', serve)
        from.write(Buffer.from([1, GRANTED]))
      })
      from.write(Buffer.from([VERSION, PASSWORD]))
    })
  })
  return started(server, 'socks5', tunnels, sockets)
}

/** The address of a request: RFC 1928 §5. */
function destinationIn(request: Buffer): string {
  const kind = request.readUInt8(3)
  const port = request.readUInt16BE(request.length - 2)
  if (kind === 1) return `${[...request.subarray(4, 8)].join('.')}:${port}`
  if (kind === 3) return `${request.toString('latin1', 5, request.length - 2)}:${port}`
  return `[${request.toString('hex', 4, 20)}]:${port}`
}

function join(from: Socket, to: number, sockets: Set<Socket>, connected: () => void): void {
  const there = connect(to, '127.0.0.1', () => {
    connected()
    there.pipe(from).pipe(there)
  })
  for (const socket of [from, there]) {
    sockets.add(socket)
    socket.on('error', () => undefined)
  }
}

async function started(
  server: Server,
  scheme: string,
  tunnels: readonly string[],
  sockets: ReadonlySet<Socket>,
): Promise<TestProxy> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `${scheme}://127.0.0.1:${portOf(server.address())}`,
    tunnels,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new TypeError('the proxy has no port')
  return address.port
}
