// `suggest` as a person runs it: what can be applied, what cannot be had, and that names from files stay names.
import { parseAllDocuments } from 'yaml'
import { describe, expect, test } from 'vitest'
import { toDocuments } from '../../../src/answers/suggest/documents.ts'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { ESTATE_FLAGS, PROJECT_ROOT } from '../../support/estate.ts'
import { workspace } from '../../support/workspace.ts'
import { SCM_CONFIG } from '../../support/chat-world.ts'

const SETTINGS = [
  '--trust-domain',
  'example.org',
  '--clusterspiffeid-class-name',
  '',
  '--variant-label-key',
  'role',
  '--scm-config',
  'scm.yaml',
]
const POOL = `apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: { name: llama, namespace: team-a }
spec: { selector: { matchLabels: { app: llama } } }
`
const WORKLOAD = `apiVersion: apps/v1
kind: Deployment
metadata: { name: llama, namespace: team-a }
spec:
  selector: { matchLabels: { app: llama } }
  template:
    metadata: { labels: { app: llama } }
    spec: { serviceAccountName: runner, containers: [{ name: vllm }] }
`

async function suggest(files: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Ran> {
  const cwd = await workspace({ 'scm.yaml': SCM_CONFIG, ...files })
  const read = Object.keys(files).flatMap((name) => ['-f', name])
  return inProcess(['suggest', ...args, '--offline', ...read, ...SETTINGS], cwd)
}

test('the first lines say what there is to apply, what it would bring, and how', async () => {
  const { stdout, code } = await suggest({ 'all.yaml': `${POOL}---\n${WORKLOAD}` }, '-A')
  expect(code).toBe(0)
  expect(stdout.split('\n').slice(0, 4)).toEqual([
    '! 1 binding suggested for 1 pool',
    '  look at what they would bring: an identity without a way to the Workload API',
    '    (KLM430)',
    '  apply them: kubectl kleym suggest -n team-a -f all.yaml --offline',
  ])
  expect(stdout).toContain('spiffe://example.org/ns/team-a/pool/llama')
  expect(stdout).toContain('gain: vllm of Deployment team-a/llama')
})

test('-o yaml is bindings that the same command then takes as they are', async () => {
  const all = `${POOL}---\n${WORKLOAD}`
  const { stdout } = await suggest({ 'all.yaml': all }, '-A', '-o', 'yaml')
  expect(parseAllDocuments(stdout).map((one): unknown => one.toJS())).toEqual([
    {
      apiVersion: 'kleym.sonda.red/v1alpha1',
      kind: 'InferenceIdentityBinding',
      metadata: { name: 'llama', namespace: 'team-a' },
      spec: { mode: 'PoolOnly', poolRef: { name: 'llama' }, serviceAccountName: 'runner' },
    },
  ])
  const again = await suggest({ 'all.yaml': all, 'bindings.yaml': stdout }, '-A')
  expect(again.stdout.split('\n')[0]).toBe('· no binding is suggested: 1 pool has one already')
  expect(again.code).toBe(0)
})

test('no line break in a text ends a comment', async () => {
  const hostile = ['x\n---\nkind: Secret', 'y\r\u2028kind: Pod\u0085a: b', '##[group]::error::z']
  const stdout = await toDocuments(hostile, [{ comments: hostile, manifest: { kind: 'Only' } }])
  const lines = stdout.split(/[\n\r\u2028\u2029\u0085]/).filter((line) => line !== '')
  expect(lines.filter((line) => !line.startsWith('#'))).toEqual(['---', 'kind: Only'])
  expect(stdout).toContain(String.raw`# x\n---\nkind: Secret`)
  expect(parseAllDocuments(stdout).map((one): unknown => one.toJS())).toEqual([{ kind: 'Only' }])
})

test('a pool without pods has none, and says why in the first line', async () => {
  const { stdout, code } = await suggest({ 'all.yaml': POOL }, '-A')
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    '! no binding is suggested: 1 pool has none: team-a/llama, not proven: its pods are not among the files: no pod and no pod template has its labels (app=llama)',
  )
  expect(code).toBe(4)
})

describe('beside an object whose controller makes pools', () => {
  const maker =
    'apiVersion: kaito.sh/v1beta1\nkind: Workspace\nmetadata: { name: phi, namespace: team-a }\ninference: { preset: { name: phi } }\n'
  const chat =
    'apiVersion: llm-d.ai/v1alpha2\nkind: InferenceObjective\nmetadata: { name: chat, namespace: team-a }\nspec: { poolRef: { name: phi-pool } }\n'

  test('the pool of an objective is not among the files: 4', async () => {
    const { stderr, code } = await suggest({ 'all.yaml': `${maker}---\n${chat}` }, 'objective/team-a/chat')
    expect(stderr).toContain('cannot tell which pool the objective targets')
    expect(stderr).toContain('Workspace.kaito.sh team-a/phi')
    expect(code).toBe(4)
  })

  test('the document of the pool of an objective could not be read: 4', async () => {
    const unread =
      'apiVersion: inference.networking.k8s.io/v1\nkind: InferencePool\nmetadata: { name: phi-pool, namespace: team-a }\nspec: [\n'
    const { stderr, code } = await suggest({ 'all.yaml': `${chat}---\n${unread}` }, 'objective/team-a/chat')
    expect(stderr).toContain('cannot tell which pool the objective targets')
    expect(code).toBe(4)
  })

  test('that there is no pool is no fault of the question: 4', async () => {
    const { stdout, code } = await suggest({ 'all.yaml': maker }, '-A')
    expect(stdout).toContain('nothing was checked: no InferencePool is among the files')
    expect(stdout).toContain('Workspace.kaito.sh team-a/phi')
    expect(code).toBe(4)
  })

  test('without one, an objective that names no pool is to be corrected: 3', async () => {
    const { stderr, code } = await suggest({ 'all.yaml': chat }, 'objective/team-a/chat')
    expect(stderr).toContain('correct its .spec.poolRef')
    expect(code).toBe(3)
  })
})

test('pods of a kind that is not read leave it open: 4, and what would settle it', async () => {
  const rollout = WORKLOAD.replace('apps/v1', 'argoproj.io/v1alpha1').replace('Deployment', 'Rollout')
  const { stdout, stderr, code } = await suggest({ 'all.yaml': `${POOL}---\n${rollout}` }, '-A')
  expect(code).toBe(4)
  expect(stdout).toContain('not proven')
  expect(stderr).toContain('Rollout.argoproj.io team-a/llama')
})

test('settings that are not given make it no surer: 4', async () => {
  const cwd = await workspace({ 'all.yaml': `${POOL}---\n${WORKLOAD}` })
  const { stdout, code } = await inProcess(['suggest', '-A', '--offline', '-f', 'all.yaml'], cwd)
  expect(code).toBe(4)
  expect(stdout.split('\n')[0]).toContain('on assumed settings')
})

test('only what is named', async () => {
  const other = POOL.replace('name: llama', 'name: gemma')
  const files = { 'all.yaml': [POOL, other, WORKLOAD].join('---\n') }
  const names = async (...words: readonly string[]): Promise<string> =>
    (await suggest(files, ...words, '-o', 'name')).stdout
  expect(await names('pool/team-a/gemma')).toContain('/team-a/gemma\n')
  expect(await names('pool/team-a/gemma')).not.toContain('/team-a/llama\n')
  expect((await names('deployment/team-a/llama')).split('\n')).toHaveLength(3)
  expect((await suggest(files, 'pool/team-a/lama')).code).toBe(3)
  expect((await suggest(files, 'node/n1')).code).toBe(2)
  expect((await suggest(files, 'llama')).code).toBe(2)
})

test('every suggestion for the estate is one that the estate then takes', async () => {
  const { stdout } = await inProcess(['suggest', '-A', ...ESTATE_FLAGS, '-o', 'yaml'], PROJECT_ROOT)
  const cwd = await workspace({ 'bindings.yaml': stdout })
  const args = ['explain', '-A', ...ESTATE_FLAGS, '-f', `${cwd}/bindings.yaml`, '-o', 'json']
  const report = JSON.parse((await inProcess(args, PROJECT_ROOT)).stdout)
  const keys = parseAllDocuments(stdout).map(
    (one) => `${String(one.getIn(['metadata', 'namespace']))}/${String(one.getIn(['metadata', 'name']))}`,
  )
  expect(keys.length).toBeGreaterThan(0)
  const ready = report.bindings.filter((one: { ready: string }) => one.ready === 'True')
  expect(ready.map((one: { binding: string }) => one.binding)).toEqual(expect.arrayContaining(keys))
})

test('what rests on assumed settings is neither ✓ nor a gain', async () => {
  const cwd = await workspace({ 'all.yaml': `${POOL}---\n${WORKLOAD}` })
  const ask = async (...args: readonly string[]): Promise<Ran> =>
    inProcess(['suggest', '-A', '--offline', '-f', 'all.yaml', ...args], cwd)
  const { stdout } = await ask()
  expect(stdout).not.toMatch(/✓|^ *gain: vllm/m)
  expect(stdout).toContain('! llama: PoolOnly')
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    "perhaps: Deployment team-a/llama: probably issued (default settings assumed: SCM's settings",
  )
  const [pool] = JSON.parse((await ask('-o', 'json')).stdout).pools
  expect(pool.suggested).toMatchObject([{ gains: [], perhaps: [{ verdict: 'depends' }] }])
  expect((await ask('-o', 'yaml')).stdout).toContain('# perhaps: Deployment team-a/llama: probably issued')
})

const SAME_ID = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: { name: hand }
spec:
  spiffeIDTemplate: spiffe://example.org/ns/team-a/pool/llama
  namespaceSelector: { matchLabels: { env: prod } }
`
const IN_PROD = 'apiVersion: v1\nkind: Namespace\nmetadata: { name: team-a, labels: { env: prod } }\n'

test.each([
  ['may give', [], 'perhaps no gain: vllm of Deployment team-a/llama: something else may give', false],
  ['gives', [IN_PROD], 'no gain: vllm of Deployment team-a/llama: something else gives', true],
])(
  'a container to which something else %s the same ID gains nothing for certain',
  async (_, more, text, certain) => {
    const all = [POOL, WORKLOAD, SAME_ID, ...more].join('---\n')
    const { stdout } = await suggest({ 'all.yaml': all }, '-A')
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(text)
    expect(stdout).not.toMatch(/^ *gain: /m)
    const [pool] = JSON.parse((await suggest({ 'all.yaml': all }, '-A', '-o', 'json')).stdout).pools
    expect(pool.suggested).toMatchObject([{ gains: [], heldBefore: [{ containers: ['vllm'], certain }] }])
  },
)

test('two pools on one pod: the first lines say what the two bindings would bring', async () => {
  const other = POOL.replace('name: llama', 'name: gold').replace('app: llama', 'tier: gold')
  const workload = WORKLOAD.replaceAll('app: llama', 'app: llama, tier: gold')
  const { stdout, code } = await suggest({ 'all.yaml': `${POOL}---\n${other}---\n${workload}` }, '-A')
  expect(code).toBe(0)
  const text = stdout.replaceAll(/\s+/g, ' ')
  expect(text).toMatch(
    /^! 2 bindings suggested for 2 pools look at what they would bring: [^.]*several identities on one container \(KLM303\)[^.]* apply them/,
  )
})

const MESHED = `${POOL}---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceObjective
metadata: { name: chat, namespace: team-a }
spec: { poolRef: { name: llama } }
---
apiVersion: v1
kind: Pod
metadata: { name: llama-0, namespace: team-a, labels: { app: llama } }
spec:
  serviceAccountName: runner
  volumes: [{ name: socket, csi: {driver: csi.spiffe.io, readOnly: true} }]
  containers:
    - { name: vllm, volumeMounts: [{ name: socket, mountPath: /spiffe }] }
    - { name: istio-proxy, volumeMounts: [{ name: socket, mountPath: /var/run/secrets/workload-spiffe-uds }] }
---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: { name: default }
spec:
  fallback: true
  spiffeIDTemplate: spiffe://{{ .TrustDomain }}/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}
---
apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: { name: chat, namespace: team-a }
spec:
  poolRef: { name: llama }
  serviceAccountName: runner
`
const OF_CHAT = '  mode: PerObjective\n  objectiveRef: { name: chat }\n  containerName: vllm\n'

test('a binding that takes the ID of a proxy gets a registration beside it, which is then enough', async () => {
  const all = MESHED + OF_CHAT
  const told = await suggest({ 'all.yaml': all }, '-A')
  expect(told.code).toBe(0)
  expect(told.stdout).toContain('1 ClusterSPIFFEID suggested beside bindings that are there')
  expect(told.stdout).toContain('✓ team-a.llama.istio-proxy: ClusterSPIFFEID beside team-a/chat')
  expect((await suggest({ 'all.yaml': all }, '-A', '-o', 'name')).stdout).toBe(
    'clusterspiffeid.spire.spiffe.io/team-a.llama.istio-proxy\n',
  )
  const { stdout } = await suggest({ 'all.yaml': all }, '-A', '-o', 'yaml')
  const again = await suggest({ 'all.yaml': all, 'applied.yaml': stdout }, '-A')
  expect(again.stdout).toContain('no binding is suggested: 1 pool has one already')
})

test('a binding that gives a proxy what it cannot use is never replaced, and what could be in its place is named', async () => {
  const all = `${MESHED}  mode: PoolOnly\n`
  expect((await suggest({ 'all.yaml': all }, '-A')).stdout.replaceAll(/\n +/g, ' ')).toContain(
    'PerObjective chat for container vllm in the place of team-a/chat: for you to choose (KLM440)',
  )
  const { stdout } = await suggest({ 'all.yaml': all }, '-A', '-o', 'yaml')
  expect(parseAllDocuments(stdout).filter(({ contents }) => contents !== null)).toEqual([])
})

test('a registration is not proven where settings that were not given decide whether the proxy keeps its ID', async () => {
  const all = (MESHED + OF_CHAT).replace('  fallback: true', '  fallback: true\n  className: c')
  const cwd = await workspace({ 'all.yaml': all })
  const settings = ['--trust-domain', 'example.org', '--clusterspiffeid-class-name', 'c']
  const { stdout, code } = await inProcess(['suggest', '-A', '--offline', '-f', 'all.yaml', ...settings], cwd)
  expect(code).toBe(4)
  expect(stdout).toContain('not proven (KLM441)')
  expect(stdout).not.toContain('ClusterSPIFFEID suggested')
})
