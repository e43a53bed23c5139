// Workloads with a small pod template.
import type { Fields } from '../spire/estate.ts'

/** Two containers and a sidecar. */
export const TEMPLATE = {
  metadata: { labels: { app: 'llama' } },
  spec: {
    serviceAccountName: 'runner',
    containers: [{ name: 'vllm' }],
    initContainers: [{ name: 'proxy', restartPolicy: 'Always' }, { name: 'fetch' }],
  },
}

/** A workload `team-a/llama` of a kind, with the template unless `spec` says otherwise. */
export function workload(kind: string, spec: Fields = {}, meta: Fields = {}): Fields {
  const group =
    kind === 'LeaderWorkerSet' ? 'leaderworkerset.x-k8s.io' : kind.endsWith('Job') ? 'batch' : 'apps'
  return {
    apiVersion: `${group}/v1`,
    kind,
    metadata: { name: 'llama', namespace: 'team-a', ...meta },
    spec: { template: TEMPLATE, ...spec },
  }
}
