// Containers, accounts, pods and templates, told apart: a name that is no pod's is an error, and a template is no pod.
import { beforeAll, describe, expect, test } from 'vitest'
import { ask } from './ask.ts'
import { built } from './plugin.ts'
import { BINDING, documents, NODE, OBJECTIVE, POD, POOL, SMALL } from './workspace.ts'
import { leftWithNone } from './loss-words.ts'

beforeAll(built)

const NAMESPACE = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n'

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: llama, namespace: team-a}
spec:
  replicas: 2
  selector: {matchLabels: {app: llama}}
  template:
    metadata: {labels: {app: llama}}
    spec: {serviceAccountName: runner, containers: [{name: vllm}]}
`

describe.each([
  ['a pod', documents(POD, NODE), '1 pod of the pool'],
  ['a template', DEPLOYMENT, '1 pod template of the pool'],
])('a typo, where %s carries the labels of the pool', (_what, workload, counted) => {
  test.each([
    ['containerName', 'vllm', 'vlm'],
    ['serviceAccountName', 'runner', 'runer'],
  ])('in %s is an error with the name that was meant', async (field, meant, typo) => {
    const binding = BINDING.replace(`${field}: ${meant}`, `${field}: ${typo}`)
    const { code, stdout } = await ask(
      documents(POOL, OBJECTIVE, binding, NAMESPACE, workload),
      'explain',
      'team-a/chat',
    )
    expect(stdout).toContain(`${counted}, but no container matches all selectors; did you mean ${meant}?`)
    expect(stdout).toContain('KLM404')
    expect(code).toBe(1)
  })
})

test('a binding whose workload comes later is no error', async () => {
  const { code, stdout } = await ask(documents(POOL, OBJECTIVE, BINDING), 'explain', 'team-a/chat')
  expect(stdout).not.toContain('KLM404')
  expect(code).toBe(0)
})

describe('a container that is not there', () => {
  test.each([
    ['of a pod', ['pod/team-a/llama-0']],
    ['of a workload', ['deployment/team-a/llama']],
    ['of all pods', ['-A']],
  ])('%s ends with 3 and the names that there are', async (_what, args) => {
    const { code, stdout, stderr } = await ask(
      documents(SMALL, DEPLOYMENT),
      'who-selects',
      ...args,
      '-c',
      'nope',
    )
    expect(stdout).toBe('')
    expect(stderr).toContain('there is no such container')
    expect(stderr).toContain('the containers are vllm')
    expect(code).toBe(3)
  })

  test('is reported with the one that was meant', async () => {
    const { code, stderr } = await ask(SMALL, 'who-selects', 'pod/team-a/llama-0', '-c', 'vlm')
    expect(stderr).toContain('did you mean vllm?')
    expect(code).toBe(3)
  })

  test('does not count where one of that name is', async () => {
    const { code } = await ask(SMALL, 'who-selects', 'pod/team-a/llama-0', '-c', 'vllm')
    expect(code).toBe(0)
  })
})

describe('a template', () => {
  const FALLBACK = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: default}
spec: {spiffeIDTemplate: 'spiffe://example.org/sa/{{ .PodSpec.ServiceAccountName }}', fallback: true}
`
  const TWO = DEPLOYMENT.replace('{name: vllm}', '{name: vllm}, {name: proxy}')

  test('is not counted as a pod', async () => {
    const { stdout } = await ask(documents(POOL, OBJECTIVE, BINDING, TWO, FALLBACK), 'conflicts')
    expect(stdout).toMatch(leftWithNone('proxy of 1 pod template'))
    expect(stdout).not.toContain('1 pod is')
  })

  test('is counted beside pods', async () => {
    const other = POD.replace('{name: vllm}', '{name: vllm}, {name: proxy}')
    const gold = TWO.replaceAll('{app: llama}', '{app: llama, tier: gold}')
    const world = documents(POOL, OBJECTIVE, BINDING, gold, other, NODE, FALLBACK)
    const { stdout } = await ask(world, 'conflicts')
    expect(stdout).toMatch(leftWithNone('proxy of 1 pod and 1 pod template'))
  })

  test('of pods that run is not said to be not running yet', async () => {
    const pods = ['0', '1', '2'].map((at) =>
      POD.replace('llama-0', `llama-${at}`).replace('cc73f', `cc7${at}f`),
    )
    const { stdout } = await ask(
      documents(DEPLOYMENT, ...pods, NODE),
      'who-selects',
      'deployment/team-a/llama',
    )
    expect(stdout).toContain(
      'Deployment team-a/llama, 3 pods with its labels are there, service account runner',
    )
    expect(stdout).not.toContain('not running yet')
  })

  test('of which no pod is there is not running yet', async () => {
    const { stdout } = await ask(DEPLOYMENT, 'who-selects', 'deployment/team-a/llama')
    expect(stdout).toContain('Deployment team-a/llama, not running yet')
  })
})
