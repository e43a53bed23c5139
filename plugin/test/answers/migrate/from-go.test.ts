// `migrate --from-go`: objects in the shapes of the Go implementation's v0.12 and v0.9, written from the description of its API.
import { expect, test } from 'vitest'
import { inProcess } from '../../support/in-process.ts'
import { requireValidReport } from '../../support/report-check.ts'
import { workspace } from '../../support/workspace.ts'

const OLD = 'spiffe://example.org/ns/team-a/sa/runner/inference/pool/llama/variant/decode'
const NEW = 'spiffe://example.org/ns/team-a/pool/llama/variant/decode'
const SETTINGS = [
  '--trust-domain',
  'example.org',
  '--clusterspiffeid-class-name=',
  '--variant-label-key=llm-d.ai/role',
]
const FILES = `apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: { name: llama, namespace: team-a }
spec: { selector: { matchLabels: { app: llama } } }
---
apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: { name: decode, namespace: team-a }
spec: { poolRef: { name: llama }, serviceAccountName: runner, identityBoundary: { variant: decode } }
---
apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: { name: whole, namespace: team-a }
spec: { poolRef: { name: llama }, serviceAccountName: runner, mode: PoolOnly }
---
apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: { name: worker, namespace: team-a }
spec: { poolRef: { name: llama }, objectiveRef: { name: chat }, serviceAccountName: runner, containerName: vllm }
---
apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: { name: without, namespace: team-a }
spec: { poolRef: { name: llama }, serviceAccountName: runner }
---
apiVersion: agentic.networking.x-k8s.io/v1alpha1
kind: XAccessPolicy
metadata: { name: callers, namespace: team-a }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: tools }]
  action: Allow
  rules:
    - name: decoders
      source: { type: SPIFFE, spiffe: ${OLD} }
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: chat, namespace: web }
spec: { action: ALLOW, rules: [{ from: [{ source: { principals: ['*/objective/chat'] } }] }] }
`

test('each binding is reported with the ID of there and of here, what names the old one, and the steps in a safe order', async () => {
  const args = ['migrate', '--from-go', '--offline', '-f', '.', ...SETTINGS]
  const { stdout } = await inProcess([...args, '-o', 'json'], await workspace({ 'all.yaml': FILES }))
  requireValidReport(stdout)
  const report: { fromGo: unknown; steps: readonly { title: string }[] } = JSON.parse(stdout)
  expect(report.fromGo).toEqual([
    {
      binding: 'team-a/decode',
      oldID: OLD,
      newID: NEW,
      verdict: 'ready',
      consumers: [
        expect.objectContaining({
          consumer: 'team-a/callers',
          where: 'rule decoders',
          oldID: OLD,
          newID: NEW,
        }),
      ],
    },
    // Of v0.9, with and without a mode.
    {
      binding: 'team-a/whole',
      oldID: 'spiffe://example.org/ns/team-a/pool/llama',
      newID: 'spiffe://example.org/ns/team-a/pool/llama',
      verdict: 'ready',
      consumers: [],
    },
    {
      binding: 'team-a/without',
      oldID: null,
      newID: null,
      verdict: expect.stringContaining('refused (MissingObjectiveRef): '),
      consumers: [],
    },
    {
      binding: 'team-a/worker',
      oldID: 'spiffe://example.org/ns/team-a/objective/chat',
      newID: null,
      verdict: expect.stringContaining('refused (TargetObjectiveNotFound): '),
      consumers: [expect.objectContaining({ consumer: 'web/chat', add: null, newID: null })],
    },
  ])
  expect(report.steps.map(({ title }) => title)).toEqual([
    'Label the pods for this install',
    'Let consumers accept both IDs',
    'Delete the bindings while the other operator runs',
    'Remove the other operator and its CRD',
    'Install this operator, and apply the bindings as they are',
    'Take the IDs of there out of what names them',
  ])
})

test('the text says who must follow, also of a binding that is refused, and what is not known', async () => {
  const cwd = await workspace({ 'all.yaml': FILES })
  const { stdout, stderr, code } = await inProcess(
    ['migrate', '--from-go', '--offline', '-f', '.', ...SETTINGS],
    cwd,
  )
  expect(code).toBe(4)
  expect(stderr).toContain(
    'not known: who names the ID of binding team-a/without there: its status holds no ID',
  )
  const text = stdout.replaceAll(/\s+/g, ' ')
  expect(text).toContain('4 bindings: 1 with another ID here, 2 without one')
  expect(text).toContain('XAccessPolicy team-a/callers: add a rule like decoders')
  expect(text).toContain(
    'AuthorizationPolicy web/chat: .spec.rules[0].from[0].source.principals names */objective/chat, and no ID takes its place yet',
  )
  expect(text).toContain('there: not known: its status holds no ID, and its spec names no boundary')
  expect(stdout.split('\n')[0]).toContain('(incomplete')
})

test.each([
  ['of this install too', 'identity.kleym.sonda.red/variant: decode, llm-d.ai/role: decode', false],
  ['of the other alone', 'identity.kleym.sonda.red/variant: decode', true],
  [
    'of this install with another value',
    'identity.kleym.sonda.red/variant: decode, llm-d.ai/role: prefill',
    true,
  ],
  ['of another variant', 'identity.kleym.sonda.red/variant: prefill', false],
])('pods with the label of a variant %s: whether they are cut off', async (_, labels, isCutOff) => {
  const pod = `apiVersion: v1
kind: Pod
metadata: { name: llama-0, namespace: team-a, labels: { app: llama, ${labels} } }
spec: { serviceAccountName: runner, containers: [{ name: vllm }] }
`
  const cwd = await workspace({ 'all.yaml': `${FILES}---\n${pod}` })
  const { stdout } = await inProcess(['migrate', '--from-go', '--offline', '-f', '.', ...SETTINGS], cwd)
  const text = stdout.replaceAll(/\s+/g, ' ')
  const says = `cut off: pod team-a/llama-0 has the variant by the label identity.kleym.sonda.red/variant and not by llm-d.ai/role, so ${NEW} does not go there`
  expect(text.includes(says)).toBe(isCutOff)
})

test('where the label is the same, nothing is to be labelled', async () => {
  const args = [
    'migrate',
    '--from-go',
    '--offline',
    '-f',
    '.',
    '--trust-domain=example.org',
    '--variant-label-key=identity.kleym.sonda.red/variant',
  ]
  const { stdout } = await inProcess(args, await workspace({ 'all.yaml': FILES }))
  expect(stdout).not.toContain('Label the pods')
  expect(stdout).toContain('1. Let consumers accept both IDs')
})

test('two service accounts of one variant have two IDs there and one here: the first lines and the first step say so', async () => {
  const other = `apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: { name: canary, namespace: team-a }
spec: { poolRef: { name: llama }, serviceAccountName: canary, identityBoundary: { variant: decode } }
`
  const cwd = await workspace({ 'all.yaml': `${FILES}---\n${other}` })
  const { stdout } = await inProcess(['migrate', '--from-go', '--offline', '-f', '.', ...SETTINGS], cwd)
  const text = stdout.replaceAll(/\s+/g, ' ')
  const says = `one ID here for ${OLD.replace('runner', 'canary')}, ${OLD}: whoever accepts ${NEW} for one of them accepts the others too`
  expect(stdout.startsWith('!')).toBe(true)
  expect(text.split(says)).toHaveLength(3)
})
