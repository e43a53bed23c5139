// docs/contract.md §4.2: which objective a binding means, and whether it leads to the binding's pool.
import { describe, expect, test } from 'vitest'
import { resolveObjective } from '../../src/core/decide/compile/references.ts'
import { isRecord, type JsonRecord } from '../../src/core/base/json.ts'
import { referencesIn } from '../../src/core/snapshot/snapshot.ts'
import {
  FORBIDDEN,
  K8S_GROUP,
  LLM_D,
  X_GROUP,
  binding,
  objective,
  pool,
  poolOnly,
  verdictIn,
  settledCluster,
  type SettledClusterOptions,
} from '@kleym/testing/manifests.ts'

const OBJECTIVES = [LLM_D, X_GROUP, K8S_GROUP].map((group) => `InferenceObjective.${group}`)
const [LLM_D_OBJECTIVES = '', X_OBJECTIVES = ''] = OBJECTIVES
const objectiveIn = (group: string): JsonRecord =>
  binding({ spec: { objectiveRef: { name: 'chat', group } } })

interface Row {
  readonly name: string
  readonly objects: readonly JsonRecord[]
  readonly options?: SettledClusterOptions
  readonly reason: string
  readonly says?: string
}

const OBJECTIVE_ROWS: readonly Row[] = [
  ...[LLM_D, X_GROUP, K8S_GROUP].map((group) => ({
    name: `an objective of ${group} is found`,
    objects: [objective({ group }), binding()],
    reason: 'Reconciled',
  })),
  {
    name: 'no objective at all',
    objects: [binding()],
    reason: 'TargetObjectiveNotFound',
    says: `no InferenceObjective chat in namespace team-a (looked in ${LLM_D}, ${X_GROUP}, ${K8S_GROUP})`,
  },
  {
    name: 'an objective of another namespace does not count',
    objects: [objective({ namespace: 'team-b' }), binding()],
    reason: 'TargetObjectiveNotFound',
  },
  {
    name: 'a named group does not look elsewhere',
    objects: [objective(), objectiveIn(X_GROUP)],
    reason: 'TargetObjectiveNotFound',
    says: `no InferenceObjective chat in namespace team-a (looked in ${X_GROUP})`,
  },
  {
    name: 'the first kind that holds the name decides, even against its binding',
    objects: [objective({ poolRef: { name: 'other' } }), objective({ group: X_GROUP }), binding()],
    reason: 'InvalidObjectiveRef',
  },
  {
    name: 'later kinds are not even read',
    objects: [objective(), binding()],
    options: { gaps: { [X_OBJECTIVES]: FORBIDDEN } },
    reason: 'Reconciled',
  },
  {
    name: 'an earlier kind that could not be read leaves it open',
    objects: [objective({ group: X_GROUP }), binding()],
    options: { gaps: { [LLM_D_OBJECTIVES]: FORBIDDEN } },
    reason: 'Undetermined',
  },
  {
    name: 'an earlier kind that is not served is passed',
    objects: [objective({ group: X_GROUP }), binding()],
    options: { absentKinds: [LLM_D_OBJECTIVES] },
    reason: 'Reconciled',
  },
  {
    name: 'no binding takes the SPIFFE ID of a preferred objective of another pool by naming another group',
    objects: [objective({ poolRef: { name: 'other' } }), objective({ group: X_GROUP }), objectiveIn(X_GROUP)],
    reason: 'InvalidObjectiveRef',
    says: 'InferenceObjective/chat (llm-d.ai/v1alpha2) has the same name and targets another pool: .spec.poolRef.name is "other", not "llama"',
  },
  {
    name: 'a preferred objective of the same pool leaves a binding alone that names another group',
    objects: [objective(), objective({ group: X_GROUP }), objectiveIn(X_GROUP)],
    reason: 'Reconciled',
  },
  {
    name: 'a preferred objective may lead to the pool of the other group that selects the same pods',
    objects: [
      pool({ group: X_GROUP }),
      objective({ poolRef: { name: 'llama', group: X_GROUP } }),
      objective({ group: X_GROUP }),
      objectiveIn(X_GROUP),
    ],
    reason: 'Reconciled',
  },
  {
    name: 'a preferred objective of a pool of the other group that selects other pods counts',
    objects: [
      pool({ group: X_GROUP, labels: { app: 'other' } }),
      objective({ poolRef: { name: 'llama', group: X_GROUP } }),
      objective({ group: X_GROUP }),
      binding({
        spec: {
          poolRef: { name: 'llama', group: K8S_GROUP },
          objectiveRef: { name: 'chat', group: X_GROUP },
        },
      }),
    ],
    reason: 'InvalidObjectiveRef',
  },
  {
    name: 'a pool of the other group that could not be read leaves open where a preferred objective leads',
    objects: [
      objective({ poolRef: { name: 'llama', group: X_GROUP } }),
      objective({ group: X_GROUP }),
      binding({
        spec: {
          poolRef: { name: 'llama', group: K8S_GROUP },
          objectiveRef: { name: 'chat', group: X_GROUP },
        },
      }),
    ],
    options: { gaps: { [`InferencePool.${X_GROUP}`]: FORBIDDEN } },
    reason: 'Undetermined',
  },
  {
    name: 'a preferred kind that could not be read leaves a binding open that names another group',
    objects: [objective({ group: X_GROUP }), objectiveIn(X_GROUP)],
    options: { gaps: { [LLM_D_OBJECTIVES]: FORBIDDEN } },
    reason: 'Undetermined',
  },
  {
    name: 'no objective kind is served',
    objects: [binding()],
    options: { absentKinds: OBJECTIVES },
    reason: 'InferenceObjectiveCRDMissing',
    says: `the API server does not serve ${OBJECTIVES.join(' or ')}`,
  },
  {
    name: 'the named objective kind is not served',
    objects: [objective(), objectiveIn(X_GROUP)],
    options: { absentKinds: [X_OBJECTIVES] },
    reason: 'InferenceObjectiveCRDMissing',
  },
  {
    name: 'no objective kind is served, and PoolOnly needs none',
    objects: [poolOnly()],
    options: { absentKinds: OBJECTIVES },
    reason: 'Reconciled',
  },
  {
    name: 'PoolOnly checks an objective that it names',
    objects: [poolOnly({ spec: { objectiveRef: { name: 'chat' } } })],
    reason: 'TargetObjectiveNotFound',
  },
  {
    name: 'PoolOnly checks where a named objective leads',
    objects: [objective({ poolRef: { name: 'b' } }), poolOnly({ spec: { objectiveRef: { name: 'chat' } } })],
    reason: 'InvalidObjectiveRef',
  },
]

describe('objectives', () => {
  test.each(OBJECTIVE_ROWS)('$name', ({ objects, options, reason, says }) => {
    expect(verdictIn(settledCluster([pool(), ...objects], options))).toEqual(saying(reason, says))
  })

  test('kinds that are served and do not hold the name are remembered for a warning', () => {
    const references = referencesIn(settledCluster([objective({ group: X_GROUP })]).snapshot)
    expect(resolveObjective(references, 'team-a', { name: 'chat' })).toMatchObject({
      kind: { group: X_GROUP },
    })
  })
})

describe('the poolRef of an objective', () => {
  test.each<[string, unknown, string?]>([
    ['by name alone', { name: 'llama' }],
    ['with the namespace of the binding', { name: 'llama', namespace: 'team-a' }],
    ['with an empty namespace', { name: 'llama', namespace: '' }],
    ['with kind InferencePool', { name: 'llama', kind: 'InferencePool' }],
    ['with an empty kind', { name: 'llama', kind: '' }],
    ['with the group of the pool', { name: 'llama', group: K8S_GROUP }],
    ['with an empty group', { name: 'llama', group: '' }],
    ['with null for what may be absent', { name: 'llama', namespace: null, kind: null, group: null }],
    ['missing', undefined, '.spec.poolRef is missing'],
    ['null', null, '.spec.poolRef is null'],
    ['a string', 'llama', '.spec.poolRef is a string'],
    ['a list', [{ name: 'llama' }], '.spec.poolRef is a list'],
    ['without a name', {}, '.spec.poolRef.name is missing, not "llama"'],
    ['to another name', { name: 'other' }, '.spec.poolRef.name is "other", not "llama"'],
    ['to a name in other case', { name: 'Llama' }, '.spec.poolRef.name is "Llama", not "llama"'],
    ['to a number', { name: 7 }, '.spec.poolRef.name is a number, not "llama"'],
    [
      'to another namespace',
      { name: 'llama', namespace: 'team-b' },
      '.spec.poolRef.namespace is "team-b", not "team-a"',
    ],
    [
      'to another kind',
      { name: 'llama', kind: 'Service' },
      '.spec.poolRef.kind is "Service", not "InferencePool"',
    ],
    ['to kind zero', { name: 'llama', kind: 0 }, '.spec.poolRef.kind is a number'],
    [
      'to the other group',
      { name: 'llama', group: X_GROUP },
      `.spec.poolRef.group is "${X_GROUP}", not "${K8S_GROUP}"`,
    ],
    ['to group false', { name: 'llama', group: false }, '.spec.poolRef.group is a boolean'],
    ['through __proto__', JSON.parse('{"__proto__": {"name": "llama"}}'), '.spec.poolRef.name is missing'],
  ])('%s', (_name, poolRef, problem) => {
    const reason = problem === undefined ? 'Reconciled' : 'InvalidObjectiveRef'
    expect(verdictIn(settledCluster([pool(), objective({ poolRef }), binding()]))).toEqual(
      saying(reason, problem),
    )
  })

  test('an objective without a spec leads nowhere', () => {
    const bare = { ...objective(), spec: undefined }
    expect(verdictIn(settledCluster([pool(), bare, binding()]))).toEqual(
      saying('InvalidObjectiveRef', '.spec.poolRef is missing'),
    )
  })
})

describe('the poolRefs of an objective without a poolRef', () => {
  const HERE = { name: 'llama' }
  const ELSEWHERE = { name: 'other' }
  const UNREADABLE = 'cannot read poolRefs of InferenceObjective.llm-d.ai in namespace team-a: malformed'

  test.each<[string, unknown, reason: string, text?: string]>([
    ['one entry that leads to the pool', [HERE], 'Reconciled'],
    [
      'one of several that does',
      [ELSEWHERE, { ...HERE, namespace: '', kind: 'InferencePool', group: '' }],
      'Reconciled',
    ],
    ['one that does, beside one that cannot be read', [{}, HERE, 7], 'Reconciled'],
    [
      'one that leads elsewhere',
      [ELSEWHERE],
      'InvalidObjectiveRef',
      '.spec.poolRefs.name is "other", not "llama"',
    ],
    [
      'several that all do',
      [ELSEWHERE, ELSEWHERE],
      'InvalidObjectiveRef',
      'no entry of .spec.poolRefs targets pool "llama"',
    ],
    ['an empty list', [], 'InvalidObjectiveRef', '.spec.poolRefs is empty'],
    ['null, which is none', null, 'InvalidObjectiveRef', '.spec.poolRef is '],
    ['a text', 'llama', 'Undetermined', UNREADABLE],
    ['a mapping', HERE, 'Undetermined', UNREADABLE],
    ['an entry that is a text', ['llama'], 'Undetermined', UNREADABLE],
    ['an entry without a name', [ELSEWHERE, {}], 'Undetermined', UNREADABLE],
    ['an entry with an empty name', [{ name: '' }], 'Undetermined', UNREADABLE],
    ['an entry whose namespace is a number', [{ ...HERE, namespace: 7 }], 'Undetermined', UNREADABLE],
    [
      'an entry of another namespace',
      [{ ...HERE, namespace: 'team-b' }],
      'InvalidObjectiveRef',
      '.spec.poolRefs.namespace is "team-b"',
    ],
    ['more entries than are kept', Array.from({ length: 300 }, () => ELSEWHERE), 'Undetermined', UNREADABLE],
  ])('%s', (_name, poolRefs, reason, text) => {
    for (const poolRef of [undefined, null]) {
      const one = objective({ poolRef })
      const spec = { ...(isRecord(one['spec']) ? one['spec'] : {}), poolRefs }
      expect(verdictIn(settledCluster([pool(), { ...one, spec }, binding()]))).toEqual(saying(reason, text))
    }
  })

  test('beside a poolRef they count for nothing', () => {
    const one = objective({ poolRef: ELSEWHERE })
    const spec = { ...(isRecord(one['spec']) ? one['spec'] : {}), poolRefs: [HERE] }
    expect(verdictIn(settledCluster([pool(), { ...one, spec }, binding()]))).toEqual(
      saying('InvalidObjectiveRef', '.spec.poolRef.name is "other", not "llama"'),
    )
  })
})

function saying(reason: string, text = ''): { reason: string; text: unknown } {
  return { reason, text: expect.stringContaining(text) }
}
