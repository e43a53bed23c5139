// `conflicts` of several clusters, each a folder: who gives one ID in two of them.
import { describe, expect, test } from 'vitest'
import { inProcess, type Ran } from '../../support/in-process.ts'
import { CHAT_BINDING, SCM_CONFIG } from '../../support/chat-world.ts'
import { workspace } from '../../support/workspace.ts'

const CLUSTER = `apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: llama, namespace: demo}
spec: {selector: {matchLabels: {app: llama}}}
---
${CHAT_BINDING}---
${SCM_CONFIG}`
const OTHER = CLUSTER.replaceAll('namespace: demo', 'namespace: prod')
const UNREADABLE = `${CLUSTER}---
apiVersion: kleym.sonda.red/v1alpha1
kind: InferenceIdentityBinding
metadata: {name: [
`

/** Compares folders of these contents, by their names. */
async function compare(clusters: Readonly<Record<string, string>>, ...more: readonly string[]): Promise<Ran> {
  const files = Object.entries(clusters).map(([name, text]) => [`${name}/all.yaml`, text] as const)
  const folder = await workspace(Object.fromEntries(files))
  const folders = Object.keys(clusters).flatMap((name) => ['--cluster-dir', name])
  return inProcess(['conflicts', ...folders, '--trust-domain', 'example.org', ...more], folder)
}

describe('conflicts of several clusters', () => {
  test('one binding in two clusters of one trust domain is a finding, and counts for the exit code as a warning', async () => {
    const { code, stdout } = await compare({ east: CLUSTER, west: CLUSTER })
    expect(stdout).toMatch(/^! 1 SPIFFE ID is given in more than one of 2 clusters \(east, west\)/)
    expect(stdout).toContain('KLM309')
    expect(stdout).toContain('east: binding demo/')
    expect(stdout).toContain('west: binding demo/')
    expect(code).toBe(0)
    expect((await compare({ east: CLUSTER, west: CLUSTER }, '--fail-on', 'warning')).code).toBe(1)
  })

  test('an ID that two clusters perhaps give is counted beside those that they certainly give', async () => {
    const [plain, waiting] = ['plain', 'waiting'].map(
      (name) => `---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: ${name}}
spec: {spiffeIDTemplate: 'spiffe://example.org/${name}', podSelector: {matchLabels: {app: ${name}}}}
`,
    )
    const some = await compare({ east: OTHER + waiting, west: `${SCM_CONFIG}${waiting}` })
    expect(some.stdout).toMatch(/^! 1 SPIFFE ID is perhaps given in more than one of 2 clusters/)
    const both = await compare({ east: CLUSTER + waiting, west: CLUSTER + waiting })
    expect(both.stdout).toMatch(/^! 1 SPIFFE ID is given, and 1 perhaps, in more than one of 2 clusters/)
    const two = await compare({
      east: `${SCM_CONFIG}${waiting}${plain}`,
      west: `${SCM_CONFIG}${waiting}${plain}`,
    })
    expect(two.stdout).toMatch(/^! 2 SPIFFE IDs are perhaps given in more than one of 2 clusters/)
  })

  test('a pool that is imported from a cluster whose pools were not read is not called missing there', async () => {
    const imported = `---
apiVersion: inference.networking.x-k8s.io/v1alpha1
kind: InferencePoolImport
metadata: {name: llama, namespace: demo}
`
    const unread = `${SCM_CONFIG}---
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: [
`
    const { code, stdout } = await compare({ east: `${SCM_CONFIG}${imported}`, west: unread })
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('whether west has it is not known')
    expect(code).toBe(4)
  })

  test('clusters with other namespaces share nothing', async () => {
    const { code, stdout } = await compare({ east: CLUSTER, west: OTHER })
    expect(stdout).toContain('no SPIFFE ID is given in two of 2 clusters')
    expect(code).toBe(0)
  })

  test('with a file that cannot be read nothing is called unshared', async () => {
    const { code, stdout } = await compare({ east: OTHER, west: UNREADABLE })
    expect(stdout).toContain('no SPIFFE ID is known to be given in two of')
    expect(code).toBe(4)
  })

  test('with a registration whose ID kleym cannot tell nothing is called unshared', async () => {
    const printed = `---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: printed}
spec: {spiffeIDTemplate: 'spiffe://example.org/{{ printf "%p" .PodMeta }}'}
---
apiVersion: v1
kind: Pod
metadata: {name: one, namespace: prod}
spec: {containers: [{name: main}]}
`
    const { stdout, stderr } = await compare({ east: CLUSTER, west: OTHER + printed })
    expect(stdout).toMatch(/^! no SPIFFE ID is known to be given in two of/)
    expect(stderr).toContain('not known: west: ClusterSPIFFEID/printed: template not supported')
  })

  test('the report lists each shared ID by cluster', async () => {
    const { stdout } = await compare({ east: CLUSTER, west: CLUSTER, south: OTHER }, '-o', 'json')
    const report: unknown = JSON.parse(stdout)
    expect(report).toMatchObject({
      comparison: {
        clusters: [{ name: 'east' }, { name: 'west' }, { name: 'south' }],
        shared: [{ certain: true, in: [{ cluster: 'east' }, { cluster: 'west' }] }],
      },
    })
  })

  test('folders of one name keep their paths apart', async () => {
    const { stdout } = await compare({ 'a/prod': CLUSTER, 'b/prod': CLUSTER })
    expect(stdout).toContain('(a/prod, b/prod)')
  })

  test.each([
    ['one folder alone', ['--cluster-dir', 'east'], 'no cluster to compare with'],
    ['a folder twice', ['--cluster-dir', 'east', '--cluster-dir', 'east'], 'given twice'],
    ['a namespace', ['--cluster-dir', 'east', '--cluster-dir', 'west', '-n', 'demo'], 'compared whole'],
    ['a binding', ['chat', '--cluster-dir', 'east', '--cluster-dir', 'west'], 'compared whole'],
    ['files', ['--cluster-dir', 'east', '--cluster-dir', 'west', '-f', 'east'], 'compared whole'],
  ])('%s beside it is refused', async (_, args, why) => {
    const folder = await workspace({ 'east/all.yaml': CLUSTER, 'west/all.yaml': CLUSTER })
    const { code, stderr } = await inProcess(['conflicts', ...args], folder)
    expect(code).toBe(2)
    expect(stderr).toContain(why)
  })
})
