// Faults as a library: an HTTPS proxy between a client and the API server that does by rule what networks and servers do
// by accident. It serves the API server's own certificate, so a kubeconfig differs in its port alone. HTTP/1.1 only.
import { readFileSync } from 'node:fs'
import { Agent, createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ControlPlane } from './control-plane.ts'
import { inject, type ActiveRule, type FaultRule, type Injection } from './fault-rules.ts'
import { receive, type ObservedRequest } from './observed-request.ts'
import { decide, forward } from './proxied-exchange.ts'
import { IDLE_MS } from './rest.ts'
import { openWatches, type OpenWatch, type OpenWatches } from './proxied-watches.ts'

/** A proxy at work. */
export interface FaultProxy {
  readonly server: string
  /** A kubeconfig whose server is this proxy. */
  kubeconfig(user?: string): string
  kubeconfigForServiceAccount(namespace: string, name: string): Promise<string>
  inject(rule: FaultRule): Injection
  /** The requests so far. */
  readonly requests: readonly ObservedRequest[]
  /** The open watches, of the paths that match when a pattern is given. */
  watches(path?: RegExp): OpenWatches
  /** Breaks every connection of every client; held requests stay. */
  dropConnections(): void
  stop(): Promise<void>
}

/** Starts a proxy on a loopback port of its own, which remembers all requests, or the last so many. */
export async function startFaultProxy(
  controlPlane: ControlPlane,
  remembered = Infinity,
): Promise<FaultProxy> {
  const requests: ObservedRequest[] = []
  const rules: ActiveRule[] = []
  const watches = new Set<OpenWatch>()
  const sockets = new Set<Duplex>()
  const upstream = new Agent({ keepAlive: true, timeout: IDLE_MS, ca: controlPlane.ca })
  const proxy = createServer(
    {
      cert: readFileSync(controlPlane.serving.certificate),
      key: readFileSync(controlPlane.serving.key),
      ALPNProtocols: ['http/1.1'],
    },
    (request, response) => {
      // What cannot be sent because the client is gone is no fault of the proxy's.
      response.on('error', () => undefined)
      // A request whose client vanishes while its body comes is no exchange yet.
      receive(request, response, requests, remembered).then(
        (exchange) =>
          decide(exchange, rules, (after) => forward(exchange, { controlPlane, upstream, watches }, after)),
        () => response.destroy(),
      )
    },
  )
  proxy.keepAliveTimeout = 0
  proxy.requestTimeout = 0
  proxy.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    proxy.once('error', reject)
    proxy.listen(0, '127.0.0.1', resolve)
  })
  const server = `https://127.0.0.1:${portOf(proxy.address())}`
  const dropConnections = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    server,
    requests,
    kubeconfig: (user) => controlPlane.kubeconfig(user, server),
    kubeconfigForServiceAccount: (namespace, name) =>
      controlPlane.kubeconfigForServiceAccount(namespace, name, server),
    inject: (rule) => inject(rules, rule),
    watches: (path) => openWatches([...watches].filter((watch) => path?.test(watch.path) !== false)),
    dropConnections,
    stop: async () => {
      const closed = new Promise((resolve) => {
        proxy.close(resolve)
      })
      dropConnections()
      upstream.destroy()
      await closed
    },
  }
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new TypeError('the proxy has no port')
  return address.port
}
