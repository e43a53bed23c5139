// A default identity that gives way to a binding: every command names what is lost and what is held instead, in the same words.
import { settingsFlags } from '@kleym/testing/settings-flags.ts'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listAt, own, stringAt } from '@kleym/shared/core/base/json.ts'
import { PROJECT_ROOT } from '../support/estate.ts'
import { inProcess } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

const POOL = `apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: llama, namespace: team-a}
spec: {selector: {matchLabels: {app: llama}}}
---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceObjective
metadata: {name: chat, namespace: team-a}
spec: {poolRef: {name: llama}}
---
apiVersion: v1
kind: Namespace
metadata: {name: team-a}
---
apiVersion: v1
kind: Pod
metadata: {name: llama-0, namespace: team-a, labels: {app: llama}}
spec: {serviceAccountName: api, containers: [{name: vllm}, {name: exporter}]}
`
const DEFAULT = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: default}
spec: {fallback: true, spiffeIDTemplate: "spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}"}
`
const KEPT = DEFAULT.replace('name: default', 'name: kept').replace('fallback: true, ', '')
const BINDING = (spec: string): string => `apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: {name: chat, namespace: team-a}
spec: {poolRef: {name: llama}, serviceAccountName: api, ${spec}}
`
const POOL_ONLY = BINDING('mode: PoolOnly')
const PER_OBJECTIVE = BINDING('mode: PerObjective, objectiveRef: {name: chat}, containerName: vllm')

/** What a command says of a cluster whose SCM is known, in one line. */
async function said(
  documents: readonly string[],
  command: readonly string[],
  base: readonly string[] = [],
): Promise<string> {
  const cwd = await workspace({
    'all.yaml': documents.join('---\n'),
    'base.yaml': base.join('---\n'),
    'scm.yaml':
      'apiVersion: spire.spiffe.io/v1alpha1\nkind: ControllerManagerConfig\ntrustDomain: example.org\nclusterName: c\n',
  })
  const settings = settingsFlags()
  const against = base.length === 0 ? [] : ['--base', 'base.yaml']
  const ran = await inProcess([...command, '--offline', '-f', 'all.yaml', ...against, ...settings], cwd)
  return ran.stdout.replaceAll(/\s+/g, ' ')
}

const LOST = 'spiffe://example.org/ns/team-a/sa/api'
const WITHOUT = [POOL, DEFAULT]

test.each([
  ['explain', ['explain', 'team-a/chat'], [...WITHOUT, POOL_ONLY], []],
  ['conflicts', ['conflicts', '-A'], [...WITHOUT, POOL_ONLY], []],
  [
    'suggest',
    ['suggest', '-A'],
    WITHOUT.map((one) => one.replace(/---\napiVersion: llm-d[^]*?---\n/, '---\n')),
    [],
  ],
  ['diff', ['diff'], [...WITHOUT, POOL_ONLY], WITHOUT],
] as const)('%s names the identity that is held instead', async (_, command, documents, base) => {
  expect(await said(documents, command, base)).toContain(
    `lose ${LOST} and hold spiffe://example.org/ns/team-a/pool/llama instead`,
  )
})

test.each([
  ['explain', ['explain', 'team-a/chat'], [...WITHOUT, PER_OBJECTIVE], []],
  ['conflicts', ['conflicts', '-A'], [...WITHOUT, PER_OBJECTIVE], []],
  ['diff', ['diff'], [...WITHOUT, PER_OBJECTIVE], WITHOUT],
] as const)(
  '%s tells a container that is left with none from one that is not',
  async (_, command, documents, base) => {
    const text = await said(documents, command, base)
    expect(text).toMatch(/loses \S+\/sa\/api and holds \S+\/objective\/chat instead/)
    expect(text).toMatch(/exporter.* left without an identity/)
  },
)

function isBinding(document: string): boolean {
  return document.includes('kind: InferenceIdentityBinding')
}

test('on manifests that the chart of llm-d renders, all commands name the same losses', async () => {
  const path = join(PROJECT_ROOT, 'test/svid/llm-d/prefill-decode.yaml')
  const rendered = (await readFile(path, 'utf8')).split(/^---\n/m)
  const before = [...rendered.filter((one) => !isBinding(one)), DEFAULT]
  const after = [...before, ...rendered.filter(isBinding)]
  const asked = [
    ['explain', ['explain', '-A', '-o', 'wide'], after, []],
    ['conflicts', ['conflicts', '-A', '-o', 'wide'], after, []],
    ['suggest', ['suggest', '-A'], before, []],
    ['diff', ['diff'], after, before],
    ['map', ['map', '-A', '-o', 'html'], after, []],
  ] as const
  const named = new Map<string, readonly string[]>()
  for (const [command, args, documents, base] of asked) {
    const text = await said(documents, [...args, '--variant-label-key', 'llm-d.ai/role'], base)
    const losses = [...text.matchAll(/loses? (\S+) and holds? (\S+) instead/g)]
    named.set(command, [...new Set(losses.map(([, lost, instead]) => `${lost} ${instead}`))].toSorted())
  }
  const [first, ...others] = named.values()
  expect(first?.length).toBe(2)
  expect(others).toEqual(others.map(() => first))
})

test('what a registration that is no fallback gives all the same is not lost', async () => {
  for (const command of [
    ['explain', 'team-a/chat'],
    ['conflicts', '-A'],
  ])
    expect(await said([...WITHOUT, KEPT, POOL_ONLY], command)).not.toMatch(/\bloses?\b/)
})

test('a container that another binding gives its identity is named by that binding alone', async () => {
  const other = PER_OBJECTIVE.replace('name: chat, namespace', 'name: sql, namespace')
    .replace('{name: chat}, container', '{name: sql}, container')
    .replace('vllm', 'exporter')
  const objective = POOL.split('---\n')[1]?.replace('name: chat', 'name: sql') ?? ''
  const text = await said([...WITHOUT, objective, PER_OBJECTIVE, other], ['explain', 'team-a/chat'])
  expect(text).toContain('vllm loses')
  expect(text).not.toContain('exporter loses')
})

const MESHED = POOL.replace(
  /spec: \{serviceAccountName: api.*/,
  `spec:
  serviceAccountName: api
  containers:
    - {name: vllm, volumeMounts: [{name: socket, mountPath: /spiffe-workload-api}]}
    - {name: istio-proxy, volumeMounts: [{name: socket, mountPath: /run/secrets/workload-spiffe-uds}]}
  volumes: [{name: socket, csi: {driver: csi.spiffe.io, readOnly: true}}]`,
)

test('a proxy that would lose the identity of its mesh is an error, and suggest keeps it by a registration that is applied first', async () => {
  const wrong = await said([MESHED, DEFAULT, PER_OBJECTIVE], ['conflicts', '-A'])
  expect(wrong).toContain(`istio-proxy of 1 pod loses ${LOST} and is left without an identity`)
  expect(wrong).toContain('KLM441')
  const text = await said([MESHED, DEFAULT], ['suggest', '-A'])
  expect(text).toContain('PerObjective chat for container vllm')
  expect(text).toContain('apply first: ClusterSPIFFEID/team-a.llama.istio-proxy')
  const json = await said([MESHED, DEFAULT], ['suggest', '-A', '-o', 'json'])
  const [companion, ...others] = listAt(JSON.parse(json), 'pools').flatMap((pool) =>
    listAt(pool, 'suggested').flatMap((one) => [...listAt(one, 'companions'), own(one, 'manifest')]),
  )
  expect([stringAt(companion, 'kind'), ...others.map((one) => stringAt(one, 'kind'))]).toEqual([
    'ClusterSPIFFEID',
    'InferenceIdentityBinding',
  ])
  const applied = [companion, ...others].map((one) => `${JSON.stringify(one)}\n`)
  expect(await said([MESHED, DEFAULT, ...applied], ['conflicts', '-A'])).not.toMatch(/[✗!]/)
})

test('without an objective nothing is suggested for a pod with such a proxy, with the reason', async () => {
  const text = await said(
    [MESHED, DEFAULT].map((one) => one.replace(/---\napiVersion: llm-d[^]*?---\n/, '---\n')),
    ['suggest', '-A'],
  )
  expect(text).toMatch(/PoolOnly: impossible \(KLM440\).*Without an objective it is impossible/)
})

test('a proxy of the node cannot take the identity of one container', async () => {
  const ambient = POOL.replace('{name: team-a}', '{name: team-a, labels: {istio.io/dataplane-mode: ambient}}')
  expect(await said([ambient, PER_OBJECTIVE], ['conflicts', '-A'])).toContain('KLM442')
  expect(await said([ambient, POOL_ONLY], ['conflicts', '-A'])).not.toContain('KLM442')
})

test('a container that a webhook may add is said to lose perhaps', async () => {
  const injected = POOL.replace(
    '{name: team-a}',
    '{name: team-a, labels: {istio-injection: enabled}}',
  ).replace(
    /apiVersion: v1\nkind: Pod\n[^]*/,
    `apiVersion: apps/v1
kind: Deployment
metadata: {name: llama, namespace: team-a}
spec:
  selector: {matchLabels: {app: llama}}
  template:
    metadata: {labels: {app: llama}}
    spec: {serviceAccountName: api, containers: [{name: vllm}]}
`,
  )
  const named = DEFAULT.replace('name: default', 'name: proxy').replace(
    /spec: .*/,
    'spec: {spiffeIDTemplate: "spiffe://{{ .TrustDomain }}/proxy", workloadSelectorTemplates: ["k8s:container-name:istio-proxy"]}',
  )
  const text = await said([injected, DEFAULT, named, POOL_ONLY], ['explain', 'team-a/chat'])
  expect(text).toMatch(/istio-proxy perhaps loses/)
})

/** A second fallback, of another ID. */
const TIER = DEFAULT.replace('name: default', 'name: tier').replace(
  /"spiffe:.*"/,
  '"spiffe://{{ .TrustDomain }}/tier"',
)
/** A registration of others, for one container. */
const TEAM = KEPT.replace('name: kept', 'name: team').replace(
  /spec: .*/,
  'spec: {spiffeIDTemplate: "spiffe://{{ .TrustDomain }}/team", workloadSelectorTemplates: ["k8s:container-name:vllm"]}',
)
/** The registration of the proxy that stands beside a binding. */
const COMPANION = KEPT.replace('fallback: true, ', '').replace(
  'spec: {',
  'spec: {workloadSelectorTemplates: ["k8s:container-name:istio-proxy"], ',
)

test('explain names what a proxy loses of a second fallback, although a registration gives it another ID', async () => {
  const text = await said([MESHED, DEFAULT, TIER, PER_OBJECTIVE, COMPANION], ['explain', 'team-a/chat'])
  expect(text).toContain(
    `istio-proxy loses spiffe://example.org/tier and keeps ${LOST} (ClusterSPIFFEID/tier is a fallback and gives way to ClusterSPIFFEID/kept)`,
  )
})

test('what a container has all the same it keeps, in every command', async () => {
  const entry = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: tier-of-exporter}
spec: {workloadSelectorTemplates: ["k8s:container-name:exporter"], spiffeIDTemplate: "spiffe://{{ .TrustDomain }}/tier"}
`
  // One fallback gives the exporter what a registration that is applied with the binding gives it too.
  const before = [...WITHOUT, TIER]
  const after = [...before, PER_OBJECTIVE, entry]
  const loss = `loses ${LOST} and keeps spiffe://example.org/tier`
  expect(await said(after, ['explain', 'team-a/chat'])).toContain(`exporter ${loss}`)
  expect(await said(after, ['conflicts', '-A'])).toContain(`exporter of 1 pod ${loss}`)
  expect(await said(after, ['diff'], before)).toContain(`1 container ${loss}`)
})

test('two fallbacks of one ID are one loss, and it is certain', async () => {
  const two = [...WITHOUT, DEFAULT.replace('name: default', 'name: default-2')]
  const loss = `${LOST} and hold spiffe://example.org/ns/team-a/pool/llama instead`
  const asked = [
    [['explain', 'team-a/chat'], [...two, POOL_ONLY], []],
    [['conflicts', '-A'], [...two, POOL_ONLY], []],
    [['diff'], [...two, POOL_ONLY], two],
    [['suggest', '-A'], two.map((one) => one.replace(/---\napiVersion: llm-d[^]*?---\n/, '---\n')), []],
  ] as const
  for (const [command, documents, base] of asked) {
    const text = await said(documents, command, base)
    expect(text).toContain(`lose ${loss}`)
    expect(text.replaceAll(/perhaps hold/g, '')).not.toMatch(/perhaps|undetermined|gains? spiffe/)
  }
})

test('no binding is blamed for what others displace without it, and explain says who does', async () => {
  const text = await said([...WITHOUT, TEAM, POOL_ONLY], ['conflicts', '-A'])
  expect(text).toContain('ClusterSPIFFEID/team, ClusterSPIFFEID/default: default identity replaced')
  expect(text).not.toContain('team-a/chat, ClusterSPIFFEID/default')
  const explained = await said([...WITHOUT, TEAM, POOL_ONLY], ['explain', 'team-a/chat'])
  expect(explained).toContain('is a fallback and gives way to ClusterSPIFFEID/team)')
  expect(explained).not.toContain('KLM418')
})

const ENTRY = (parent: string): string => `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterStaticEntry
metadata: {name: proxies}
spec:
  spiffeID: ${LOST}
  parentID: spiffe://example.org/${parent}
  selectors: ["k8s:ns:team-a", "k8s:container-name:istio-proxy"]
`

test.each(['spire/agent/k8s_psat/c/node', 'agents'])(
  'whether a static entry under %s gives the proxy its ID is open in every command alike',
  async (parent) => {
    const before = [MESHED, DEFAULT, ENTRY(parent)]
    const after = [...before, PER_OBJECTIVE]
    const conflicts = await said(after, ['conflicts', '-A'])
    expect(conflicts).toContain(`istio-proxy of 1 pod loses ${LOST} and is left without an identity`)
    expect(conflicts.match(/depends: its parent/g)?.length).toBe(2)
    expect(await said(after, ['explain', 'team-a/chat'])).toMatch(
      /istio-proxy perhaps loses \S+\/sa\/api and is left without an identity .*: its parent/,
    )
    expect(await said(after, ['diff'], before)).toMatch(
      /1 container undetermined: istio-proxy of team-a\/llama-0 ClusterStaticEntry\/proxies: its parent/,
    )
  },
)

test('a pod of another service account is missed for that, and not for its containers', async () => {
  const other = PER_OBJECTIVE.replace('serviceAccountName: api', 'serviceAccountName: other')
  const text = await said([...WITHOUT, other], ['explain', 'team-a/chat'])
  expect(text).toContain("not matched llama-0: the pod's service account is api")
})

test('migrate tells of the fallback what suggest does, and of the registration for the proxy that it must stay', async () => {
  const before = await said([MESHED, DEFAULT], ['migrate', '-A'])
  expect(before).toContain('bindings can take the place of 1 ClusterSPIFFEID: default')
  expect(before).toContain('apply first: ClusterSPIFFEID/team-a.llama.istio-proxy')
  expect(before).toContain(
    `vllm of pod team-a/llama-0: loses ${LOST} and holds spiffe://example.org/ns/team-a/objective/chat instead istio-proxy of pod team-a/llama-0: ${LOST}, as before`,
  )
  const after = await said([MESHED, DEFAULT, PER_OBJECTIVE, COMPANION], ['migrate', '-A'])
  expect(after).toContain('1 ClusterSPIFFEID must stay, at least in part: kept')
  expect(after).not.toMatch(/KLM4|✗/)
})

test('two containers that lose the default have its reason and their pod once', async () => {
  const second = PER_OBJECTIVE.replaceAll('name: chat', 'name: probe').replace('vllm', 'exporter')
  const objective = POOL.split('---\n')[1]?.replace('name: chat', 'name: probe') ?? ''
  const text = await said([...WITHOUT, objective, PER_OBJECTIVE, second], ['conflicts', '-A'])
  expect(text).toMatch(
    /exporter of 1 pod loses .*vllm of 1 pod loses|vllm of 1 pod loses .*exporter of 1 pod loses/,
  )
  const [, told = ''] = text.split('default identity replaced: 2')
  expect(told.split('is a fallback and gives way')).toHaveLength(2)
  expect(told.split('seen in pod team-a/llama-0')).toHaveLength(2)
})
