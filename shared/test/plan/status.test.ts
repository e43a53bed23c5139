// docs/contract.md §2 and §7: what a judgement makes of a status.
import { IN_FORCE_REASON_NAMES } from '../../src/core/decide/reasons/in-force-reasons.ts'
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '../../src/core/base/json.ts'
import type { BindingStatus, Condition } from '../../src/core/model/objects/binding-status.ts'
import { CONDITION_TYPES, DECISION_CONDITIONS } from '../../src/core/model/names.ts'
import type { Judgement } from '../../src/core/decide/plan/plan.ts'
import { nextStatus, verdictOf, type StatusContext } from '../../src/core/decide/plan/status.ts'
import {
  REASONS,
  REASON_NAMES,
  type Reason,
  type RefusalReason,
} from '../../src/core/decide/reasons/reasons.ts'
import {
  CONFIG,
  FORBIDDEN,
  binding,
  estate,
  got,
  judgementOf,
  live,
  orphanOf,
  outputOf,
  perVariant,
  poolOnly,
  settledCluster,
} from '@kleym/testing/manifests.ts'

const OUTPUT = outputOf(estate(binding()))
const IN_FORCE = { name: OUTPUT.metadata.name, uid: 'u1' }
const CONTEXT: StatusContext = {
  config: CONFIG,
  generation: 3,
  now: '2026-01-01T00:00:00Z',
  inForce: IN_FORCE,
  inForceReason: 'Registered',
}
const LATER: StatusContext = { ...CONTEXT, generation: 4, now: '2026-02-02T00:00:00Z' }
const READY = judgementOf(settledCluster(estate(binding())))
const UNREAD = judgementOf(
  settledCluster(estate(binding()), { gaps: { 'InferencePool.inference.networking.x-k8s.io': FORBIDDEN } }),
)
const WAITING = judgementOf(settledCluster(estate(binding(), orphanOf(OUTPUT, 'team-a/gone'))))
const COLLIDING = judgementOf(settledCluster(estate(binding(), binding({ name: 'peer' }))))
const REFUSALS = REASON_NAMES.filter((reason): reason is RefusalReason => REASONS[reason].ready === 'False')

function refusedFor(reason: RefusalReason, message = `because of ${reason}`): Judgement {
  return { state: 'refused', compiled: READY.compiled, check: 'mode', reason, message, collision: undefined }
}

const next = (judgement: Judgement, previous?: BindingStatus, context = CONTEXT): BindingStatus =>
  got(nextStatus(previous, judgement, context), 'a status')
const brief = (status: BindingStatus): Record<string, string> =>
  Object.fromEntries(decisions(status).map(({ type, status: is, reason }) => [type, `${is} ${reason}`]))
const others = (text: string): Record<string, string> =>
  Object.fromEntries(DECISION_CONDITIONS.slice(1).map((type) => [type, text]))
/** The conditions that decide: all but `InForce`. */
function decisions({ conditions = [] }: BindingStatus): readonly Condition[] {
  return conditions.filter(({ type }) => type !== 'InForce')
}

function keyOf(manifest: JsonRecord, config = CONFIG): string | undefined {
  const judgement = judgementOf(settledCluster(estate(manifest), { config }))
  return next(judgement, undefined, { ...CONTEXT, config }).variantLabelKey
}

describe('the label key of variants', () => {
  test('is told with a variant, refused or not, and without one never', () => {
    expect(keyOf(perVariant())).toBe('identity.kleym.sonda.red/variant')
    expect(keyOf(perVariant({ spec: { poolRef: { name: 'gone' } } }))).toBe(
      'identity.kleym.sonda.red/variant',
    )
    expect(keyOf(perVariant({ spec: { identityBoundary: undefined } }))).toBeUndefined()
    expect(keyOf(perVariant(), { ...CONFIG, variantLabelKey: 'llm-d.ai/role' })).toBe('llm-d.ai/role')
    expect(keyOf(binding())).toBeUndefined()
    expect(keyOf(poolOnly())).toBeUndefined()
  })
})

describe('a refusal', () => {
  test.each(REFUSALS.map((reason) => [reason] as const))(
    '%s gives exactly one failure condition',
    (reason) => {
      const status = next(refusedFor(reason))
      const { condition } = REASONS[reason]
      expect(brief(status)).toEqual({
        ...others('False Resolved'),
        Ready: `False ${reason}`,
        [condition]: `True ${reason}`,
      })
      const messages = new Map(status.conditions?.map(({ type, message }) => [type, message]))
      expect(messages.get('Ready')).toBe(`because of ${reason}`)
      expect(messages.get(condition)).toBe(messages.get('Ready'))
    },
  )

  test('clears the rendered lists, whatever is in force', () => {
    const status = next(refusedFor('InvalidPoolRef'), next(READY))
    expect(Object.keys(status)).toEqual(['observedGeneration', 'conditions', 'trustDomain'])
  })

  test('of a collision lists its peers, and only that one does', () => {
    const status = next(COLLIDING)
    expect(status.conflicts).toEqual([
      {
        bindingName: 'peer',
        relation: 'SamePods',
        spiffeID: 'spiffe://example.org/ns/team-a/objective/chat',
      },
    ])
    expect(next(refusedFor('UnsafeSelector'), status).conflicts).toBeUndefined()
    expect(next(READY, status).conflicts).toBeUndefined()
  })

  test('of twelve names ten peers', () => {
    const crowd = Array.from({ length: 12 }, (_, at) => binding({ name: `b${String(at).padStart(2, '0')}` }))
    const judgement = judgementOf(settledCluster(estate(...crowd)), 'team-a/b05')
    expect(
      next(judgement)
        .conflicts?.map(({ bindingName }) => bindingName)
        .join(' '),
    ).toBe('b06 b07 b08 b09 b10 b11 b00 b01 b02 b03')
  })
})

describe('Ready', () => {
  test('fills everything, and all six conditions carry the generation', () => {
    const status = next(READY)
    expect(status).toMatchObject({
      observedGeneration: 3,
      trustDomain: 'example.org',
      computedSpiffeIDs: [{ mode: 'PerObjective', spiffeID: OUTPUT.spec.spiffeIDTemplate }],
      renderedSelectors: [
        { spiffeID: OUTPUT.spec.spiffeIDTemplate, selectors: OUTPUT.spec.workloadSelectorTemplates },
      ],
      clusterSPIFFEID: IN_FORCE,
    })
    expect(brief(status)).toEqual({ Ready: 'True Reconciled', ...others('False Resolved') })
    expect(status.conditions?.map(({ type }) => type)).toEqual(CONDITION_TYPES)
    expect(new Set(status.conditions?.map(({ observedGeneration }) => observedGeneration))).toEqual(
      new Set([3]),
    )
  })

  test('says class and trust domain only where they are set', () => {
    const config = { trustDomain: { kind: 'missing' }, className: 'tenant' } as const
    const status = next(refusedFor('MissingTrustDomain'), undefined, { ...CONTEXT, config })
    expect(status).toMatchObject({ clusterSPIFFEIDClassName: 'tenant' })
    expect(status.trustDomain).toBeUndefined()
  })
})

describe('not knowing and waiting', () => {
  test.each<[string, Judgement, Reason]>([
    ['not knowing', UNREAD, 'Undetermined'],
    ['waiting', WAITING, 'WaitingForPeer'],
  ])('%s without a verdict yet is Unknown in all five', (_name, judgement, reason) => {
    expect(brief(next(judgement))).toEqual({ Ready: `Unknown ${reason}`, ...others(`Unknown ${reason}`) })
  })

  test('an Unknown is no verdict: the next Unknown says its own reason in all five', () => {
    const status = next(WAITING, next(UNREAD))
    expect(brief(status)).toEqual({ Ready: 'Unknown WaitingForPeer', ...others('Unknown WaitingForPeer') })
  })

  test.each<[string, Judgement]>([
    ['Ready', READY],
    ['a refusal', refusedFor('InvalidServiceAccountName')],
    ['a collision', COLLIDING],
  ])('the other four keep their last verdict after %s', (_name, before) => {
    const previous = next(before)
    const after = next(UNREAD, previous)
    expect(brief(after)).toEqual({ ...brief(previous), Ready: 'Unknown Undetermined' })
    expect(after.conflicts).toEqual(previous.conflicts)
  })

  test('the rendered lists stay while the output does', () => {
    const { computedSpiffeIDs, renderedSelectors, clusterSPIFFEID } = next(READY)
    const status = next(UNREAD, next(READY))
    expect(status).toMatchObject({ computedSpiffeIDs, renderedSelectors, clusterSPIFFEID })
  })

  test('the rendered lists stay while it is not known whether the output does', () => {
    const { computedSpiffeIDs, renderedSelectors, clusterSPIFFEID } = next(READY)
    const status = next(UNREAD, next(READY), { ...CONTEXT, inForce: 'not known' })
    expect(status).toMatchObject({ computedSpiffeIDs, renderedSelectors, clusterSPIFFEID })
  })

  test('the rendered lists go once the output is confirmed gone', () => {
    const status = next(WAITING, next(READY), { ...CONTEXT, inForce: undefined })
    expect(Object.keys(status)).toEqual(['observedGeneration', 'conditions', 'trustDomain'])
  })

  test('the message comes from a closed set', () => {
    expect(verdictOf(UNREAD)?.message).toBe('cannot list something: forbidden')
  })
})

describe('times', () => {
  test('move only where a status flips', () => {
    const before = next(READY)
    const after = next(refusedFor('InvalidPoolRef'), before, LATER)
    const moved = after.conditions?.filter(({ lastTransitionTime }) => lastTransitionTime === LATER.now)
    expect(moved?.map(({ type }) => type)).toEqual(['Ready', 'InvalidRef'])
    const again = next(refusedFor('TargetPoolNotFound'), after, { ...LATER, now: '2026-03-03T00:00:00Z' })
    expect(again.conditions?.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual(
      after.conditions?.map(({ lastTransitionTime }) => lastTransitionTime),
    )
  })

  const judgements: readonly [string, Judgement][] = [
    ['Ready', READY],
    ['not knowing', UNREAD],
    ['waiting', WAITING],
    ['a collision', COLLIDING],
    ['a refusal', refusedFor('OutputNotOwned')],
  ]
  const pairs = judgements.flatMap(([before, first]) =>
    judgements.map(([after, second]) => [after, before, first, second] as const),
  )
  test.each(pairs)('%s after %s, said twice, changes no byte', (_after, _before, first, second) => {
    const once = next(second, next(first))
    const twice = next(second, once, { ...CONTEXT, now: LATER.now })
    expect(JSON.stringify(twice)).toBe(JSON.stringify(once))
  })
})

describe('messages', () => {
  test.each([
    ['1,024 bytes stay', 'x'.repeat(1024), 1024],
    ['the 1,025th byte goes', 'x'.repeat(1025), 1024],
    ['a two-byte character is not split', `${'x'.repeat(1023)}é`, 1023],
    ['a four-byte character is not split', `${'x'.repeat(1021)}😀`, 1021],
    ['a four-byte character that fits stays', `${'x'.repeat(1020)}😀y`, 1024],
  ])('%s', (_name, message, bytes) => {
    const status = next(refusedFor('UnsafeSelector', message))
    const cut = got(status.conditions?.[0]?.message)
    expect(Buffer.byteLength(cut)).toBe(bytes)
    expect(message.startsWith(cut)).toBe(true)
    expect(cut).not.toContain('\ufffd')
  })

  test('a collision of long names is cut, too', () => {
    const crowd = Array.from({ length: 6 }, (_, at) => binding({ name: `${String(at)}${'b'.repeat(252)}` }))
    const judgement = judgementOf(settledCluster(estate(...crowd)), `team-a/0${'b'.repeat(252)}`)
    expect(Buffer.byteLength(got(verdictOf(judgement)).message)).toBe(1024)
  })
})

test('a binding that is being deleted is not ready any more, and names its output for as long as that is there', () => {
  const one = judgementOf(
    settledCluster(estate(binding({ deletedAt: '2026-01-01T00:00:00Z' }), live(OUTPUT))),
  )
  const left = next(one, next(READY), LATER)
  expect(left.conditions?.[0]).toMatchObject({
    type: 'Ready',
    status: 'Unknown',
    reason: 'Deleting',
    message: 'the binding is being deleted',
  })
  expect(left.clusterSPIFFEID).toEqual(next(READY).clusterSPIFFEID)
  const gone = next(one, left, { ...LATER, inForce: undefined })
  expect(gone).not.toHaveProperty('clusterSPIFFEID')
  expect(gone).not.toHaveProperty('computedSpiffeIDs')
})

const inForce = (status: BindingStatus): string => {
  const found = status.conditions?.find(({ type }) => type === 'InForce')
  return `${found?.status} ${found?.reason} ${found?.lastTransitionTime}`
}
const said = (inForceReason: StatusContext['inForceReason'], previous?: BindingStatus, context = CONTEXT) =>
  next(READY, previous, { ...context, inForceReason })

describe('InForce', () => {
  test('is Pending where nothing has been said yet', () => {
    expect(inForce(said(undefined))).toBe(`Unknown Pending ${CONTEXT.now}`)
  })

  test('never goes on saying that there is no output once there is one', () => {
    expect(inForce(said(undefined, said('NoOutput'), LATER))).toBe(`Unknown Pending ${LATER.now}`)
  })

  test('keeps its last word, and its time, until another is said', () => {
    const registered = said('Registered')
    expect(inForce(said(undefined, registered, LATER))).toBe(`True Registered ${CONTEXT.now}`)
    expect(inForce(said('NoPods', registered, LATER))).toBe(`False NoPods ${LATER.now}`)
  })

  test('moves no time from one False reason to another', () => {
    expect(inForce(said('RenderFailed', said('NoPods'), LATER))).toBe(`False RenderFailed ${CONTEXT.now}`)
  })

  test('is left out where the CRD takes no such condition', () => {
    const types = said('unwritable', said('Registered')).conditions?.map(({ type }) => type)
    expect(types).toEqual(DECISION_CONDITIONS)
  })

  test.each(IN_FORCE_REASON_NAMES)('%s changes nothing else', (reason) => {
    const status = said(reason)
    expect(decisions(status)).toEqual(decisions(said('Registered')))
    expect({ ...status, conditions: [] }).toEqual({ ...said('Registered'), conditions: [] })
  })
})
