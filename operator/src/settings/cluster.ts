// The cluster that the settings name.
import type { Clock } from '@kleym/shared/kube/clock.ts'
import type { Cluster } from '@kleym/shared/kube/cluster.ts'
import { loadCluster } from '@kleym/shared/kube/kubeconfig.ts'
import type { Settings } from './settings.ts'

export interface ClusterSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
}

/** Reads the kubeconfig, or what a pod is given. Rejects with a `ClusterConfigError`. */
export function clusterOf(
  { kubeconfig, context }: Pick<Settings, 'kubeconfig' | 'context'>,
  { env, clock }: ClusterSurroundings,
): Promise<Cluster> {
  return loadCluster({
    env,
    clock,
    ...(kubeconfig === undefined ? {} : { kubeconfigPath: kubeconfig }),
    ...(context === undefined ? {} : { context }),
  })
}
