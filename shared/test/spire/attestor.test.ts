// docs/spire-facts.md §6 and traps 13, 17, 18: which selectors a container has, and so which entries it is issued.
import { describe, expect, test } from 'vitest'
import { judgeContainer } from '../../src/core/predict/spire/attestor.ts'
import { containerVerdicts } from '../../src/core/predict/spire/registration.ts'
import { readSnapshot } from '../../src/core/snapshot/snapshot.ts'
import { readPod, type Container, type Pod } from '../../src/core/model/objects/pod.ts'
import type { RenderedEntry } from '../../src/core/predict/spire/prediction.ts'
import { containersOf, csid, pod, predicted, staticEntry, type Fields } from './estate.ts'

const STATUS = {
  containerStatuses: [
    { name: 'vllm', image: 'docker.io/library/vllm:1', imageID: 'docker.io/library/vllm@sha256:1' },
  ],
  initContainerStatuses: [{ name: 'proxy', image: 'proxy:1', imageID: '' }],
}
const RUNNING = pod('p', {
  meta: { ownerReferences: [{ kind: 'ReplicaSet', name: 'llama-5f', uid: 'rs-uid' }] },
  spec: {
    containers: [{ name: 'vllm' }],
    initContainers: [{ name: 'proxy', restartPolicy: 'Always' }, { name: 'fetch' }],
    ephemeralContainers: [{ name: 'debug' }],
  },
  status: STATUS,
})

function entryWith(selector: string): RenderedEntry {
  const at = selector.indexOf(':')
  return {
    spiffeId: 'spiffe://td/x',
    parentId: 'spiffe://td/y',
    selectors: [{ type: selector.slice(0, at), value: selector.slice(at + 1), placeholders: [] }],
    dnsNames: [],
    x509SvidTtl: 0,
    jwtSvidTtl: 0,
    federatesWith: [],
    hint: '',
    admin: false,
    downstream: false,
    storeSvid: false,
    placeholders: [],
  }
}

function judged(raw: Fields, container: string, selector: string): string {
  const subject: Pod = readPod({ value: raw })
  const found: Container | undefined = subject.containers.find(({ name }) => name === container)
  if (found === undefined) throw new Error(`there is no container ${container}`)
  const match = judgeContainer(subject, found, entryWith(selector))
  return match.state === 'issued' ? 'issued' : `${match.state}: ${match.why}`
}

describe('§6: each selector, on a running pod', () => {
  const rows: readonly [selector: string, container: string, verdict: string][] = [
    ['k8s:ns:team-a', 'vllm', 'issued'],
    ['k8s:ns:team-b', 'vllm', "dead: the pod's namespace is team-a"],
    ['k8s:sa:runner', 'vllm', 'issued'],
    ['k8s:sa:Runner', 'vllm', "dead: the pod's service account is runner"],
    ['k8s:node-name:n1', 'vllm', 'issued'],
    ['k8s:pod-uid:pod-uid-p', 'vllm', 'issued'],
    ['k8s:pod-uid:pod-uid-q', 'vllm', "dead: the pod's UID is pod-uid-p"],
    ['k8s:pod-name:p', 'vllm', 'issued'],
    ['k8s:pod-label:app:llama', 'vllm', 'issued'],
    ['k8s:pod-label:app:other', 'vllm', "dead: the pod's label app is llama"],
    ['k8s:pod-label:role:x', 'vllm', 'dead: the pod has no label role'],
    ['k8s:pod-label:app', 'vllm', 'dead: a pod-label selector is of the form key:value'],
    ['k8s:pod-owner:ReplicaSet:llama-5f', 'vllm', 'issued'],
    ['k8s:pod-owner:Deployment:llama', 'vllm', "dead: the pod's owner is ReplicaSet:llama-5f"],
    ['k8s:pod-owner-uid:ReplicaSet:rs-uid', 'vllm', 'issued'],
    ['k8s:pod-owner-uid:ReplicaSet:other', 'vllm', "dead: the pod's owner is ReplicaSet:rs-uid"],
    ['k8s:pod-image-count:1', 'vllm', 'issued'],
    ['k8s:pod-image-count:2', 'vllm', 'dead: the status lists 1'],
    ['k8s:pod-init-image-count:1', 'vllm', 'issued'],
    ['k8s:pod-image:docker.io/library/vllm@sha256:1', 'proxy', 'issued'],
    ['k8s:pod-image:vllm:1', 'vllm', 'dead: no container of the pod runs this image'],
    [
      'k8s:pod-init-image:other',
      'vllm',
      'depends: images are known under the names that the node reports after pulling them',
    ],
    ['k8s:pod-init-image:proxy:1', 'vllm', 'issued'],
    ['k8s:pod-init-image-count:2', 'vllm', 'dead: the status lists 1'],
    ['k8s:container-name:vllm', 'vllm', 'issued'],
    ['k8s:container-name:VLLM', 'vllm', 'dead: this container is vllm'],
    ['k8s:container-name:debug', 'debug', 'dead: SPIRE does not attest ephemeral containers'],
    ['K8S:ns:team-a', 'vllm', 'depends: K8S selectors are known only on the node'],
    ['k8s:container-name:vllm', 'proxy', 'dead: this container is proxy'],
    ['k8s:container-name:proxy', 'proxy', 'issued'],
    ['k8s:container-name:fetch', 'fetch', 'issued'],
    ['k8s:container-image:docker.io/library/vllm:1', 'vllm', 'issued'],
    [
      'k8s:container-image:vllm:1',
      'vllm',
      'dead: this container runs docker.io/library/vllm:1, docker.io/library/vllm@sha256:1',
    ],
    [
      'k8s:container-image:other',
      'proxy',
      'depends: images are known under the names that the node reports after pulling them',
    ],
    ['k8s:ns-label:a:b', 'vllm', 'depends: only agents with enable_namespace_labels tell namespace labels'],
    [
      'k8s:image-signature-subject:x',
      'vllm',
      'depends: only agents with sigstore set up tell image signatures',
    ],
    [
      'k8s:image-attestations:verified',
      'vllm',
      'depends: only agents with sigstore set up tell image signatures',
    ],
    ['k8s:container:vllm', 'vllm', 'dead: SPIRE knows no such selector'],
    ['k8s:ns', 'vllm', 'dead: SPIRE knows no such selector'],
    ['unix:uid:1000', 'vllm', 'depends: unix selectors are known only on the node'],
    ['docker:label:a:b', 'vllm', 'depends: docker selectors are known only on the node'],
    ['k8s:ns:team-a', 'debug', 'dead: SPIRE does not attest ephemeral containers'],
  ]
  test.each(rows)('%s on %s: %s', (selector, container, verdict) => {
    expect(judged(RUNNING, container, selector)).toBe(verdict)
  })

  test('trap 18: a static pod may run under another UID than its mirror', () => {
    const mirror = pod('p', { meta: { annotations: { 'kubernetes.io/config.mirror': 'x' } } })
    expect(judged(mirror, 'vllm', 'k8s:pod-uid:pod-uid-p')).toMatch(/^depends: /)
  })

  test('trap 17: before a pod has a status its images are not known', () => {
    expect(judged(pod('p'), 'vllm', 'k8s:container-image:vllm:1')).toMatch(/^depends: /)
    expect(judged(pod('p'), 'vllm', 'k8s:pod-image:vllm:1')).toMatch(/^depends: /)
    expect(judged(pod('p'), 'vllm', 'k8s:pod-image-count:1')).toMatch(/^depends: /)
  })
})

function agentConfig(name: string, option: string): Fields {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'spire' },
    data: { 'agent.conf': `plugins { WorkloadAttestor "k8s" { plugin_data { ${option} } } }` },
  }
}

const NAMESPACE = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'team-a', labels: { tenant: 'yes' } },
}
const TOLD = 'enable_namespace_labels = true'

/** What the first pod, or the first template, of some objects makes of a selector. */
function judgedAmong(selector: string, ...objects: readonly Fields[]): string {
  const { pods, templates } = readSnapshot({ objects: objects.map((value) => ({ value })) })
  const [subject] = [...pods.read, ...templates.read]
  const container = subject?.containers[0]
  if (subject === undefined || container === undefined) throw new Error('there is no pod')
  const match = judgeContainer(subject, container, entryWith(selector))
  return match.state === 'issued' ? 'issued' : `${match.state}: ${match.why}`
}

describe('the labels of a namespace', () => {
  test.each<[what: string, selector: string, objects: readonly Fields[], says: string]>([
    ['told, and there', 'tenant:yes', [agentConfig('a', TOLD), NAMESPACE], 'issued'],
    [
      'told, with another value',
      'tenant:no',
      [agentConfig('a', TOLD), NAMESPACE],
      'dead: the namespace has no label tenant=no',
    ],
    ['told, of a Namespace that was not given', 'tenant:yes', [agentConfig('a', TOLD)], 'depends: '],
    [
      'of no form',
      'tenant',
      [agentConfig('a', TOLD), NAMESPACE],
      'dead: an ns-label selector is of the form key:value',
    ],
    [
      'not told',
      'tenant:yes',
      [agentConfig('a', ''), NAMESPACE],
      'dead: the agent tells no namespace labels',
    ],
    [
      'told by one of two agents',
      'tenant:yes',
      [agentConfig('a', TOLD), agentConfig('b', ''), NAMESPACE],
      'depends: ',
    ],
    [
      'told where a variable says so',
      'tenant:yes',
      [agentConfig('a', 'enable_namespace_labels = ${ON}'), NAMESPACE],
      'depends: ',
    ],
    ['of an agent that is not among the objects', 'tenant:yes', [NAMESPACE], 'depends: '],
  ])('%s', (_, selector, objects, says) => {
    expect(judgedAmong(`k8s:ns-label:${selector}`, RUNNING, ...objects)).toContain(says)
  })
})

const TEMPLATE = { metadata: { labels: { app: 'llama' } }, spec: { containers: [{ name: 'vllm' }] } }
const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'llama', namespace: 'team-a' },
  spec: { template: TEMPLATE },
}
const CRON_JOB = {
  ...DEPLOYMENT,
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  spec: { jobTemplate: { spec: { template: TEMPLATE } } },
}

test.each<[selector: string, workload: Fields, state: RegExp]>([
  ['pod-owner:ReplicaSet:llama-5f', DEPLOYMENT, /^depends/],
  ['pod-owner:ReplicaSet:other-5f', DEPLOYMENT, /^dead/],
  ['pod-owner-uid:ReplicaSet:other-5f', DEPLOYMENT, /^depends/],
  ['pod-owner:Job:llama-28391023', CRON_JOB, /^depends/],
  ['pod-owner:Job:llama', CRON_JOB, /^dead/],
])('%s: of a pod to come the owner has a name that its workload gives', (selector, workload, state) => {
  expect(judgedAmong(`k8s:${selector}`, workload)).toMatch(state)
})

/** Whether each registration shares its hint: two are issued, the third is ignored. */
function hintFlags(hint: string): readonly boolean[] {
  const ids = ['a', 'b', 'c'].map((name) =>
    csid(name, {
      spiffeIDTemplate: `spiffe://td/${name}`,
      hint,
      ...(name === 'c' ? { className: 'y' } : {}),
    }),
  )
  const { prediction, pods } = predicted({ ids })
  return pods.flatMap((subject) =>
    subject.containers.flatMap((container) =>
      containerVerdicts(prediction, subject, container).map(({ sharesHint }) => sharesHint),
    ),
  )
}

describe('the registrations of a container', () => {
  test('issued ones come first, then the order is that of the SPIFFE IDs and the sources', () => {
    const ids = [
      csid('a', { spiffeIDTemplate: 'spiffe://td/a', className: 'y' }),
      csid('b', { spiffeIDTemplate: 'spiffe://td/z' }),
      csid('c', { spiffeIDTemplate: 'spiffe://td/b', workloadSelectorTemplates: ['k8s:ns:team-b'] }),
      csid('d', { spiffeIDTemplate: '' }),
      csid('e', { spiffeIDTemplate: 'spiffe://td/y', workloadSelectorTemplates: ['unix:uid:1'] }),
    ]
    expect(containersOf(predicted({ ids }))).toEqual([
      'vllm b: issued',
      'vllm a: ignored',
      'vllm c: dead',
      'vllm e: depends',
      'vllm d: failed',
    ])
  })

  test('selectors that cannot match settle it for a container, whatever else becomes of the entry', () => {
    const scoped = { workloadSelectorTemplates: ['k8s:container-name:other'] }
    const ids = [
      csid('a', { ...scoped, className: 'y' }),
      csid('b'),
      csid('c', { ...scoped, fallback: true }),
    ]
    expect(containersOf(predicted({ ids }))).toEqual(['vllm b: issued', 'vllm a: dead', 'vllm c: dead'])
  })

  test('§2: a parent that may be the real agent behind the parent ID of SCM is open', () => {
    const agent = 'spiffe://td/spire/agent/k8s_psat/c1/node-uid-1'
    const custom = { parentIDTemplate: 'spiffe://td/nodes/{{ .NodeMeta.Name }}' }
    const listed = [
      { parentID: agent, config: custom },
      { parentID: `${agent}/pod/uid`, config: {} },
      { parentID: `${agent}1`, config: {} },
    ].map(({ parentID, config }) =>
      containersOf(predicted({ statics: [staticEntry('s', { parentID })], config })),
    )
    expect(listed).toEqual([['vllm s: depends'], ['vllm s: depends'], []])
  })

  test.each<[what: string, selectors: readonly string[], verdict: string]>([
    ['all agents of the cluster', ['k8s_psat:cluster:c1'], 'issued'],
    ['the agent of the node', ['k8s_psat:cluster:c1', 'k8s_psat:agent_node_name:n1'], 'issued'],
    ['that of another node', ['k8s_psat:agent_node_name:n2'], 'depends'],
    ['agents of another cluster', ['k8s_psat:cluster:c2'], 'depends'],
    [
      'agents with a label of their node',
      ['k8s_psat:cluster:c1', 'k8s_psat:agent_node_label:a:b'],
      'depends',
    ],
  ])('§6: an alias as parent, which another static entry gives %s', (_, selectors, verdict) => {
    const parentID = 'spiffe://td/nodes'
    const nodes = staticEntry('nodes', {
      spiffeID: parentID,
      parentID: 'spiffe://td/spire/server',
      selectors,
    })
    const statics = [staticEntry('s', { parentID }), nodes]
    expect(containersOf(predicted({ statics }))).toEqual([`vllm s: ${verdict}`])
  })

  test.each<[what: string, dnsNames: readonly string[], verdicts: readonly string[]]>([
    ['is good', ['a.example'], ['vllm s: issued']],
    ['is good, and another may be refused', ['a.example', 'a.xn--wgbl6a'], ['vllm s: depends']],
    ['may be refused, and another is', ['a.xn--wgbl6a', '-a'], ['vllm s: refused']],
  ])('a static entry, if one of its DNS names %s', (_, dnsNames, verdicts) => {
    expect(containersOf(predicted({ statics: [staticEntry('s', { dnsNames })] }))).toEqual(verdicts)
  })

  test('trap 18: a static entry by the UID of a mirror pod is listed, as the kubelet may use another', () => {
    const estate = predicted({
      pods: [pod('p', { meta: { annotations: { 'kubernetes.io/config.mirror': 'x' } } })],
      statics: [staticEntry('s', { selectors: ['k8s:pod-uid:from-the-file'] })],
    })
    expect(containersOf(estate)).toEqual(['vllm s: depends'])
  })

  test('a dead one names the selector', () => {
    const { prediction, pods } = predicted({
      ids: [csid('a', { workloadSelectorTemplates: ['k8s:sa:other'] })],
    })
    const [subject] = pods
    const [container] = subject?.containers ?? []
    if (subject === undefined || container === undefined) throw new Error('there is no container')
    expect(containerVerdicts(prediction, subject, container)).toMatchObject([
      { verdict: 'dead', selector: 'k8s:sa:other', why: "the pod's service account is runner" },
    ])
  })

  test('trap 13: an equal hint of two issued identities is flagged, an empty one is not', () => {
    expect(hintFlags('same')).toEqual([true, true, false])
    expect(hintFlags('')).toEqual([false, false, false])
  })

  test('a static entry is listed where its selectors and its parent may fit', () => {
    const statics = [
      staticEntry('alias', { parentID: 'spiffe://td/all-nodes' }),
      staticEntry('elsewhere', { selectors: ['k8s:ns:team-b'] }),
      staticEntry('here'),
      staticEntry('node', { parentID: 'spiffe://td/spire/server', selectors: ['k8s_psat:cluster:c1'] }),
      staticEntry('other-node', { parentID: 'spiffe://td/spire/agent/k8s_psat/c1/node-uid-2' }),
      staticEntry('stored', { spiffeID: 'spiffe://td/stored', storeSVID: true }),
      staticEntry('scoped', {
        spiffeID: 'spiffe://td/scoped',
        selectors: ['k8s:ns:team-a', 'k8s:container-name:other'],
      }),
    ]
    expect(containersOf(predicted({ statics }))).toEqual([
      'vllm here: issued',
      'vllm scoped: dead',
      'vllm alias: depends',
    ])
  })
})
