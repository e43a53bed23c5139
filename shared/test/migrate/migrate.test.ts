// From a hand-written ClusterSPIFFEID to bindings: which containers they cover, what they cannot say, and the order of steps.
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { migrating, type Migration } from '../../src/core/answers/migrate/migrate.ts'
import { migrationSteps } from '../../src/core/answers/migrate/order.ts'
import { driveAtOnce } from '../../src/core/base/steps.ts'
import { foreign, NODE, pod, policyOf, spiffe } from '@kleym/testing/access-policies.ts'
import { got, objective, pool, poolOnly } from '@kleym/testing/manifests.ts'
import { analysisOf } from '@kleym/testing/random-tenants.ts'
import { toolsFor } from '../suggest/suggestions-for.ts'

const OLD = 'spiffe://example.org/old'
const NEW = 'spiffe://example.org/ns/team-a/pool/llama'

function old(spec: JsonRecord = {}): JsonRecord {
  return foreign('old', { spiffeIDTemplate: OLD, podSelector: { matchLabels: { app: 'llama' } }, ...spec })
}

function migrationOf(objects: readonly JsonRecord[]): Migration {
  const analysis = analysisOf([NODE, ...objects])
  const object = got(analysis.snapshot.clusterSpiffeIds.read.find(({ meta }) => meta.name === 'old'))
  return driveAtOnce(migrating(analysis, object, toolsFor(analysis)))
}

function boundaries({ suggestions }: Migration): readonly string[] {
  return suggestions.pools.flatMap(({ suggested }) =>
    suggested.map(({ candidate: { boundary } }) => Object.values(boundary).join(' ')),
  )
}

function moves({ moves: all }: Migration): readonly string[] {
  return all.map(({ container, before, during, after }) =>
    [container, before.ids.join('+'), during.ids.join('+'), after.ids.join('+')].join(' '),
  )
}

function titles(migration: Migration): readonly string[] {
  return migrationSteps(migration).map(({ title }) => title)
}

describe('the bindings', () => {
  test('PoolOnly for an ID of all containers; they hold both, and never none', () => {
    const migration = migrationOf([pool(), objective(), pod(), old()])
    expect(boundaries(migration)).toEqual(['PoolOnly'])
    expect(moves(migration)).toEqual([
      `vllm ${OLD} ${NEW}+${OLD} ${NEW}`,
      `proxy ${OLD} ${NEW}+${OLD} ${NEW}`,
    ])
    expect(migration.uncovered).toEqual([])
    expect(titles(migration)).toEqual([
      'Let peers accept both IDs',
      'Apply the bindings',
      'Delete the old registration',
    ])
  })

  test('PerObjective for an ID of one container', () => {
    const one = old({ workloadSelectorTemplates: ['k8s:container-name:vllm'] })
    expect(boundaries(migrationOf([pool(), objective(), pod(), one]))).toEqual(['PerObjective chat vllm'])
    expect(boundaries(migrationOf([pool(), pod(), one]))).toEqual(['PoolOnly'])
  })

  test('one for each service account, with one ID', () => {
    const other = pod({ name: 'llama-1', spec: { serviceAccountName: 'other' } })
    const migration = migrationOf([pool(), pod(), other, old()])
    expect(boundaries(migration)).toEqual(['PoolOnly', 'PoolOnly'])
    expect(migration.uncovered).toEqual([])
  })

  test('containers that a binding gives an identity already are covered', () => {
    const migration = migrationOf([pool(), pod(), poolOnly(), old()])
    expect(boundaries(migration)).toEqual([])
    expect(migration.uncovered).toEqual([])
    expect(titles(migration)).toEqual(['Let peers accept both IDs', 'Delete the old registration'])
  })

  test('pools are never invented: what none selects is not covered, and the registration is narrowed', () => {
    const alone = pod({ name: 'alone', labels: { app: 'llama', kind: 'alone' } })
    const narrow = pool({ labels: { app: 'llama', kind: 'served' } })
    const served = pod({ labels: { app: 'llama', kind: 'served' } })
    const migration = migrationOf([narrow, served, alone, old()])
    expect(migration.uncovered.map(({ container, pods }) => `${container} ${pods.text()}`)).toEqual([
      'vllm pod team-a/alone',
      'proxy pod team-a/alone',
    ])
    expect(titles(migration).at(-1)).toBe('Narrow the old registration, do not delete it')
  })
})

test('a registration of whose containers no binding covers one is kept, and nothing is to be done', () => {
  const migration = migrationOf([pod(), old()])
  expect(migration.newIds).toEqual([])
  expect(titles(migration)).toEqual(['Keep the old registration'])
})

describe('a fallback', () => {
  test('gives way at once', () => {
    const migration = migrationOf([pool(), pod(), old({ fallback: true })])
    expect(moves(migration)).toEqual([`vllm ${OLD} ${NEW} ${NEW}`, `proxy ${OLD} ${NEW} ${NEW}`])
    expect(titles(migration)).toEqual([
      'Let peers accept both IDs',
      'Apply the bindings',
      'Delete the old registration',
    ])
  })
})

describe('what no binding can say', () => {
  test.each<[string, JsonRecord, readonly string[]]>([
    ['lifetimes', { ttl: '1h', jwtTtl: '5m' }, ['SPIFFE ID', 'ttl', 'jwtTtl', 'hint']],
    ['DNS names', { dnsNameTemplates: ['a.b'] }, ['SPIFFE ID', 'dnsNameTemplates', 'hint']],
    ['names of Services', { autoPopulateDNSNames: true }, ['SPIFFE ID', 'autoPopulateDNSNames', 'hint']],
    ['federation', { federatesWith: ['example.com'] }, ['SPIFFE ID', 'federatesWith', 'hint']],
    [
      'what SPIRE itself is given',
      { admin: true, downstream: true },
      ['SPIFFE ID', 'admin', 'downstream', 'hint'],
    ],
    [
      'other selectors',
      { workloadSelectorTemplates: ['k8s:pod-name:llama-0'] },
      ['SPIFFE ID', 'hint', 'workload selectors'],
    ],
  ])('%s', (_what, spec, expected) => {
    const migration = migrationOf([pool(), pod(), old(spec)])
    expect(migration.remainder.map(({ what }) => what)).toEqual(expected)
  })

  test('a registration of an administrator is kept', () => {
    expect(titles(migrationOf([pool(), pod(), old({ admin: true })])).at(-1)).toBe(
      'Keep the old registration',
    )
  })
})

test('access policies that name the old ID are reported, and those that name any principal are not', () => {
  const migration = migrationOf([
    pool(),
    pod(),
    old(),
    policyOf(spiffe(OLD)),
    policyOf(spiffe('spiffe://example.org/x'), { name: 'other' }),
  ])
  expect(migration.namedBy.namings.map(({ policy }) => policy.key)).toEqual(['agents/tools'])
})

test('what a registration gives is not certain: nothing is deleted', () => {
  const migration = migrationOf([pool(), pod(), old({ federatesWith: ['example.com'] })])
  expect(migration.open.length).toBeGreaterThan(0)
  expect(boundaries(migration)).toEqual(['PoolOnly'])
  expect(titles(migration).at(-1)).toBe('Settle what is not certain before you delete the old registration')
})
