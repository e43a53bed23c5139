// Pods that do not exist yet: what a prediction can say of them (docs/spire-facts.md §11.16).
import { describe, expect, test } from 'vitest'
import { registrationEntries } from '@kleym/testing/at-once.ts'
import { containersOf, csid, predicted, staticEntry, verdictsOf, whyOf, type Fields } from './estate.ts'
import { TEMPLATE, workload } from '../objects/workloads.ts'

function future(spec: Fields): ReturnType<typeof predicted> {
  return predicted({ ids: [csid('a', spec)], pods: [], workloads: [workload('Deployment')] })
}

describe('the prediction for a pod that does not exist yet', () => {
  test('it is declared, with its unknown facts as placeholders', () => {
    const { prediction, pods } = future({ workloadSelectorTemplates: ['k8s:ns:{{ .PodMeta.Namespace }}'] })
    expect(registrationEntries(prediction, pods)).toMatchObject([
      {
        spiffe_id: 'spiffe://td/ns/team-a/sa/runner',
        parent_id: 'spiffe://td/spire/agent/k8s_psat/c1/<node UID>',
        selectors: [
          { type: 'k8s', value: 'ns:team-a' },
          { type: 'k8s', value: 'pod-uid:<pod UID>' },
        ],
        pod: 'Deployment team-a/llama',
        unknown: ['<node UID>', '<pod UID>'],
        depends: undefined,
      },
    ])
  })

  const rows: readonly { name: string; spec: Fields; containers: readonly string[] }[] = [
    {
      name: 'its own UID, name and node match',
      spec: {
        workloadSelectorTemplates: [
          'k8s:pod-name:{{ .PodMeta.Name }}',
          'k8s:node-name:{{ .PodSpec.NodeName }}',
        ],
      },
      containers: ['vllm a: issued', 'proxy a: issued', 'fetch a: issued'],
    },
    {
      name: 'a name written out is open',
      spec: { workloadSelectorTemplates: ['k8s:pod-name:llama-1'] },
      containers: ['vllm a: depends', 'proxy a: depends', 'fetch a: depends'],
    },
    {
      name: 'a UID written out is another pod',
      spec: { workloadSelectorTemplates: ['k8s:pod-uid:1234'] },
      containers: ['vllm a: dead', 'proxy a: dead', 'fetch a: dead'],
    },
    {
      name: "its owner's kind is known, and how the name begins",
      spec: { workloadSelectorTemplates: ['k8s:pod-owner:ReplicaSet:llama-x'] },
      containers: ['vllm a: depends', 'proxy a: depends', 'fetch a: depends'],
    },
    {
      name: 'its owner is not that of another workload',
      spec: { workloadSelectorTemplates: ['k8s:pod-owner:ReplicaSet:x'] },
      containers: ['vllm a: dead', 'proxy a: dead', 'fetch a: dead'],
    },
    {
      name: 'its owner is not the Deployment',
      spec: { workloadSelectorTemplates: ['k8s:pod-owner:Deployment:llama'] },
      containers: ['vllm a: dead', 'proxy a: dead', 'fetch a: dead'],
    },
    {
      name: 'a label that the controller adds matches itself',
      spec: {
        workloadSelectorTemplates: [
          'k8s:pod-label:pod-template-hash:{{ index .PodMeta.Labels "pod-template-hash" }}',
        ],
      },
      containers: ['vllm a: issued', 'proxy a: issued', 'fetch a: issued'],
    },
    {
      name: 'a label that the controller adds has an unknown value',
      spec: { workloadSelectorTemplates: ['k8s:pod-label:pod-template-hash:5f'] },
      containers: ['vllm a: depends', 'proxy a: depends', 'fetch a: depends'],
    },
    {
      name: '§11.16: a label that the node may give is open',
      spec: { workloadSelectorTemplates: ['k8s:pod-label:topology.kubernetes.io/zone:z1'] },
      containers: ['vllm a: depends', 'proxy a: depends', 'fetch a: depends'],
    },
    {
      name: 'a selector on a label that the controller adds is open',
      spec: { podSelector: { matchLabels: { 'pod-template-hash': '5f' } } },
      containers: ['vllm a: depends', 'proxy a: depends', 'fetch a: depends'],
    },
    {
      name: '§11.16: so is one on a label that the node may give',
      spec: {
        podSelector: {
          matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'NotIn', values: ['z1'] }],
        },
      },
      containers: ['vllm a: depends', 'proxy a: depends', 'fetch a: depends'],
    },
    {
      name: 'a SPIFFE ID from an unknown label may be no ID at all',
      spec: { spiffeIDTemplate: 'spiffe://td/{{ index .PodMeta.Labels "pod-template-hash" }}' },
      containers: ['vllm a: depends', 'proxy a: depends', 'fetch a: depends'],
    },
    {
      name: '§11.16: a SPIFFE ID from a label that the node may give cannot be predicted',
      spec: { spiffeIDTemplate: 'spiffe://td/{{ index .PodMeta.Labels "topology.kubernetes.io/zone" }}' },
      containers: ['vllm a: unknown', 'proxy a: unknown', 'fetch a: unknown'],
    },
    {
      name: '§11.16: a selector for a label that the node may give is open',
      spec: { podSelector: { matchLabels: { 'topology.kubernetes.io/zone': 'z1' } } },
      containers: ['vllm a: depends', 'proxy a: depends', 'fetch a: depends'],
    },
    {
      name: 'a DNS name from an unknown label may be refused',
      spec: { dnsNameTemplates: ['{{ index .PodMeta.Labels "pod-template-hash" }}'] },
      containers: ['vllm a: depends', 'proxy a: depends', 'fetch a: depends'],
    },
    {
      name: 'a selector whose type is an unknown label may be none',
      spec: { workloadSelectorTemplates: ['{{ index .PodMeta.Labels "pod-template-hash" }}:x'] },
      containers: ['vllm a: depends', 'proxy a: depends', 'fetch a: depends'],
    },
    {
      name: 'a SPIFFE ID from the pod name is one',
      spec: { spiffeIDTemplate: 'spiffe://td/{{ .PodMeta.Name }}' },
      containers: ['vllm a: issued', 'proxy a: issued', 'fetch a: issued'],
    },
  ]
  test.each(rows)('$name', ({ spec, containers }) => {
    expect(containersOf(future(spec))).toEqual(containers)
  })

  test('a selector whose type is an unknown label may be none, and the entry with it', () => {
    const estate = future({
      workloadSelectorTemplates: ['{{ index .PodMeta.Labels "pod-template-hash" }}:x'],
    })
    expect(verdictsOf(estate)).toEqual(['a: depends'])
    expect(whyOf(estate, 'a')).toBe(
      '.spec.workloadSelectorTemplates[0] shows <label pod-template-hash>, which is not known yet',
    )
  })

  test('a text that looks like a placeholder is none', () => {
    const template = {
      ...TEMPLATE,
      metadata: { labels: { app: 'llama' }, annotations: { uid: '<pod name>' } },
    }
    const estate = predicted({
      ids: [csid('a', { workloadSelectorTemplates: ['k8s:pod-name:{{ .PodMeta.Annotations.uid }}'] })],
      pods: [],
      workloads: [workload('Deployment', { template })],
    })
    expect(containersOf(estate)[0]).toBe('vllm a: depends')
  })

  test('static entries for a name or a label that is not known yet are listed', () => {
    const estate = predicted({
      pods: [],
      workloads: [workload('Deployment')],
      nodes: null,
      statics: [
        staticEntry('label', { selectors: ['k8s:pod-label:pod-template-hash:5f'] }),
        staticEntry('name', { spiffeID: 'spiffe://td/n', selectors: ['k8s:pod-name:llama-1'] }),
        staticEntry('other', { spiffeID: 'spiffe://td/o', selectors: ['k8s:pod-label:app:other'] }),
      ],
    })
    expect(verdictsOf(estate)).toEqual(['label: depends', 'name: depends'])
  })

  test('two workloads whose pods look alike have an entry each', () => {
    const { prediction, pods } = predicted({
      ids: [csid('a', { spiffeIDTemplate: 'spiffe://td/x' })],
      pods: [],
      workloads: [workload('Deployment'), workload('Deployment', {}, { name: 'twin' })],
    })
    expect(registrationEntries(prediction, pods).map(({ pod: of }) => of)).toEqual([
      'Deployment team-a/llama',
      'Deployment team-a/twin',
    ])
  })

  test('an entry for a pod of a known UID is not for it', () => {
    const estate = predicted({
      pods: [],
      workloads: [workload('Deployment')],
      statics: [staticEntry('named', { selectors: ['k8s:pod-uid:1234'] }), staticEntry('near')],
    })
    expect(verdictsOf(estate)).toEqual(['near: depends'])
    expect(whyOf(estate, 'near')).toBe(
      "its parent spiffe://td/spire/agent/k8s_psat/c1/node-uid-1 may not be the agent on the pod's node",
    )
  })

  test('a manifest of a pod is a future pod too', () => {
    const estate = predicted({
      ids: [csid('a')],
      pods: [
        {
          kind: 'Pod',
          metadata: { name: 'p', namespace: 'team-a' },
          spec: { containers: [{ name: 'vllm' }] },
        },
      ],
    })
    expect(estate.pods.flatMap((subject) => estate.prediction.entriesOf(subject))).toMatchObject([
      { verdict: { state: 'declared' }, entry: { spiffeId: 'spiffe://td/ns/team-a/sa/default' } },
    ])
  })
})
