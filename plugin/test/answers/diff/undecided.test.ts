// A binding that cannot be decided on one side of a diff: the operator would keep what it has, so `diff` must not call its output
// new or gone, nor say for certain who gains or loses the identity. Each test is a way in which it once did.
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { dig, isRecord, listAt, own } from '@kleym/shared/core/base/json.ts'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { SCM_CONFIG, WHOLE_POOL } from '../../support/chat-world.ts'
import { workspace } from '../../support/workspace.ts'

const WORLD = `${WHOLE_POOL}---
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: v1
kind: Pod
metadata: {name: llama-0, namespace: serving, labels: {app: llama, llm-d.ai/role: prefill}}
spec: {nodeName: n1, serviceAccountName: runner, containers: [{name: vllm}]}
---
${SCM_CONFIG}`

function variant(name: string, poolName = 'llama'): string {
  return `---
apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: {name: ${name}, namespace: serving}
spec: {mode: PerVariant, poolRef: {name: ${poolName}}, serviceAccountName: runner, identityBoundary: {variant: prefill}}
`
}

const OPERATOR = `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: kleym, namespace: kleym}
spec:
  selector: {matchLabels: {app: kleym}}
  template:
    metadata: {labels: {app: kleym}}
    spec:
      containers:
        - name: operator
          image: kleym-operator:1
          args: [--trust-domain=example.org, --clusterspiffeid-class-name=, --variant-label-key=llm-d.ai/role]
`

async function diff(base: string, head: string, ...args: readonly string[]): Promise<Ran> {
  const cwd = await workspace({ 'base/all.yaml': base, 'head/all.yaml': head })
  const settings = ['--trust-domain', 'example.org', '--clusterspiffeid-class-name', '']
  const pods = ['-n', 'serving']
  return inProcess(['diff', '--offline', '--base', 'base', '-f', 'head', ...settings, ...pods, ...args], cwd)
}

async function report(base: string, head: string): Promise<unknown> {
  return JSON.parse((await diff(base, head, '-o', 'json')).stdout)
}

/** The identities that a report says for certain are gained or lost by pods of the namespace. */
function moved(found: unknown): readonly string[] {
  return ['gained', 'lost'].flatMap((way) =>
    listAt(found, 'effect', way).map((one) => `${way} ${String(own(one, 'spiffeID'))}`),
  )
}

const KNOWN = `${WORLD}${variant('prefill')}${OPERATOR}`
/** A ConfigMap may set the key. */
const NOT_TOLD = OPERATOR.replace(
  ', --variant-label-key=llm-d.ai/role]',
  ']\n          envFrom: [{configMapRef: {name: kleym}}]',
)
const NOT_KNOWN = `${WORLD}${variant('prefill')}${NOT_TOLD}`

test.each<[what: string, base: string, head: string]>([
  ['is lost', KNOWN, NOT_KNOWN],
  ['becomes known', NOT_KNOWN, KNOWN],
])('a label key that %s makes no output and no identity come or go', async (_what, base, head) => {
  const found = await report(base, head)
  expect(listAt(found, 'changes')).toEqual([])
  expect(moved(found).filter((one) => one.includes('/variant/'))).toEqual([])
  expect(listAt(found, 'effect', 'uncertain').map((one) => own(one, 'pod'))).toEqual(['pod serving/llama-0'])
  const { code, stdout } = await diff(base, head)
  expect(code).toBe(4)
  expect(stdout).toMatch(
    /! 1 container undetermined: vllm of serving\/llama-0\n {4}binding serving\/prefill is undetermined: missing\s+--variant-label-key/,
  )
})

test('of many reasons why a container is undetermined three are shown, and JSON has all', async () => {
  const head = WORLD + ['a', 'b', 'c', 'd', 'e'].map((name) => variant(name)).join('')
  const [uncertain] = listAt(await report(WORLD, head), 'effect', 'uncertain')
  expect(listAt(uncertain, 'why')).toHaveLength(5)
  const { stdout } = await diff(WORLD, head)
  expect(stdout.match(/^ {4}binding serving\/[abc] is undetermined/gm)).toHaveLength(3)
  expect(stdout).toContain('    and 2 more reasons: see -o json')
})

test('two identities of a container are not fixed because one of them is not known any more', async () => {
  const { stdout } = await diff(KNOWN, NOT_KNOWN)
  expect(stdout).not.toMatch(/✓ fixed: .*KLM303/)
  expect(stdout).toMatch(/no longer applies: .*KLM303/)
})

test('an output whose binding asks for another identity is gone, whatever the label key', async () => {
  const other = `---
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: other, namespace: serving}
spec: {selector: {matchLabels: {app: other}}}
`
  const found = await report(KNOWN, `${WORLD}${other}${variant('prefill', 'other')}${NOT_TOLD}`)
  expect(listAt(found, 'changes').map((one) => dig(one, 'kind'))).toEqual(['delete'])
  expect(moved(found)).toContain('lost spiffe://example.org/ns/serving/pool/llama/variant/prefill')
})

test('a new variant whose label key is not known may give its pods an identity', async () => {
  const found = await report(WORLD, NOT_KNOWN)
  expect(listAt(found, 'changes')).toEqual([])
  expect(listAt(found, 'effect', 'uncertain')).toHaveLength(1)
})

/** The same objects, with every key of every mapping in another order. */
function reordered(yaml: string): string {
  const turned = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(turned)
    if (!isRecord(value)) return value
    return Object.fromEntries(
      Object.keys(value)
        .toReversed()
        .map((key) => [key, turned(value[key])]),
    )
  }
  return parseAllDocuments(yaml)
    .map((one) => JSON.stringify(turned(one.toJS())))
    .join('\n---\n')
}

test('the same objects come to the same, whatever the label key and however they are written', async () => {
  const { code, stdout } = await diff(NOT_KNOWN, reordered(NOT_KNOWN))
  expect(stdout).toMatch(/^✓ no container gains or loses an identity/)
  expect(code).toBe(0)
})

test('the same objects are no answer about what neither side lets read', async () => {
  const broken = `${NOT_KNOWN}---
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: other, namespace: serving}
spec: {selector: {matchLabels: {app: "{{ .Values.app }}"}}}
`
  expect((await diff(broken, broken)).code).toBe(4)
})
