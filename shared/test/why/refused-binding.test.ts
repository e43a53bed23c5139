// The first hop for a container whose binding is refused or held back: for every reason of `Ready`, its cause and its fix. A reason that
// is new fails here until a case shows it.
import { describe, expect, test } from 'vitest'
import { isRecord, keysOf, own, type JsonRecord } from '../../src/core/base/json.ts'
import { CLUSTER_SPIFFE_ID, OBJECTIVE_KINDS, POOL_KINDS, qualifiedKind } from '../../src/core/model/kinds.ts'
import { ANNOTATION_BINDING } from '../../src/core/model/names.ts'
import { REASONS, REASON_NAMES, type Reason } from '../../src/core/decide/reasons/reasons.ts'
import type { HopAnswer } from '../../src/core/answers/why/hop.ts'
import { hopOf, type HopsGiven } from './hops-of.ts'
import { FLAWS, objectsOfFlaw, type Flaw } from '@kleym/testing/flaws.ts'
import { binding, CONFIG, estate, FORBIDDEN, live, outputOf, poolOnly } from '@kleym/testing/manifests.ts'

interface Case extends HopsGiven {
  /** Its output is there already. */
  readonly truth?: 'yes'
}

/** What the operator alone knows, it says in the status. */
function said(reason: Reason, generation = 1): Case {
  const { ready: status } = REASONS[reason]
  const conditions = [
    {
      type: 'Ready',
      status,
      reason,
      message: `it says ${reason}`,
      observedGeneration: generation,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ]
  return { objects: estate(binding({ status: { observedGeneration: generation, conditions } })) }
}

function flaw(one: Omit<Flaw, 'reason'>): Case {
  return { objects: objectsOfFlaw(one) }
}

const CASES: Readonly<Partial<Record<Reason, Case>>> = {
  ...Object.fromEntries(Object.values(FLAWS).map((one) => [one.reason, flaw(one)])),
  Reconciled: { objects: estate(binding(), live(outputOf(estate(binding())))), truth: 'yes' },
  Undetermined: said('Undetermined'),
  WaitingForPeer: said('WaitingForPeer'),
  NamespaceFull: said('NamespaceFull'),
  Deleting: { objects: estate(binding({ deletedAt: '2026-01-01T00:00:00Z' })) },
  InferencePoolCRDMissing: {
    ...flaw({ pools: [] }),
    absentKinds: POOL_KINDS.map(qualifiedKind),
  },
  InferenceObjectiveCRDMissing: {
    objects: estate(binding()).filter(({ kind }) => kind !== 'InferenceObjective'),
    absentKinds: OBJECTIVE_KINDS.map(qualifiedKind),
  },
  UnsafeSelector: flaw({ spec: {}, pools: [unsafePool()] }),
  UnexpectedContainerName: { objects: estate(poolOnly({ spec: { containerName: 'vllm' } })) },
  MissingTrustDomain: {
    objects: estate(binding()),
    config: { ...CONFIG, trustDomain: { kind: 'missing' } },
  },
  ClusterSPIFFEIDCRDMissing: {
    objects: estate(binding()),
    absentKinds: [qualifiedKind(CLUSTER_SPIFFE_ID)],
  },
  OutputNotOwned: {
    objects: estate(
      binding(),
      live(outputOf(estate(binding())), {
        annotations: { [ANNOTATION_BINDING]: undefined },
        spec: { podSelector: { matchLabels: { app: 'another' } } },
      }),
    ),
  },
  ManagedOutputApplyFailed: said('ManagedOutputApplyFailed'),
}

/** One that selects more than SPIRE can keep in a selector, and the pod of these cases all the same. */
function unsafePool(): JsonRecord {
  const [found] = objectsOfFlaw({ pools: FLAWS['safety proof'].pools ?? [] })
  if (found === undefined) throw new Error('there is no such pool')
  return found
}

/** The first hop, of a pod that has the labels that the pool asks for beside its own. */
function wanted(given: HopsGiven): HopAnswer {
  const spec = given.objects.find(({ kind }) => kind === 'InferencePool')?.['spec']
  const asked = own(own(spec, 'selector'), 'matchLabels')
  return hopOf('wanted', { ...given, labels: isRecord(asked) ? asked : {} })
}

test('there is a case for every reason', () => {
  expect(keysOf(CASES).toSorted()).toEqual([...REASON_NAMES].toSorted())
})

describe('the first hop of a container names the reason of its binding, and the fix', () => {
  test.each(REASON_NAMES.map((reason) => [reason] as const))('%s', (reason) => {
    const one = CASES[reason] ?? { objects: [] }
    const hop = wanted(one)
    expect(hop.truth.value).toBe(one.truth ?? 'no')
    if (one.truth === 'yes') return
    expect(hop.text).toMatch(
      new RegExp(`binding team-a/llama is (?:perhaps )?for this container, and .*\\(${reason}\\): .+`),
    )
    expect(hop.fix).toBe(REASONS[reason].fix.replace(/\.$/, ''))
  })
})

describe('whose binding it is', () => {
  const gone = objectsOfFlaw(FLAWS['pool found'])

  test('a binding without a pool is perhaps for the container, and for no other than its own', () => {
    expect(wanted({ objects: gone }).text).toMatch(/^nothing gives it an identity; binding .* is perhaps for/)
    const other = gone.map((one) =>
      one['kind'] === 'InferenceIdentityBinding' ? binding({ spec: { containerName: 'proxy' } }) : one,
    )
    expect(wanted({ objects: other }).text).toBe('no registration selects the pod')
  })

  test('a binding of another ID is none of the identity that is asked about', () => {
    const refused = objectsOfFlaw(FLAWS.collision)
    const asked = (spiffeId: string) => wanted({ objects: refused, spiffeId }).text
    expect(asked('spiffe://example.org/ns/team-a/objective/chat')).toContain('IdentityCollision')
    expect(asked('spiffe://example.org/ns/team-a/objective/other')).not.toContain('IdentityCollision')
  })

  test('what was not read may give it an identity: the refusal is a note', () => {
    const gaps = { [qualifiedKind(CLUSTER_SPIFFE_ID)]: FORBIDDEN }
    const hop = wanted({ objects: objectsOfFlaw(FLAWS.mode), gaps })
    expect(hop.truth.value).toBe('open')
    expect(hop.notes).toEqual([expect.stringContaining('UnsupportedMode')])
  })

  test('a status of an older generation says nothing', () => {
    expect(wanted(said('ManagedOutputApplyFailed', 0)).truth.value).toBe('yes')
  })
})
