// How much is done for the tests that `--generate` writes: they are run before they are printed, all of them together.
import { expect, test, vi } from 'vitest'
import { Holdings } from '@kleym/shared/core/analysis/index.ts'
import { podRule } from '@kleym/shared/core/findings/rules/pod-findings.ts'
import { SCM_CONFIG } from '../../support/chat-world.ts'
import { inProcess } from '../../support/in-process.ts'
import { workspace } from '../../support/workspace.ts'

const SETTINGS = '--trust-domain example.org --clusterspiffeid-class-name= --scm-config scm.yaml'.split(' ')
const NAMESPACES = 12
const REGISTRATION = {
  apiVersion: 'spire.spiffe.io/v1alpha1',
  kind: 'ClusterSPIFFEID',
  metadata: { name: 'each', uid: 'uid-of-each' },
  spec: { spiffeIDTemplate: 'spiffe://example.org/ns/{{ .PodMeta.Namespace }}' },
}

function podIn(namespace: string): unknown {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'llama', namespace, uid: `uid-of-${namespace}` },
    spec: { nodeName: 'n1', containers: [{ name: 'vllm' }] },
  }
}

test('what a container holds is worked out twice, and what is not known once, however many namespaces have a test', async () => {
  const names = Array.from({ length: NAMESPACES }, (_, at) => `team-${at}`)
  const objects = [
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'uid-of-n1' } },
    REGISTRATION,
    ...names.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, uid: name } })),
    ...names.map(podIn),
  ]
  const text = objects.map((one) => JSON.stringify(one)).join('\n---\n')
  const cwd = await workspace({ 'scm.yaml': SCM_CONFIG, 'world.yaml': text })
  const ofContainer = vi.spyOn(Holdings.prototype, 'ofContainer')
  const more = vi.spyOn(podRule, 'more')
  const { stdout } = await inProcess(
    ['test', '--generate', '--offline', '-f', 'world.yaml', ...SETTINGS],
    cwd,
  )
  expect(stdout.match(/^ {2}name: namespace-team-/gm)).toHaveLength(NAMESPACES)
  expect(ofContainer).toHaveBeenCalledTimes(2 * NAMESPACES)
  expect(more.mock.calls.length).toBeLessThan(NAMESPACES)
})

test('an identity that is not certain is not pinned, and stderr says which', async () => {
  const federated = {
    ...REGISTRATION,
    spec: { spiffeIDTemplate: 'spiffe://example.org/x', federatesWith: ['b.example'] },
  }
  const objects = [
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'uid-of-n1' } },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-0', uid: 'team-0' } },
    podIn('team-0'),
  ]
  const run = async (registration: unknown) => {
    const world = [...objects, registration].map((one) => JSON.stringify(one)).join('\n---\n')
    const cwd = await workspace({ 'scm.yaml': SCM_CONFIG, 'world.yaml': world })
    return await inProcess(['test', '--generate', '--offline', '-f', 'world.yaml', ...SETTINGS], cwd)
  }
  expect((await run(REGISTRATION)).code).toBe(0)
  const { code, stdout, stderr } = await run(federated)
  expect(code).toBe(4)
  expect(stdout).not.toContain('identities:')
  expect(stderr).toMatch(
    /not pinned: which containers hold spiffe:\/\/example\.org\/x: .* bundle of b\.example/,
  )
})
