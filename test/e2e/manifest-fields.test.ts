// What the API server would drop or refuse of a manifest is said before anything is made of what is left. What the real one
// does with each: test/control-plane/manifest-check.test.ts.
import { beforeAll, describe, expect, test } from 'vitest'
import { ask } from './ask.ts'
import { built } from './plugin.ts'
import { BINDING, documents, NODE, OBJECTIVE, POD, POOL, SMALL } from './workspace.ts'

beforeAll(built)

const CLUSTER_SPIFFE_ID = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: reports}
spec:
  spiffeIDTemplate: 'spiffe://example.org/reports/{{ .PodMeta.Name }}'
`

function withField(manifest: string, field: string): string {
  return `${manifest.trimEnd()}\n  ${field}\n`
}

describe('an unknown field of a binding', () => {
  const typo = withField(BINDING, 'containerNames: [vllm]')
  const all = documents(POOL, OBJECTIVE, typo, POD, NODE)

  test.each([
    ['explain', ['explain', 'team-a/chat']],
    ['conflicts', ['conflicts']],
    ['who-selects', ['who-selects', 'pod/team-a/llama-0']],
  ])('is an error of %s, with the field that was meant', async (_name, args) => {
    const { code, stdout } = await ask(all, ...args)
    expect(stdout).toContain('.spec.containerNames is no field of InferenceIdentityBinding (v1alpha1)')
    expect(stdout).toContain('did you mean containerName?')
    expect(stdout).toContain('KLM550')
    expect(code).toBe(1)
  })

  test('such as a boundary is never ready with exit code 0', async () => {
    const wider = documents(POOL, OBJECTIVE, withField(BINDING, 'identityBoundaries: {x: y}'), POD, NODE)
    const { code, stdout } = await ask(wider, 'explain', 'team-a/chat')
    expect(stdout).toContain('.spec.identityBoundaries is no field')
    expect(code).toBe(1)
  })

  test('stands in a nested reference too', async () => {
    const reference = BINDING.replace(
      'objectiveRef: {name: chat}',
      'objectiveRef: {name: chat, namespace: team-b}',
    )
    const { code, stdout } = await ask(
      documents(POOL, OBJECTIVE, reference, POD, NODE),
      'explain',
      'team-a/chat',
    )
    expect(stdout).toContain('.spec.objectiveRef.namespace is no field')
    expect(code).toBe(1)
  })
})

describe('an unknown field of a kind of others', () => {
  test('that leaves a ClusterSPIFFEID selecting every namespace is a warning with the field that was meant', async () => {
    const wide = withField(CLUSTER_SPIFFE_ID, 'namespaceSelector: {matchNames: [production]}')
    const { code, stdout } = await ask(documents(SMALL, wide), 'conflicts')
    expect(stdout).toContain('.spec.namespaceSelector.matchNames is no field of ClusterSPIFFEID (v1alpha1)')
    expect(stdout).toContain('did you mean matchLabels?')
    expect(stdout).toMatch(/!.*KLM420/)
    expect(code).toBe(0)
    const strict = await ask(documents(SMALL, wide), 'conflicts', '--fail-on', 'warning')
    expect(strict.code).toBe(1)
  })

  test('is reported where a binding rests on the pool or the objective', async () => {
    const pool = POOL.replace('spec: {', 'spec: {targetPort: 8000, ')
    const objective = OBJECTIVE.replace('{name: llama}', '{name: llama, namespce: team-a}')
    const { code, stdout } = await ask(
      documents(pool, objective, BINDING, POD, NODE),
      'explain',
      'team-a/chat',
    )
    expect(stdout).toContain('.spec.targetPort is no field of InferencePool (v1)')
    expect(stdout).toContain('.spec.poolRef.namespce is no field of InferenceObjective (v1alpha2)')
    expect(code).toBe(0)
  })

  test('is nothing in a version that is not in the table', async () => {
    const newer = withField(CLUSTER_SPIFFE_ID, 'fresh: 1').replace('v1alpha1', 'v1alpha9')
    const { stdout } = await ask(documents(SMALL, newer), 'conflicts')
    expect(stdout).not.toContain('KLM420')
  })

  test('is nothing in a dump of a live object', async () => {
    const dump = withField(CLUSTER_SPIFFE_ID, 'fresh: 1').replace(
      '{name: reports}',
      '{name: reports, uid: uid-of-reports, creationTimestamp: "2026-01-01T00:00:00Z"}',
    )
    const { stdout } = await ask(documents(SMALL, dump), 'conflicts')
    expect(stdout).not.toContain('KLM420')
  })
})

describe('a wrong type in a manifest is refused at apply, and stops nobody', () => {
  test.each([
    ['a number for a duration', 'ttl: 3600', '.spec.ttl is a number, not a string'],
    ['a string for a boolean', 'admin: "true"', '.spec.admin is a string, not true or false'],
    ['a list for a selector', 'podSelector: []', '.spec.podSelector is a list, not a mapping'],
  ])('%s', async (_name, field, says) => {
    const { code, stdout } = await ask(documents(SMALL, withField(CLUSTER_SPIFFE_ID, field)), 'conflicts')
    expect(stdout).toContain(says)
    expect(stdout).toContain('KLM421')
    expect(stdout).not.toContain('KLM406')
    expect(code).toBe(1)
  })

  test('a spec that is null', async () => {
    const empty = CLUSTER_SPIFFE_ID.replace(/spec:[^]*/, 'spec:\n')
    const { code, stdout } = await ask(documents(SMALL, empty), 'conflicts')
    expect(stdout).toContain('.spec is missing')
    expect(stdout).not.toContain('KLM406')
    expect(code).toBe(1)
  })

  test('mappings among the selectors of a static entry', async () => {
    const entry = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterStaticEntry
metadata: {name: reports}
spec:
  spiffeID: spiffe://example.org/reports
  parentID: spiffe://example.org/node
  selectors: [{type: k8s, value: "ns:team-a"}]
`
    const { code, stdout } = await ask(documents(SMALL, entry), 'conflicts')
    expect(stdout).toContain('.spec.selectors[0] is a mapping, not a string')
    expect(stdout).not.toContain('KLM406')
    expect(code).toBe(1)
  })

  test('what such an object had given before is not known', async () => {
    const refused = withField(CLUSTER_SPIFFE_ID, 'ttl: 3600')
    const { stdout } = await ask(documents(SMALL, refused), 'who-selects', 'pod/team-a/llama-0')
    expect(stdout).toContain('depends')
    expect(stdout).toContain('the API server refuses ClusterSPIFFEID/reports')
  })

  test('a duration that Go cannot read is taken by the API server, and stops SCM for everybody', async () => {
    const { code, stdout } = await ask(documents(SMALL, withField(CLUSTER_SPIFFE_ID, 'ttl: 1d')), 'conflicts')
    expect(stdout).toContain('KLM406')
    expect(stdout).not.toContain('KLM421')
    expect(code).toBe(1)
  })
})
