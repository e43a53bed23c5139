// Who takes identities in a pod, or on its behalf from elsewhere on its node, as the pod and its namespace show it. The signs of
// each, with their sources: docs/consumers.md.
import type { Container, Namespace, Pod } from '../../model/objects/pod.ts'
import { istioTemplate } from '../../model/objects/pod-changers.ts'
import { containersThatMayBe } from '../../model/objects/sidecars.ts'
import { hasSocketAt, workloadApiAccess } from '../../model/objects/workload-api.ts'
import { NO, open, YES, type Truth } from '../../model/truth/truth.ts'
import { atRuntime } from '../../model/truth/unknown.ts'
import { CONSUMERS, type Consumer } from './consumers.ts'

/** A consumer of the identities of a pod. */
export interface ConsumerInPod {
  readonly consumer: Consumer
  /** Its container; undefined: a proxy of the node asks on behalf of the pod. */
  readonly container: Container | undefined
  /** Whether it takes its certificates from SPIRE. */
  readonly asksSpire: Truth
}

/** The consumers that a pod and its namespace show: those of its containers first, in the order of these. */
export function consumersIn(pod: Pod, namespace: Namespace | undefined): readonly ConsumerInPod[] {
  return [
    ...containersThatMayBe(pod, namespace).flatMap((container) => consumerOf(pod, container) ?? []),
    ...proxiesOfNode(pod, namespace),
  ]
}

/** A proxy in the pod that takes its certificates from SPIRE, or may, and that needs the ID of the service account, or may. */
export interface ProxyOfAccount extends ConsumerInPod {
  readonly container: Container
  /** Whether it asks SPIRE for that ID. */
  readonly asksSpire: Truth
}

/** The proxies of a pod that need the ID of its service account, or may. */
export function proxiesOfAccount(pod: Pod, namespace: Namespace | undefined): readonly ProxyOfAccount[] {
  return consumersIn(pod, namespace).flatMap((one) => {
    const { consumer, container, asksSpire } = one
    if (container === undefined || asksSpire === NO) return []
    if (consumer.accepts === 'of a service account') return [{ ...one, container }]
    // What no pod shows is taken for its own certificates: a mesh without SPIRE does not end in doubt.
    return consumer.asksById === true && asksSpire === YES
      ? [{ ...one, container, asksSpire: COMPUTED_BY_MESH }]
      : []
  })
}

const COMPUTED_BY_MESH = open(
  atRuntime('the configuration of its mesh decides which ID the proxy asks for', 'Pod'),
)

function consumerOf(pod: Pod, container: Container): ConsumerInPod | undefined {
  switch (container.name) {
    case 'istio-proxy':
      return { consumer: CONSUMERS.istio, container, asksSpire: takesFromSpire(pod, container) }
    case 'linkerd-proxy':
      return { consumer: CONSUMERS.linkerd, container, asksSpire: NO }
    case 'consul-dataplane':
      return { consumer: CONSUMERS.consul, container, asksSpire: NO }
    case 'kuma-sidecar':
      return { consumer: CONSUMERS.kuma, container, asksSpire: workloadApiAccess(pod, container) }
    default:
      return undefined
  }
}

/** Istio's proxy takes certificates from a socket at this path, a folder or a file in it, if one is there. */
const ISTIO_SOCKET = /^\/(?:var\/)?run\/secrets\/workload-spiffe-uds(?:\/|$)/

function takesFromSpire(pod: Pod, container: Container): Truth {
  if (container.injectedBy === undefined) return hasSocketAt(pod, container, ISTIO_SOCKET)
  // Istio's own templates mount no socket there.
  const template = istioTemplate(pod)
  return template === undefined
    ? NO
    : open({ kind: 'webhook', of: { kind: 'Pod' }, injector: template, adds: 'the socket of SPIRE' })
}

/** Whether a proxy of the node asks SPIRE stands in the configuration of its mesh. */
const OF_NODE = open(
  atRuntime('the configuration of its mesh decides whether the proxy of the node asks SPIRE', 'Pod'),
)

function proxiesOfNode({ labels }: Pod, namespace: Namespace | undefined): readonly ConsumerInPod[] {
  const ofNamespace = namespace?.labels
  const consumers: Consumer[] = []
  if ((labels.get(AMBIENT.key) ?? ofNamespace?.get(AMBIENT.key)) === AMBIENT.value)
    consumers.push(CONSUMERS.ztunnel)
  if (ofNamespace?.get(CILIUM_ENROLLED) === 'true') consumers.push(CONSUMERS.cilium)
  return consumers.map((consumer) => ({ consumer, container: undefined, asksSpire: OF_NODE }))
}

const AMBIENT = { key: 'istio.io/dataplane-mode', value: 'ambient' }
const CILIUM_ENROLLED = 'io.cilium/mtls-enabled'

/** The mesh that may hand identities to containers of a pod: its proxy is there, or may come; undefined: none. */
export function meshOf(pod: Pod, namespace: Namespace | undefined): string | undefined {
  const [mesh] = consumersIn(pod, namespace).flatMap(({ consumer }) => consumer.mesh ?? [])
  if (mesh !== undefined) return mesh
  // If only the name of the namespace is known, any pod that does not say otherwise may be in ambient mode.
  return namespace?.complete === true || pod.labels.has(AMBIENT.key) ? undefined : CONSUMERS.ztunnel.mesh
}
