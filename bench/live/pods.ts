// Pods as a cluster that serves models holds them, most of which is of no interest to kleym: what the plugin is sent for
// each, and what it has to leave out. The shape follows examples/estate/team-a/pods.yaml and vLLM's production chart.
import type { JsonRecord } from '../../shared/src/core/base/json.ts'

/** What tells one pod of the bench from another. */
export interface PoolPodAsk {
  readonly namespace: string
  /** Of the pool, and of the Deployment behind it. */
  readonly pool: string
  /** Counts the pods of the pool. */
  readonly at: number
  readonly node: string
}

/** The containers of every pod: the model server and its LoRA side container, one for each binding of a pool. */
export const CONTAINERS = ['vllm', 'lora-syncer'] as const
/** The service account of every pod and binding. */
export const SERVICE_ACCOUNT = 'llama'

const STARTED = '2026-11-02T08:15:31Z'
const DIGEST = '11d6bd9ab44666c736d951adf9e04236b8ef4efdc245300904f6f15323d5d360'
const IMAGES: Readonly<Record<string, string>> = {
  vllm: 'registry.example.org/vllm/vllm-openai:v0.23.0',
  'lora-syncer': 'registry.example.org/gateway-api-inference-extension/lora-syncer:v1.4.0',
}

const SPEC = {
  serviceAccountName: SERVICE_ACCOUNT,
  containers: CONTAINERS.map(containerOf),
  nodeSelector: { 'nvidia.com/gpu.product': 'NVIDIA-H100' },
  tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
  volumes: [
    { name: 'cache', emptyDir: {} },
    { name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: '2Gi' } },
    // Without it each binding of the bench would have a finding (KLM430).
    { name: 'spiffe-workload-api', csi: { driver: 'csi.spiffe.io', readOnly: true } },
  ],
}

/** The labels by which a pool selects its pods. */
export function poolLabels(pool: string): Readonly<Record<string, string>> {
  return { app: 'vllm', pool }
}

/** A pod as its ReplicaSet creates it, already bound to a node. */
export function podOf({ namespace, pool, at, node }: PoolPodAsk): JsonRecord {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName(pool, at),
      generateName: `${pool}-6d9c7b5f4-`,
      namespace,
      labels: {
        ...poolLabels(pool),
        'app.kubernetes.io/name': 'vllm',
        'app.kubernetes.io/instance': pool,
        'app.kubernetes.io/managed-by': 'Helm',
        'helm.sh/chart': 'vllm-stack-0.1.7',
        'pod-template-hash': '6d9c7b5f4',
      },
      annotations: {
        'prometheus.io/scrape': 'true',
        'prometheus.io/port': '8000',
        'checksum/config': DIGEST,
        'cni.projectcalico.org/podIP': `10.0.${at % 250}.7/32`,
      },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `${pool}-6d9c7b5f4`,
          uid: 'd51b8e1b-21e0-47b5-88af-5613a37206c5',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: { ...withToken(SPEC, at), nodeName: node },
  }
}

/** With the token of the service account, which the API server mounts into each container under a name that no other pod has. */
function withToken({ containers, volumes, ...spec }: typeof SPEC, at: number): JsonRecord {
  const name = `kube-api-access-${((at * 7919) % 60_466_176).toString(36).padStart(5, '0')}`
  const mount = { name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }
  return {
    ...spec,
    containers: containers.map((one) => ({ ...one, volumeMounts: [...one.volumeMounts, mount] })),
    volumes: [...volumes, { name, projected: { sources: TOKEN_SOURCES, defaultMode: 420 } }],
  }
}

const TOKEN_SOURCES = [
  { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
  { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
  {
    downwardAPI: {
      items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
    },
  },
]

/** `pool-0003-6d9c7b5f4-00017`. */
export function podName(pool: string, at: number): string {
  return `${pool}-6d9c7b5f4-${String(at).padStart(5, '0')}`
}

/** What the kubelet reports of such a pod: it runs. */
export function podStatus(at: number): JsonRecord {
  return {
    phase: 'Running',
    startTime: STARTED,
    hostIP: '10.1.0.4',
    podIP: `10.0.${at % 250}.7`,
    podIPs: [{ ip: `10.0.${at % 250}.7` }],
    qosClass: 'Burstable',
    conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(
      (type) => ({ type, status: 'True', lastProbeTime: null, lastTransitionTime: STARTED }),
    ),
    containerStatuses: CONTAINERS.map((name) => ({
      name,
      image: IMAGES[name],
      imageID: `registry.example.org/${name}@sha256:${DIGEST}`,
      containerID: `containerd://${DIGEST}`,
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: STARTED } },
      lastState: {},
    })),
  }
}

/** The template of the Deployment behind a pool. */
export function templateOf(pool: string): JsonRecord {
  return { metadata: { labels: poolLabels(pool) }, spec: SPEC }
}

function containerOf(name: string) {
  const probe = { httpGet: { path: '/health', port: 8000 }, periodSeconds: 10, failureThreshold: 3 }
  return {
    name,
    image: IMAGES[name],
    args: ['--model', 'meta-llama/Llama-3.1-8B-Instruct', '--port', '8000', '--max-loras', '4'],
    ports: [{ name: 'http', containerPort: 8000, protocol: 'TCP' }],
    env: [
      { name: 'HF_HOME', value: '/cache/huggingface' },
      { name: 'VLLM_ALLOW_RUNTIME_LORA_UPDATING', value: 'true' },
      { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'HF_TOKEN', valueFrom: { secretKeyRef: { name: 'hf-token', key: 'token' } } },
    ],
    resources: { requests: { cpu: '4', memory: '16Gi' }, limits: { memory: '64Gi' } },
    readinessProbe: probe,
    livenessProbe: { ...probe, initialDelaySeconds: 120 },
    volumeMounts: [
      { name: 'cache', mountPath: '/cache' },
      { name: 'shm', mountPath: '/dev/shm' },
      { name: 'spiffe-workload-api', mountPath: '/spiffe-workload-api', readOnly: true },
    ],
  }
}
