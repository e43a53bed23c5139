// An output that is live exactly as it is proven now, on a real API server (docs/contract.md §8): a refused write of the rest
// withdraws nothing, and what is not as it is proven goes. So does what the CRD leaves wider than proven, and nothing else.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dig, isRecord, own, stringAt } from '../../shared/src/core/base/json.ts'
import { allowAllHints, denyHintsOf } from './admission-policy.ts'
import type { ControlPlane } from './control-plane.ts'
import { prepare, settle, settled, uidOf } from './in-force.ts'
import {
  binding,
  bindingId,
  conditionOf,
  objective,
  outputId,
  outputs,
  outputsOf,
  untilReason,
} from './objects.ts'
import { startLeading, startOperatorPlane, stopAll, whileDown } from './operator.ts'
import { until } from '@kleym/testing/wait.ts'

let cp: ControlPlane
beforeAll(async () => {
  cp = await startOperatorPlane()
})
afterAll(() => stopAll(cp))

const SPACE = 'upgraded'
const NAMES = Array.from({ length: 16 }, (_, at) => `chat-${at}`)
/** The next try may be as far away as the wait that the tries so far have come to. */
const NEXT_TRY_MS = 300_000

async function outputUids(): Promise<readonly string[]> {
  return (await outputs(cp)).map(uidOf).toSorted()
}

test('an upgrade adds an output label and a policy denies the update: all outputs stay, and get the label with the policy gone', async () => {
  let operator = await startLeading(cp)
  await prepare(cp, SPACE)
  await cp.apply(
    NAMES.flatMap((name) => [
      objective(SPACE, name, 'llama'),
      binding(SPACE, name, { objectiveRef: { name }, containerName: name }),
    ]),
  )
  for (const name of NAMES) await settled(cp, SPACE, name)
  const before = await outputUids()
  expect(before).toHaveLength(NAMES.length)

  await denyHintsOf(cp, SPACE)
  const flags = ['--output-label=tier=gold']
  operator = await whileDown(cp, operator, async () => {}, { flags })
  for (const name of NAMES) {
    const now = await untilReason(cp, SPACE, name, 'Undetermined')
    const output = stringAt(now, 'status', 'clusterSPIFFEID', 'name')
    expect(stringAt(conditionOf(now, 'Ready'), 'message')).toBe(
      `cannot update .metadata.annotations["kleym.sonda.red/output-labels"], .metadata.labels["tier"] of ClusterSPIFFEID ${output}: refused`,
    )
  }
  expect(await outputUids()).toEqual(before)
  // What the update would narrow is not right any more: it goes, whatever refuses the update.
  await cp.admin.patch(bindingId(SPACE, 'chat-0'), { spec: { serviceAccountName: 'other' } })
  await untilReason(cp, SPACE, 'chat-0', 'ManagedOutputApplyFailed')
  expect(await outputs(cp)).toHaveLength(NAMES.length - 1)

  await allowAllHints(cp)
  await until(
    async () => {
      const labelled = (await outputs(cp)).filter(
        (output) => stringAt(output, 'metadata', 'labels', 'tier') === 'gold',
      )
      return labelled.length === NAMES.length
    },
    'every output to have the label',
    NEXT_TRY_MS,
  )
  const after = await outputUids()
  expect(before.filter((uid) => after.includes(uid))).toHaveLength(NAMES.length - 1)
  expect(await operator.stop()).toBe('exit code 0')
})

const CRD_NAME = 'clusterspiffeids.spire.spiffe.io'
const CRD = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: CRD_NAME }

/** The CRD of ClusterSPIFFEIDs as another release of SCM may bring it: without these fields of the spec. */
async function crdWithout(...fields: readonly string[]): Promise<void> {
  const text = JSON.stringify(cp.crd(CRD_NAME), (key, value: unknown) => {
    if (key !== 'properties' || !isRecord(value) || !isRecord(own(value, 'spiffeIDTemplate'))) return value
    return Object.fromEntries(Object.entries(value).filter(([field]) => !fields.includes(field)))
  })
  const changed: unknown = JSON.parse(text)
  const now = await cp.admin.get(CRD)
  await cp.admin.replace({ ...now, spec: dig(changed, 'spec') })
}

test('the CRD loses a field, as by a rollback of SCM: what is no wider stays, what is wider goes, and the message says why', async () => {
  const space = 'rolled-back'
  const flags = ['--clusterspiffeid-class-name=spire']
  let operator = await startLeading(cp, { flags: [...flags, '--classless-ignored'] })
  const { name, output } = await settle(cp, space)
  const messageFor = async (of: string, reason: string): Promise<string> =>
    stringAt(conditionOf(await untilReason(cp, space, of, reason), 'Ready'), 'message') ?? ''

  await crdWithout('className')
  expect(await messageFor('chat', 'Undetermined')).toBe(
    `cannot update .spec.className of ClusterSPIFFEID ${name}: not in its CRD`,
  )
  // SCM writes statuses: the field is then gone for good.
  await cp.admin.patch(outputId(name), { metadata: { annotations: { 'example.org/note': 'a' } } })
  await cp.apply([objective(space, 'late', 'llama'), binding(space, 'late', { containerName: 'router' })])
  expect(await messageFor('late', 'Undetermined')).toMatch(
    /^cannot create \.spec\.className of .*: not in its CRD$/,
  )
  expect(await outputsOf(cp, space, 'late')).toEqual([])
  expect((await outputsOf(cp, space, 'chat')).map(uidOf)).toEqual([uidOf(output)])

  await crdWithout()
  await settled(cp, space, 'late')
  const back = await settled(cp, space)
  expect(uidOf(back.output)).toBe(uidOf(output))
  expect(dig(back.output, 'spec', 'className')).toBe('spire')

  await crdWithout('podSelector')
  expect(await messageFor('chat', 'ManagedOutputApplyFailed')).toContain(
    'the CRD of ClusterSPIFFEID has no .spec.podSelector, so the API server drops it',
  )
  expect(await outputsOf(cp, space, 'chat')).toEqual([])
  await crdWithout()
  await settled(cp, space)

  // Who takes an output without a class is not known: it goes, also if the operator starts only then.
  operator = await whileDown(cp, operator, () => crdWithout('className'), { flags })
  expect(await messageFor('chat', 'ManagedOutputApplyFailed')).toContain('has no .spec.className')
  expect(await outputsOf(cp, space, 'chat')).toEqual([])
  await crdWithout()
  await settled(cp, space)
  expect(await operator.stop()).toBe('exit code 0')
})
