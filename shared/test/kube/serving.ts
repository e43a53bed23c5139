// A server in this process, for what a real API server does not do when asked.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'

/** Answers every request so, until it is disposed of. */
export async function serving(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
): Promise<{ readonly url: URL } & Disposable> {
  const server = createServer((request, response) => answer(response, request)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return {
    url: new URL(`http://127.0.0.1:${address.port}`),
    [Symbol.dispose]: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
