// Bindings that come and go one after the other beside very many ClusterSPIFFEIDs: each deletion waits for a whole list of them that
// began after it (docs/contract.md §8), so that a tenant decides how many lists there are.
import { CLUSTER_SPIFFE_ID_KIND } from '../../shared/src/core/model/names.ts'
import type { JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from '../../test/control-plane/control-plane.ts'
import { bindingId, namespace, pool, poolOnly, untilReason } from '../../test/control-plane/objects.ts'
import { OPERATOR } from '../../test/control-plane/operator-access.ts'
import { startOperator, startOperatorPlane } from '../../test/control-plane/operator.ts'
import { until } from '@kleym/testing/wait.ts'
import { createAll, serverCpu, type Start } from './measure.ts'
import { countRequests } from './requests.ts'
import { usageOf, type Usage } from './usage.ts'

export interface Deletions {
  /** From the DELETE of a binding until it is gone, in milliseconds. */
  readonly goneMs: readonly number[]
  /** How many came and went. */
  readonly rounds: number
  readonly seconds: number
  /** Whole lists, as pages. */
  readonly pages: number
  /** CPU seconds of the operator and of the API server. */
  readonly cpu: number
  readonly serverCpu: number
  readonly operator: Usage
}

const SPACE = 'come-and-go'
const TENANTS = 4
const FOR_MS = 30_000

/** Somebody else's ClusterSPIFFEIDs, which are listed as ours are. */
function foreign(at: number): JsonRecord {
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: CLUSTER_SPIFFE_ID_KIND,
    metadata: { name: `foreign-${at}` },
    spec: {
      spiffeIDTemplate: `spiffe://example.org/foreign/${at}`,
      podSelector: { matchLabels: { app: `foreign-${at}` } },
      workloadSelectorTemplates: ['k8s:ns:foreign', 'k8s:sa:default', `k8s:container-name:foreign-${at}`],
    },
  }
}

/** Creates and deletes bindings for half a minute beside `count` ClusterSPIFFEIDs. */
export async function measureDeletions(
  count: number,
  start: Start,
  say: (line: string) => void,
): Promise<Deletions> {
  const cp = await startOperatorPlane({ controllers: [] })
  try {
    say('the ClusterSPIFFEIDs are created')
    await createAll(
      cp,
      Array.from({ length: count }, (_, at) => foreign(at)),
    )
    await cp.apply([namespace(SPACE), pool(SPACE, 'llama', { app: 'llama' })])
    const operator = await startOperator(cp, start)
    await operator.leads()
    say('bindings come and go')
    const since = await cp.auditMark()
    const [cpuFrom, serverFrom, from] = [usageOf(operator.program.pid).cpu, serverCpu(cp), performance.now()]
    const goneMs = (
      await Promise.all(Array.from({ length: TENANTS }, (_, tenant) => comeAndGo(cp, `chat-${tenant}`)))
    ).flat()
    return {
      goneMs,
      rounds: goneMs.length,
      seconds: (performance.now() - from) / 1000,
      pages: countRequests(await cp.audit({ since, user: OPERATOR })).pages,
      cpu: usageOf(operator.program.pid).cpu - cpuFrom,
      serverCpu: serverCpu(cp) - serverFrom,
      operator: usageOf(operator.program.pid),
    }
  } finally {
    await cp.stop()
  }
}

async function comeAndGo(cp: ControlPlane, name: string): Promise<readonly number[]> {
  const times: number[] = []
  const endMs = performance.now() + FOR_MS
  while (performance.now() < endMs) {
    await cp.admin.create(poolOnly(SPACE, name))
    await untilReason(cp, SPACE, name, 'Reconciled')
    const from = performance.now()
    await cp.admin.delete(bindingId(SPACE, name))
    await until(async () => (await cp.admin.get(bindingId(SPACE, name))) === undefined, `${name} to go`)
    times.push(performance.now() - from)
  }
  return times
}
