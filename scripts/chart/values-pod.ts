// The values of the chart that shape the operator's pods.
import {
  choice,
  labels,
  name,
  object,
  objects,
  off,
  on,
  section,
  stringMap,
  text,
  whole,
  type Values,
} from './setting.ts'

/**
 * What the chart in the repository says in the place of a registry. It can never be one (RFC 2606), and templates/_check.tpl
 * refuses it; scripts/release/chart.ts puts the registry and the digest of a release there.
 */
export const UNSET_REGISTRY = 'set-your-registry.invalid'

/** Image, resources, security and probes. */
export const POD_VALUES: Values = {
  image: section('The image of the operator.', {
    registry: text(
      UNSET_REGISTRY,
      'Where it is served, e.g. `registry.example.org/platform`; empty for an image that the nodes have already. The chart of a ' +
        'release names the image that it was released with; any other chart is refused until you set this.',
    ),
    repository: text('kleym-operator', 'Its name there.'),
    tag: text('', 'Its version; that of the chart when empty. `latest` is refused: it is not one version.'),
    digest: text('', '`sha256:` and 64 hex digits; wins over the tag.'),
    pullPolicy: choice('IfNotPresent', ['Always', 'IfNotPresent', 'Never'], 'When the nodes fetch it.'),
    pullSecrets: objects('Secrets for a registry that asks who you are, each as `{name: ...}`.'),
  }),
  resources: object(
    'What a pod asks for and may use. Memory grows with the bindings: docs/performance.md. There is no CPU limit: one would ' +
      'only slow it down.',
    { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } },
  ),
  podSecurityContext: object(
    'The security context of the pods. The default passes the Pod Security Standard `restricted`.',
    {
      runAsNonRoot: true,
      runAsUser: 65_532,
      runAsGroup: 65_532,
      fsGroup: 65_532,
      seccompProfile: { type: 'RuntimeDefault' },
    },
  ),
  openshift: off(
    'Leave `runAsUser`, `runAsGroup` and `fsGroup` out of it: the SCC `restricted-v2` of OpenShift gives each namespace its own, and ' +
      'refuses others.',
  ),
  securityContext: object('The security context of the container.', {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  }),
  probes: section('The probes that the kubelet makes.', {
    port: whole(8081, [1, 65_535], 'The port of `/healthz` and `/readyz`.'),
    liveness: object('Timing of the liveness probe.', { periodSeconds: 20, failureThreshold: 3 }),
    readiness: object('Timing of the readiness probe.', { periodSeconds: 10, failureThreshold: 3 }),
  }),
  terminationGracePeriodSeconds: whole(
    40,
    [30, 3600],
    'How long a pod may take to end, in seconds. The operator ends in order within 30.',
  ),
  podLabels: labels('More labels of the pods.'),
  podAnnotations: stringMap('Annotations of the pods.'),
  annotations: stringMap('Annotations of the Deployment.'),
  extraVolumes: objects('More volumes of the pods, as Kubernetes writes them.'),
  extraVolumeMounts: objects('Where the container mounts them.'),
}

/** Where the pods run, and what keeps them running. */
export const PLACEMENT_VALUES: Values = {
  nodeSelector: labels('Labels of the nodes to run on.', { 'kubernetes.io/os': 'linux' }),
  tolerations: objects('Taints to tolerate.'),
  affinity: object(
    'Affinities, as Kubernetes writes them. With none, and more than one replica, the pods prefer different nodes.',
  ),
  topologySpreadConstraints: objects(
    'How the pods spread; one without a `labelSelector` gets that of the operator.',
  ),
  priorityClassName: name('The priority class of the pods, e.g. `system-cluster-critical`.'),
  podDisruptionBudget: section(
    'Keeps drains from taking all operators at once; only with more than one replica.',
    {
      enabled: on('Whether there is one.'),
      minAvailable: whole(1, [0, 10], 'How many stay.'),
      unhealthyPodEvictionPolicy: choice(
        'AlwaysAllow',
        ['AlwaysAllow', 'IfHealthyBudget'],
        'Whether a pod that is not ready may hold up a drain.',
      ),
    },
  ),
}
