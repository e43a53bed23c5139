// What others do to objects between two desired states: controllers that give pods labels of their own, and policies that delete.
import { expect, test } from 'vitest'
import { diffBetween } from '../../support/diff-between.ts'
import type { Ran } from '../../support/in-process.ts'
import { CHAT_BINDING, CHAT_OBJECTS, SCM_CONFIG } from '../../support/chat-world.ts'

const CANARY = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: canary}
spec: {spiffeIDTemplate: 'spiffe://example.org/canary', podSelector: {matchLabels: {role: canary}}}
`
const rollout = (strategy: string, version = 'v1'): string => `apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: web, namespace: demo}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, version: ${version}}}
    spec: {serviceAccountName: web, containers: [{name: web, image: 'web:${version}'}]}
  strategy: {canary: {steps: [{setWeight: 20}]${strategy}}}
`
const WORLD = [CHAT_BINDING, CHAT_OBJECTS, SCM_CONFIG, CANARY].join('---\n')

function between(base: string, head: string): Promise<Ran> {
  return diffBetween(`${WORLD}---\n${base}`, `${WORLD}---\n${head}`)
}

test('labels that a Rollout gives its pods beside those of the template leave open what they hold', async () => {
  const { code, stdout } = await between(rollout(''), rollout(', canaryMetadata: {labels: {role: canary}}'))
  expect(stdout).toContain('1 container undetermined')
  expect(code).toBe(4)
})

test('another image and version of a Rollout change nothing', async () => {
  const { code } = await between(rollout(''), rollout('', 'v2'))
  expect(code).toBe(0)
})

const cleanup = (kind: string): string => `apiVersion: kyverno.io/v2
kind: ClusterCleanupPolicy
metadata: {name: clean}
spec: {schedule: '*/5 * * * *', match: {any: [{resources: {kinds: [${kind}]}}]}}
`

test.each(['InferenceIdentityBinding', 'spire.spiffe.io/v1alpha1/ClusterSPIFFEID', "'*'"])(
  'a policy that deletes %s leaves open what is there',
  async (kind) => {
    const { code, stdout, stderr } = await between('# nothing\n', cleanup(kind))
    expect(stdout).not.toContain('✓')
    expect(stderr).toContain('ClusterCleanupPolicy clean may change objects')
    expect(code).toBe(4)
  },
)

test.each(['Pod', 'Secret'])('a policy that deletes objects of kind %s changes nothing', async (kind) => {
  const { code } = await between('# nothing\n', cleanup(kind))
  expect(code).toBe(0)
})

test.each(['kinds: - ', 'kinds:['])(
  'the text of a policy is gone through once: %s, again and again',
  async (part) => {
    const long = cleanup('Pod').replace('*/5 * * * *', part.repeat(100_000))
    const { code } = await between('# nothing\n', long)
    expect(code).toBe(0)
  },
)
