// KLM546: the operator's InForce against the prediction.
import { expect, test } from 'vitest'
import { inForceFinding } from '../../src/core/answers/explain/in-force-finding.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { live, outputOf, pool, poolOnly } from '@kleym/testing/manifests.ts'
import { analysisOf } from '@kleym/testing/random-tenants.ts'

const OUTPUT = outputOf([poolOnly(), pool()])
const NODE = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'n1' } }

/** The binding with what its status says of InForce. */
function said(status: string, reason: string, observedGeneration = 1): JsonRecord {
  const condition = { lastTransitionTime: '2026-01-01T00:00:00Z', message: '', observedGeneration }
  return poolOnly({
    status: { observedGeneration, conditions: [{ ...condition, type: 'InForce', status, reason }] },
  })
}

function pod(labels: Readonly<Record<string, string>>): JsonRecord {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'llama-0', namespace: 'team-a', uid: 'p1', labels },
    spec: { nodeName: 'n1', serviceAccountName: 'runner', containers: [{ name: 'vllm' }] },
    status: { phase: 'Running' },
  }
}

function found(
  binding: JsonRecord,
  pods?: JsonRecord,
  forbidden: readonly string[] = [],
): string | undefined {
  const objects = [binding, pool(), live(OUTPUT), NODE, ...(pods === undefined ? [] : [pods])]
  const analysis = analysisOf(objects, { forbidden })
  const [one] = analysis.snapshot.bindings.read
  return one && inForceFinding(analysis, one)?.summary
}

const SERVED = pod({ app: 'llama' })
const OTHER = pod({ app: 'other' })

test.each<readonly [name: string, binding: JsonRecord, pods: JsonRecord, says: string | undefined]>([
  ['registered, and a pod gets an entry', said('True', 'Registered'), SERVED, undefined],
  ['no pods, and none gets an entry', said('False', 'NoPods'), OTHER, undefined],
  [
    'registered, and no pod should get an entry',
    said('True', 'Registered'),
    OTHER,
    'the status says Registered, and from here no pod gets an entry',
  ],
  [
    'no pods, and one should get an entry',
    said('False', 'NoPods'),
    SERVED,
    'the status says NoPods, and from here a pod of it gets an entry',
  ],
  [
    'not handled, and one should get an entry',
    said('Unknown', 'NotHandled'),
    SERVED,
    'the status says NotHandled, and from here a pod of it gets an entry',
  ],
  ['refused by the server, which only the server knows', said('False', 'EntriesRefused'), SERVED, undefined],
  ['pending', said('Unknown', 'Pending'), SERVED, undefined],
  ['a status about another generation', said('False', 'NoPods', 7), SERVED, undefined],
])('%s', (_name, binding, pods, says) => {
  expect(found(binding, pods)).toBe(says)
})

test('a status without the condition says nothing', () => {
  expect(found(poolOnly(), SERVED)).toBeUndefined()
})

test.each(['Pod', 'ClusterStaticEntry.spire.spiffe.io'])(
  'nothing is said where %s may not be listed',
  (kind) => {
    expect(found(said('False', 'NoPods'), SERVED)).toBeDefined()
    expect(found(said('False', 'NoPods'), SERVED, [kind])).toBeUndefined()
  },
)
