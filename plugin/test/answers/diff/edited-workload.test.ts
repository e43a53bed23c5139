// A workload whose template is edited while its pods run: they keep what they have until they are replaced, and what replaces them
// may have less. `diff` and `test` must not take the old pods for the new ones.
import { describe, expect, test } from 'vitest'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { CHAT_BINDING, SCM_CONFIG } from '../../support/chat-world.ts'
import { workspace } from '../../support/workspace.ts'

const WORLD = `apiVersion: v1
kind: Namespace
metadata: {name: demo}
---
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: llama, namespace: demo}
spec: {selector: {matchLabels: {app: llama, pool: a}}}
---
${CHAT_BINDING}---
apiVersion: v1
kind: Node
metadata: {name: n1}
---
${SCM_CONFIG}`

function deployment(name: string, labels: string, account = 'runner'): string {
  return `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}, namespace: demo}
spec:
  selector: {matchLabels: {app: llama}}
  template:
    metadata: {labels: {${labels}}}
    spec: {serviceAccountName: ${account}, containers: [{name: vllm, image: server}]}
`
}

function podOf(workload: string, labels: string): string {
  return `---
apiVersion: v1
kind: Pod
metadata:
  name: ${workload}-5d4-x
  namespace: demo
  uid: pod-of-${workload}
  creationTimestamp: '2026-01-01T00:00:00Z'
  labels: {${labels}, pod-template-hash: 5d4}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: ${workload}-5d4, uid: rs-${workload}, controller: true}]
spec: {nodeName: n1, serviceAccountName: runner, containers: [{name: vllm, image: server}]}
status: {phase: Running}
`
}

const BOTH = 'app: llama, pool: a'
const LIVE = `${WORLD}${deployment('llama', BOTH)}${podOf('llama', BOTH)}`

const SETTINGS = ['--offline', '--trust-domain', 'example.org', '--clusterspiffeid-class-name', '']

async function diff(live: string, edited: string): Promise<Ran> {
  const cwd = await workspace({ 'live/all.yaml': live, 'edited/all.yaml': edited })
  return inProcess(['diff', ...SETTINGS, '--live', 'live', '-f', 'edited', '--summary', '-n', 'demo'], cwd)
}

const LOSES =
  /1 container of demo loses spiffe:\/\/example\.org\/ns\/demo\/objective\/chat[^]*1 left\s+without an identity/

describe('while the pods of before run', () => {
  test.each<[what: string, edited: string]>([
    ['a template that loses the label of the pool', deployment('llama', 'app: llama')],
    ['one that gets another value of it', deployment('llama', 'app: llama, pool: b')],
    ['one that gets another service account', deployment('llama', BOTH, 'other')],
  ])('%s loses the identity', async (_, edited) => {
    const { code, stdout } = await diff(LIVE, edited)
    expect(stdout).toMatch(LOSES)
    expect(code).toBe(1)
  })

  test('pods of another workload do not stand for it', async () => {
    const other = `${deployment('other', 'app: llama')}${podOf('other', 'app: llama')}`
    const { code, stdout } = await diff(`${LIVE}${other}`, deployment('llama', 'app: llama'))
    expect(stdout).toMatch(LOSES)
    expect(code).toBe(1)
  })

  test('a new workload that looks like it gains the identity', async () => {
    const { code, stdout } = await diff(LIVE, deployment('more', BOTH))
    expect(stdout).toMatch(/1 container of demo gains spiffe:\/\/example\.org\/ns\/demo\/objective\/chat/)
    expect(code).toBe(1)
  })

  test('an edit of what decides about no identity moves none', async () => {
    const { stdout } = await diff(LIVE, deployment('llama', `${BOTH}, version: two`))
    expect(stdout).toMatch(/no container gains or loses an identity/)
  })

  test('a test of the workload is about the edited template', async () => {
    const cwd = await workspace({
      'live/all.yaml': LIVE,
      'edited/all.yaml': deployment('llama', 'app: llama'),
      'identity-test.yaml': `apiVersion: test.kleym.sonda.red/v1alpha1
kind: IdentityTest
metadata: {name: chat}
spec:
  containers:
    - subject: {namespace: demo, workload: deployment/llama, container: vllm}
      holds: {atLeast: [spiffe://example.org/ns/demo/objective/chat]}
`,
    })
    const run = (files: readonly string[]): Promise<Ran> =>
      inProcess(['test', 'identity-test.yaml', ...SETTINGS, '--live', 'live', ...files], cwd)
    expect((await run([])).code).toBe(0)
    expect((await run(['-f', 'edited'])).code).toBe(1)
  })
})

/** A Deployment whose pod spec says so of its service account. */
function named(account: string): string {
  return deployment('llama', BOTH).replace('serviceAccountName: runner, ', account)
}

const OTHER = 'serviceAccountName: other, '
const RUNNER = 'serviceAccountName: runner, '

async function between(base: string, head: string, flags: readonly string[]): Promise<Ran> {
  const cwd = await workspace({ 'base/all.yaml': `${WORLD}${base}`, 'head/all.yaml': `${WORLD}${head}` })
  return inProcess(['diff', ...SETTINGS, ...flags, '-f', 'head', '--summary'], cwd)
}

describe('a service account that a manifest no longer names', () => {
  test.each<[what: string, base: string, head: string]>([
    ['is left out', named('serviceAccountName: runner, '), named('')],
    ['is left out in its older field', named('serviceAccount: runner, '), named('')],
    ['is edited in its older field', named('serviceAccount: runner, '), named('serviceAccount: other, ')],
  ])('stays after an apply if it %s, and goes with a replacement', async (_, base, head) => {
    for (const flag of ['--base', '--live']) {
      const { code, stdout, stderr } = await between(base, head, [flag, 'base'])
      expect(stdout).toContain('no container is known to gain or lose an identity')
      expect(stdout).not.toContain('without an identity')
      expect(stderr.replaceAll(/\s+/g, ' ')).toContain('an apply leaves runner')
      expect(code).toBe(4)
    }
  })

  test.each<[what: string, base: string, head: string]>([
    ['both fields are left out', named('serviceAccountName: runner, serviceAccount: runner, '), named('')],
    ['another one is set', named('serviceAccountName: runner, '), named(OTHER)],
    [
      'another one is set in the older field',
      named('serviceAccountName: runner, '),
      named('serviceAccount: other, '),
    ],
    ['the newer field is set in its place', named('serviceAccount: runner, '), named(OTHER)],
  ])('goes if %s', async (_, base, head) => {
    const { code, stdout } = await between(base, head, ['--base', 'base'])
    expect(stdout).toMatch(LOSES)
    expect(code).toBe(1)
  })
})

const PODS =
  '{metadata: {labels: {app: llama, pool: a}}, spec: {restartPolicy: Never, serviceAccountName: runner, containers: [{name: vllm}]}}'
const kindWith = (apiVersion: string, kind: string, spec: string): string => `---
apiVersion: ${apiVersion}
kind: ${kind}
metadata: {name: llama, namespace: demo}
spec: {${spec}}
`
const renamed = (manifest: string): string =>
  manifest.replace('serviceAccountName: runner', 'serviceAccountName: other')
const SELECTS = 'selector: {matchLabels: {app: llama}}'
const SET = kindWith('apps/v1', 'StatefulSet', `serviceName: a, ${SELECTS}, template: ${PODS}`)
const JOB = kindWith('batch/v1', 'Job', `template: ${PODS}`)
const POD = `---
apiVersion: v1
kind: Pod
metadata: {name: llama, namespace: demo, labels: {app: llama, pool: a}}
spec: {serviceAccountName: runner, containers: [{name: vllm}]}
`

const reselected = (manifest: string): string =>
  manifest.replace(SELECTS, 'selector: {matchLabels: {pool: a}}')

describe('a change of pods that the API server refuses', () => {
  test.each<[what: string, base: string, head: string, field: string]>([
    ['the selector of a Deployment', named(RUNNER), reselected(named(OTHER)), 'spec.selector'],
    ['the service of a StatefulSet', SET, renamed(SET).replace('Name: a', 'Name: b'), 'spec.serviceName'],
    ['the template of a Job', JOB, renamed(JOB), 'spec.template'],
    ['the service account of a Pod', POD, renamed(POD), 'spec'],
    ['the containers of a Pod', POD, POD.replace('vllm', 'other'), 'spec'],
  ])('leaves open what they hold: %s', async (_, base, head, field) => {
    for (const flag of ['--base', '--live']) {
      const { code, stdout, stderr } = await between(base, head, [flag, 'base'])
      expect(stdout).toContain('no container is known to gain or lose an identity')
      expect(stdout).not.toContain('without an identity')
      expect(stderr.replaceAll(/\s+/g, ' ')).toContain(`${field} cannot be changed`)
      expect(code).toBe(4)
    }
  })

  test.each<[what: string, base: string, head: string]>([
    ['a selector, and nothing of the pods', named(RUNNER), reselected(named(RUNNER))],
    ['the image of a Job', JOB, JOB.replace('name: vllm', 'name: vllm, image: b')],
    ['a label of a Pod that selects nothing', POD, POD.replace('pool: a', 'pool: a, b: c')],
  ])('is no difference if it leaves them as they are: %s', async (_, base, head) => {
    const { code, stdout } = await between(base, head, ['--base', 'base'])
    expect(stdout).toContain('✓ no container gains or loses an identity')
    expect(code).toBe(0)
  })

  test('is none for what the API server names itself', async () => {
    const [base, head] = [JOB, renamed(JOB)].map((one) => one.replace('name: llama', 'generateName: llama-'))
    const { code, stdout } = await between(base ?? '', head ?? '', ['--base', 'base'])
    expect(stdout).toMatch(LOSES)
    expect(code).toBe(1)
  })

  test('is none for a live Pod to which admission has added containers', async () => {
    const live = POD.replace(
      'namespace: demo',
      `namespace: demo, uid: p, creationTimestamp: '2026-01-01T00:00:00Z'`,
    ).replace('[{name: vllm}', '[{name: vllm}, {name: istio-proxy}')
    const { stderr } = await between(live, POD, ['--live', 'base'])
    expect(stderr).not.toContain('refuses')
  })

  test('is none for a live Job to whose pods the API server has added labels', async () => {
    const stored = JOB.replace(
      'namespace: demo',
      `namespace: demo, uid: j, creationTimestamp: '2026-01-01T00:00:00Z'`,
    )
    const live = stored.replace(/(template: .*labels: \{)/, '$1batch.kubernetes.io/job-name: llama, ')
    expect(live).not.toBe(stored)
    const same = await between(live, JOB, ['--live', 'base'])
    expect(same.stderr).not.toContain('refuses')
    const other = await between(live, renamed(JOB), ['--live', 'base'])
    expect(other.stderr.replaceAll(/\s+/g, ' ')).toContain('spec.template cannot be changed')
  })
})

const sized = (spec: string): string => deployment('llama', BOTH).replace('spec:\n', `spec:\n  ${spec}\n`)
const SCALER = `---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llama, namespace: demo}
spec: {maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llama}}
`

describe('a workload that asks for no pods', () => {
  test.each<[what: string, base: string, head: string]>([
    ['that asked for some', sized('replicas: 2'), sized('replicas: 0')],
    ['that did not say how many', deployment('llama', BOTH), sized('replicas: 0')],
    [
      'beside an autoscaler, which then leaves it alone',
      sized('replicas: 2') + SCALER,
      sized('replicas: 0') + SCALER,
    ],
  ])('perhaps takes the identities of its pods away, and gives them back: one %s', async (_, base, head) => {
    for (const [from, to] of [
      [base, head],
      [head, base],
    ] as const) {
      const { code, stdout } = await between(from, to, ['--base', 'base'])
      expect(stdout).toContain('1 container undetermined')
      expect(stdout).not.toContain('without an identity')
      expect(code).toBe(4)
    }
  })

  test.each<[what: string, base: string, head: string]>([
    ['on both sides', sized('replicas: 0'), sized('paused: true\n  replicas: 0')],
    ['on neither', sized('replicas: 2'), sized('replicas: 3')],
  ])('is no difference %s', async (_, base, head) => {
    const { code, stdout } = await between(base, head, ['--base', 'base'])
    expect(stdout).toContain('✓ no container gains or loses an identity')
    expect(code).toBe(0)
  })

  test('that no longer gives an identity takes it away for certain', async () => {
    const head = sized('replicas: 0').replace('serviceAccountName: runner', 'serviceAccountName: other')
    const { code, stdout } = await between(sized('replicas: 2'), head, ['--base', 'base'])
    expect(stdout).toMatch(LOSES)
    expect(code).toBe(1)
  })

  test('in a cluster keeps that if its manifest does not say how many', async () => {
    const live = sized('replicas: 0').replace(
      'namespace: demo}',
      "namespace: demo, uid: w1, creationTimestamp: '2026-01-01T00:00:00Z'}",
    )
    const { stdout } = await between(live, deployment('llama', BOTH), ['--live', 'base'])
    expect(stdout).toContain('no container gains or loses an identity')
  })

  test.each([
    [
      'a CronJob',
      'CronJob',
      `schedule: "* * * * *", jobTemplate: {spec: {template: ${PODS}}}`,
      'suspend: true',
    ],
    ['a Job', 'Job', `template: ${PODS}`, 'parallelism: 0'],
  ])('counts as %s too', async (_, kind, spec, none) => {
    const job = (more: string): string => kindWith('batch/v1', kind, `${spec}${more}`)
    const { code, stdout } = await between(job(''), job(`, ${none}`), ['--base', 'base'])
    expect(stdout).toContain('1 container undetermined')
    expect(code).toBe(4)
  })
})

test('a workload that may be another one than was read loses nothing for certain', async () => {
  const cwd = await workspace({
    'base/all.yaml': `${WORLD}${deployment('llama', BOTH)}`,
    'head/all.yaml': `${WORLD}${named(OTHER)}`,
    'head/z.yaml': deployment('llama', BOTH),
  })
  const { code, stdout } = await inProcess(
    ['diff', ...SETTINGS, '--base', 'base', '-f', 'head', '--summary'],
    cwd,
  )
  expect(stdout).toContain('no container is known to gain or lose an identity')
  expect(stdout).not.toContain('without an identity')
  expect(code).toBe(4)
})

const job = (beginning: string, labels: string): string => `---
apiVersion: batch/v1
kind: Job
metadata: {generateName: ${beginning}, namespace: demo}
spec:
  template:
    metadata: {labels: {${labels}}}
    spec: {serviceAccountName: runner, restartPolicy: Never, containers: [{name: vllm, image: server}]}
`

describe('Jobs whose names the API server makes up', () => {
  const other = 'app: other'

  test('are told apart by the beginning of their names', async () => {
    const cwd = await workspace({
      'base/all.yaml': `${WORLD}${job('a-', BOTH)}${job('b-', other)}`,
      'head/all.yaml': `${WORLD}${job('a-', other)}${job('b-', BOTH)}`,
    })
    const { code, stdout } = await inProcess(['diff', ...SETTINGS, '--base', 'base', '-f', 'head'], cwd)
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('chat: vllm of Job demo/b-*')
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('chat: vllm of Job demo/a-*')
    expect(code).toBe(1)
  })

  test('are called by it', async () => {
    const cwd = await workspace({ 'all.yaml': `${WORLD}${job('a-', BOTH)}` })
    const ask = ['who-selects', '-A', '-o', 'name', ...SETTINGS, '-f', 'all.yaml']
    expect((await inProcess(ask, cwd)).stdout).toBe('job/demo/a-*\n')
  })
})

test('a container that loses its identity has no way to the Workload API that is fixed', async () => {
  const cwd = await workspace({
    'base/all.yaml': `${WORLD}${named(RUNNER)}`,
    'head/all.yaml': `${WORLD}${named(OTHER)}`,
  })
  const { stdout } = await inProcess(['diff', ...SETTINGS, '--base', 'base', '-f', 'head'], cwd)
  expect(stdout).toMatch(/fixed: none +no longer apply: 1 warning/)
})
