// Ports of the loopback interface that no process listens on, below the range out of which systems pick the local ports of
// connections: a server that is killed and started again must find its port free.
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const LOWEST = 18_000
const BEYOND = 30_000
const TRIES = 100

/** `count` different ports. Another process may take one before it is used; whoever starts a server tries again then. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const found = new Set<number>()
  for (let tries = 0; found.size < count; tries++) {
    if (tries > TRIES) throw new Error(`no free ports between ${LOWEST} and ${BEYOND} on 127.0.0.1`)
    const port = randomInt(LOWEST, BEYOND)
    if (await isFree(port)) found.add(port)
  }
  return [...found]
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
