// Templates of kinds that kleym does not read, and pods to which a webhook has added its container: they show what a Deployment
// and its pods show, as far as that is certain.
import { describe, expect, test } from 'vitest'
import { inProcess, type Ran } from '../support/in-process.ts'
import { policy, spiffeRule } from '../support/policy-manifests.ts'
import { workspace } from '../support/workspace.ts'

const SETTINGS = '--trust-domain example.org --clusterspiffeid-class-name= --scm-config scm.yaml'.split(' ')
const SCM =
  'apiVersion: spire.spiffe.io/v1alpha1\nkind: ControllerManagerConfig\ntrustDomain: example.org\nclusterName: prod\nwatchClassless: true\n'

async function ask(manifests: readonly string[], ...args: readonly string[]): Promise<Ran> {
  const cwd = await workspace({ 'scm.yaml': SCM, 'world.yaml': manifests.join('---\n') })
  return inProcess([...args, '--offline', '-f', 'world.yaml', ...SETTINGS], cwd)
}

const NAMESPACE =
  'apiVersion: v1\nkind: Namespace\nmetadata: { name: team-a, labels: { kubernetes.io/metadata.name: team-a } }\n'

function pool(name: string, labels: string): string {
  return `apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: { name: ${name}, namespace: team-a }
spec: { selector: { matchLabels: { ${labels} } } }
`
}

function workload(apiVersion: string, kind: string, container = 'vllm'): string {
  return `apiVersion: ${apiVersion}
kind: ${kind}
metadata: { name: llama, namespace: team-a }
spec:
  selector: { matchLabels: { app: llama } }
  template:
    metadata: { labels: { app: llama, tier: gold } }
    spec: { serviceAccountName: runner, containers: [{ name: ${container} }] }
`
}

describe('a template with the labels of two pools', () => {
  const pools = [NAMESPACE, pool('llama', 'app: llama'), pool('gold', 'tier: gold')]
  const conflicts = ['conflicts', '--fail-on', 'warning'] as const

  test('of a Deployment is in both for certain', async () => {
    const { code, stdout } = await ask([...pools, workload('apps/v1', 'Deployment')], ...conflicts)
    expect(stdout).toContain('KLM306')
    expect(code).toBe(1)
  })

  test('of a kind that is not read is in both as far as its controller makes what it says', async () => {
    const { code, stdout } = await ask([...pools, workload('ray.io/v1', 'RayCluster')], ...conflicts)
    expect(stdout).toContain('KLM306')
    expect(stdout).not.toContain('✓')
    expect(code).toBe(4)
  })

  test('of both is reported once, as certain', async () => {
    const both = [workload('apps/v1', 'Deployment'), workload('ray.io/v1', 'RayCluster')]
    const { code, stdout } = await ask([...pools, ...both], ...conflicts)
    expect(stdout.match(/in 2 pools/g)).toHaveLength(1)
    expect(code).toBe(1)
  })
})

describe('a binding for a container that the template does not have', () => {
  const objective =
    'apiVersion: llm-d.ai/v1alpha2\nkind: InferenceObjective\nmetadata: { name: chat, namespace: team-a }\nspec: { poolRef: { name: llama } }\n'
  const binding = `apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: { name: chat, namespace: team-a }
spec: { poolRef: { name: llama, group: inference.networking.k8s.io }, objectiveRef: { name: chat }, serviceAccountName: runner, containerName: vllm }
`
  const world = [NAMESPACE, pool('llama', 'app: llama'), objective, binding]

  test.each([
    ['apps/v1', 'Deployment', 1],
    ['argoproj.io/v1alpha1', 'Rollout', 4],
  ])('is told of %s %s', async (apiVersion, kind, expected) => {
    const { code, stdout } = await ask([...world, workload(apiVersion, kind, 'server')], 'explain', '-A')
    expect(stdout).toContain('KLM404')
    expect(code).toBe(expected)
  })
})

describe('what a controller makes of a template holds an identity perhaps', () => {
  const all =
    'apiVersion: spire.spiffe.io/v1alpha1\nkind: ClusterSPIFFEID\nmetadata: { name: all }\nspec: { spiffeIDTemplate: "spiffe://example.org/all" }\n'
  const rule = spiffeRule('all', 'spiffe://example.org/all')
  const worldOf = (made: string): readonly string[] => [NAMESPACE, all, policy('allow', [rule]), made]
  const rollout = worldOf(workload('argoproj.io/v1alpha1', 'Rollout'))
  const deployment = worldOf(workload('apps/v1', 'Deployment'))

  test.each([
    ['who-selects', ['who-selects', '--spiffe-id', 'spiffe://example.org/all', '-A'], /1 container holds it/],
    ['policies', ['policies', '-A', '-o', 'json'], /"state": "resolved"/],
    ['diff', ['diff', '--without', 'clusterspiffeid/all'], /loses/],
    ['migrate', ['migrate', 'clusterspiffeid/all'], /gives spiffe/],
  ])('for %s', async (_command, args, certain) => {
    expect((await ask(deployment, ...args)).stdout).toMatch(certain)
    expect((await ask(rollout, ...args)).stdout).not.toMatch(certain)
  })
})
