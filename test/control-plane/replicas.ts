// The replicas of one test, with the proxies between them and the API server; they end with it.
import { afterEach } from 'vitest'
import type { ControlPlane } from './control-plane.ts'
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts'
import { LEASE, type OPERATOR, type OPERATOR_B } from './operator-access.ts'
import { startOperator, type OperatorOptions, type RunningOperator } from './operator.ts'

/** A replica, as the API server and the audit log name it. */
export type User = typeof OPERATOR | typeof OPERATOR_B

export interface Replicas {
  /** Starts a replica that the API server takes for a user. */
  readonly replica: (user: User, options?: OperatorOptions) => Promise<RunningOperator>
  /** A replica with a proxy between it and the API server. */
  readonly proxied: (
    user: User,
    options?: OperatorOptions,
  ) => Promise<{ readonly operator: RunningOperator; readonly proxy: FaultProxy }>
}

/** Replicas on a control plane, all with these flags. What still runs when a test ends is killed. */
export function replicasOn(plane: () => ControlPlane, flags: readonly string[] = []): Replicas {
  let running: RunningOperator[] = []
  let proxies: FaultProxy[] = []
  afterEach(async () => {
    await Promise.all(running.map(async (operator) => operator.program.ended() ?? operator.kill()))
    await Promise.all(proxies.map((proxy) => proxy.stop()))
    running = []
    proxies = []
    // The next test begins without a leader, and without the wait for one that was killed.
    await plane().admin.delete(LEASE)
  })
  const replica: Replicas['replica'] = async (user, options = {}) => {
    const all = { name: user, user, ...options, flags: [...flags, ...(options.flags ?? [])] }
    const operator = await startOperator(plane(), all)
    running.push(operator)
    return operator
  }
  const proxied: Replicas['proxied'] = async (user, options = {}) => {
    const proxy = await startFaultProxy(plane())
    proxies.push(proxy)
    return { operator: await replica(user, { ...options, server: proxy.server }), proxy }
  }
  return { replica, proxied }
}
