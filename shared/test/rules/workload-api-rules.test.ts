// What a container needs beside an entry (KLM430, KLM431): what leads to the Workload API, what may, and who waits in vain.
import { findingsIn, ofFile } from './findings-in.ts'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import type { Finding } from '../../src/core/findings/finding/finding.ts'
import type { RawObject } from '../../src/core/model/objects/raw.ts'
import { binding, poolOnly } from '@kleym/testing/manifests.ts'
import { foreign, world } from '@kleym/testing/finding-cases.ts'

const NAMESPACE: JsonRecord = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } }
const MOUNT: JsonRecord = { name: 'socket', mountPath: '/spiffe' }
const CSI: JsonRecord = { name: 'socket', csi: { driver: 'csi.spiffe.io', readOnly: true } }
const TOKEN: JsonRecord = { name: 'kube-api-access-x', projected: { sources: [] } }
const VLLM: JsonRecord = { name: 'vllm', image: 'vllm/vllm-openai:v0.23.0' }

/** The findings about the Workload API, as `code`, or `code depends`. */
function codesOf(findings: readonly Finding[]): readonly string[] {
  return findings
    .filter(({ code }) => code === 'KLM430' || code === 'KLM431')
    .map(({ code, dependsOn }) => (dependsOn === undefined ? code : `${code} depends`))
}

function findingsAbout(objects: readonly JsonRecord[], more: readonly RawObject[] = []): readonly Finding[] {
  return findingsIn([...objects.map(ofFile), ...more])
}

interface Shape {
  readonly spec?: JsonRecord
  readonly metadata?: JsonRecord
}

/** A pod that a file shows as the API server has it. */
function pod({ spec, metadata }: Shape = {}): JsonRecord {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'llama-0', namespace: 'team-a', uid: 'u', labels: { app: 'llama' }, ...metadata },
    spec: { nodeName: 'n1', serviceAccountName: 'runner', containers: [VLLM], volumes: [TOKEN], ...spec },
  }
}

/** A workload whose pods do not exist yet. */
function template({ spec, metadata }: Shape = {}, kind = 'Deployment'): JsonRecord {
  const labels = { app: 'llama' }
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: 'llama', namespace: 'team-a' },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, ...metadata },
        spec: { serviceAccountName: 'runner', containers: [VLLM], ...spec },
      },
    },
  }
}

const mounting = (volume: JsonRecord, container: JsonRecord = {}): Shape => ({
  spec: {
    containers: [{ ...VLLM, volumeMounts: [MOUNT], ...container }],
    volumes: [TOKEN, { name: 'socket', ...volume }],
  },
})
const beside = (other: JsonRecord, container: JsonRecord = {}): Shape => ({
  spec: {
    containers: [{ ...VLLM, ...container }, other],
    volumes: [TOKEN, CSI, { name: 'certs', emptyDir: {} }],
  },
})
const hostPath = (path: string, type?: string): JsonRecord => ({
  hostPath: { path, ...(type !== undefined && { type }) },
})
const HELPER = { name: 'spiffe-helper', image: 'ghcr.io/spiffe/spiffe-helper:0.10.0', volumeMounts: [MOUNT] }

const agent = (container: JsonRecord, volumes: readonly JsonRecord[]): Shape => ({
  spec: { containers: [{ ...container, name: 'vllm' }], volumes: [TOKEN, ...volumes] },
})
const init = (container: JsonRecord): Shape => ({
  spec: {
    containers: [{ ...VLLM, volumeMounts: [MOUNT] }],
    initContainers: [{ name: 'certs', image: 'busybox', volumeMounts: [MOUNT], ...container }],
    volumes: [TOKEN, CSI],
  },
})
const script = (text: string, ...flags: readonly string[]): JsonRecord => ({
  command: ['sh', ...flags, '-c', text],
})
const hook = (words: readonly string[]): Shape =>
  mounting(
    { csi: { driver: 'csi.spiffe.io', readOnly: true } },
    { lifecycle: { postStart: { exec: { command: words } } } },
  )
const certain = (all: readonly Finding[]): readonly string[] =>
  codesOf(all).filter((one) => !one.endsWith('depends'))

describe('an identity without a way to the Workload API', () => {
  const CASES: readonly (readonly [string, Shape, readonly string[]])[] = [
    ['nothing is mounted', {}, ['KLM430']],
    ['the CSI volume is mounted', mounting({ csi: { driver: 'csi.spiffe.io', readOnly: true } }), []],
    ['a CSI volume that its driver refuses', mounting({ csi: { driver: 'csi.spiffe.io' } }), ['KLM430']],
    [
      'the CSI volume is in the pod, and not in the container',
      { spec: { volumes: [TOKEN, CSI] } },
      ['KLM430'],
    ],
    ['the CSI volume of another install', mounting({ csi: { driver: 'upstream.csi.spiffe.io' } }), []],
    ['a CSI driver that kleym does not know', mounting({ csi: { driver: 'csi.example.com' } }), []],
    ['a CSI driver for secrets', mounting({ csi: { driver: 'secrets-store.csi.k8s.io' } }), ['KLM430']],
    ["the folder of SPIRE's charts", mounting(hostPath('/run/spire/agent-sockets', 'Directory')), []],
    ['a folder that may hold a socket', mounting(hostPath('/run')), []],
    ['the devices of the node', mounting(hostPath('/dev/shm')), ['KLM430']],
    ['a file of the node', mounting(hostPath('/opt/token', 'File')), ['KLM430']],
    ['a claim', mounting({ persistentVolumeClaim: { claimName: 'models' } }), ['KLM430']],
    [
      'a mount of a volume that is not shown',
      { spec: { containers: [{ ...VLLM, volumeMounts: [MOUNT] }] } },
      [],
    ],
    [
      'an agent over the network',
      {
        spec: {
          containers: [{ ...VLLM, env: [{ name: 'SPIFFE_ENDPOINT_SOCKET', value: 'tcp://10.0.0.1:8089' }] }],
        },
      },
      [],
    ],
    [
      'a socket that is named and not mounted',
      {
        spec: {
          containers: [{ ...VLLM, env: [{ name: 'SPIFFE_ENDPOINT_SOCKET', value: 'unix:///x.sock' }] }],
        },
      },
      ['KLM430'],
    ],
    ['Windows', { spec: { os: { name: 'windows' } } }, []],
    ['spiffe-helper has the socket', beside(HELPER), ['KLM430 depends']],
    ['another container may have it', beside({ name: 'x', volumeMounts: [{ name: 'gone' }] }), []],
    ["a mesh's proxy without a socket of its own", beside({ name: 'istio-proxy' }), ['KLM430 depends']],
    ['another container has nothing either', beside({ name: 'metrics' }), ['KLM430']],
  ]
  test.each(CASES)('of a pod: %s', (_name, shape, expected) => {
    expect(codesOf(findingsAbout(world(NAMESPACE, pod(shape), binding())))).toEqual(expected)
  })
  test.each(CASES)('of a template: %s', (_name, shape, expected) => {
    expect(codesOf(findingsAbout(world(NAMESPACE, template(shape), binding())))).toEqual(expected)
  })

  test('is about the container that the binding names', () => {
    const found = findingsAbout(world(NAMESPACE, pod(), binding())).find(({ code }) => code === 'KLM430')
    expect(found).toMatchObject({
      severity: 'warning',
      subject: { kind: 'InferenceIdentityBinding', namespace: 'team-a', name: 'llama', container: 'vllm' },
      summary: 'container vllm of 1 pod has no way to the Workload API',
    })
  })

  test('of an identity for all containers, one container with a way is enough', () => {
    expect(codesOf(findingsAbout(world(NAMESPACE, pod(), poolOnly())))).toEqual(['KLM430'])
    expect(codesOf(findingsAbout(world(NAMESPACE, pod(beside(HELPER)), poolOnly())))).toEqual([])
    const preparing = {
      spec: { initContainers: [{ name: 'certs', volumeMounts: [MOUNT] }], volumes: [TOKEN, CSI] },
    }
    expect(codesOf(findingsAbout(world(NAMESPACE, pod(preparing), poolOnly())))).toEqual([])
  })

  test('a StatefulSet claims the volumes that its pods do not show', () => {
    const shape = { spec: { containers: [{ ...VLLM, volumeMounts: [{ name: 'models' }] }] } }
    expect(codesOf(findingsAbout(world(NAMESPACE, template(shape, 'StatefulSet'), binding())))).toEqual([
      'KLM430',
    ])
  })

  test('nothing is said of a pod that was trimmed', () => {
    const trimmed = pod({ spec: { volumes: undefined } })
    expect(codesOf(findingsAbout(world(NAMESPACE, trimmed, binding())))).toEqual([])
    const bare = pod({ spec: { volumes: undefined, automountServiceAccountToken: false } })
    expect(codesOf(findingsAbout(world(NAMESPACE, bare, binding())))).toEqual([])
    expect(codesOf(findingsAbout(world(NAMESPACE, binding()), [{ value: bare }]))).toEqual(['KLM430'])
    // As kubectl prints what an API server has: it fills in fields of every container.
    const containers = [{ ...VLLM, terminationMessagePath: '/dev/termination-log' }]
    const whole = pod({ spec: { volumes: undefined, automountServiceAccountToken: false, containers } })
    expect(codesOf(findingsAbout(world(NAMESPACE, whole, binding())))).toEqual(['KLM430'])
  })

  test('nothing is said of a container that a binding gives nothing', () => {
    expect(
      codesOf(findingsAbout(world(NAMESPACE, pod({ spec: { serviceAccountName: 'x' } }), binding()))),
    ).toEqual([])
    expect(codesOf(findingsAbout(world(NAMESPACE, pod(), foreign('default'))))).toEqual([])
  })

  test('nothing is said of a workload of a cluster without pods: a webhook may change them', () => {
    expect(codesOf(findingsAbout(world(NAMESPACE, binding()), [{ value: template() }]))).toEqual([])
  })

  test('nothing is said of what a kind makes that kleym does not read', () => {
    const { spec } = template()
    const value = {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Rollout',
      metadata: { name: 'x', namespace: 'team-a' },
      spec,
    }
    expect(
      codesOf(findingsAbout(world(NAMESPACE, binding()), [{ ...ofFile(value), isUnread: true }])),
    ).toEqual([])
  })

  test('a mesh that is asked for may bring a proxy, and so may any where the Namespace is not known', () => {
    const istio = { ...NAMESPACE, metadata: { name: 'team-a', labels: { 'istio-injection': 'enabled' } } }
    const ambient = {
      ...NAMESPACE,
      metadata: { name: 'team-a', labels: { 'istio.io/dataplane-mode': 'ambient' } },
    }
    for (const more of [[istio], [ambient], []])
      expect(codesOf(findingsAbout(world(...more, template(), binding())))).toEqual(['KLM430 depends'])
    const off = { metadata: { labels: { app: 'llama', 'sidecar.istio.io/inject': 'false' } } }
    expect(codesOf(findingsAbout(world(istio, template(off), binding())))).toEqual(['KLM430'])
  })

  test('nothing is said of pods to come where a webhook may mount the socket; pods that are there show what it did', () => {
    const policy = {
      value: { apiVersion: 'kyverno.io/v1', kind: 'ClusterPolicy' },
      podChange: { by: 'a policy', mountsWorkloadApi: true },
    } as const
    expect(codesOf(findingsAbout(world(NAMESPACE, template(), binding()), [policy]))).toEqual([])
    expect(codesOf(findingsAbout(world(NAMESPACE, pod(), binding()), [policy]))).toEqual(['KLM430'])
    for (const annotations of [
      { 'inject.istio.io/templates': 'sidecar,spire' },
      { 'spiffe.io/inject': 'true' },
    ])
      expect(
        codesOf(
          findingsAbout(
            world(NAMESPACE, template({ metadata: { labels: { app: 'llama' }, annotations } }), binding()),
          ),
        ),
      ).toEqual([])
  })
})

describe('pods that serve or use SPIRE in other ways have no finding', () => {
  test.each([
    [
      'an agent',
      agent({ image: 'ghcr.io/spiffe/spire-agent:1.15.3', args: ['-config', 'a'], volumeMounts: [MOUNT] }, [
        { name: 'socket', ...hostPath('/run/spire/agent-sockets', 'DirectoryOrCreate') },
      ]),
    ],
    ['an agent whose folder has another name', agent({ image: 'ghcr.io/spiffe/spire-agent:1.15.3' }, [])],
    [
      'a server with its controller manager',
      agent({ image: 'ghcr.io/spiffe/spire-server:1.15.3', volumeMounts: [MOUNT] }, [
        { name: 'socket', emptyDir: {} },
      ]),
    ],
    ['the controller manager', agent({ image: 'ghcr.io/spiffe/spire-controller-manager:0.7.0' }, [])],
    ['the CSI driver', agent({ image: 'ghcr.io/spiffe/spiffe-csi-driver:0.2.9' }, [])],
    [
      'the OIDC provider',
      agent({ image: 'ghcr.io/spiffe/oidc-discovery-provider:1.15.3', volumeMounts: [MOUNT] }, [CSI]),
    ],
  ])('%s', (_name, shape) => {
    for (const one of [pod(shape), template(shape)])
      for (const asks of [binding(), poolOnly()])
        expect(codesOf(findingsAbout(world(NAMESPACE, one, asks)))).toEqual([])
  })

  test.each([
    [
      'a proxy of Istio that has the socket where Istio expects it',
      beside({
        name: 'istio-proxy',
        image: 'docker.io/istio/proxyv2:1.27.0',
        volumeMounts: [{ ...MOUNT, mountPath: '/run/secrets/workload-spiffe-uds' }],
      }),
    ],
    [
      'spiffe-helper that writes certificates for the server beside it',
      beside(
        { ...HELPER, volumeMounts: [MOUNT, { name: 'certs', mountPath: '/certs' }] },
        { volumeMounts: [{ name: 'certs', mountPath: '/certs' }] },
      ),
    ],
    [
      'an Envoy with SDS',
      beside({ name: 'envoy', image: 'envoyproxy/envoy:v1.34.0', volumeMounts: [MOUNT] }),
    ],
  ])('%s, with an identity for the pod', (_name, shape) => {
    for (const one of [pod(shape), template(shape)])
      expect(codesOf(findingsAbout(world(NAMESPACE, one, poolOnly())))).toEqual([])
  })
})

describe('waiting for an SVID that cannot come', () => {
  const CLIENT = '/opt/spire/bin/spire-agent'
  test.each([
    ['runs the client', { command: [CLIENT, 'api', 'fetch', 'x509', '-write', '/certs'] }, true],
    [
      'runs the client by its image',
      { image: 'ghcr.io/spiffe/spire-agent:1.15.3', args: ['api', 'fetch', 'x509'] },
      true,
    ],
    [
      'runs spiffe-helper',
      { image: 'ghcr.io/spiffe/spiffe-helper:0.10.0', args: ['-config', 'helper.conf'] },
      true,
    ],
    ['runs a script of one command', script(`${CLIENT} api fetch x509 -write /certs`), true],
    ['tries until it comes', script(`until ${CLIENT} api fetch x509; do sleep 1; done`), true],
    ['ends where it does not come', script(`${CLIENT} api fetch x509\necho done`, '-e'), true],
    ['sets -e in the script', script(`set -eu; ${CLIENT} api fetch x509; echo done`), true],
    ['needs it for the next command', script(`${CLIENT} api fetch x509 && cp a b`), true],
    ['goes on without it', script(`${CLIENT} api fetch x509 || true`), false],
    ['goes on with the next command', script(`${CLIENT} api fetch x509; echo done`), false],
    ['does not wait for it', script(`${CLIENT} api watch &`), false],
    ['asks whether it is there', script(`if ${CLIENT} api fetch x509; then cp a b; fi`), false],
    ['waits for so long', script(`timeout 5 ${CLIENT} api fetch x509`), false],
    ['asks whether the agent lives', { command: [CLIENT, 'healthcheck'] }, false],
    ['talks of it', { command: ['echo', `${CLIENT} api fetch x509`] }, false],
    ['mounts the socket alone', { command: ['ls', '/spiffe'] }, false],
  ] satisfies readonly (readonly [string, JsonRecord, boolean])[])(
    'an init container that %s',
    (_name, container, waits) => {
      const expected = waits ? ['KLM431'] : []
      expect(codesOf(findingsAbout(world(NAMESPACE, pod(init(container)), binding())))).toEqual(expected)
      // An identity for all containers is one for it too.
      expect(codesOf(findingsAbout(world(NAMESPACE, pod(init(container)), poolOnly())))).toEqual([])
    },
  )

  test('is none where another registration gives the init container an identity, or may', () => {
    const waiting = pod(init({ command: [CLIENT, 'api', 'fetch', 'x509'] }))
    expect(codesOf(findingsAbout(world(NAMESPACE, waiting, binding(), foreign('beside'))))).toEqual([])
    const maybe = foreign('maybe', { workloadSelectorTemplates: ['unix:uid:0'] })
    expect(codesOf(findingsAbout(world(NAMESPACE, waiting, binding(), maybe)))).toEqual([])
    const displaced = foreign('default', { fallback: true })
    expect(codesOf(findingsAbout(world(NAMESPACE, waiting, binding(), displaced)))).toEqual(['KLM431'])
  })

  test('is none of a native sidecar: the others start beside it', () => {
    const sidecar = init({ command: [CLIENT, 'api', 'fetch', 'x509'], restartPolicy: 'Always' })
    expect(codesOf(findingsAbout(world(NAMESPACE, pod(sidecar), binding())))).toEqual([])
  })

  test('a postStart hook cannot be attested by the name of its container; by its pod, where agents are set so', () => {
    const waiting = pod(hook([CLIENT, 'api', 'fetch', 'x509']))
    expect(codesOf(findingsAbout(world(NAMESPACE, waiting, binding())))).toEqual(['KLM431'])
    expect(codesOf(findingsAbout(world(NAMESPACE, waiting, poolOnly())))).toEqual(['KLM431 depends'])
    const other = pod(hook(['sh', '-c', `${CLIENT} api watch > /var/log/svids &`]))
    expect(codesOf(findingsAbout(world(NAMESPACE, other, binding())))).toEqual([])
  })
})

test('what is said for certain stays true whatever is added to the files, and is never an error', () => {
  const volume = fc.constantFrom<JsonRecord | undefined>(
    undefined,
    { csi: { driver: 'csi.spiffe.io', readOnly: true } },
    { csi: { driver: 'csi.example.com' } },
    { emptyDir: {} },
    hostPath('/run'),
    hostPath('/dev'),
  )
  const shapes = fc.record({ volume, isMounted: fc.boolean(), helper: fc.boolean(), fetches: fc.boolean() })
  const labels = fc.constantFrom<JsonRecord>(
    {},
    { 'istio-injection': 'enabled' },
    { 'istio.io/dataplane-mode': 'ambient' },
  )
  fc.assert(
    fc.property(shapes, labels, fc.boolean(), fc.boolean(), (shape, namespaceLabels, isNarrow, exists) => {
      const container = { ...VLLM, ...(shape.isMounted && { volumeMounts: [MOUNT] }) }
      const spec = {
        containers: [container, ...(shape.helper ? [{ ...HELPER }] : [])],
        ...(shape.fetches && {
          initContainers: [{ name: 'i', command: ['spire-agent', 'api', 'fetch', 'x509'] }],
        }),
        volumes: [TOKEN, ...(shape.volume === undefined ? [] : [{ name: 'socket', ...shape.volume }])],
      }
      const asks = isNarrow ? binding() : poolOnly()
      const objects = world(exists ? pod({ spec }) : template({ spec }), asks)
      const less = findingsAbout(objects)
      const complete = { ...NAMESPACE, metadata: { name: 'team-a', labels: namespaceLabels } }
      const more = findingsAbout([...objects, complete])
      expect(certain(more)).toEqual(expect.arrayContaining([...certain(less)]))
      const ours = [...less, ...more].filter(({ code }) => code === 'KLM430' || code === 'KLM431')
      expect(ours.filter(({ severity }) => severity !== 'warning')).toEqual([])
    }),
    { numRuns: runs(200) },
  )
})
