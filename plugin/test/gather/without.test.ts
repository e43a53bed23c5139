// `--without` of an object that takes others along: the API server deletes what is in a Namespace, and what an object owns.
import { expect, test } from 'vitest'
import { listAt, own, stringAt } from '@kleym/shared/core/base/json.ts'
import { CHAT_BINDING, CHAT_OBJECTS, CHAT_SCM } from '../support/chat-world.ts'
import { inProcess, type Ran } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

function of(kind: string, name: string, owner: string, spec: string): string {
  const owners = owner === '' ? '' : `ownerReferences: [{ kind: X, name: x, uid: ${owner} }], `
  return `---
apiVersion: ${kind === 'Pod' ? 'v1' : 'apps/v1'}
kind: ${kind}
metadata: { name: ${name}, namespace: demo, uid: uid-of-${name}, creationTimestamp: '2026-01-01T00:00:00Z', labels: { app: llama }, ${owners}}
spec: ${spec}
`
}

const OF_POD = '{ serviceAccountName: runner, nodeName: n1, containers: [{ name: vllm, image: vllm }] }'
const OF_PODS = `{ selector: { matchLabels: { app: llama } }, template: { metadata: { labels: { app: llama } }, spec: ${OF_POD} } }`
const LIVE = `${CHAT_OBJECTS.split('---\napiVersion: v1\nkind: Pod')[0] ?? ''}---
${CHAT_BINDING}---
${CHAT_SCM}${of('Deployment', 'llama', '', OF_PODS)}${of('ReplicaSet', 'llama-abc', 'uid-of-llama', OF_PODS)}${of('Pod', 'llama-abc-0', 'uid-of-llama-abc', OF_POD)}${of('Pod', 'llama-alone', 'of-something-else', OF_POD)}---
apiVersion: v1
kind: Node
metadata: { name: n1, uid: uid-of-n1 }
`

const TEMPLATES = ['Deployment demo/llama', 'ReplicaSet demo/llama-abc']

async function without(command: string, ...args: readonly string[]): Promise<Ran> {
  const cwd = await workspace({ 'live/all.yaml': LIVE })
  const settings = ['--trust-domain', 'acme.example', '--clusterspiffeid-class-name', 'spire']
  return inProcess([command, '-A', '--offline', '--live', 'live', ...settings, ...args], cwd)
}

async function losing(gone: string): Promise<readonly unknown[]> {
  const { stdout } = await without('diff', '--without', gone, '-o', 'json')
  const lost = listAt(JSON.parse(stdout), 'effect', 'lost')
  return lost.flatMap((one) => listAt(one, 'containers').map((holder) => stringAt(holder, 'pod')))
}

test('a Namespace takes all along that is in it', async () => {
  expect(await losing('namespace/demo')).toEqual([
    ...TEMPLATES,
    'pod demo/llama-abc-0',
    'pod demo/llama-alone',
  ])
  const { code, stdout } = await without('diff', '--without', 'namespace/demo')
  expect(code).toBe(1)
  expect(stdout).toContain('demo/chat is deleted')
  const { stdout: left } = await without(
    'who-selects',
    '--without',
    'namespace/demo',
    '--allow-empty',
    '-o',
    'json',
  )
  expect(own(JSON.parse(left), 'pods')).toEqual([])
})

test('a workload takes its pods along, and no other ones', async () => {
  expect(await losing('deployment/demo/llama')).toEqual([...TEMPLATES, 'pod demo/llama-abc-0'])
})

/** A pod of a ReplicaSet that was not read. */
const podOfUnread = (name: string, hash: string): string => `---
apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  namespace: demo
  uid: uid-of-${name}
  creationTimestamp: '2026-01-01T00:00:00Z'
  labels: { app: llama, pod-template-hash: ${hash} }
  ownerReferences: [{ apiVersion: apps/v1, kind: ReplicaSet, name: llama-abc, uid: uid-of-unread, controller: true }]
spec: ${OF_POD}
`

test('a Deployment takes the pods of ReplicaSets along that were not read, and no other ones', async () => {
  const [before = '', after = ''] = LIVE.split(of('ReplicaSet', 'llama-abc', 'uid-of-llama', OF_PODS))
  const cwd = await workspace({
    'live/all.yaml': `${before}${podOfUnread('mine', 'abc')}${podOfUnread('other', 'x')}${after}`,
  })
  const left = ['-A', '-o', 'name', '--without', 'deployment/demo/llama']
  const settings = ['--trust-domain', 'acme.example', '--clusterspiffeid-class-name', 'spire']
  const { stdout } = await inProcess(
    ['who-selects', ...left, '--offline', '--live', 'live', ...settings],
    cwd,
  )
  expect(stdout.trim().split('\n').toSorted()).toEqual([
    'pod/demo/llama-abc-0',
    'pod/demo/llama-alone',
    'pod/demo/other',
  ])
})

test('what another deletion takes along may be named as well', async () => {
  const both = ['--without', 'namespace/demo', '--without', 'iib/demo/chat']
  expect((await without('diff', ...both)).stdout).toContain('demo/chat is deleted')
})

const BROKEN = 'apiVersion: kleym.sonda.red/v1alpha1\nkind: InferenceIdentityBinding\nmetadata: { name: [\n'

test('what is in no file that could be read is not known to be gone', async () => {
  const cwd = await workspace({ 'live/all.yaml': LIVE, 'live/broken.yaml': BROKEN })
  const gone = ['diff', '-A', '--offline', '--live', 'live', '--without', 'iib/demo/elsewhere']
  const { code, stderr } = await inProcess(gone, cwd)
  expect(stderr).toMatch(/^error: cannot tell whether the object to leave out is there/)
  expect(stderr).toContain('broken.yaml')
  expect(code).toBe(4)
})
