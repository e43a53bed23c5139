// One role of a pool on a real API server (docs/contract.md §1 to §6): two variants side by side, a collision and its end, a
// change of the label key, and CRDs and modes of other versions.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dig, isRecord, listAt, own, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { DEFAULT_VARIANT_LABEL_KEY } from '../../shared/src/core/model/names.ts'
import { WRITE_VERBS, type AuditMark } from './audit.ts'
import type { ControlPlane } from './control-plane.ts'
import { settled, uidOf, untilBindingGone } from './in-force.ts'
import { besideInForce } from './in-force-writes.ts'
import { watchNeverTwo, type NeverTwo } from './never-two.ts'
import {
  bindingId,
  conditionOf,
  estate,
  eventsOf,
  outputId,
  outputsOf,
  perVariant,
  pool,
  untilReason,
} from './objects.ts'
import { OPERATOR } from './operator-access.ts'
import { startLeading, startOperatorPlane, stopAll, whileDown, type RunningOperator } from './operator.ts'
import { until } from '@kleym/testing/wait.ts'

const SPACE = 'roles'
const ROLE = 'llm-d.ai/role'
const CRD = 'inferenceidentitybindings.kleym.sonda.red'
/** With these every binding is looked at again and again without a cause. */
const RESYNCING = [`--variant-label-key=${ROLE}`, '--resync-period=200ms']

let cp: ControlPlane
let operator: RunningOperator
let neverTwo: NeverTwo
beforeAll(async () => {
  cp = await startOperatorPlane()
  neverTwo = await watchNeverTwo(cp)
  operator = await startLeading(cp)
  await cp.apply([
    ...estate(SPACE),
    pool(SPACE, 'prefillers', { app: 'llama', [ROLE]: 'prefill' }),
    perVariant(SPACE, 'prefill', 'prefill'),
    perVariant(SPACE, 'decode', 'decode'),
  ])
})
afterAll(() => stopAll(neverTwo, cp))

/** How often the operator has looked at a binding. */
async function looks(): Promise<number> {
  const lines = (await operator.metrics()).split('\n')
  return lines
    .filter((line) => line.startsWith('controller_runtime_reconcile_total{'))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

/** Waits until every binding has been looked at some ten times more. */
async function lookedAtAgain(): Promise<void> {
  const bindings = await cp.admin.list({ ...bindingId(SPACE, ''), namespace: SPACE })
  const wanted = (await looks()) + 10 * bindings.length
  await until(async () => (await looks()) >= wanted, `${wanted} looks at bindings`)
}

function labelsOf(output: unknown): unknown {
  return dig(output, 'spec', 'podSelector', 'matchLabels')
}

test('two variants of one pool stand side by side, each with an identity of its own', async () => {
  for (const variant of ['prefill', 'decode']) {
    const { binding, output, name } = await settled(cp, SPACE, variant)
    const spiffeId = `spiffe://example.org/ns/${SPACE}/pool/llama/variant/${variant}`
    expect(name).toMatch(new RegExp(`^kleym-${SPACE}-${variant}-variant-[0-9a-f]{20}$`))
    expect(stringAt(output, 'spec', 'spiffeIDTemplate')).toBe(spiffeId)
    expect(labelsOf(output)).toEqual({ app: 'llama', [DEFAULT_VARIANT_LABEL_KEY]: variant })
    expect(binding).toMatchObject({
      status: {
        variantLabelKey: DEFAULT_VARIANT_LABEL_KEY,
        computedSpiffeIDs: [{ mode: 'PerVariant', spiffeID: spiffeId }],
      },
    })
  }
})

test('two bindings of one variant collide, and each converges when the other takes another variant', async () => {
  await cp.apply([perVariant(SPACE, 'again', 'decode')])
  for (const [name, peer] of [['again', 'decode'] as const, ['decode', 'again'] as const]) {
    const found = await untilReason(cp, SPACE, name, 'IdentityCollision')
    expect(stringAt(conditionOf(found, 'Conflict'), 'message')).toBe(
      `identity collision with bindings ${peer}: PerVariant bindings must not share the same pods`,
    )
    expect(await outputsOf(cp, SPACE, name)).toEqual([])
  }
  await cp.admin.patch(bindingId(SPACE, 'again'), { spec: { identityBoundary: { variant: 'encode' } } })
  for (const name of ['again', 'decode']) await untilReason(cp, SPACE, name, 'Reconciled')
  expect(await eventsOf(cp, SPACE, 'decode', 4)).toContain('Normal IdentityCollisionResolved')
})

test('a binding that names a variant and no mode, as the Go implementation has them, is PerVariant', async () => {
  const space = 'theirs'
  await cp.apply([...estate(space), perVariant(space, 'decode', 'decode', { mode: undefined })])
  const { binding, output } = await settled(cp, space, 'decode')
  const spiffeID = `spiffe://example.org/ns/${space}/pool/llama/variant/decode`
  expect(dig(binding, 'spec', 'mode')).toBeUndefined()
  expect(binding).toMatchObject({ status: { computedSpiffeIDs: [{ mode: 'PerVariant', spiffeID }] } })
  expect(labelsOf(output)).toEqual({ app: 'llama', [DEFAULT_VARIANT_LABEL_KEY]: 'decode' })
  await cp.admin.delete(bindingId(space, 'decode'))
  await until(async () => (await outputsOf(cp, space, 'decode')).length === 0, 'its output to be gone')
})

describe('another label key of the install', () => {
  test('rewrites every output in place, and no binding is refused meanwhile', async () => {
    const names = ['prefill', 'decode', 'again']
    const before = await Promise.all(names.map((name) => settled(cp, SPACE, name)))
    const since = await cp.auditMark()
    operator = await whileDown(cp, operator, async () => {}, { flags: [`--variant-label-key=${ROLE}`] })
    for (const [at, name] of names.entries()) {
      const after = await until(async () => {
        const pair = await settled(cp, SPACE, name)
        return stringAt(pair.binding, 'status', 'variantLabelKey') === ROLE && pair
      }, `the status of ${name} to name the new key`)
      expect(after.name).toBe(before[at]?.name)
      expect(uidOf(after.output)).toBe(uidOf(before[at]?.output))
      const variant = stringAt(after.binding, 'spec', 'identityBoundary', 'variant')
      expect(labelsOf(after.output)).toEqual({ app: 'llama', [ROLE]: variant })
    }
    const writes = { since, user: OPERATOR, resource: 'clusterspiffeids', verbs: WRITE_VERBS, atLeast: 3 }
    expect((await cp.audit(writes)).map(({ verb }) => verb)).toEqual(['update', 'update', 'update'])
  })

  test('a pool that selects by it takes its own value alone', async () => {
    await cp.apply([perVariant(SPACE, 'narrow', 'decode', { poolRef: { name: 'prefillers' } })])
    const refused = await untilReason(cp, SPACE, 'narrow', 'UnsafeSelector')
    expect(stringAt(conditionOf(refused, 'Ready'), 'message')).toBe(
      `InferencePool prefillers itself selects ${ROLE}=prefill, so no pod of it carries ${ROLE}=decode; name that variant, or another pool`,
    )
    // Its pods are those of the wide pool's variant.
    await cp.admin.patch(bindingId(SPACE, 'narrow'), { spec: { identityBoundary: { variant: 'prefill' } } })
    await untilReason(cp, SPACE, 'narrow', 'IdentityCollision')
    // Its peer is refused too, perhaps a little later: what is waited for below must not be its verdict of before.
    await untilReason(cp, SPACE, 'prefill', 'IdentityCollision')
    await cp.admin.delete(bindingId(SPACE, 'narrow'))
    await untilReason(cp, SPACE, 'prefill', 'Reconciled')
  })

  test('a restart with the same key writes nothing', async () => {
    // Marked between the two runs: the first may still have had writes of the test before under way.
    let since: AuditMark = { offset: 0 }
    const mark = async () => {
      since = await cp.auditMark()
    }
    operator = await whileDown(cp, operator, mark, { flags: RESYNCING })
    await lookedAtAgain()
    const writes = await besideInForce(cp, await cp.audit({ since, user: OPERATOR, verbs: WRITE_VERBS }))
    const others = writes.filter(({ resource }) => resource !== 'leases' && resource !== 'events')
    expect(others).toEqual([])
  })
})

describe('other versions', () => {
  test('a mode that the operator does not know is UnsupportedMode, and what the status names is withdrawn', async () => {
    // As an operator from before this mode meets the bindings of a later one: what it looks like to this one.
    await cp.installCrd(anyMode(cp.crd(CRD)))
    const { output, name } = await settled(cp, SPACE, 'again')
    const later = 'spiffe://example.org/ns/roles/pool/llama/later/a'
    const theirs = { ...output, metadata: { name: `${name}-later`, annotations: annotations(output) } }
    const unknown = await cp.admin.create({
      ...theirs,
      spec: { ...Object(output['spec']), spiffeIDTemplate: later },
    })
    await cp.admin.patch(bindingId(SPACE, 'again'), { spec: { mode: 'PerLater' } })
    const refused = await untilReason(cp, SPACE, 'again', 'UnsupportedMode')
    expect(stringAt(conditionOf(refused, 'Ready'), 'message')).toContain('"PerLater"')
    expect(await cp.admin.get(outputId(name))).toBeUndefined()
    expect(await cp.admin.get(outputId(`${name}-later`))).toEqual(unknown)
    await cp.admin.delete(outputId(`${name}-later`))
    await cp.admin.delete(bindingId(SPACE, 'again'))
    await untilBindingGone(cp, SPACE, 'again')
  })

  test('an older CRD, which prunes the variant: refused, withdrawn, and no write is repeated', async () => {
    const { name } = await settled(cp, SPACE, 'decode')
    operator = await whileDown(cp, operator, () => cp.installCrd(older(cp.crd(CRD))), { flags: RESYNCING })
    await untilReason(cp, SPACE, 'prefill', 'InvalidIdentityBoundary')
    const refused = await untilReason(cp, SPACE, 'decode', 'InvalidIdentityBoundary')
    expect(dig(refused, 'spec', 'identityBoundary')).toBeUndefined()
    expect(dig(refused, 'status', 'variantLabelKey')).toBeUndefined()
    expect(await cp.admin.get(outputId(name))).toBeUndefined()
    const since = await cp.auditMark()
    await lookedAtAgain()
    const writes = await cp.audit({ since, user: OPERATOR, resource: 'inferenceidentitybindings' })
    expect(writes.filter(({ verb }) => WRITE_VERBS.some((one) => one === verb))).toEqual([])
  })

  test('with the CRD of today the variants have to be said again: the older one has dropped them for good', async () => {
    operator = await whileDown(cp, operator, () => cp.installCrd(CRD), { flags: RESYNCING })
    await untilReason(cp, SPACE, 'decode', 'InvalidIdentityBoundary')
    for (const variant of ['prefill', 'decode']) {
      await cp.apply([perVariant(SPACE, variant, variant)])
      expect(labelsOf((await settled(cp, SPACE, variant)).output)).toEqual({ app: 'llama', [ROLE]: variant })
    }
  })
})

test('in all of that no two variants ever shared a pod', async () => {
  expect((await neverTwo.holds()).length).toBeGreaterThan(0)
})

function annotations(output: JsonRecord): unknown {
  return dig(output, 'metadata', 'annotations')
}

/** The CRD with its fields of `spec` changed. */
function withSpec(crd: JsonRecord, change: (spec: JsonRecord) => JsonRecord): JsonRecord {
  const versions = listAt(crd, 'spec', 'versions').map((version) => {
    const schema = record(dig(version, 'schema', 'openAPIV3Schema'))
    const properties = record(own(schema, 'properties'))
    const changed = { ...properties, spec: change(record(own(properties, 'spec'))) }
    return { ...record(version), schema: { openAPIV3Schema: { ...schema, properties: changed } } }
  })
  return { ...crd, spec: { ...record(own(crd, 'spec')), versions } }
}

/** Takes any mode, as the CRD of a later version would. */
function anyMode(crd: JsonRecord): JsonRecord {
  return withSpec(crd, (spec) => {
    const properties = record(spec['properties'])
    const mode = { type: 'string' }
    return { ...spec, properties: { ...properties, mode }, 'x-kubernetes-validations': [] }
  })
}

/** Knows neither the mode nor its field, as before there were variants. */
function older(crd: JsonRecord): JsonRecord {
  return withSpec(crd, (spec) => {
    const fields = Object.entries(record(spec['properties'])).filter(([name]) => name !== 'identityBoundary')
    const properties = Object.fromEntries(fields)
    const mode = { ...record(properties['mode']), enum: ['PoolOnly', 'PerObjective'] }
    const rules = listAt(spec, 'x-kubernetes-validations').filter(
      (rule) => !/PerVariant|identityBoundary/.test(String(dig(rule, 'rule'))),
    )
    return { ...spec, properties: { ...properties, mode }, 'x-kubernetes-validations': rules }
  })
}

function record(value: unknown): JsonRecord {
  return isRecord(value) ? value : {}
}
