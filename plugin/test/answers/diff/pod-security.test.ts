// A namespace that takes fewer pods after a change: whether those of its workloads are among them, kleym does not look at.
import { expect, test } from 'vitest'
import { diffBetween } from '../../support/diff-between.ts'
import type { Ran } from '../../support/in-process.ts'
import { CHAT_BINDING, SCM_CONFIG } from '../../support/chat-world.ts'

const ENFORCE = 'pod-security.kubernetes.io/enforce'

function world(labels: string): string {
  return `apiVersion: v1
kind: Namespace
metadata: {name: demo, labels: {${labels}}}
---
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: llama, namespace: demo}
spec: {selector: {matchLabels: {app: llama}}}
---
${CHAT_BINDING}---
apiVersion: apps/v1
kind: Deployment
metadata: {name: llama, namespace: demo}
spec:
  selector: {matchLabels: {app: llama}}
  template:
    metadata: {labels: {app: llama}}
    spec: {serviceAccountName: runner, containers: [{name: vllm, image: server}]}
---
${SCM_CONFIG}`
}

function between(base: string, head: string): Promise<Ran> {
  return diffBetween(world(base), world(head))
}

test.each([
  ['none', 'team: a', `${ENFORCE}: restricted`, 'restricted'],
  ['another', `${ENFORCE}: baseline`, `${ENFORCE}: restricted`, 'restricted'],
  ['a stricter one', `${ENFORCE}: restricted`, `${ENFORCE}: baseline`, 'restricted'],
])('a level where there was %s leaves open what new pods hold', async (_, base, head, level) => {
  const { code, stdout } = await between(base, head)
  expect(stdout).toContain('1 container undetermined')
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`namespace demo enforces ${level} on one side`)
  expect(code).toBe(4)
})

test.each([
  ['the level that counts without a label', 'team: a', `${ENFORCE}: privileged`],
  ['another label', 'team: a', 'pod-security.kubernetes.io/warn: restricted'],
])('%s changes nothing', async (_, base, head) => {
  const { code } = await between(base, head)
  expect(code).toBe(0)
})
