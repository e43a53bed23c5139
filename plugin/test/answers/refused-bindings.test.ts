// What the first lines say where a binding is refused: all that is found about it, and that it is why a container holds nothing.
import { expect, test } from 'vitest'
import { inProcess } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

const WORLD = `apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: {name: chat, namespace: team-a}
spec: {mode: PoolOnly, poolRef: {name: llama}, serviceAccountName: runner}
---
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: llama, namespace: team-a}
spec: {selector: {matchLabels: {app: llama}}}
---
apiVersion: v1
kind: Pod
metadata: {name: llama-0, namespace: team-a, labels: {app: llama}}
spec: {serviceAccountName: runner, containers: [{name: vllm}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: team-a, labels: {app: web}}
spec: {serviceAccountName: runner, containers: [{name: web}]}
`

async function said(world: string, ...args: readonly string[]): Promise<string> {
  const cwd = await workspace({ 'all.yaml': world })
  const ran = await inProcess([...args, '-n', 'team-a', '--offline', '-f', 'all.yaml'], cwd)
  return ran.stdout.replaceAll(/\s+/g, ' ')
}

test('explain says a misspelled field beside the refusal that it leads to', async () => {
  const text = await said(WORLD.replace('poolRef', 'poolReff'), 'explain', 'chat')
  expect(text).toContain('.spec.poolRef is missing')
  expect(text).toContain(
    '.spec.poolReff is no field of InferenceIdentityBinding (v1alpha1); did you mean poolRef?',
  )
})

const REFUSED =
  'binding team-a/chat is for this container, and is refused (InvalidServiceAccountName): .spec.serviceAccountName'

test.each([
  ['that a refused binding is for', 'pod/llama-0', true],
  ['that it is not for', 'pod/web-0', false],
])('who-selects of a pod %s', async (_, pod, isNamed) => {
  const text = await said(WORLD.replace('Name: runner}\n---', 'Name: "Runner_1"}\n---'), 'who-selects', pod)
  expect(text.includes(REFUSED)).toBe(isNamed)
  expect(text.includes('no registration selects the pod')).toBe(!isNamed)
})

test('of many refused bindings for a container the first are named, and the others counted', async () => {
  const one = WORLD.slice(0, WORLD.indexOf('---')).replace('Name: runner', 'Name: "Runner_1"')
  const others = Array.from({ length: 50 }, (_, at) => one.replace('name: chat', `name: chat-${at + 10}`))
  const text = await said(
    [...others, WORLD.slice(WORLD.indexOf('---') + 4)].join('---\n'),
    'who-selects',
    'pod/llama-0',
  )
  expect(text.match(/is for this container, and is refused/g)).toHaveLength(3)
  expect(text).toContain('47 more refused bindings for this container')
})

test('a name that the account and the container may both mean is proposed once', async () => {
  const world = WORLD.replace('mode: PoolOnly, ', 'objectiveRef: {name: chat}, containerName: vlm, ')
    .replace('Name: runner}\n---', 'Name: vllmm}\n---')
    .replace(
      'serviceAccountName: runner, containers: [{name: vllm}]',
      'serviceAccountName: vllm, containers: [{name: vllm}]',
    )
  const objective = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceObjective
metadata: {name: chat, namespace: team-a}
spec: {poolRef: {name: llama}}
`
  const text = await said(`${world}${objective}`, 'conflicts')
  expect(text).toContain('KLM404')
  expect(text.split('did you mean vllm?')).toHaveLength(2)
})

test('a path of --base that is not there is not one of -f', async () => {
  const cwd = await workspace({ 'all.yaml': WORLD })
  const ran = await inProcess(['diff', '--base', 'nope', '--offline', '-f', 'all.yaml'], cwd)
  expect(ran.stderr).toContain('cannot read nope (--base nope)')
  expect(ran.code).toBe(2)
})

test('-o without a value offers what the command has', async () => {
  const { stderr } = await inProcess(['explain', '-o'], await workspace({}))
  expect(stderr).toMatch(/it takes one of text, wide, json, .*mermaid/)
  expect(stderr).not.toMatch(/it takes one of .*(?:html|spire)/)
})

test('conflicts names a refused binding, and that nothing clashes is not good news then', async () => {
  const text = await said(WORLD.replace('name: llama}, service', 'name: other}, service'), 'conflicts')
  expect(text).toMatch(/^! nothing (is known to clash|clashes) in 1 binding/)
  expect(text).toContain('1 binding is refused: team-a/chat (TargetPoolNotFound)')
})

test('a binding of another namespace is proposed by its whole name', async () => {
  const cwd = await workspace({ 'all.yaml': WORLD })
  const ran = await inProcess(['explain', 'team-b/chat', '--offline', '-f', 'all.yaml'], cwd)
  expect(ran.stderr).toContain('did you mean team-a/chat?')
  expect(ran.code).toBe(3)
})

test.each(['-n', '--scm-namespace'])('%s of an empty variable of a script is refused', async (flag) => {
  const cwd = await workspace({ 'all.yaml': WORLD })
  const ran = await inProcess(['explain', '--offline', '-f', 'all.yaml', flag, ''], cwd)
  expect(ran.stderr).toContain('its value is empty')
  expect(ran.code).toBe(2)
})

const SCM = ['--scm-config', 'scm.yaml', '--clusterspiffeid-class-name=']
const SCM_FILE = `apiVersion: spire.spiffe.io/v1alpha1
kind: ControllerManagerConfig
clusterName: prod
trustDomain: example.org
ignoreNamespaces: []
watchClassless: true
`

test.each([
  [
    'explain',
    'chat',
    '1 container is entitled to spiffe://example.org/ns/team-a/pool/llama, but may be unable to fetch it',
  ],
  ['who-selects', 'pod/llama-0', 'warnings: an identity without a way to the Workload API (KLM430)'],
])('the first lines of %s say that a container cannot fetch its SVID', async (command, of, text) => {
  const asked = async (world: string): Promise<string> => {
    const cwd = await workspace({ 'all.yaml': world, 'scm.yaml': SCM_FILE })
    const { stdout } = await inProcess(
      [command, of, '-n', 'team-a', '--offline', '-f', 'all.yaml', ...SCM],
      cwd,
    )
    return stdout.replaceAll(/\s+/g, ' ')
  }
  expect(await asked(WORLD)).toContain(text)
  const mounted = WORLD.replace(
    'containers: [{name: vllm}]',
    'volumes: [{name: w, csi: {driver: csi.spiffe.io, readOnly: true}}], containers: [{name: vllm, volumeMounts: [{name: w, mountPath: /w}]}]',
  )
  expect(await asked(mounted)).not.toContain(text)
})

test('explain says where a pool is that a binding looks for in its own namespace', async () => {
  const text = await said(
    WORLD.replace('{name: llama, namespace: team-a}', '{name: llama, namespace: inference}'),
    'explain',
    'chat',
  )
  expect(text).toContain(
    'fix: A pool of this name is in namespace inference, and a binding finds only what is in its own.',
  )
})

const OBJECTIVE = `apiVersion: llm-d.ai/v1alpha2
kind: InferenceObjective
metadata: {name: chat, namespace: team-a}
spec: {poolRef: {name: llama}}
`
const OF_OBJECTIVE = 'mode: PerObjective, objectiveRef: {name: chat}, containerName: vllm'
const WITH_OBJECTIVE = `${WORLD.replace('mode: PoolOnly', OF_OBJECTIVE)}---\n${OBJECTIVE}`

test('explain says where an objective is that a binding looks for in its own namespace, and calls it no pool', async () => {
  const moved = WITH_OBJECTIVE.replace(
    '{name: chat, namespace: team-a}\nspec: {poolRef',
    '{name: chat, namespace: team-b}\nspec: {poolRef',
  )
  const text = await said(moved, 'explain', 'chat')
  expect(text).toContain(
    'fix: An objective of this name is in namespace team-b, and a binding finds only what is in its own.',
  )
  expect(text).not.toContain('A pool of this name')
})

const OLD_POOL = WITH_OBJECTIVE.replace(
  'inference.networking.k8s.io/v1',
  'inference.networking.x-k8s.io/v1alpha2',
).replace('{matchLabels: {app: llama}}', '{app: llama}')

test('an objective in a file that names no group of its pool leads to the group that the API server fills in', async () => {
  expect(await said(WITH_OBJECTIVE, 'explain', 'chat')).toContain('team-a/chat is ready')
  const refused = await said(OLD_POOL, 'explain', 'chat')
  expect(refused).toContain('team-a/chat is refused: bad objective reference (InvalidObjectiveRef)')
  expect(refused).toContain(
    '.spec.poolRef.group is not given and so becomes "inference.networking.k8s.io", not "inference.networking.x-k8s.io"',
  )
})

test.each([
  ['names the group of the pool', 'group: inference.networking.x-k8s.io'],
  ['has an empty group, which the API server leaves so', "group: ''"],
])('an objective in a file leads to a pool of the older group if it %s', async (_what, group) => {
  const named = OLD_POOL.replace('{poolRef: {name: llama}}', `{poolRef: {name: llama, ${group}}}`)
  expect(await said(named, 'explain', 'chat')).toContain('team-a/chat is ready')
})
