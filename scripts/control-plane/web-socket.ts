// The server's side of a WebSocket (RFC 6455, https://www.rfc-editor.org/rfc/rfc6455), as far as `kubectl exec` needs it: binary
// messages, pings and the close. What is not understood ends the connection.
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** RFC 6455 §1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
/** kubectl sends what it reads in pieces of some KiB. */
const LARGEST_FRAME = 16 * 1024 * 1024

const CONTINUATION = 0
const CLOSE = 8
const PING = 9
const PONG = 10
const BINARY = 2

/** A connection that is open. */
export interface WebSocketPeer {
  /** Sends a binary message; does nothing once the peer has gone. */
  send(message: Buffer): void
  /** Says that all was well, and ends the connection. */
  close(): void
}

/** What comes of a connection. */
export interface WebSocketEvents {
  readonly message: (message: Buffer) => void
  /** Once, when the connection has ended, in whatever way. */
  readonly gone: () => void
}

/** Takes an upgrade request with a subprotocol that the peer has offered. `head` is what came with the request. */
export function acceptWebSocket(
  { request, socket, head }: { request: IncomingMessage; socket: Duplex; head: Buffer },
  protocol: string,
  events: WebSocketEvents,
): WebSocketPeer {
  const key = request.headers['sec-websocket-key'] ?? ''
  const accept = createHash('sha1').update(`${key}${GUID}`).digest('base64')
  socket.write(
    [
      'HTTP/1.1 101 Switching Protocols',
      'Upgrade: websocket',
      'Connection: Upgrade',
      `Sec-WebSocket-Accept: ${accept}`,
      `Sec-WebSocket-Protocol: ${protocol}`,
      '\r\n',
    ].join('\r\n'),
  )
  const write = (opcode: number, payload: Buffer): void => {
    if (socket.writable) socket.write(Buffer.concat([headerOf(opcode, payload.length), payload]))
  }
  let received: Buffer = head
  let pieces: Buffer[] = []
  const take = (): void => {
    for (;;) {
      const frame = firstFrame(received)
      if (frame === undefined) return
      if (frame === 'broken') {
        socket.destroy()
        return
      }
      received = received.subarray(frame.length)
      if (frame.opcode === CLOSE) {
        write(CLOSE, frame.payload)
        socket.end()
      } else if (frame.opcode === PING) write(PONG, frame.payload)
      else if (frame.opcode === CONTINUATION || frame.opcode === BINARY) {
        pieces.push(frame.payload)
        if (frame.isLast) {
          events.message(Buffer.concat(pieces))
          pieces = []
        }
      }
    }
  }
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    take()
  })
  // The peer may go at any time; 'close' follows.
  socket.on('error', () => undefined)
  socket.once('close', events.gone)
  take()
  return {
    send: (message) => write(BINARY, message),
    close: () => {
      // Normal closure (RFC 6455 §7.4.1).
      write(CLOSE, Buffer.from([0x03, 0xe8]))
      socket.end()
    },
  }
}

interface Frame {
  readonly opcode: number
  readonly isLast: boolean
  readonly payload: Buffer
  /** Bytes of the whole frame. */
  readonly length: number
}

/** The first frame of what was received (RFC 6455 §5.2); undefined while it is not whole. A client masks every frame. */
function firstFrame(received: Buffer): Frame | 'broken' | undefined {
  if (received.length < 2) return undefined
  const [first = 0, second = 0] = received
  const short = second & 0x7f
  const extra = short === 126 ? 2 : short === 127 ? 8 : 0
  if (received.length < 2 + extra) return undefined
  const length =
    short === 126 ? received.readUInt16BE(2) : short === 127 ? Number(received.readBigUInt64BE(2)) : short
  if (length > LARGEST_FRAME || (second & 0x80) === 0) return 'broken'
  const start = 2 + extra + 4
  if (received.length < start + length) return undefined
  const mask = received.subarray(start - 4, start)
  const payload = Buffer.from(received.subarray(start, start + length))
  for (let at = 0; at < payload.length; at++) payload[at] = (payload[at] ?? 0) ^ (mask[at & 3] ?? 0)
  return { opcode: first & 0x0f, isLast: (first & 0x80) !== 0, payload, length: start + length }
}

function headerOf(opcode: number, length: number): Buffer {
  const first = 0x80 | opcode
  if (length < 126) return Buffer.from([first, length])
  if (length < 65_536) return Buffer.from([first, 126, length >>> 8, length & 0xff])
  const header = Buffer.alloc(10)
  header[0] = first
  header[1] = 127
  header.writeBigUInt64BE(BigInt(length), 2)
  return header
}
