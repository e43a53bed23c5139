// Clusters and clients for tests: the fault server as an API server, and a clock that a test moves.
import type { Cluster, Credentials } from '@kleym/shared/kube/cluster.ts'
import { createApi, type Client } from '@kleym/shared/kube/client.ts'
import { systemClock } from '@kleym/shared/kube/clock.ts'
import type { ClientOptions } from '@kleym/shared/kube/exchange.ts'
import type { Resource } from '@kleym/shared/kube/api.ts'

/** A kind that only these tests have. */
export const THINGS: Resource = {
  group: 'test.example.com',
  version: 'v1',
  plural: 'things',
  kind: 'Thing',
  namespaced: true,
}
/** Its objects in all namespaces. */
export const THINGS_PATH = '/apis/test.example.com/v1/things'
/** Its objects in namespace `team-a`. */
export const TEAM_PATH = '/apis/test.example.com/v1/namespaces/team-a/things'

/** A cluster at `server` whose credentials are always the same. */
export function clusterAt(server: URL, credentials: Partial<Credentials> = {}): Cluster {
  return {
    server,
    contextName: 'test',
    namespace: 'default',
    credentials: async () => ({ rejectUnauthorized: true, headers: {}, ...credentials }),
  }
}

/** A client of that cluster. */
export function clientOf(cluster: Cluster, options: Partial<ClientOptions> = {}): Client {
  return createApi(cluster, { userAgent: 'kleym-test', clock: systemClock, ...options })
}

/** A client of a server that wants no credentials. */
export function clientAt(server: URL, options: Partial<ClientOptions> = {}): Client {
  return clientOf(clusterAt(server), options)
}

/** What a promise rejects with; fails the test where it does not. */
export async function rejection(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
  } catch (error) {
    return error
  }
  throw new Error('it was expected to reject, and did not')
}
