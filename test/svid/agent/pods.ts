// Made-up pods for the suite with an agent, and the ClusterSPIFFEIDs that choose among them: every kind of container, one identity,
// several, none, shared hints, fallbacks, selectors of images and of labels with odd characters.
import { randomBytes } from 'node:crypto'
import type { JsonRecord } from '../../../shared/src/core/base/json.ts'
import { csid } from '../clusterspiffeid.ts'
import { TRUST_DOMAIN } from '../spire.ts'

/** The namespace of all of them. */
export const SPACE = 'workloads'
/** Labels as odd as the API server takes them. */
const ODD_LABEL = 'odd.example/Key_x.y-z'
const ODD_VALUE = 'Va.l_u-e.1'

/** A pod as it is applied, and the status that a kubelet would give it. */
export interface AgentPod {
  readonly name: string
  readonly object: JsonRecord
  readonly status: JsonRecord
  /** Added once the pod is there: that is the one way in which the API server takes them. */
  readonly ephemeral: readonly JsonRecord[]
}

/** What of an ID makes it one of its pod and of its registration. */
function idOf(part: string): string {
  return `spiffe://${TRUST_DOMAIN}/${part}/{{ .PodMeta.Name }}`
}

function chosenBy(label: string, spec: JsonRecord): JsonRecord {
  return { podSelector: { matchLabels: { [label]: 'yes' } }, ...spec }
}

/** Which labels a pod may carry, each of which a registration looks for. */
const GROUPS = [
  'whole',
  'second',
  'app-only',
  'sidecar-only',
  'init-only',
  'image',
  'pod-image',
  'odd',
  'dead',
  'count',
] as const

/** The registrations that choose pods by those labels. */
export const REGISTRATIONS: readonly JsonRecord[] = [
  csid('whole', chosenBy('whole', { spiffeIDTemplate: idOf('whole'), hint: 'shared' })),
  csid('second', chosenBy('second', { spiffeIDTemplate: idOf('second'), hint: 'shared' })),
  csid(
    'app-only',
    chosenBy('app-only', {
      spiffeIDTemplate: idOf('app'),
      hint: 'app',
      workloadSelectorTemplates: ['k8s:container-name:app'],
    }),
  ),
  csid(
    'sidecar-only',
    chosenBy('sidecar-only', {
      spiffeIDTemplate: idOf('sidecar'),
      workloadSelectorTemplates: ['k8s:container-name:proxy', 'k8s:ns:{{ .PodMeta.Namespace }}'],
    }),
  ),
  csid(
    'init-only',
    chosenBy('init-only', {
      spiffeIDTemplate: idOf('init'),
      workloadSelectorTemplates: ['k8s:container-name:init'],
    }),
  ),
  csid(
    'image',
    chosenBy('image', {
      spiffeIDTemplate: idOf('image'),
      workloadSelectorTemplates: ['k8s:container-image:registry.example/app:1'],
    }),
  ),
  csid(
    'pod-image',
    chosenBy('pod-image', {
      spiffeIDTemplate: idOf('pod-image'),
      workloadSelectorTemplates: ['k8s:pod-image:registry.example/other:1'],
    }),
  ),
  csid(
    'odd',
    chosenBy('odd', {
      spiffeIDTemplate: idOf('odd'),
      workloadSelectorTemplates: [`k8s:pod-label:${ODD_LABEL}:${ODD_VALUE}`, 'k8s:pod-label:empty:'],
    }),
  ),
  csid(
    'dead',
    chosenBy('dead', {
      spiffeIDTemplate: idOf('dead'),
      workloadSelectorTemplates: ['k8s:pod-label:nowhere:x'],
    }),
  ),
  csid(
    'count',
    chosenBy('count', {
      spiffeIDTemplate: idOf('count'),
      workloadSelectorTemplates: ['k8s:pod-image-count:1', 'k8s:sa:runner'],
    }),
  ),
  csid('default', {
    fallback: true,
    hint: 'default',
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': SPACE } },
  }),
]

/** Pods of a seed: each label, container and service account by chance. */
export function agentPods(count: number, random: () => number): readonly AgentPod[] {
  return Array.from({ length: count }, (_, at) => agentPod(`w${String(at).padStart(3, '0')}`, random))
}

function agentPod(name: string, random: () => number): AgentPod {
  const maybe = (share: number): boolean => random() < share
  const labels = {
    ...Object.fromEntries(GROUPS.filter(() => maybe(0.25)).map((group) => [group, 'yes'])),
    [ODD_LABEL]: ODD_VALUE,
    ...(maybe(0.7) && { empty: '' }),
  }
  const containers = [container('app'), ...(maybe(0.6) ? [container('other')] : [])]
  const inits = [
    ...(maybe(0.5) ? [container('init')] : []),
    ...(maybe(0.6) ? [{ ...container('proxy'), restartPolicy: 'Always' }] : []),
  ]
  const ephemeral = maybe(0.1) ? [container('debug')] : []
  return {
    name,
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: SPACE, labels },
      spec: {
        nodeName: 'n1',
        serviceAccountName: maybe(0.8) ? 'runner' : 'other',
        containers,
        initContainers: inits,
      },
    },
    ephemeral,
    status: {
      phase: 'Running',
      containerStatuses: containers.map(statusOf),
      initContainerStatuses: inits.map(statusOf),
      ephemeralContainerStatuses: ephemeral.map(statusOf),
    },
  }
}

/** A container with an image of its own name. */
export function container(name: string): JsonRecord {
  return { name, image: `registry.example/${name}:1` }
}

/** The status of a pod whose only container, `vllm`, runs; `id` is 64 hex digits. */
export function statusOfVllm(id: string): JsonRecord {
  const running = statusOf({ name: 'vllm', image: 'vllm:1' })
  return { phase: 'Running', containerStatuses: [{ ...running, containerID: `containerd://${id}` }] }
}

/** What a kubelet says of a container that runs, with an ID by chance. */
export function statusOf({ name, image }: JsonRecord): JsonRecord {
  return {
    name,
    image,
    imageID: `registry.example/${String(name)}@sha256:${'1'.repeat(64)}`,
    containerID: `containerd://${randomBytes(32).toString('hex')}`,
    ready: true,
    restartCount: 0,
    state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
  }
}
