// A binding that cannot be decided may give a pod an identity and displace its default: `who-selects` must not speak of that pod
// as if the binding were not there. Each test is a way in which it once did.
import { describe, expect, test } from 'vitest'
import { listAt, own } from '@kleym/shared/core/base/json.ts'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { workspace } from '../../support/workspace.ts'

const SETTINGS = ['--trust-domain', 'example.org', '--clusterspiffeid-class-name', 'spire'] as const
const KEY = ['--variant-label-key', 'llm-d.ai/role'] as const

const SCM = `apiVersion: spire.spiffe.io/v1alpha1
kind: ControllerManagerConfig
trustDomain: example.org
clusterName: prod
className: spire
`

function pod(name: string, account: string, app: string): string {
  return `---
apiVersion: v1
kind: Pod
metadata: {name: ${name}, namespace: serving, labels: {app: ${app}, llm-d.ai/role: prefill}}
spec: {nodeName: n1, serviceAccountName: ${account}, containers: [{name: vllm}]}
`
}

const WORLD = `apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: llama, namespace: serving}
spec: {selector: {matchLabels: {app: llama}}}
---
apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: {name: prefill, namespace: serving}
spec: {mode: PerVariant, poolRef: {name: llama}, serviceAccountName: runner, identityBoundary: {variant: prefill}}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
${pod('llama-0', 'runner', 'llama')}${pod('llama-1', 'other', 'llama')}${pod('web-0', 'runner', 'web')}`

const DEFAULT = `---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: default, uid: uid-of-default, creationTimestamp: "2026-01-01T00:00:00Z"}
spec:
  className: spire
  fallback: true
  spiffeIDTemplate: 'spiffe://example.org/ns/{{ .PodMeta.Namespace }}/sa/{{ .PodSpec.ServiceAccountName }}'
`

async function ask(world: string, command: string, ...args: readonly string[]): Promise<Ran> {
  const cwd = await workspace({ 'all.yaml': world, 'scm.yaml': SCM })
  const files = ['--offline', '-f', 'all.yaml', '--scm-config', 'scm.yaml', '-n', 'serving']
  return inProcess([command, ...args, ...files, ...SETTINGS], cwd)
}

async function askJson(world: string, ...args: readonly string[]): Promise<unknown> {
  return JSON.parse((await ask(world, 'who-selects', ...args, '-o', 'json')).stdout)
}

function containerOf(report: unknown): unknown {
  return listAt(listAt(report, 'pods')[0], 'containers')[0]
}

describe('the label key of variants is not given', () => {
  const why = 'binding serving/prefill is undetermined: missing --variant-label-key'

  test('a pod that may be of the variant has no certain answer', async () => {
    const { code, stdout } = await ask(WORLD, 'who-selects', 'pod/llama-0')
    expect(code).toBe(4)
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`perhaps another identity: ${why}`)
    expect(own(containerOf(await askJson(WORLD, 'pod/llama-0')), 'notRead')).toBe(why)
  })

  test('its default identity depends, also where another service account keeps the identity from it', async () => {
    for (const name of ['llama-0', 'llama-1']) {
      const { code } = await ask(`${WORLD}${DEFAULT}`, 'who-selects', `pod/${name}`)
      const report = await askJson(`${WORLD}${DEFAULT}`, `pod/${name}`)
      const [registration] = listAt(containerOf(report), 'registrations')
      expect([name, own(registration, 'verdict'), code]).toEqual([name, 'depends', 4])
      expect(own(registration, 'why')).toContain('the ClusterSPIFFEID of binding serving/prefill, which is')
    }
  })

  test('no entry is certain either', async () => {
    const { code } = await ask(`${WORLD}${DEFAULT}`, 'who-selects', '--entries')
    expect(code).toBe(4)
    const entries = listAt(await askJson(`${WORLD}${DEFAULT}`, '--entries'), 'entries')
    const open = entries.filter((one) => own(one, 'depends') !== null).map((one) => String(own(one, 'pod')))
    expect(open.toSorted()).toEqual(['pod serving/llama-0', 'pod serving/llama-1'])
  })

  test('explain of another binding on that pod is not complete', async () => {
    const whole = `---
apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: {name: whole, namespace: serving}
spec: {mode: PoolOnly, poolRef: {name: llama}, serviceAccountName: runner}
`
    const explain = async (...args: readonly string[]): Promise<number> =>
      (await ask(`${WORLD}${whole}`, 'explain', 'serving/whole', ...args)).code
    expect([await explain(), await explain(...KEY)]).toEqual([4, 0])
  })

  test('a pod of no such pool is answered as ever', async () => {
    const { code, stdout } = await ask(`${WORLD}${DEFAULT}`, 'who-selects', 'pod/web-0')
    expect(code).toBe(0)
    expect(stdout).toContain('✓ spiffe://example.org/ns/serving/sa/runner')
  })
})

/** The verdicts of all that would select the container of a pod, once the key is given. */
async function verdicts(name: string): Promise<readonly string[]> {
  const report = await askJson(`${WORLD}${DEFAULT}`, `pod/${name}`, ...KEY)
  return listAt(containerOf(report), 'registrations').map((one) => String(own(one, 'verdict')))
}

test('with the key the variant is issued, and the default is displaced on every pod of it', async () => {
  expect((await verdicts('llama-0')).toSorted()).toEqual(['displaced', 'issued'])
  expect((await verdicts('llama-1')).toSorted()).toEqual(['dead', 'displaced'])
  expect(await verdicts('web-0')).toEqual(['issued'])
})
