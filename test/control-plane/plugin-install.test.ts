// SPIRE's install, compared with what a real API server has made of it: what it fills in is no difference, whoever applied it, and an edit
// of any part is one.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { isRecord, type JsonRecord } from '../../shared/src/core/base/json.ts'
import {
  AGENT,
  AGENT_CONFIG,
  DRIVER,
  IN_NAMESPACE,
  NAMESPACE,
  POLICY,
  ROLE,
  ROLE_BINDING,
  SCM,
  SCM_CONFIG,
  SERVER,
  SERVER_CONFIG,
  SERVICE,
  WEBHOOK,
} from '../../plugin/test/support/spire-install.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'
import { kubectlKleym, type PluginRun } from './kubectl-kleym.ts'

const INSTALL = [
  NAMESPACE,
  SCM,
  SCM_CONFIG,
  SERVER,
  SERVER_CONFIG,
  AGENT,
  AGENT_CONFIG,
  ROLE,
  ROLE_BINDING,
  ...IN_NAMESPACE,
  SERVICE,
  WEBHOOK,
  DRIVER,
]
const SERVED = `apiVersion: apps/v1
kind: Deployment
metadata: {name: llama, namespace: demo}
spec:
  selector: {matchLabels: {app: llama}}
  template:
    metadata: {labels: {app: llama}}
    spec:
      serviceAccountName: runner
      containers: [{name: vllm, image: vllm, volumeMounts: [{name: spiffe, mountPath: /spiffe}]}]
      volumes: [{name: spiffe, csi: {driver: csi.spiffe.io, readOnly: true}}]
`

/** Most of what the API server fills in of pods, Services, policies of the network and webhooks. */
const RICH = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: spiffe-csi-driver, namespace: spire}
spec:
  selector: {matchLabels: {app: driver}}
  template:
    metadata: {labels: {app: driver}}
    spec:
      hostNetwork: true
      serviceAccountName: spire-agent
      priorityClassName: ""
      automountServiceAccountToken: false
      securityContext: {}
      initContainers:
      - {name: wait, image: busybox, command: [sh], env: [{name: EMPTY, value: ""}]}
      containers:
      - name: driver
        image: ghcr.io/spiffe/spiffe-csi-driver:0.2.6
        args: [-node-id, $(NODE)]
        env:
        - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
        - {name: MEMORY, valueFrom: {resourceFieldRef: {containerName: driver, resource: limits.memory}}}
        ports: [{containerPort: 9809, name: healthz}]
        securityContext: {readOnlyRootFilesystem: true}
        volumeMounts:
        - {name: socket, mountPath: /spiffe, readOnly: true}
        - {name: pods, mountPath: /pods}
        - {name: tokens, mountPath: /tokens}
        - {name: scratch, mountPath: /scratch}
      volumes:
      - {name: socket, hostPath: {path: /run/spire}}
      - {name: pods, hostPath: {path: /pods, type: Directory}}
      - {name: scratch, emptyDir: {}}
      - {name: certs, secret: {secretName: certs}}
      - {name: labels, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}
      - {name: data, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}
      - name: tokens
        projected: {sources: [{serviceAccountToken: {path: token}}, {configMap: {name: bundle}}]}
---
apiVersion: v1
kind: Service
metadata: {name: driver, namespace: spire}
spec: {selector: {app: driver}, type: LoadBalancer, ports: [{name: a, port: 1}, {name: b, port: 2}]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: driver, namespace: spire}
spec: {podSelector: {matchLabels: {app: driver}}, egress: [{ports: [{port: 1}]}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: driver}
webhooks:
- name: driver.spiffe.io
  clientConfig: {service: {name: driver, namespace: spire}}
  rules: [{apiGroups: [spire.spiffe.io], apiVersions: [v1alpha1], operations: [DELETE], resources: [none]}]
  sideEffects: None
  admissionReviewVersions: [v1]
`

let cp: ControlPlane
beforeAll(async () => {
  cp = await startControlPlane({ controllers: [] })
  await cp.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'demo' } },
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } },
    {
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ClusterSPIFFEID',
      metadata: { name: 'llama' },
      spec: {
        className: 'spire',
        spiffeIDTemplate: 'spiffe://acme.example/llama',
        podSelector: { matchLabels: { app: 'llama' } },
      },
    },
    objectOf(SERVED),
  ])
})
afterAll(() => cp?.stop())

function objectOf(manifest: string): JsonRecord {
  const value: unknown = parse(manifest)
  if (!isRecord(value)) throw new TypeError('the manifest is no object')
  return value
}

function diff(file: string): Promise<PluginRun> {
  writeFileSync(join(cp.folder, 'pr.yaml'), file)
  const settings = ['--trust-domain', 'acme.example', '--clusterspiffeid-class-name', 'spire']
  return kubectlKleym(cp, ['diff', '-f', join(cp.folder, 'pr.yaml'), ...settings])
}

test('an install is no other one than it is, however it was written', async () => {
  const all = [...INSTALL, RICH].join('---\n')
  for (const verb of [['create'], ['apply'], ['apply', '--server-side', '--force-conflicts']]) {
    const { status, stderr } = await cp.kubectl([...verb, '-f', '-'], { input: all })
    expect(stderr.replaceAll(/^Warning: .*\n/gm, '')).toBe('')
    expect(status).toBe(0)
    const { stdout } = await diff(all)
    expect(`${verb.join(' ')}: ${stdout}`).toContain(': ✓ no container gains or loses an identity')
  }
})

test.each<[what: string, file: string, said: string]>([
  ['a right', ROLE.replace(', watch]', ']'), 'ServiceAccount spire/scm may watch pods on one side'],
  ['a port', SERVICE.replace('8081', '8082'), 'Service spire/server has another'],
  ['a policy of the network', POLICY, 'NetworkPolicy spire/deny is there on one side'],
  ['a setting of the agents', AGENT_CONFIG.replace('"prod"', '"dev"'), 'cluster of the SPIRE agents'],
  [
    'what a webhook is asked',
    WEBHOOK.replace('[CREATE]', "['*']"),
    'ValidatingWebhookConfiguration scm has another',
  ],
  [
    'where a server runs',
    SERVER.replace('containers:', 'nodeSelector: {a: b}\n      containers:'),
    'pod.nodeSelector.a',
  ],
  ['a volume', SERVER.replace(/ {6}volumes: .*\n/, ''), 'pod.volumes[config]'],
])('%s is another one after an edit', async (_, file, said) => {
  const { stdout, code } = await diff(file)
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(said)
  expect(stdout).toMatch(/^! 1 container undetermined/)
  expect(code).toBe(4)
})

test('a CRD that loses a field is one', async () => {
  const { stdout: live } = await cp.kubectl(['get', 'crd', 'clusterspiffeids.spire.spiffe.io', '-o', 'json'])
  expect((await diff(live)).stdout).toContain('✓ no container gains or loses an identity')
  const { stderr, code } = await diff(live.replaceAll('"className"', '"otherName"'))
  expect(stderr).toContain('the change takes away spec.className from the CRD of ClusterSPIFFEID')
  expect(code).toBe(4)
})
