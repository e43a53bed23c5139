// A hostile client that holds connections on which it never says a word.
import { connect, type Socket } from 'node:net'

export interface IdleConnections {
  /** How many the server has ended so far; each was opened again at once. */
  readonly lost: number
  /** Lets go of all of them. */
  end(): void
}

/** Holds so many connections to a port of this machine, and opens one again for each that ends. */
export async function holdIdle(port: number, count: number): Promise<IdleConnections> {
  const sockets = new Set<Socket>()
  let lost = 0
  let ended = false
  const open = (): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', resolve)
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        lost += 1
        if (!ended) void open()
        resolve()
      })
    })
  await Promise.all(Array.from({ length: count }, open))
  return {
    get lost() {
      return lost
    },
    end: () => {
      ended = true
      for (const socket of sockets) socket.destroy()
    },
  }
}
