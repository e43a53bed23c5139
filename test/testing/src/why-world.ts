// A cluster with SPIRE in which one pod for each fault lacks its SVID, and others are healthy: each in a namespace of its own, so that
// one pass of SCM shows all of them. The objects are the same for files and for a real API server.
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'

/** What SPIRE is set to here. */
export const WHY_INSTALL = {
  trustDomain: 'example.org',
  className: 'kleym-test',
  cluster: 'prod',
  agentSpace: 'spire-system',
  serverSpace: 'spire-server',
} as const
/** The nodes, and what is with the agent of each. */
export const WHY_NODES = {
  healthy: 'n1',
  withoutAgent: 'n2',
  notReady: 'n3',
  ofOtherCluster: 'n4',
  withoutContainers: 'n5',
} as const
const MOUNT = '/spiffe-workload-api'
const SOCKET = 'spire-agent.sock'

/** One pod with its namespace and its registration. */
export interface WhySlot {
  /** `pod-label`: what the names of its objects end with. */
  readonly name: string
  /** The fault; undefined: it is healthy. */
  readonly fault: string | undefined
  readonly space: string
  readonly namespace: Draft
  readonly pod: DraftPod
  /** A ClusterSPIFFEID, or a binding. */
  readonly registration: DraftId
  /** More objects. */
  readonly more: Draft[]
  /** Which container is asked about. */
  container: string
}

/** A container under construction. */
type DraftContainer = {
  name: string
  image: string
  command?: string[]
  args?: string[]
  env?: { name: string; value: string }[]
  volumeMounts?: JsonRecord[]
  lifecycle?: JsonRecord
}

/** A pod under construction. */
export type DraftPod = {
  apiVersion: 'v1'
  kind: 'Pod'
  metadata: { name: string; namespace: string; labels: Record<string, string> }
  spec: {
    nodeName?: string
    serviceAccountName: string
    hostPID?: boolean
    containers: DraftContainer[]
    initContainers?: DraftContainer[]
    volumes: JsonRecord[]
  }
}

/** An object with a name under construction. */
export type Draft = {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string> }
  spec?: Record<string, unknown>
  data?: Record<string, string>
}

/** Whether an object is a pod. */
export function isPod(object: Draft | DraftPod): object is DraftPod {
  return object.kind === 'Pod'
}

/** A ClusterSPIFFEID under construction. */
type DraftId = Draft & { spec: Record<string, unknown> }

/** A healthy slot. */
export function healthySlot(name: string, fault?: string, prefix = 'why'): WhySlot {
  const space = `${prefix}-${name}`
  return {
    name,
    fault,
    space,
    container: 'app',
    namespace: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: space, labels: { tenant: 'yes' } } },
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'llama', namespace: space, labels: { app: 'llama', slot: name } },
      spec: {
        nodeName: WHY_NODES.healthy,
        serviceAccountName: 'runner',
        containers: [container('app')],
        volumes: [{ name: 'spiffe', csi: { driver: 'csi.spiffe.io', readOnly: true } }],
      },
    },
    registration: csid(`why-${name}`, {
      spiffeIDTemplate: `spiffe://${WHY_INSTALL.trustDomain}/${name}/{{ .PodMeta.Name }}`,
      podSelector: { matchLabels: { slot: name, app: 'llama' } },
      namespaceSelector: { matchLabels: { tenant: 'yes' } },
    }),
    more: [],
  }
}

/** A ClusterSPIFFEID of the class. */
export function csid(name: string, spec: JsonRecord): DraftId {
  return {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterSPIFFEID',
    metadata: { name },
    spec: { className: WHY_INSTALL.className, ...spec },
  }
}

function container(name: string): DraftContainer {
  return {
    name,
    image: `registry.example/${name}:1`,
    env: [{ name: 'SPIFFE_ENDPOINT_SOCKET', value: `unix://${MOUNT}/${SOCKET}` }],
    volumeMounts: [{ name: 'spiffe', mountPath: MOUNT, readOnly: true }],
  }
}

/** A second identity for the pod of a slot. */
function second(slot: WhySlot, spec: JsonRecord): DraftId {
  return csid(`second-${slot.name}`, {
    spiffeIDTemplate: `spiffe://${WHY_INSTALL.trustDomain}/second/${slot.name}`,
    podSelector: { matchLabels: { slot: slot.name } },
    ...spec,
  })
}

/** A registration that is for another container of the pod, and takes a fallback away from all of them. */
function other(slot: WhySlot): DraftId {
  slot.pod.spec.containers.push(container('proxy'))
  return csid(`other-${slot.name}`, {
    spiffeIDTemplate: `spiffe://${WHY_INSTALL.trustDomain}/other/${slot.name}`,
    podSelector: { matchLabels: { slot: slot.name } },
    workloadSelectorTemplates: ['k8s:container-name:proxy'],
  })
}

/** How each fault that objects show is brought about. Those of the server, of agents and of SCM itself each suite makes its own way. */
export const IN_OBJECTS: Readonly<Record<string, (slot: WhySlot) => void>> = {
  'pod label': ({ pod }) => {
    delete pod.metadata.labels['app']
  },
  'namespace label': ({ namespace }) => {
    delete namespace.metadata.labels?.['tenant']
  },
  'service account': ({ registration }) => {
    registration.spec['workloadSelectorTemplates'] = ['k8s:sa:other']
  },
  'container name': (slot) => {
    slot.pod.spec.containers.push(container('proxy'))
    slot.registration.spec['workloadSelectorTemplates'] = ['k8s:container-name:proxy']
  },
  class: ({ registration }) => {
    delete registration.spec['className']
  },
  'ignored namespace': () => {},
  'missing label in a template': ({ registration, name }) => {
    registration.spec['spiffeIDTemplate'] =
      `spiffe://${WHY_INSTALL.trustDomain}/${name}/{{ .PodMeta.Labels.missing.deep }}`
  },
  'DNS name': ({ registration }) => {
    registration.spec['dnsNameTemplates'] = ['a..b']
  },
  'displaced fallback': (slot) => {
    slot.registration.spec['fallback'] = true
    slot.more.push(other(slot))
  },
  'pod without a node': ({ pod }) => {
    delete pod.spec.nodeName
  },
  'no agent on the node': ({ pod }) => {
    pod.spec.nodeName = WHY_NODES.withoutAgent
  },
  'agent not ready': ({ pod }) => {
    pod.spec.nodeName = WHY_NODES.notReady
  },
  'cluster name': ({ pod }) => {
    pod.spec.nodeName = WHY_NODES.ofOtherCluster
  },
  'other selectors': (slot) => {
    slot.pod.spec.containers.push(container('proxy'))
    slot.registration.spec['workloadSelectorTemplates'] = ['k8s:container-name:app']
  },
  'no container selectors': ({ pod, registration }) => {
    pod.spec.nodeName = WHY_NODES.withoutContainers
    registration.spec['workloadSelectorTemplates'] = ['k8s:container-name:app']
  },
  'postStart hook': ({ pod }) => {
    firstOf(pod).lifecycle = {
      postStart: { exec: { command: ['/opt/spire/bin/spire-agent', 'api', 'fetch', 'x509'] } },
    }
  },
  'no volume': ({ pod }) => {
    delete firstOf(pod).volumeMounts
    delete firstOf(pod).env
  },
  'volume in another container': ({ pod }) => {
    pod.spec.containers.push(container('proxy'))
    delete firstOf(pod).volumeMounts
  },
  'socket path': ({ pod }) => {
    firstOf(pod).env = [{ name: 'SPIFFE_ENDPOINT_SOCKET', value: 'unix:///tmp/agent.sock' }]
  },
  'several SVIDs': (slot) => {
    slot.more.push(second(slot, {}))
  },
  'one hint for two': (slot) => {
    slot.registration.spec['hint'] = 'shared'
    slot.more.push(second(slot, { hint: 'shared' }))
  },
  'written once': (slot) => {
    slot.container = 'init'
    slot.pod.spec.initContainers = [
      {
        ...container('init'),
        image: 'ghcr.io/spiffe/spire-agent:1.15.3',
        command: ['/opt/spire/bin/spire-agent', 'api', 'fetch', 'x509', '-write', '/svids'],
      },
    ]
  },
}

function firstOf({ spec: { containers } }: DraftPod): DraftContainer {
  const [first] = containers
  if (first === undefined) throw new Error('the pod has no container')
  return first
}

/** A name of a namespace that SCM's patterns match, without an anchor. */
const IGNORED = 'ibm-why'

/** The slot of a fault; the objects of those that none shows are healthy. */
export function slotWith(...faults: readonly string[]): WhySlot {
  const slot = healthySlot(slug(faults), faults[0], faults.includes('ignored namespace') ? IGNORED : 'why')
  for (const fault of faults) IN_OBJECTS[fault]?.(slot)
  return slot
}

const BINDING_GROUP = 'kleym.sonda.red/v1alpha1'
const POOL_GROUP = 'inference.networking.k8s.io'

/** A slot whose pod is of a pool with a binding of kleym's. */
function healthyBoundSlot(name: string, fault: string | undefined, prefix: string): WhySlot {
  const slot = healthySlot(name, fault, prefix)
  const inSpace = (one: string): { name: string; namespace: string } => ({ name: one, namespace: slot.space })
  const pool: Draft = {
    apiVersion: `${POOL_GROUP}/v1`,
    kind: 'InferencePool',
    metadata: inSpace('llama'),
    spec: {
      selector: { matchLabels: { app: 'llama', slot: name } },
      targetPorts: [{ number: 8000 }],
      endpointPickerRef: { name: 'epp', port: { number: 9002 } },
    },
  }
  const registration: DraftId = {
    apiVersion: BINDING_GROUP,
    kind: 'InferenceIdentityBinding',
    metadata: inSpace('llama'),
    spec: { poolRef: { name: 'llama' }, serviceAccountName: 'runner', mode: 'PoolOnly' },
  }
  return { ...slot, registration, more: [pool] }
}

/** Narrows the identity of a bound slot to one container. */
function narrowed(slot: WhySlot, containerName: string): void {
  Object.assign(slot.registration.spec, {
    mode: 'PerObjective',
    objectiveRef: { name: 'chat' },
    containerName,
  })
  slot.more.push({
    apiVersion: 'inference.networking.x-k8s.io/v1alpha2',
    kind: 'InferenceObjective',
    metadata: { name: 'chat', namespace: slot.space },
    spec: { priority: 1, poolRef: { name: 'llama', group: POOL_GROUP } },
  })
}

/** The faults that are brought about otherwise where the registration is a binding's; those of pods are the same. */
const IN_BINDINGS: Readonly<Record<string, (slot: WhySlot) => void>> = {
  'pool gone': ({ registration }) => {
    registration.spec['poolRef'] = { name: 'gone' }
  },
  'service account': ({ registration }) => {
    registration.spec['serviceAccountName'] = 'other'
  },
  'container name': (slot) => {
    slot.pod.spec.containers.push(container('proxy'))
    narrowed(slot, 'proxy')
  },
  'other selectors': (slot) => {
    slot.pod.spec.containers.push(container('proxy'))
    narrowed(slot, 'app')
  },
  'no container selectors': (slot) => {
    slot.pod.spec.nodeName = WHY_NODES.withoutContainers
    narrowed(slot, 'app')
  },
}

/** The slot of a fault of a binding. */
export function boundSlotWith(...faults: readonly string[]): WhySlot {
  // Of another name than the slot of the same fault without a binding: the two may be in one cluster.
  const slot = healthyBoundSlot(
    `bound-${slug(faults)}`,
    faults[0],
    faults.includes('ignored namespace') ? IGNORED : 'why',
  )
  for (const fault of faults) (IN_BINDINGS[fault] ?? IN_OBJECTS[fault])?.(slot)
  return slot
}

function slug(faults: readonly string[]): string {
  return faults
    .join('-')
    .replaceAll(/[^a-z]+/gi, '-')
    .toLowerCase()
}

/** Its objects, those first that others stand in. */
export function objectsOfSlot({
  namespace,
  pod,
  registration,
  more,
}: WhySlot): readonly (Draft | DraftPod)[] {
  return [namespace, pod, registration, ...more]
}

/** What an agent is configured with, as its chart installs it. */
export function agentConfig(
  name: string,
  {
    cluster = WHY_INSTALL.cluster,
    attestor = {},
  }: { readonly cluster?: string; readonly attestor?: JsonRecord } = {},
): Draft {
  const config = {
    agent: { socket_path: `/run/spire/agent-sockets/${SOCKET}`, trust_domain: WHY_INSTALL.trustDomain },
    plugins: {
      NodeAttestor: [{ k8s_psat: { plugin_data: { cluster } } }],
      WorkloadAttestor: [{ k8s: { plugin_data: attestor } }],
    },
  }
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: WHY_INSTALL.agentSpace },
    data: { 'agent.conf': JSON.stringify(config, null, 2) },
  }
}

/** The pod of the agent of a node, and the status that its kubelet would give it. */
export function agentPodOn(node: string, config: string): DraftPod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `spire-agent-${node}`, namespace: WHY_INSTALL.agentSpace, labels: {} },
    spec: {
      nodeName: node,
      serviceAccountName: 'spire-agent',
      hostPID: true,
      containers: [{ name: 'spire-agent', image: 'ghcr.io/spiffe/spire-agent:1.15.3' }],
      volumes: [{ name: 'config', configMap: { name: config } }],
    },
  }
}

/** Of a pod whose containers all run, or wait; `id` names a container as its runtime does. */
export function statusOf(
  { spec }: Pick<DraftPod, 'spec'>,
  { ready = true, id = (name: string): string => name } = {},
): JsonRecord {
  const of = ({ name, image }: DraftContainer): JsonRecord => ({
    name,
    image,
    imageID: `${image}@sha256:${'1'.repeat(64)}`,
    containerID: `containerd://${id(name)}`,
    ready,
    restartCount: 0,
    state: ready
      ? { running: { startedAt: '2026-01-01T00:00:00Z' } }
      : { waiting: { reason: 'CrashLoopBackOff' } },
  })
  return {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    containerStatuses: spec.containers.map(of),
    initContainerStatuses: (spec.initContainers ?? []).map(of),
  }
}

/** The workload in which the server and SCM run. */
export function serverWorkload(): Draft {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'spire-server', namespace: WHY_INSTALL.serverSpace },
    spec: {
      replicas: 1,
      serviceName: 'spire-server',
      selector: { matchLabels: { app: 'spire-server' } },
      template: {
        metadata: { labels: { app: 'spire-server' } },
        spec: {
          containers: [
            { name: 'spire-server', image: 'ghcr.io/spiffe/spire-server:1.15.3' },
            {
              name: 'spire-controller-manager',
              image: 'ghcr.io/spiffe/spire-controller-manager:0.7.0',
              args: ['--config=/etc/scm/controller-manager-config.yaml'],
              volumeMounts: [{ name: 'scm', mountPath: '/etc/scm' }],
            },
          ],
          volumes: [{ name: 'scm', configMap: { name: 'scm' } }],
        },
      },
    },
  }
}

/** Its status. */
export function workloadStatus(ready: number): JsonRecord {
  return { observedGeneration: 1, replicas: 1, readyReplicas: ready, availableReplicas: ready }
}

/** The parts of SPIRE: nodes, agents, what these are configured with, the server with SCM. */
export function spireObjects(): readonly (Draft | DraftPod)[] {
  return [
    ...Object.values(WHY_NODES).map((name) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } })),
    ...[WHY_INSTALL.agentSpace, WHY_INSTALL.serverSpace].map((name) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    })),
    agentConfig('agent'),
    agentConfig('agent-demo', { cluster: 'demo' }),
    agentConfig('agent-bare', { attestor: { disable_container_selectors: true } }),
    agentPodOn(WHY_NODES.healthy, 'agent'),
    agentPodOn(WHY_NODES.notReady, 'agent'),
    agentPodOn(WHY_NODES.ofOtherCluster, 'agent-demo'),
    agentPodOn(WHY_NODES.withoutContainers, 'agent-bare'),
    serverWorkload(),
  ]
}
