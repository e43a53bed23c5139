// What a file that cannot be read comes to: of an answer that is findings alone, by the worst finding that it may bring or hide at the
// threshold; of an answer that lists what is there, always exit code 4.
import { settingsFlags } from '@kleym/testing/settings-flags.ts'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { FAIL_ON } from '../../src/flags/flags.ts'
import { inProcess } from '../support/in-process.ts'

const SCM = `apiVersion: spire.spiffe.io/v1alpha1
kind: ControllerManagerConfig
metadata: {name: scm}
trustDomain: example.org
clusterName: prod
watchClassless: true
ignoreNamespaces: []
`
const WORKLOAD = `apiVersion: v1
kind: Pod
metadata: {name: web, namespace: team-a, labels: {app: web}}
spec: {serviceAccountName: web, containers: [{name: web}]}
---
apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: web}
spec: {spiffeIDTemplate: 'spiffe://example.org/web', podSelector: {matchLabels: {app: web}}}
`
/** A document that shows its kind and its name, and cannot be read. */
const unreadable = (apiVersion: string, kind: string): string =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: a, namespace: team-a}\nspec: {a: [}\n`

const POLICY = unreadable('agentic.prototype.x-k8s.io/v0alpha0', 'XAccessPolicy')
const TESTS = `apiVersion: kleym.sonda.red/v1alpha1
kind: IdentityTest
metadata: {name: web}
spec:
  assertions: [{pods: {namespace: team-a, labels: {app: web}}, hold: {exactly: ['spiffe://example.org/web']}}]
`

/** The exit codes of a question for each threshold, by its name. */
async function codesOf(args: readonly string[], document: string): Promise<Record<string, number>> {
  const folder = await mkdtemp(join(tmpdir(), 'kleym-unread-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'scm.yaml'), SCM)
  await writeFile(join(folder, 'all.yaml'), `${WORKLOAD}---\n${document}`)
  await writeFile(join(folder, 'base.yaml'), WORKLOAD)
  await writeFile(join(folder, 'tests.yaml'), TESTS)
  const settings = settingsFlags()
  const codes: Record<string, number> = {}
  for (const failOn of FAIL_ON) {
    const asked = [...args, '--offline', '-f', 'all.yaml', ...settings, '--fail-on', failOn]
    const { code, stdout } = await inProcess(asked, folder)
    expect(`${args.join(' ')} ${failOn}: ${stdout.slice(0, 1)}`).not.toMatch(/[✓·]$/)
    codes[failOn] = code
  }
  return codes
}

describe('conflicts beside a document that cannot be read', () => {
  test('which may be an access policy: it may bring a warning', async () => {
    expect(await codesOf(['conflicts', '-A'], POLICY)).toEqual({ error: 0, warning: 4, info: 4, never: 0 })
  })

  test.each([
    ['ClusterSPIFFEID', unreadable('spire.spiffe.io/v1alpha1', 'ClusterSPIFFEID')],
    ['Deployment', unreadable('apps/v1', 'Deployment')],
    ['InferencePool', unreadable('inference.networking.k8s.io/v1', 'InferencePool')],
    ['InferenceIdentityBinding', unreadable('kleym.sonda.red/v1alpha1', 'InferenceIdentityBinding')],
    ['policy and a pool', `${POLICY}---\n${unreadable('inference.networking.k8s.io/v1', 'InferencePool')}`],
    [
      'policy that holds a pool',
      `${POLICY}# kind: InferencePool\n# apiVersion: inference.networking.k8s.io/v1\n`,
    ],
    ['object of any kind', 'kind: {{ .kind }}\nmetadata: {name: a}\nspec: {a: [}\n'],
  ])('which may be a %s: it may bring an error', async (_, document) => {
    expect(await codesOf(['conflicts', '-A'], document)).toEqual({ error: 4, warning: 4, info: 4, never: 4 })
  })
})

test.each([
  ['explain', '-A'],
  ['who-selects', '-A'],
  ['policies', '-A'],
  ['map', '-A'],
  ['diff', '--base', 'base.yaml'],
  ['test', 'tests.yaml'],
])('%s lists what is there: a policy that cannot be read ends in 4 at every threshold', async (...args) => {
  const codes = await codesOf(args, POLICY)
  expect(new Set(Object.values(codes))).toEqual(new Set([4]))
})
