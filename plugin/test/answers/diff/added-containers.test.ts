// Containers that a webhook or a policy is asked to add on one side of a diff alone: whatever a pod is given as a whole is theirs too.
import { expect, test } from 'vitest'
import { inProcess } from '../../support/in-process.ts'
import { SCM_CONFIG, WHOLE_POOL } from '../../support/chat-world.ts'
import { workspace } from '../../support/workspace.ts'

const BINDING = `${WHOLE_POOL}---
${SCM_CONFIG}`
const PLAIN = namespaceWith('team: a')
const MESHED = namespaceWith('istio-injection: enabled')
const WORKLOAD = workloadWith('app: llama')
const POLICY = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: logs}
spec:
  rules:
    - name: add
      match: {any: [{resources: {kinds: [Pod]}}]}
      mutate: {patchStrategicMerge: {spec: {containers: [{name: logs, image: logs}]}}}
`

function namespaceWith(label: string): string {
  return `apiVersion: v1\nkind: Namespace\nmetadata: {name: serving, labels: {${label}}}\n`
}

function workloadWith(labels: string): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: llama, namespace: serving}
spec:
  selector: {matchLabels: {app: llama}}
  template:
    metadata: {labels: {${labels}}}
    spec: {serviceAccountName: runner, containers: [{name: vllm, image: vllm}]}
`
}

async function diff(base: readonly string[], head: readonly string[]): Promise<readonly [number, string]> {
  const cwd = await workspace({ 'base/all.yaml': base.join('---\n'), 'head/all.yaml': head.join('---\n') })
  const settings = ['--trust-domain', 'example.org', '--clusterspiffeid-class-name', '']
  const { code, stdout } = await inProcess(
    ['diff', '--offline', '--base', 'base', '-f', 'head', '-A', ...settings],
    cwd,
  )
  return [code, stdout.split('\n')[0] ?? '']
}

test.each<[what: string, base: readonly string[], head: readonly string[], undetermined: string]>([
  ['the namespace asks for a sidecar', [PLAIN, WORKLOAD], [MESHED, WORKLOAD], '3 containers'],
  ['the namespace asks for none any more', [MESHED, WORKLOAD], [PLAIN, WORKLOAD], '3 containers'],
  [
    'the template asks for a sidecar',
    [PLAIN, WORKLOAD],
    [PLAIN, workloadWith("app: llama, sidecar.istio.io/inject: 'true'")],
    '3 containers',
  ],
  ['a policy adds a container', [PLAIN, WORKLOAD], [PLAIN, WORKLOAD, POLICY], '1 container'],
])('where %s, who holds the identity is not known', async (_what, base, head, undetermined) => {
  expect(await diff([BINDING, ...base], [BINDING, ...head])).toEqual([
    4,
    expect.stringContaining(`! ${undetermined} undetermined`),
  ])
})

test.each<[what: string, base: readonly string[], head: readonly string[], code: number, first: RegExp]>([
  [
    'both sides ask for it',
    [BINDING, MESHED, WORKLOAD],
    [BINDING, MESHED, WORKLOAD],
    0,
    /^✓ no container gains/,
  ],
  [
    'the workload is new',
    [BINDING, MESHED],
    [BINDING, MESHED, WORKLOAD],
    1,
    /^! 1 container of serving gains/,
  ],
  ['no Namespace is given', [BINDING, WORKLOAD], [BINDING, WORKLOAD], 0, /^✓ no container gains/],
])('where %s, the containers of the template are the answer', async (_what, base, head, code, first) => {
  expect(await diff(base, head)).toEqual([code, expect.stringMatching(first)])
})
