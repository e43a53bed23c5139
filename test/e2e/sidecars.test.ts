// Containers that webhooks add stand in no template: whether a binding for one reaches anything depends on the webhook.
import { beforeAll, describe, expect, test } from 'vitest'
import { ask } from './ask.ts'
import { built, kleym } from './plugin.ts'
import { BINDING, documents, NODE, OBJECTIVE, POD, POOL } from './workspace.ts'

beforeAll(built)

function bindingFor(container: string): string {
  return BINDING.replace('containerName: vllm', `containerName: ${container}`)
}

function namespace(metadata: string): string {
  return `apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a, ${metadata}}\n`
}

function deployment(metadata = ''): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: llama, namespace: team-a}
spec:
  selector: {matchLabels: {app: llama}}
  template:
    metadata: {labels: {app: llama}${metadata}}
    spec: {serviceAccountName: runner, containers: [{name: vllm}]}
`
}

const PLAIN = namespace('labels: {}')

test.each([
  ['istio-proxy', namespace('labels: {istio-injection: enabled}'), deployment()],
  ['istio-proxy', namespace('labels: {istio.io/rev: canary}'), deployment()],
  ['istio-proxy', PLAIN, deployment(', annotations: {sidecar.istio.io/inject: "true"}')],
  ['istio-proxy', '', deployment()],
  ['linkerd-proxy', namespace('annotations: {linkerd.io/inject: enabled}'), deployment()],
  ['linkerd-proxy', PLAIN, deployment(', annotations: {linkerd.io/inject: ingress}')],
  ['kuma-sidecar', namespace('labels: {kuma.io/sidecar-injection: enabled}'), deployment()],
  ['daprd', PLAIN, deployment(', annotations: {dapr.io/enabled: "true"}')],
  ['vault-agent', PLAIN, deployment(', annotations: {vault.hashicorp.com/agent-inject: "true"}')],
  ['consul-dataplane', PLAIN, deployment(', annotations: {consul.hashicorp.com/connect-inject: "true"}')],
  ['otc-container', PLAIN, deployment(', annotations: {sidecar.opentelemetry.io/inject: "true"}')],
])('a binding for %s depends on its webhook', async (container, ...manifests) => {
  const world = documents(POOL, OBJECTIVE, bindingFor(container), ...manifests.filter((one) => one !== ''))
  const { code, stdout, stderr } = await ask(world, 'explain', 'team-a/chat')
  expect(stdout).toContain('is ready, but whether it reaches a container is undetermined')
  expect(stdout).toContain('whether the container is there depends on the webhook of')
  expect(stdout).not.toContain('KLM404')
  expect(stderr).toContain(`not known: missing container ${container} that the webhook of`)
  expect(code).toBe(4)
})

describe('a pod that a kind which is not read makes may have the container too', () => {
  const rollout = deployment()
    .replace('apps/v1', 'argoproj.io/v1alpha1')
    .replace('kind: Deployment', 'kind: Rollout')
  const mesh = namespace('labels: {istio-injection: enabled}')

  test('so a binding for it may reach it', async () => {
    const world = documents(POOL, OBJECTIVE, bindingFor('istio-proxy'), mesh, rollout)
    const { code, stdout } = await ask(world, 'explain', 'team-a/chat')
    expect(stdout).toContain('whether it reaches a container is undetermined')
    expect(stdout).toContain('perhaps Rollout.argoproj.io')
    expect(code).toBe(4)
  })

  test('so a registration for it may give the identity of a binding away', async () => {
    const thief = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: thief}
spec: {spiffeIDTemplate: "spiffe://example.org/ns/team-a/objective/chat", workloadSelectorTemplates: ["k8s:ns:team-b", "k8s:container-name:istio-proxy"]}
`
    const elsewhere = documents(mesh, rollout).replaceAll('team-a', 'team-b')
    const { code, stdout } = await ask(documents(POOL, OBJECTIVE, BINDING, thief, elsewhere), 'conflicts')
    expect(stdout).toContain('KLM311')
    expect(stdout).toContain('(incomplete)')
    expect(code).toBe(4)
  })
})

describe('nothing depends on a webhook', () => {
  test.each([
    ['that nobody asks for', PLAIN, deployment()],
    [
      'that the template keeps away',
      namespace('labels: {istio-injection: enabled}'),
      deployment(', labels: {app: llama, sidecar.istio.io/inject: "false"}').replace(
        'labels: {app: llama}, ',
        '',
      ),
    ],
    ['that the namespace keeps away', namespace('labels: {istio-injection: disabled}'), deployment()],
  ])('%s', async (_what, ...manifests) => {
    const world = documents(POOL, OBJECTIVE, bindingFor('istio-proxy'), ...manifests)
    const { code, stdout } = await ask(world, 'explain', 'team-a/chat')
    expect(stdout).toContain('KLM404')
    expect(code).toBe(1)
  })

  test('where the container stands in the template', async () => {
    const mesh = namespace('labels: {istio-injection: enabled}')
    const own = deployment().replace('{name: vllm}', '{name: vllm}, {name: istio-proxy}')
    const { code, stdout } = await ask(
      documents(POOL, OBJECTIVE, bindingFor('istio-proxy'), mesh, own),
      'explain',
      'team-a/chat',
    )
    expect(stdout).toContain('is ready: 1 container is entitled to')
    expect(code).toBe(0)
  })

  test('where an injected pod stands for its template', async () => {
    const mesh = namespace('labels: {istio-injection: enabled}')
    const injected = POD.replace('[{name: vllm}]', '[{name: vllm}, {name: istio-proxy}]')
    const world = documents(POOL, OBJECTIVE, bindingFor('istio-proxy'), mesh, deployment(), injected, NODE)
    const { code, stdout } = await ask(world, 'explain', 'team-a/chat')
    expect(stdout).toContain('is ready: 1 container gets')
    expect(stdout).not.toContain('webhook')
    expect(code).toBe(0)
  })
})

test('who-selects shows the container that a webhook may add', async () => {
  const world = documents(
    POOL,
    OBJECTIVE,
    bindingFor('istio-proxy'),
    namespace('labels: {istio-injection: enabled}'),
    deployment(),
  )
  const { stdout } = await ask(world, 'who-selects', 'deployment/team-a/llama')
  expect(stdout).toContain('(injected sidecar) istio-proxy')
  expect(stdout).toContain('depends')
})

describe('what a pod is given as a whole, a container that a webhook adds gets too', () => {
  const ID = 'spiffe://example.org/ns/team-a/pool/llama'
  const ofPool = BINDING.replace(/objectiveRef: .*/, 'mode: PoolOnly').replace(/ *containerName: .*\n/, '')
  const pinned = (heldBy: string): string =>
    `apiVersion: test.kleym.sonda.red/v1alpha1
kind: IdentityTest
metadata: {name: pool}
spec:
  identities:
    - {spiffeID: "${ID}", heldBy: {exactly: [{namespace: team-a, workload: deployment/llama${heldBy}}]}}
`

  test.each([
    ['the Namespace asks for it', [namespace('labels: {istio-injection: enabled}')]],
    ['no Namespace says that nothing asks for it', []],
  ])('which who-selects and test say alike if %s', async (_if, spaces) => {
    const world = documents(POOL, ofPool, ...spaces, deployment())
    const held = await ask(world, 'who-selects', '--spiffe-id', ID)
    expect(held.stdout).toContain(
      `! ${ID}: 1 container holds it, and so may any container that a webhook adds (incomplete)`,
    )
    expect(held.code).toBe(4)
    const vllm = await ask(documents(world, pinned(', container: vllm')), 'test', 'manifests')
    expect(vllm.stdout).toContain('any container that a webhook adds to team-a/Deployment/llama holds')
    expect(vllm.code).toBe(4)
    const whole = await ask(documents(world, pinned('')), 'test', 'manifests')
    expect(whole.stdout).toContain('✓ 1 assertion passed')
    expect(whole.code).toBe(0)
  })

  test('so a Namespace that asks for none leaves both certain', async () => {
    const world = documents(POOL, ofPool, PLAIN, deployment(), pinned(', container: vllm'))
    const held = await ask(world, 'who-selects', '--spiffe-id', ID)
    expect(held.stdout).toContain(`${ID}: 1 container holds it`)
    expect(held.stdout).not.toContain('webhook')
    expect(held.code).toBe(0)
    expect((await ask(world, 'test', 'manifests')).code).toBe(0)
  })

  test('so tests that --generate writes name the workload, and pass', async () => {
    const world = documents(POOL, ofPool, deployment())
    const { stdout, code } = await ask(world, 'test', '--generate')
    expect(stdout).toContain(
      `spiffeID: ${ID} heldBy: exactly: - namespace: team-a workload: deployment/llama rules:`,
    )
    expect(code).toBe(0)
  })
})

test('the binding of examples/sidecars depends on the webhook of Istio', async () => {
  const settings = ['--trust-domain', 'example.org', '--scm-config', 'examples/scm-config.yaml']
  const files = ['--offline', '-f', 'examples/sidecars', '--clusterspiffeid-class-name', 'spire-mgmt-spire']
  const { code, stdout } = await kleym(['explain', 'mesh/edge', ...files, ...settings])
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('depends on the webhook of Istio')
  expect(code).toBe(4)
})
