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
  ['none', 'team: a', `${ENFORCE}: restricted`, 'restricted:latest'],
  ['another', `${ENFORCE}: baseline`, `${ENFORCE}: restricted`, 'restricted:latest'],
  ['a stricter one', `${ENFORCE}: restricted`, `${ENFORCE}: baseline`, 'restricted:latest'],
  ['none, with a slip', 'team: a', `${ENFORCE}: restrictd`, 'restricted:latest'],
  [
    'an older version of it',
    `${ENFORCE}: baseline, ${ENFORCE}-version: v1.24`,
    `${ENFORCE}: baseline, ${ENFORCE}-version: v1.30`,
    'baseline:v1.30',
  ],
  [
    'a newer version of it',
    `${ENFORCE}: baseline`,
    `${ENFORCE}: baseline, ${ENFORCE}-version: v1.24`,
    'baseline:v1.24',
  ],
])('a level where there was %s leaves open what new pods hold', async (_, base, head, level) => {
  const { code, stdout } = await between(base, head)
  expect(stdout).toContain('1 container undetermined')
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`namespace demo enforces ${level} on one side`)
  expect(code).toBe(4)
})

test.each([
  ['the level that counts without a label', 'team: a', `${ENFORCE}: privileged`],
  ['a version of the level that takes any pod', 'team: a', `${ENFORCE}-version: v1.24`],
  [
    'the version that counts without a label',
    `${ENFORCE}: restricted`,
    `${ENFORCE}: restricted, ${ENFORCE}-version: latest`,
  ],
  ['another label', 'team: a', 'pod-security.kubernetes.io/warn: restricted'],
])('%s changes nothing', async (_, base, head) => {
  const { code } = await between(base, head)
  expect(code).toBe(0)
})
