// The part of a kubelet that SPIRE's attestor asks: the list of the node's pods, on the read-only port.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonRecord } from '../../../shared/src/core/base/json.ts'

/** A kubelet that knows the pods that it was told last. */
export interface Kubelet {
  readonly port: number
  tell(pods: readonly JsonRecord[]): void
  stop(): Promise<void>
}

/** Starts one on a port of its own. */
export async function startKubelet(): Promise<Kubelet> {
  let body = listOf([])
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(body)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address: AddressInfo | string | null = server.address()
  if (address === null || typeof address === 'string')
    throw new TypeError('a server on a port has an address')
  return {
    port: address.port,
    tell: (pods) => {
      body = listOf(pods)
    },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

function listOf(items: readonly JsonRecord[]): string {
  return JSON.stringify({ kind: 'PodList', apiVersion: 'v1', items })
}
