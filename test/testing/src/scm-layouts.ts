// The ways in which people install the SPIRE controller manager, as small look-alikes: only what tells where it runs and what
// it is set to. Written after the hardened charts (spire, spire-nested), OpenShift's Zero Trust Workload Identity Manager,
// and the demos of SPIRE and SCM.
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'

export interface ScmLayout {
  readonly name: string
  readonly namespaces: readonly string[]
  readonly objects: readonly JsonRecord[]
  /** A class that is handled here; empty: no class at all. */
  readonly className: string
  /** The workload that acts on it, `Kind namespace/name`, and the ConfigMap that sets it. */
  readonly acts: readonly [workload: string, configMap: string]
  /** The other SCMs of this cluster, by their workload and class. */
  readonly others: readonly (readonly [workload: string, className: string])[]
}

const KEY = 'controller-manager-config.yaml'

interface Settings {
  readonly className?: string
  readonly extra?: string
}

function configuration({ className, extra = '' }: Settings): string {
  const name = className === undefined ? '' : `className: ${JSON.stringify(className)}\n`
  return `apiVersion: spire.spiffe.io/v1alpha1\nkind: ControllerManagerConfig\nclusterName: prod\ntrustDomain: example.org\n${name}${extra}`
}

function configMap(path: string, data: { readonly [key: string]: string }): JsonRecord {
  const [namespace, name] = path.split('/')
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data }
}

interface Scm {
  readonly image?: string
  readonly container?: string
  readonly args?: readonly string[]
  readonly mount?: JsonRecord
  readonly command?: readonly string[]
}

/** A container of SCM as most have it: one file of a ConfigMap at the root. */
function scm({
  image = 'ghcr.io/spiffe/spire-controller-manager:0.7.0',
  container = 'spire-controller-manager',
  args = [`--config=${KEY}`],
  mount = { name: 'controller-manager-config', mountPath: `/${KEY}`, subPath: KEY },
  command,
}: Scm = {}): JsonRecord {
  return {
    name: container,
    image,
    args,
    ...(command !== undefined && { command }),
    volumeMounts: [{ name: 'spire-server-socket', mountPath: '/tmp/spire-server/private' }, mount],
  }
}

const SERVER: JsonRecord = {
  name: 'spire-server',
  image: 'ghcr.io/spiffe/spire-server:1.15.3',
  args: ['-config', '/run/spire/config/server.conf'],
  volumeMounts: [{ name: 'spire-config', mountPath: '/run/spire/config' }],
}

function workload(
  kind: 'StatefulSet' | 'Deployment',
  path: string,
  containers: readonly JsonRecord[],
  config: string,
): JsonRecord {
  const [namespace, name] = path.split('/')
  const labels = { app: name }
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { namespace, name },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      ...(kind === 'StatefulSet' && { serviceName: name }),
      template: {
        metadata: { labels },
        spec: {
          containers,
          volumes: [
            { name: 'spire-server-socket', emptyDir: {} },
            { name: 'spire-config', configMap: { name: 'spire-server' } },
            { name: 'controller-manager-config', configMap: { name: config } },
          ],
        },
      },
    },
  }
}

const CHILD_KEY = 'controller-manager-config-child.yaml'

export const SCM_LAYOUTS: readonly ScmLayout[] = [
  {
    name: 'the hardened chart spire',
    namespaces: ['spire-server'],
    objects: [
      workload('StatefulSet', 'spire-server/spire-server', [SERVER, scm()], 'spire-controller-manager'),
      configMap('spire-server/spire-controller-manager', {
        [KEY]: configuration({
          className: 'spire-mgmt-spire',
          extra:
            'watchClassless: false\nfilterByClassName: false\nreconcile:\n  clusterSPIFFEIDs: true\n  clusterStaticEntries: true\n',
        }),
      }),
      // The server's own ConfigMap is beside it.
      configMap('spire-server/spire-server', {
        'server.conf': '{"server": {"trust_domain": "example.org"}}',
      }),
    ],
    className: 'spire-mgmt-spire',
    acts: ['StatefulSet spire-server/spire-server', 'ConfigMap spire-server/spire-controller-manager'],
    others: [],
  },
  {
    name: 'the hardened chart spire-nested',
    namespaces: ['spire-root', 'spire-inner'],
    objects: [
      workload(
        'StatefulSet',
        'spire-root/spire-root-server',
        [
          SERVER,
          scm(),
          // Acts on another cluster, whose class is the one that is used here.
          scm({
            container: 'spire-controller-manager-child',
            args: ['--kubeconfig=/kubeconfigs/child', `--config=${CHILD_KEY}`],
            mount: { name: 'controller-manager-config', mountPath: `/${CHILD_KEY}`, subPath: CHILD_KEY },
          }),
        ],
        'spire-root-controller-manager',
      ),
      configMap('spire-root/spire-root-controller-manager', {
        // Without a prefix of its own, each would delete the entries of the other.
        [KEY]: configuration({ className: 'spire-mgmt-root-server', extra: 'entryIDPrefix: root\n' }),
        [CHILD_KEY]: configuration({ className: 'spire-mgmt-spire-nested', extra: 'entryIDPrefix: child\n' }),
      }),
      workload(
        'StatefulSet',
        'spire-inner/spire-internal-server',
        [SERVER, scm()],
        'spire-internal-controller-manager',
      ),
      configMap('spire-inner/spire-internal-controller-manager', {
        [KEY]: configuration({ className: 'spire-mgmt-spire-nested' }),
      }),
    ],
    className: 'spire-mgmt-spire-nested',
    acts: [
      'StatefulSet spire-inner/spire-internal-server',
      'ConfigMap spire-inner/spire-internal-controller-manager',
    ],
    others: [['StatefulSet spire-root/spire-root-server', 'spire-mgmt-root-server']],
  },
  {
    name: "OpenShift's operator",
    namespaces: ['zero-trust-workload-identity-manager'],
    objects: [
      workload(
        'StatefulSet',
        'zero-trust-workload-identity-manager/spire-server',
        [
          SERVER,
          scm({
            image: `registry.example.org/ztwim/spire-controller-manager-rhel9@sha256:${'ab'.repeat(32)}`,
          }),
        ],
        'spire-controller-manager',
      ),
      configMap('zero-trust-workload-identity-manager/spire-controller-manager', {
        [KEY]: configuration({
          className: 'zero-trust-workload-identity-manager-spire',
          extra: 'entryIDPrefix: prod\nignoreNamespaces: [kube-system, openshift-*]\n',
        }),
      }),
    ],
    className: 'zero-trust-workload-identity-manager-spire',
    acts: [
      'StatefulSet zero-trust-workload-identity-manager/spire-server',
      'ConfigMap zero-trust-workload-identity-manager/spire-controller-manager',
    ],
    others: [],
  },
  {
    name: 'SCM beside the server in one pod, with no class',
    namespaces: ['identity'],
    objects: [
      workload(
        'Deployment',
        'identity/spire-server',
        [
          SERVER,
          scm({
            args: ['--config=spire-controller-manager-config.yaml'],
            mount: {
              name: 'controller-manager-config',
              mountPath: '/spire-controller-manager-config.yaml',
              subPath: 'spire-controller-manager-config.yaml',
            },
          }),
        ],
        'scm-config',
      ),
      configMap('identity/scm-config', { 'spire-controller-manager-config.yaml': configuration({}) }),
    ],
    className: '',
    acts: ['Deployment identity/spire-server', 'ConfigMap identity/scm-config'],
    others: [],
  },
  {
    name: 'SCM alone, from a mirror, with a folder for its configuration',
    namespaces: ['scm-alone'],
    objects: [
      workload(
        'Deployment',
        'scm-alone/registrar',
        [
          scm({
            image: `mirror.example.org/m/0123@sha256:${'cd'.repeat(32)}`,
            command: ['/spire-controller-manager'],
            args: ['-config', '/etc/scm/config.yaml'],
            mount: { name: 'controller-manager-config', mountPath: '/etc/scm' },
          }),
        ],
        'registrar',
      ),
      configMap('scm-alone/registrar', {
        'config.yaml': configuration({ className: 'registrar', extra: 'watchClassless: true\n' }),
      }),
    ],
    className: '',
    acts: ['Deployment scm-alone/registrar', 'ConfigMap scm-alone/registrar'],
    others: [],
  },
  {
    name: 'several, told by their classes',
    namespaces: ['spire-server', 'spire-blue', 'spire-off'],
    objects: [
      // Where SCM usually is, and not the one that acts.
      workload('StatefulSet', 'spire-server/spire-server', [SERVER, scm()], 'spire-controller-manager'),
      configMap('spire-server/spire-controller-manager', { [KEY]: configuration({ className: 'green' }) }),
      workload('StatefulSet', 'spire-blue/spire-server', [SERVER, scm()], 'spire-controller-manager'),
      configMap('spire-blue/spire-controller-manager', {
        [KEY]: configuration({ className: 'blue', extra: 'filterByClassName: true\n' }),
        // An old one that nobody runs with.
        'old.yaml': configuration({ className: 'yellow' }),
      }),
      // Of the class, but set to reconcile something else.
      workload('Deployment', 'spire-off/federation', [scm()], 'federation'),
      configMap('spire-off/federation', {
        [KEY]: configuration({
          className: 'blue',
          extra: 'reconcile:\n  clusterFederatedTrustDomains: true\n',
        }),
      }),
    ],
    className: 'blue',
    acts: ['StatefulSet spire-blue/spire-server', 'ConfigMap spire-blue/spire-controller-manager'],
    others: [
      ['StatefulSet spire-server/spire-server', 'green'],
      ['Deployment spire-off/federation', 'blue'],
    ],
  },
]
