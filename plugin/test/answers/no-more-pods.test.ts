// Workloads that make no pods any more, since they have ended or their namespace is being deleted: nothing that is still to be made is
// said to hold an identity.
import { expect, test } from 'vitest'
import { inProcess, type Ran } from '../support/in-process.ts'
import { workspace } from '../support/workspace.ts'

const SCM = `apiVersion: spire.spiffe.io/v1alpha1
kind: ControllerManagerConfig
trustDomain: example.org
clusterName: prod
`

const STAMPS = 'uid: uid-of-it, creationTimestamp: "2026-01-01T00:00:00Z"'
const DELETED = 'deletionTimestamp: "2026-11-01T00:00:00Z"'

function namespace(stamps = ''): string {
  return `apiVersion: v1
kind: Namespace
metadata: {name: team-a, ${STAMPS}${stamps}}
`
}

function bound(stamps = ''): string {
  return `apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: llama, namespace: team-a${stamps}}
spec: {selector: {matchLabels: {app: llama}}, targetPorts: [{number: 8000}]}
---
apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: {name: chat, namespace: team-a${stamps}}
spec: {poolRef: {name: llama}, serviceAccountName: runner, mode: PoolOnly}
`
}

/** The same as the API server holds it. */
const BOUND = bound(`, ${STAMPS}`)

const POD_SPEC = '{serviceAccountName: runner, containers: [{name: server}]}'

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: llama, namespace: team-a}
spec: {selector: {matchLabels: {app: llama}}, template: {metadata: {labels: {app: llama}}, spec: ${POD_SPEC}}}
`

const ENDED_JOB = `apiVersion: batch/v1
kind: Job
metadata: {name: llama, namespace: team-a, ${STAMPS}}
spec: {template: {metadata: {labels: {app: llama}}, spec: ${POD_SPEC}}}
status: {conditions: [{type: Complete, status: 'True'}]}
`

const RUNNING = `apiVersion: v1
kind: Pod
metadata: {name: llama-0, namespace: team-a, labels: {app: llama}, ${STAMPS}}
spec: {nodeName: n1, serviceAccountName: runner, containers: [{name: server}]}
`

async function ask(
  live: readonly string[],
  files: readonly string[],
  ...args: readonly string[]
): Promise<Ran> {
  const cwd = await workspace({
    'live/all.yaml': live.join('---\n'),
    ...(files.length > 0 && { 'new.yaml': files.join('---\n') }),
    'scm.yaml': SCM,
  })
  const given = files.length > 0 ? ['-f', 'new.yaml'] : []
  return inProcess(
    [...args, '--offline', '--live', 'live', ...given, '--scm-config', 'scm.yaml', '-n', 'team-a'],
    cwd,
  )
}

test.each(['who-selects', 'why'])(
  '%s says of a Job that has ended that it makes no new pods',
  async (command) => {
    const { code, stderr } = await ask([namespace(), BOUND, ENDED_JOB], [], command, 'job/llama')
    expect(stderr).toContain('this Job makes no pods any more')
    expect(stderr).toContain('the Job has ended, and makes no new pods')
    expect(code).toBe(3)
  },
)

const IDENTITY_TEST = `apiVersion: test.kleym.sonda.red/v1alpha1
kind: IdentityTest
metadata: {name: t, annotations: {config.kubernetes.io/local-config: 'true'}}
spec:
  containers:
  - subject: {namespace: team-a, workload: Job/llama}
    holds: {none: true}
`

test('the pods that such a Job has made are there until they are deleted', async () => {
  const owner =
    'ownerReferences: [{apiVersion: batch/v1, kind: Job, name: llama, uid: uid-of-it, controller: true}]'
  const made = RUNNING.replace('labels:', `${owner}, labels:`)
  const { code, stdout } = await ask([namespace(), BOUND, ENDED_JOB, made], [], 'who-selects', 'job/llama')
  expect(stdout).toContain('pod team-a/llama-0, container server, holds')
  expect(code).toBe(0)
})

test('a test that names such a Job says why there is nothing to ask', async () => {
  const { stdout, code } = await ask([namespace(), BOUND, ENDED_JOB], [IDENTITY_TEST], 'test', 'new.yaml')
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    'there will be no pods of Job team-a/llama: the Job has ended, and makes no new pods',
  )
  expect(code).toBe(1)
})

test('a template in a namespace that is being deleted holds nothing', async () => {
  const asked = ['who-selects', '-A'] as const
  const before = await ask([namespace(), BOUND, DEPLOYMENT], [], ...asked)
  expect(before.stdout).toContain('Deployment team-a/llama')
  const after = await ask([namespace(`, ${DELETED}`), BOUND, DEPLOYMENT], [], ...asked)
  expect(after.stdout).not.toContain('Deployment team-a/llama')
  expect(after.code).toBe(4)
})

test('a pod that runs there holds its identity until it is gone', async () => {
  const { stdout } = await ask([namespace(`, ${DELETED}`), BOUND, RUNNING], [], 'who-selects', '-A')
  expect(stdout).toContain('pod team-a/llama-0, container server, holds')
})

test('a new object there is refused, and its pods gain nothing', async () => {
  const { stdout } = await ask([namespace(`, ${DELETED}`)], [bound(), DEPLOYMENT], 'diff', '-A')
  expect(stdout).not.toContain('gains')
  expect(stdout).toMatch(/the API server refuses the object: 2\s+KLM421/)
  expect(stdout).toContain('namespace team-a is being deleted, and takes no new objects')
})
