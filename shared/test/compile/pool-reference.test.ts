// docs/contract.md §4.1: which pool a binding means, and what is said when there is none, more than one, or when the API
// server was not asked.
import { describe, expect, test } from 'vitest'
import type { Config } from '../../src/core/decide/settings/config.ts'
import { resolvePool } from '../../src/core/decide/compile/references.ts'
import { type References } from '../../src/core/model/objects/lookup.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { unknownReasonText, type UnknownReason } from '../../src/core/model/unknown-reason.ts'
import { referencesIn } from '../../src/core/snapshot/snapshot.ts'
import {
  FORBIDDEN,
  K8S_GROUP,
  X_GROUP,
  binding,
  estate,
  judgementOf,
  objective,
  pool,
  reasonOf,
  verdictIn,
  settledCluster,
  type SettledClusterOptions,
} from '@kleym/testing/manifests.ts'

const K_POOLS = `InferencePool.${K8S_GROUP}`
const X_POOLS = `InferencePool.${X_GROUP}`
const inGroup = (group: string): JsonRecord => binding({ spec: { poolRef: { name: 'llama', group } } })
const kPool = pool()
const xPool = pool({ group: X_GROUP })
const otherX = pool({ group: X_GROUP, labels: { app: 'other' } })

interface Row {
  readonly name: string
  readonly objects: readonly JsonRecord[]
  readonly options?: SettledClusterOptions
  readonly reason: string
  readonly says?: string
}

const POOLS: readonly Row[] = [
  { name: 'a pool of the k8s group is found', objects: [kPool, binding()], reason: 'Reconciled' },
  { name: 'a pool of the x-k8s group alone is found', objects: [xPool, binding()], reason: 'Reconciled' },
  {
    name: 'a named group finds its pool',
    objects: [kPool, otherX, inGroup(K8S_GROUP)],
    reason: 'Reconciled',
  },
  {
    name: 'the less preferred group may be named if both pools select the same pods',
    objects: [kPool, xPool, inGroup(X_GROUP)],
    reason: 'Reconciled',
  },
  {
    name: 'the less preferred group may be named if the other holds no such pool',
    objects: [pool({ name: 'other' }), otherX, inGroup(X_GROUP)],
    reason: 'Reconciled',
  },
  {
    name: 'no binding takes the SPIFFE ID of a pool of the preferred group by naming the other group',
    objects: [kPool, otherX, inGroup(X_GROUP)],
    reason: 'AmbiguousPoolRef',
    says: `InferencePool llama exists in ${K8S_GROUP} and ${X_GROUP} with different selectors`,
  },
  {
    name: 'a preferred group that could not be read leaves a binding open that names the other',
    objects: [xPool, inGroup(X_GROUP)],
    options: { gaps: { [K_POOLS]: FORBIDDEN } },
    reason: 'Undetermined',
    says: 'cannot list something: forbidden',
  },
  {
    name: 'a preferred group that is not served does not matter when the other is named',
    objects: [xPool, inGroup(X_GROUP)],
    options: { absentKinds: [K_POOLS] },
    reason: 'Reconciled',
  },
  {
    name: 'no pool at all',
    objects: [binding()],
    reason: 'TargetPoolNotFound',
    says: `no InferencePool llama in namespace team-a (looked in ${K8S_GROUP}, ${X_GROUP})`,
  },
  {
    name: 'a pool of another namespace does not count',
    objects: [pool({ namespace: 'team-b' }), binding()],
    reason: 'TargetPoolNotFound',
  },
  {
    name: 'a pool of another name does not count',
    objects: [pool({ name: 'lama' }), binding()],
    reason: 'TargetPoolNotFound',
  },
  {
    name: 'a pool of a group that is not named does not count',
    objects: [kPool, inGroup(X_GROUP)],
    reason: 'TargetPoolNotFound',
    says: `no InferencePool llama in namespace team-a (looked in ${X_GROUP})`,
  },
  {
    name: 'a kind of another group that is called InferencePool is no pool',
    objects: [{ ...pool(), apiVersion: 'example.com/v1' }, binding()],
    reason: 'TargetPoolNotFound',
  },
  {
    name: 'two pools with equal selectors are fine',
    objects: [kPool, xPool, binding()],
    reason: 'Reconciled',
  },
  {
    name: 'two pools with different selectors are ambiguous',
    objects: [kPool, otherX, binding()],
    reason: 'AmbiguousPoolRef',
    says: `InferencePool llama exists in ${K8S_GROUP} and ${X_GROUP} with different selectors`,
  },
  {
    name: 'two pools of which one selects less are ambiguous',
    objects: [kPool, pool({ group: X_GROUP, labels: { app: 'llama', role: 'decode' } }), binding()],
    reason: 'AmbiguousPoolRef',
  },
  {
    name: 'two pools of which one has a bad selector are ambiguous',
    objects: [kPool, pool({ group: X_GROUP, spec: {} }), binding()],
    reason: 'AmbiguousPoolRef',
  },
  {
    name: 'a second pool that could not be read leaves it open',
    objects: [kPool, binding()],
    options: { gaps: { [X_POOLS]: FORBIDDEN } },
    reason: 'Undetermined',
    says: 'cannot list something: forbidden',
  },
  {
    name: 'a first pool that could not be read leaves it open',
    objects: [xPool, binding()],
    options: { gaps: { [K_POOLS]: FORBIDDEN } },
    reason: 'Undetermined',
  },
  {
    name: 'a gap in the other group does not matter when the group is named',
    objects: [kPool, inGroup(K8S_GROUP)],
    options: { gaps: { [X_POOLS]: FORBIDDEN } },
    reason: 'Reconciled',
  },
  {
    name: 'a gap in everything leaves a missing pool open',
    objects: [objective(), binding()],
    options: { gaps: { '*': FORBIDDEN } },
    reason: 'Undetermined',
  },
  {
    name: 'neither pool kind is served',
    objects: [binding()],
    options: { absentKinds: [K_POOLS, X_POOLS] },
    reason: 'InferencePoolCRDMissing',
    says: `the API server does not serve ${K_POOLS} or ${X_POOLS}`,
  },
  {
    name: 'the named pool kind is not served, the other is',
    objects: [kPool, inGroup(X_GROUP)],
    options: { absentKinds: [X_POOLS] },
    reason: 'InferencePoolCRDMissing',
    says: `the API server does not serve ${X_POOLS}`,
  },
  {
    name: 'one kind is not served and the other holds no such pool',
    objects: [binding()],
    options: { absentKinds: [K_POOLS] },
    reason: 'TargetPoolNotFound',
  },
  {
    name: 'one kind is not served and the other could not be read',
    objects: [binding()],
    options: { absentKinds: [K_POOLS], gaps: { [X_POOLS]: FORBIDDEN } },
    reason: 'Undetermined',
  },
]

describe('pools', () => {
  test.each(POOLS)('$name', ({ objects, options, reason, says }) => {
    expect(verdictIn(settledCluster([objective(), ...objects], options))).toEqual(saying(reason, says))
  })

  test('the first kind wins when both hold the name, and the objective must mean that one', () => {
    const one = settledCluster([
      kPool,
      xPool,
      objective({ poolRef: { name: 'llama', group: X_GROUP } }),
      binding(),
    ])
    expect(judgementOf(one).compiled.input.pool).toMatchObject({ kind: { group: K8S_GROUP } })
    expect(reasonOf(one)).toBe('InvalidObjectiveRef')
  })

  test('a pool of the less preferred group that selects other pods is remembered for a warning', () => {
    const ref = { name: 'llama', group: K8S_GROUP } as const
    expect(resolvePool(referencesTo(kPool, otherX), 'team-a', ref)).toMatchObject({
      state: 'found',
      pool: { group: K8S_GROUP },
      shadowed: { group: X_GROUP },
    })
    expect(resolvePool(referencesTo(kPool, xPool), 'team-a', ref)).toMatchObject({ shadowed: undefined })
  })
})

describe('what files cannot decide', () => {
  const missing: Config = { trustDomain: { kind: 'missing' }, className: '' }
  const open: Config = { trustDomain: { kind: 'not known' }, className: '' }

  test('no trust domain is configured', () => {
    expect(verdictIn(settledCluster(estate(binding()), { config: missing }))).toEqual(
      saying('MissingTrustDomain', 'no trust domain'),
    )
  })

  test('a trust domain that is not known is no refusal', () => {
    const one = settledCluster(estate(binding()), { config: open })
    expect(verdictIn(one)).toEqual(saying('Reconciled'))
    expect(judgementOf(one)).toMatchObject({
      resolved: { identity: { spiffeId: 'spiffe://<trust-domain>/ns/team-a/objective/chat' } },
    })
  })

  test.each<UnknownReason['cause']>([
    'forbidden',
    'unreachable',
    'timed out',
    'refused',
    'malformed',
    'not given',
  ])('not knowing (%s) is never a refusal', (cause) => {
    const why = { verb: 'list', what: K_POOLS, cause } as const
    expect(verdictIn(settledCluster([objective(), binding()], { gaps: { [K_POOLS]: why } }))).toEqual(
      saying('Undetermined', unknownReasonText(why)),
    )
  })
})

function referencesTo(...objects: readonly JsonRecord[]): References {
  return referencesIn(settledCluster(objects).snapshot)
}

function saying(reason: string, text = ''): { reason: string; text: unknown } {
  return { reason, text: expect.stringContaining(text) }
}
