// `--check`: looks, from where an operator runs and as whom it runs, at what it needs, and says it line by line. The
// chart's test pod does this.
import { createApi, type Client } from '@kleym/shared/kube/client.ts'
import { clusterOf, type ClusterSurroundings } from '../settings/cluster.ts'
import { leaseOf, type Settings } from '../settings/settings.ts'
import { USER_AGENT } from '../settings/version.ts'
import { checkClass, checkKinds, checkLeader, checkRights, checkServer } from './checks.ts'
import { rightsWanted } from './rights.ts'
import { resultText, type CheckResult } from './result.ts'

export interface CheckSurroundings extends ClusterSurroundings {
  /** Takes each line as soon as it is known. */
  readonly output: { write(text: string): unknown }
}

const LEADER_MS = 60_000

/** Whether all is well. Rejects with a `ClusterConfigError` where there is no cluster to ask. */
export async function check(settings: Settings, surroundings: CheckSurroundings): Promise<boolean> {
  const { clock, output } = surroundings
  const cluster = await clusterOf(settings, surroundings)
  const client = createApi(cluster, { userAgent: USER_AGENT, clock })
  let sound = true
  try {
    for await (const result of results(client, { settings, cluster, clock })) {
      output.write(resultText(result))
      if (result.state === 'failed') sound = false
    }
  } finally {
    client.close()
  }
  return sound
}

interface CheckSubject {
  readonly settings: Settings
  readonly cluster: { readonly server: URL; readonly namespace: string }
  readonly clock: CheckSurroundings['clock']
}

async function* results(
  client: Client,
  { settings, cluster, clock }: CheckSubject,
): AsyncGenerator<CheckResult> {
  const server = await checkServer(client, cluster.server)
  yield server
  // Everything else would say the same again.
  if (server.state === 'failed') return
  const { leaderElection } = settings
  const lease = leaderElection ? leaseOf(settings.lease, cluster.namespace) : undefined
  yield await checkRights(client, rightsWanted(settings, lease))
  yield* await checkKinds(client)
  yield* checkClass(settings.className)
  yield lease === undefined
    ? {
        state: 'note',
        about: 'leader',
        says: 'without leader election it cannot be seen from here which replica operates',
      }
    : await checkLeader({ api: client, clock, lease, patienceMs: LEADER_MS })
}
