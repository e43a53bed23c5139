// Workloads that number their pods, where a registration tells these apart by their names: the number of replicas decides who holds what.
import { describe, expect, test } from 'vitest'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { workspace } from '../../support/workspace.ts'

const SCM = `apiVersion: spire.spiffe.io/v1alpha1
kind: ControllerManagerConfig
trustDomain: example.org
clusterName: prod
className: spire
`

const BY_NAME = `---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: by-name}
spec: {className: spire, spiffeIDTemplate: 'spiffe://example.org/{{ .PodMeta.Name }}'}
`
const BY_SELECTOR = BY_NAME.replace('{{ .PodMeta.Name }}', 'third').replace(
  'className: spire,',
  "className: spire, workloadSelectorTemplates: ['k8s:pod-name:llama-2'],",
)

const TEMPLATE = '{metadata: {labels: {app: llama}}, spec: {containers: [{name: vllm}]}}'
const SELECTOR = 'selector: {matchLabels: {app: llama}}'

function statefulSet(replicas: number, stamps = ''): string {
  return `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: llama, namespace: team-a${stamps}}
spec: {replicas: ${replicas}, ${SELECTOR}, template: ${TEMPLATE}}
`
}

function leaderWorkerSet(replicas: number): string {
  return `apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: llama, namespace: team-a}
spec: {replicas: ${replicas}, leaderWorkerTemplate: {size: 2, workerTemplate: ${TEMPLATE}}}
`
}

async function diff(base: string, head: string, registration = BY_NAME): Promise<Ran> {
  const cwd = await workspace({
    'base/a.yaml': base + registration,
    'head/a.yaml': head + registration,
    'scm.yaml': SCM,
  })
  const settings = ['--trust-domain', 'example.org', '--clusterspiffeid-class-name', 'spire']
  const given = ['--offline', '--base', 'base', '-f', 'head', '--scm-config', 'scm.yaml']
  return inProcess(['diff', ...given, ...settings], cwd)
}

/** The IDs that are gained, and those that are lost. */
function changedIds(stdout: string, how: 'gains' | 'loses'): readonly string[] {
  const lines = stdout.split('\n\n')[0] ?? ''
  return [...lines.matchAll(new RegExp(`${how} (spiffe://\\S+)`, 'g'))].map(([, id = '']) => id)
}

test.each([
  ['a StatefulSet', statefulSet(1), statefulSet(3), ['llama-1', 'llama-2']],
  ['a LeaderWorkerSet', leaderWorkerSet(1), leaderWorkerSet(2), ['llama-1', 'llama-1-1']],
])('%s that grows gives its new pods IDs, and takes them away if it shrinks', async (_, few, many, names) => {
  const ids = names.map((name) => `spiffe://example.org/${name}`)
  const grown = await diff(few, many)
  expect(changedIds(grown.stdout, 'gains')).toEqual(ids)
  expect(grown.code).toBe(1)
  const shrunk = await diff(many, few)
  expect(changedIds(shrunk.stdout, 'loses')).toEqual(ids)
  expect((await diff(many, many)).code).toBe(0)
})

describe('pods that one side does not tell apart by their numbers perhaps come and go', () => {
  const scaled = `${statefulSet(2)}---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llama, namespace: team-a}
spec: {maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: llama}}
`
  test.each([
    ['fewer of them', statefulSet(70), statefulSet(66)],
    ['so many that each has a number', statefulSet(65), statefulSet(64)],
    ['none, whose template says what a pod would hold', statefulSet(2), statefulSet(0)],
    ['an autoscaler for those that have a number', statefulSet(2), scaled],
  ])('%s', async (_, base, head) => {
    for (const [from, to] of [
      [base, head],
      [head, base],
    ] as const) {
      const { code, stdout } = await diff(from, to)
      expect(code).toBe(4)
      expect(stdout).toMatch(/^! \d+ containers? undetermined/)
      expect([changedIds(stdout, 'loses'), changedIds(stdout, 'gains')]).toEqual([[], []])
    }
    const one = await diff(head, base, BY_SELECTOR)
    expect([one.code, changedIds(one.stdout, 'loses')]).toEqual([4, []])
    expect((await diff(base, base)).code).toBe(0)
  })
})

test('a registration by names that goes takes its IDs from the numbered pods, and nothing else from them', async () => {
  const every = BY_NAME.replace('by-name', 'every').replace('{{ .PodMeta.Name }}', 'every')
  const byName = BY_NAME.replace(
    'className: spire,',
    'className: spire, podSelector: {matchLabels: {app: llama}},',
  )
  const other = leaderWorkerSet(2).replaceAll('llama', 'other')
  const workloads = `${statefulSet(2)}---\n${other}${every}`
  const { code, stdout } = await diff(`${workloads}${byName}`, workloads, '')
  expect(changedIds(stdout, 'loses')).toEqual([
    'spiffe://example.org/llama-0',
    'spiffe://example.org/llama-1',
  ])
  expect([code, changedIds(stdout, 'gains'), stdout]).toEqual([
    1,
    [],
    expect.not.stringContaining('undetermined'),
  ])
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    '· removes 1 entry for each pod of StatefulSet team-a/llama ·',
  )
  const back = await diff(workloads, `${workloads}${byName}`, '')
  expect(changedIds(back.stdout, 'gains')).toEqual([
    'spiffe://example.org/llama-0',
    'spiffe://example.org/llama-1',
  ])
  expect(changedIds(back.stdout, 'loses')).toEqual([])
})

test('a selector for the name of one pod is for that pod alone', async () => {
  const { stdout } = await diff(statefulSet(2), statefulSet(3), BY_SELECTOR)
  expect(changedIds(stdout, 'gains')).toEqual(['spiffe://example.org/third'])
  expect((await diff(statefulSet(1), statefulSet(2), BY_SELECTOR)).code).toBe(0)
})
