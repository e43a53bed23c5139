// Counts what a client is sent: a TCP relay in front of the API server, which looks into nothing, so TLS holds from end
// to end and its few percent are counted with the rest.
import { connect, createServer } from 'node:net'
import { isRecord } from '../../shared/src/core/base/json.ts'

export interface ByteCounter {
  /** `https://127.0.0.1:<port>`. */
  readonly server: string
  /** Bytes that the API server has sent so far. */
  readonly received: () => number
  readonly close: () => void
}

/** A relay to a port of the loopback address; resolves when it listens. */
export async function startByteCounter(port: number): Promise<ByteCounter> {
  let received = 0
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    far.on('data', (chunk: Buffer) => (received += chunk.length))
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
    near.pipe(far)
    far.pipe(near)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const at = isRecord(address) ? String(address['port']) : ''
  return { server: `https://127.0.0.1:${at}`, received: () => received, close: () => server.close() }
}
