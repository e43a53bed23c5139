// Who is asked about a pod while the tests are made that pin what it holds: not all others of its workload or namespace.
import { expect, test } from 'vitest'
import { analysisOf } from '@kleym/testing/random-tenants.ts'
import { generatedFor } from './run-test.ts'

/** How often the pods of a workload are asked who made them, for each of them. */
function timesAsked(count: number): number {
  let asked = 0
  const owners = [{ kind: 'StatefulSet', name: 'llama', controller: true }]
  const pods = Array.from({ length: count }, (_, at) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `llama-${at}`,
      namespace: 'team-a',
      uid: `uid-${at}`,
      get ownerReferences() {
        asked += 1
        return owners
      },
    },
    spec: { nodeName: 'n1', containers: ['vllm', 'proxy'].map((name) => ({ name, image: name })) },
  }))
  const analysis = analysisOf([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a', uid: 'team-a' } },
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'n1' } },
    {
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ClusterSPIFFEID',
      metadata: { name: 'each', uid: 'each', creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { spiffeIDTemplate: 'spiffe://example.org/{{ .PodMeta.Namespace }}' },
    },
    ...pods,
  ])
  asked = 0
  expect(generatedFor(analysis).tests).toHaveLength(2)
  return asked / count
}

test('a pod of a large workload is asked who made it as seldom as one of a small workload', () => {
  const few = timesAsked(10)
  expect(few).toBeGreaterThan(0)
  expect(timesAsked(150)).toBeLessThanOrEqual(few)
})
