// One character or segment of one name changed, wherever it stands: the change is reported each time.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs, seedOf } from '@kleym/testing/runs.ts'
import { CHAT_ID, policyOf, spiffe, TEAM_A } from '@kleym/testing/access-policies.ts'
import { analyse, type Analysis } from '../../src/core/analysis/states/analysis.ts'
import { affectedPolicies } from '../../src/core/answers/explain/affected-policies.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { readScmSettings } from '../../src/core/model/objects/scm-config.ts'
import { readSnapshot } from '../../src/core/snapshot/snapshot.ts'

const SCM = { trustDomain: 'example.org', clusterName: 'prod', watchClassless: true, ignoreNamespaces: [] }
const CONFIG = {
  trustDomain: { kind: 'set', value: 'example.org' },
  className: '',
  variantLabelKey: 'llm-d.ai/role',
} as const

const object = (apiVersion: string, kind: string, fields: JsonRecord): JsonRecord => ({
  apiVersion,
  kind,
  metadata: { name: 'a', namespace: 'team-b', uid: `uid-of-${kind}` },
  ...fields,
})
const principals = (id: string): JsonRecord => ({
  rules: [{ from: [{ source: { principals: [id.replace('spiffe://', '')] } }] }],
})

/** The places of a name. */
const PLACES: readonly ((id: string) => JsonRecord)[] = [
  (id) => policyOf(spiffe(id)),
  (id) => object('security.istio.io/v1', 'AuthorizationPolicy', { spec: principals(id) }),
  (id) => object('networking.istio.io/v1', 'ServiceEntry', { spec: { subjectAltNames: [id] } }),
  (id) =>
    object('gateway.networking.k8s.io/v1', 'BackendTLSPolicy', {
      spec: { validation: { subjectAltNames: [{ type: 'URI', uri: id }] } },
    }),
  (id) => object('policy.linkerd.io/v1alpha1', 'MeshTLSAuthentication', { spec: { identities: [id] } }),
  (id) =>
    object('agentgateway.dev/v1alpha1', 'AgentgatewayPolicy', {
      spec: { backend: { tls: { verifySubjectAltNames: [id] } } },
    }),
  (id) => object('v1', 'ConfigMap', { data: { 'envoy.yaml': `- exact: "${id}"\n` } }),
  (id) => object('v1', 'Secret', { data: { peer: Buffer.from(`peer=${id}\n`).toString('base64') } }),
  (id) => object('example.org/v1', 'Client', { spec: { args: [`--peer=${id}`] } }),
]

function analysisOf(objects: readonly JsonRecord[]): Analysis {
  const snapshot = readSnapshot({
    objects: [...TEAM_A, ...objects].map((value) => ({ value })),
    asksForMentions: true,
  })
  const { settings } = readScmSettings(SCM, 'a test', {
    trustDomain: 'example.org',
    className: '',
    clusterSpiffeIdClasses: [],
  })
  return analyse(snapshot, CONFIG, settings)
}

const character = fc
  .record({
    at: fc.integer({ min: 'spiffe://'.length, max: CHAT_ID.length - 1 }),
    to: fc.constantFrom('a', 'q', 'Z', '7', '-', '.', '_', ''),
  })
  .map(({ at, to }) => `${CHAT_ID.slice(0, at)}${to}${CHAT_ID.slice(at + 1)}`)
const segment = fc
  .record({ at: fc.integer({ min: 2, max: 6 }), to: fc.constantFrom('x', 'team-c', 'pool', '', 'x/y') })
  .map(({ at, to }) =>
    CHAT_ID.split('/')
      .map((one, index) => (index === at ? to : one))
      .join('/'),
  )

test('one character or segment of a name changed anywhere is reported', () => {
  fc.assert(
    fc.property(fc.constantFrom(...PLACES), fc.oneof(character, segment), (place, changed) => {
      fc.pre(changed !== CHAT_ID)
      const [before, after] = [CHAT_ID, changed].map((id) => analysisOf([place(id)]))
      const affected =
        before === undefined || after === undefined ? [] : affectedPolicies(before.settled, after.settled)
      expect(affected.map(({ spiffeId }) => spiffeId)).toContain(CHAT_ID)
    }),
    { numRuns: runs(300), ...seedOf(5) },
  )
})
