// Who takes identities in a pod: by its containers, what they mount, and the labels of the pod and its namespace.
import { describe, expect, test } from 'vitest'
import { consumersIn } from '../../src/core/analysis/consumers/consumers-in-pod.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { namespaceNamed, readPod, type Namespace, type Pod } from '../../src/core/model/objects/pod.ts'

interface Shape {
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly containers?: readonly JsonRecord[]
  readonly initContainers?: readonly JsonRecord[]
  readonly volumes?: readonly JsonRecord[]
}

/** A pod that runs, with a container of its own. */
function running(shape: Shape): Pod {
  return podOf(shape, { uid: 'u' })
}

/** A pod that does not exist yet. */
function toCome(shape: Shape): Pod {
  return podOf(shape, {})
}

function podOf({ labels, annotations, containers = [], ...spec }: Shape, metadata: JsonRecord): Pod {
  return readPod({
    value: {
      kind: 'Pod',
      metadata: { name: 'llama-0', namespace: 'team-a', labels, annotations, ...metadata },
      spec: { containers: [{ name: 'vllm', image: 'vllm:1' }, ...containers], ...spec },
    },
  })
}

/** `consumer (container): whether it asks SPIRE`. */
function shown(pod: Pod, namespace: Namespace | undefined = labelled({})): readonly string[] {
  return consumersIn(pod, namespace).map(
    ({ consumer, container, asksSpire }) =>
      `${consumer.name} (${container?.name ?? 'of the node'}): ${asksSpire.value}`,
  )
}

function labelled(labels: Readonly<Record<string, string>>): Namespace {
  return namespaceNamed('team-a', new Map(Object.entries(labels)), true)
}

const UDS = '/var/run/secrets/workload-spiffe-uds'
const proxyAt = (mountPath: string): JsonRecord => ({
  name: 'istio-proxy',
  volumeMounts: [{ name: 'workload-socket', mountPath }],
})
const volume = (source: JsonRecord): JsonRecord => ({ name: 'workload-socket', ...source })
const CSI = volume({ csi: { driver: 'csi.spiffe.io', readOnly: true } })

describe("Istio's proxy", () => {
  test.each<[what: string, shape: Shape, asks: string]>([
    ['with nothing mounted', { containers: [{ name: 'istio-proxy' }] }, 'no'],
    [
      "as Istio's own template makes it",
      { containers: [proxyAt(UDS)], volumes: [volume({ emptyDir: {} })] },
      'no',
    ],
    ["with SPIFFE's CSI driver", { containers: [proxyAt(UDS)], volumes: [CSI] }, 'yes'],
    [
      'at the path behind the link',
      { containers: [proxyAt('/run/secrets/workload-spiffe-uds')], volumes: [CSI] },
      'yes',
    ],
    [
      'with the socket alone',
      {
        containers: [proxyAt(`${UDS}/socket`)],
        volumes: [volume({ hostPath: { path: '/run/spire/sockets/agent.sock', type: 'Socket' } })],
      },
      'yes',
    ],
    [
      'with a folder of the node',
      { containers: [proxyAt(UDS)], volumes: [volume({ hostPath: { path: '/opt/sockets' } })] },
      'open',
    ],
    [
      'with a driver of another name',
      { containers: [proxyAt(UDS)], volumes: [volume({ csi: { driver: 'csi.example.org' } })] },
      'open',
    ],
    [
      'with the socket at another path',
      { containers: [proxyAt('/spiffe-workload-api')], volumes: [CSI] },
      'no',
    ],
    ['with a path that begins alike', { containers: [proxyAt(`${UDS}-2`)], volumes: [CSI] }, 'no'],
    [
      'as a native sidecar',
      { initContainers: [{ ...proxyAt(UDS), restartPolicy: 'Always' }], volumes: [CSI] },
      'yes',
    ],
  ])('%s', (_, shape, asks) => {
    const expected = [`Istio sidecar (istio-proxy): ${asks}`]
    expect(shown(running(shape))).toEqual(expected)
    expect(shown(toCome(shape))).toEqual(expected)
  })

  const INJECTED = labelled({ 'istio-injection': 'enabled' })

  test("that Istio will add takes certificates from Istio, unless the pod asks for a template that is not Istio's", () => {
    expect(shown(toCome({}), INJECTED)).toEqual(['Istio sidecar (istio-proxy): no'])
    for (const templates of ['sidecar', 'sidecar, grpc-agent'])
      expect(shown(toCome({ annotations: { 'inject.istio.io/templates': templates } }), INJECTED)).toEqual([
        'Istio sidecar (istio-proxy): no',
      ])
    expect(
      shown(toCome({ annotations: { 'inject.istio.io/templates': 'sidecar,spire' } }), INJECTED),
    ).toEqual(['Istio sidecar (istio-proxy): open'])
  })

  test('is not there where nobody asks for it, nor in a pod that runs without it', () => {
    expect(shown(toCome({}))).toEqual([])
    expect(shown(running({}), INJECTED)).toEqual([])
    expect(shown(toCome({ labels: { 'sidecar.istio.io/inject': 'false' } }), INJECTED)).toEqual([])
  })
})

test.each<[what: string, shape: Shape, expected: string]>([
  ['Linkerd', { containers: [{ name: 'linkerd-proxy' }] }, 'Linkerd (linkerd-proxy): no'],
  ['Consul', { containers: [{ name: 'consul-dataplane' }] }, 'Consul (consul-dataplane): no'],
  [
    'Kuma with its own CA',
    { containers: [{ name: 'kuma-sidecar' }], volumes: [] },
    'Kuma (kuma-sidecar): no',
  ],
  [
    'Kuma with SPIRE',
    {
      containers: [
        { name: 'kuma-sidecar', volumeMounts: [{ name: 'kuma-spire-agent-socket', mountPath: '/x' }] },
      ],
      volumes: [{ name: 'kuma-spire-agent-socket', csi: { driver: 'csi.spiffe.io', readOnly: true } }],
    },
    'Kuma (kuma-sidecar): yes',
  ],
])('%s', (_, shape, expected) => {
  expect(shown(running(shape))).toEqual([expected])
})

describe('a proxy of the node', () => {
  const AMBIENT = 'istio.io/dataplane-mode'

  test('of Istio takes in pods by a label of theirs, or else of their namespace', () => {
    const ambient = ['Istio ambient (ztunnel) (of the node): open']
    expect(shown(running({}), labelled({ [AMBIENT]: 'ambient' }))).toEqual(ambient)
    expect(shown(running({ labels: { [AMBIENT]: 'ambient' } }))).toEqual(ambient)
    expect(shown(running({ labels: { [AMBIENT]: 'none' } }), labelled({ [AMBIENT]: 'ambient' }))).toEqual([])
  })

  test('of Cilium takes in namespaces by their label', () => {
    expect(shown(running({}), labelled({ 'io.cilium/mtls-enabled': 'true' }))).toEqual([
      "Cilium's ztunnel (of the node): open",
    ])
    expect(shown(running({}), labelled({ 'io.cilium/mtls-enabled': 'false' }))).toEqual([])
  })

  test('is not shown by a namespace of which only the name is known', () => {
    expect(shown(running({}), undefined)).toEqual([])
  })
})
