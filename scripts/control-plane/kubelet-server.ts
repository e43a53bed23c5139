// What `kubectl exec` and `kubectl logs` reach in place of a kubelet. A command becomes a process of this machine, and stands as one
// of the container: in its cgroup, where there is one. Only the API server may ask: it shows the certificate that it
// serves with. Streams after Kubernetes' `v5.channel.k8s.io`
// (https://github.com/kubernetes/kubernetes/blob/v1.36.3/staging/src/k8s.io/apimachinery/pkg/util/remotecommand/constants.go).
import { spawn, type ChildProcess } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { WebSocketServer, type WebSocket } from 'ws'

const PROTOCOL = 'v5.channel.k8s.io'
/** Bytes; kubectl sends what it reads in pieces of some KiB. */
const LARGEST_MESSAGE = 16 * 1024 * 1024
/** RFC 6455 §7.4.1. */
const NORMAL_CLOSURE = 1000
const [STDIN, STDOUT, STDERR, STATUS, CLOSED] = [0, 1, 2, 3, 255]

/** A container as a request names it. */
export interface ContainerName {
  readonly namespace: string
  readonly pod: string
  readonly container: string
}

/** How a command of a container is started on this machine. */
export interface ContainerCommand {
  readonly command: readonly [program: string, ...args: string[]]
  readonly env: Readonly<Record<string, string>>
  /** The file into which a process of the container writes its PID; undefined: it has no cgroup. */
  readonly procs?: string | undefined
}

/** What a container has to offer. */
export interface Containers {
  /** How `command` is started there; a text says why it cannot be. */
  start(name: ContainerName, command: readonly string[]): ContainerCommand | string
  /** The file that is its log; undefined: it has none. */
  log(name: ContainerName): string | undefined
}

export interface KubeletServer {
  readonly port: number
  /** Ends it and every command that still runs. */
  stop(): Promise<void>
}

/** Listens on a port of the loopback address, with the API server's own certificate and key. */
export async function startKubeletServer(
  serving: { readonly certificate: string; readonly key: string },
  containers: Containers,
): Promise<KubeletServer> {
  const certificate = readFileSync(serving.certificate, 'utf8')
  const own = new X509Certificate(certificate).fingerprint256
  const running = new Set<ChildProcess>()
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: LARGEST_MESSAGE,
    handleProtocols: () => PROTOCOL,
  })
  const server = createServer(
    {
      cert: certificate,
      key: readFileSync(serving.key, 'utf8'),
      requestCert: true,
      // It is no CA's: the fingerprint is compared instead.
      rejectUnauthorized: false,
    },
    (request, response) => answerLogs(isOwn(request, own), request, response, containers),
  )
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const asked = execOf(request)
    if (!isOwn(request, own)) refuse(socket, '401 Unauthorized', 'only the API server may ask')
    else if (asked === undefined) refuse(socket, '404 Not Found', 'only exec and containerLogs are here')
    else if (!(request.headers['sec-websocket-protocol'] ?? '').includes(PROTOCOL))
      refuse(socket, '400 Bad Request', `only ${PROTOCOL} is spoken here: kubectl 1.31 or later`)
    else sockets.handleUpgrade(request, socket, head, (peer) => runCommand(peer, asked, containers, running))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address: AddressInfo | string | null = server.address()
  if (address === null || typeof address === 'string')
    throw new TypeError('a server on a port has an address')
  return {
    port: address.port,
    stop: async () => {
      await Promise.all([...running].map(endOf))
      server.closeAllConnections()
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
      })
    },
  }
}

function isOwn({ socket }: IncomingMessage, fingerprint: string): boolean {
  return socket instanceof TLSSocket && socket.getPeerCertificate().fingerprint256 === fingerprint
}

function refuse(socket: Duplex, status: string, why: string): void {
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(why)}\r\nConnection: close\r\n\r\n${why}`,
  )
}

/** Resolves when a command is gone with all that it has started. */
function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('close', () => resolve())
    killGroup(child)
  })
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended in the meantime.
  }
}

interface Exec {
  readonly name: ContainerName
  readonly command: readonly string[]
  readonly stdin: boolean
  readonly tty: boolean
}

/** `/exec/NAMESPACE/POD/CONTAINER?command=...&input=1`. */
function execOf({ url = '' }: IncomingMessage): Exec | undefined {
  const { pathname, searchParams } = new URL(url, 'https://kubelet')
  const [, kind, namespace = '', pod = '', container = ''] = pathname.split('/').map(decodeURIComponent)
  if (kind !== 'exec') return undefined
  return {
    name: { namespace, pod, container },
    command: searchParams.getAll('command'),
    stdin: searchParams.get('input') === '1',
    tty: searchParams.get('tty') === '1',
  }
}

function runCommand(peer: WebSocket, asked: Exec, containers: Containers, running: Set<ChildProcess>): void {
  // The peer may go at any time; 'close' follows.
  peer.on('error', () => undefined)
  const started = asked.tty
    ? 'there are no terminals here: kubectl exec without -t'
    : containers.start(asked.name, asked.command)
  if (typeof started === 'string') {
    // kubectl takes a refused upgrade for a server that knows no WebSockets.
    peer.send(Buffer.concat([Buffer.from([STATUS]), Buffer.from(JSON.stringify(failureOf(started)))]))
    return peer.close(NORMAL_CLOSURE)
  }
  const child = startIn(started)
  running.add(child)
  peer.on('message', (message) => {
    // `ws` gives a Buffer, as long as nobody sets another binaryType.
    if (!Buffer.isBuffer(message)) return
    if (message[0] === STDIN) child.stdin?.write(message.subarray(1))
    else if (message[0] === CLOSED && message[1] === STDIN) child.stdin?.end()
  })
  peer.once('close', () => killGroup(child))
  const send = (channel: number, data: Buffer): void => {
    if (peer.readyState === peer.OPEN) peer.send(Buffer.concat([Buffer.from([channel]), data]))
  }
  // It may end before it has read its input.
  child.stdin?.on('error', () => undefined)
  if (!asked.stdin) child.stdin?.end()
  child.stdout?.on('data', (chunk: Buffer) => send(STDOUT, chunk))
  child.stderr?.on('data', (chunk: Buffer) => send(STDERR, chunk))
  let failure: string | undefined
  child.once('error', (error) => {
    failure = error.message
  })
  child.once('close', (code, signal) => {
    running.delete(child)
    send(STATUS, Buffer.from(JSON.stringify(statusOf(failure, code, signal))))
    peer.close(NORMAL_CLOSURE)
  })
}

/** A shell goes into the cgroup and becomes the command: whatever that starts is in the cgroup too. */
function startIn({ command, env, procs }: ContainerCommand): ChildProcess {
  const [program, ...args] =
    procs === undefined ? command : ['/bin/sh', '-c', 'echo $$ > "$0" && exec "$@"', procs, ...command]
  return spawn(program ?? '', args, { cwd: '/', env, detached: true })
}

function failureOf(message: string): object {
  return { metadata: {}, status: 'Failure', reason: 'InternalError', message }
}

/** As a kubelet tells how a command has ended. */
function statusOf(failure: string | undefined, code: number | null, signal: string | null): object {
  if (failure === undefined && code === 0) return { metadata: {}, status: 'Success' }
  if (code === null || failure !== undefined)
    return failureOf(failure ?? `the command was ended by ${signal ?? 'a signal'}`)
  return {
    metadata: {},
    status: 'Failure',
    reason: 'NonZeroExitCode',
    message: `command terminated with non-zero exit code: ${code}`,
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  }
}

/** `/containerLogs/NAMESPACE/POD/CONTAINER?tailLines=N`. It does not follow a log. */
function answerLogs(
  isAllowed: boolean,
  { url = '' }: IncomingMessage,
  response: ServerResponse,
  containers: Containers,
): void {
  const { pathname, searchParams } = new URL(url, 'https://kubelet')
  const [, kind, namespace = '', pod = '', container = ''] = pathname.split('/').map(decodeURIComponent)
  const answer = (status: number, text: string): void => {
    response.writeHead(status, { 'content-type': 'text/plain' }).end(text)
  }
  if (!isAllowed) return answer(401, 'only the API server may ask')
  if (kind !== 'containerLogs') return answer(404, 'only exec and containerLogs are here')
  const file = containers.log({ namespace, pod, container })
  if (file === undefined)
    return answer(200, 'no process stands for this container but those of kubectl exec\n')
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  const wanted = Number(searchParams.get('tailLines') ?? lines.length)
  answer(
    200,
    lines
      .slice(Math.max(0, lines.length - wanted))
      .map((line) => `${line}\n`)
      .join(''),
  )
}
