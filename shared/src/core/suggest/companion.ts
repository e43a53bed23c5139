// A registration that keeps the identity of a mesh's proxy beside a binding for another container (docs/consumers.md).
import { labelsForScm, type OutputSettings } from '../compile/output.ts'
import { proxiesOfAccount, type ProxyOfAccount } from '../consumers/consumers-in-pod.ts'
import type { JsonRecord } from '../json.ts'
import { apiVersionOf, CLUSTER_SPIFFE_ID } from '../kinds.ts'
import { CLUSTER_SPIFFE_ID_KIND, NAMESPACE_NAME_LABEL } from '../names.ts'
import type { PoolLabels } from '../objects/pool-selector.ts'
import type { Pod } from '../objects/pod.ts'
import { compareBytes } from '../text/bytes.ts'

/** What companions of a binding are for. */
export interface Companions {
  /** The containers of proxies, in byte order. */
  readonly containers: readonly string[]
  /** The labels of the pool: those of the pods whose proxies they are for. */
  readonly podLabels: PoolLabels
  /** What the SCM that handles kleym's outputs asks for. */
  readonly settings: Pick<OutputSettings, 'className' | 'outputLabels'>
}

/** Companions whose names are free: one for each container, in its order. */
export interface NamedCompanions extends Companions {
  readonly names: readonly string[]
}

/** The containers of proxies that need the ID of the pod's service account, or may, in byte order. */
export function proxyContainers(
  pods: readonly Pod[],
  isMeant: (proxy: ProxyOfAccount) => boolean = () => true,
): readonly string[] {
  const proxies = pods.flatMap((pod) => proxiesOfAccount(pod, undefined).filter(isMeant))
  return [...new Set(proxies.map(({ container }) => container.name))].toSorted(compareBytes)
}

/** The ID that a mesh verifies. */
const OF_ACCOUNT =
  'spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}'

/** A ClusterSPIFFEID for each proxy of a namespace. It is no fallback, so it stays. */
export function companionManifests(
  { containers, podLabels, settings, names }: NamedCompanions,
  namespace: string,
): readonly JsonRecord[] {
  const labels = labelsForScm(settings)
  return containers.map((container, at) => ({
    apiVersion: apiVersionOf(CLUSTER_SPIFFE_ID),
    kind: CLUSTER_SPIFFE_ID_KIND,
    metadata: {
      name: names[at] ?? '',
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
    },
    spec: {
      spiffeIDTemplate: OF_ACCOUNT,
      namespaceSelector: { matchLabels: { [NAMESPACE_NAME_LABEL]: namespace } },
      podSelector: { matchLabels: Object.fromEntries(podLabels) },
      workloadSelectorTemplates: [`k8s:container-name:${container}`],
      ...(settings.className === '' ? {} : { className: settings.className }),
    },
  }))
}
