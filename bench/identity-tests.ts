// Identity tests on a made-up cluster: who holds the identity of each binding and no other container, what one container of each
// namespace holds, and rules for each namespace and for the whole cluster.
import { analyse, type Analysis } from '@kleym/shared/core/analysis/states/analysis.ts'
import { evaluating } from '@kleym/shared/core/answers/identity-tests/evaluate.ts'
import { readIdentityTest, type Assertion } from '@kleym/shared/core/answers/identity-tests/identity-test.ts'
import { IDENTITY_TEST_API_VERSION, IDENTITY_TEST_KIND } from '@kleym/shared/core/model/names.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { readSnapshot } from '@kleym/shared/core/snapshot/snapshot.ts'
import { driveAtOnce } from '@kleym/shared/core/base/steps.ts'
import { CONFIG, SETTINGS } from './made-up-clusters.ts'

const TENANCY = {
  identitiesBelow: 'spiffe://example.org/ns/{namespace}/',
  onlyIn: { namespace: '{namespace}' },
}

/** So many assertions, made of a cluster, read and run against an analysis of it. */
export function assertionsText(objects: readonly RawObject[], count: number): (analysis: Analysis) => string {
  const value = identityTest(analyse(readSnapshot({ objects }), CONFIG, SETTINGS), count)
  return (analysis) => {
    const assertions = assertionsOf(value)
    const outcomes = driveAtOnce(evaluating(assertions, { analysis, incomplete: () => undefined }))
    const passed = outcomes.filter(({ state }) => state === 'passed').length
    return `${outcomes.length} assertions, ${passed} passed`
  }
}

function identityTest({ settled, snapshot }: Analysis, count: number): unknown {
  const identities = [...settled.judgements.values()].flatMap((judgement) => {
    if (judgement.state !== 'ready') return []
    const { spiffeId } = judgement.resolved.identity
    // bench/made-up-clusters.ts: the name of an objective is its pool's, and says which container serves it.
    const [, namespace, pool, kind] = /\/ns\/([^/]+)\/objective\/(pool-\d+)-(\w+)$/.exec(spiffeId) ?? []
    const container = kind === 'chat' ? 'vllm' : 'lora-syncer'
    const pods = { namespace, podSelector: { matchLabels: { pool } } }
    return { spiffeID: spiffeId, heldBy: { exactly: [{ ...pods, container }] } }
  })
  const containers = snapshot.namespaces.read.map(({ name }) => ({
    subject: { namespace: name, podSelector: { matchLabels: { pool: 'pool-00000' } }, container: 'vllm' },
    holds: { atLeast: [`spiffe://example.org/ns/${name}/objective/pool-00000-chat`] },
  }))
  const rules = snapshot.namespaces.read.map(({ name }) => ({
    everyContainer: { namespace: name },
    holds: { atMost: 4 },
  }))
  const rest = Math.max(0, count - identities.length - 1)
  const spec = {
    identities: identities.slice(0, count - 1),
    containers: containers.slice(0, Math.ceil(rest / 2)),
    rules: [TENANCY, ...rules.slice(0, Math.floor(rest / 2))],
  }
  return {
    apiVersion: IDENTITY_TEST_API_VERSION,
    kind: IDENTITY_TEST_KIND,
    metadata: { name: 'bench' },
    spec,
  }
}

function assertionsOf(value: unknown): readonly Assertion[] {
  const test = readIdentityTest(value, {
    workloadKinds: [],
    kindOf: (kind) => kind,
    trustDomains: new Set(['example.org']),
  })
  if (!('assertions' in test)) throw new Error(`the test cannot be read: ${JSON.stringify(test[0])}`)
  return test.assertions
}
