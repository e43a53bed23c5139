// A mutating webhook that widens our outputs on a real API server (docs/contract.md §8): what comes back other than it was
// proven is deleted at once, the binding says why, nothing altered is stored again, and it all ends with the webhook.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listAt, own, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { ANNOTATION_BINDING } from '../../shared/src/core/model/names.ts'
import { WRITE_VERBS, type AuditEvent } from './audit.ts'
import type { ControlPlane } from './control-plane.ts'
import { prepare, settle, settled, uidOf } from './in-force.ts'
import {
  installWebhook,
  type Mutation,
  type MutatingWebhook,
  type PatchOperation,
} from './mutating-webhook.ts'
import { binding, bindingId, conditionOf, outputId, outputs, untilReason } from './objects.ts'
import { OPERATOR } from './operator-access.ts'
import { startLeading, startOperatorPlane, stopAll, type RunningOperator } from './operator.ts'
import { until } from '@kleym/testing/wait.ts'
import { judgeWrites } from './write-rules.ts'

let cp: ControlPlane
let webhook: MutatingWebhook
let operator: RunningOperator
beforeAll(async () => {
  cp = await startOperatorPlane()
  webhook = await installWebhook(cp)
  operator = await startLeading(cp)
})
afterAll(() => stopAll(webhook, cp))

/** An altered output may be there for one round trip of a DELETE; on a busy machine that takes its time. */
const DELETE_MS = 5_000
/** The next try may be as far away as the wait that the tries so far have come to. */
const NEXT_TRY_MS = 300_000

const SELECTORS = '/spec/workloadSelectorTemplates'
const stripSelectors: Mutation = (object) => {
  const kept = listAt(object, 'spec', 'workloadSelectorTemplates').filter(
    (text) => !/^k8s:(sa|container-name):/.test(String(text)),
  )
  return [{ op: 'replace', path: SELECTORS, value: kept }]
}
const switchAdminOn: Mutation = () => [{ op: 'add', path: '/spec/admin', value: true }]
const stripAnnotations: Mutation = () => [{ op: 'remove', path: '/metadata/annotations' }]
const stripLabels: Mutation = () => [{ op: 'remove', path: '/metadata/labels' }]
const when =
  (wanted: 'CREATE' | 'UPDATE', mutation: Mutation): Mutation =>
  (object, operation): readonly PatchOperation[] =>
    operation === wanted ? mutation(object, operation) : []

/** The outputs of a namespace, whatever is left of their metadata. */
async function outputsIn(space: string): Promise<readonly JsonRecord[]> {
  return (await outputs(cp)).filter(({ spec }) => stringAt(spec, 'hint')?.startsWith(`${space}/`))
}

/** What the operator wrote to the outputs of a namespace and the API server stored, in order. */
async function storedWrites(space: string): Promise<readonly AuditEvent[]> {
  const writes = await cp.audit({ user: OPERATOR, verbs: WRITE_VERBS, resource: 'clusterspiffeids' })
  return writes.filter(
    ({ name, status, uri }) =>
      name.startsWith(`kleym-${space}-`) && status < 300 && !/[?&]dryRun=All(&|$)/.test(uri),
  )
}

async function verbsIn(space: string): Promise<readonly string[]> {
  return (await storedWrites(space)).map(({ verb }) => verb)
}

/** Expects that what this write came back as was deleted next, by its UID, and was there no longer than that took. */
async function expectDeletedAtOnce(space: string, verb: 'create' | 'update'): Promise<void> {
  const writes = await storedWrites(space)
  const at = writes.findLastIndex((write) => write.verb === verb)
  const [written, removed] = [writes[at], writes[at + 1]]
  expect(removed?.verb).toBe('delete')
  const uid = uidOf(written?.responseObject)
  expect(uid).not.toBe('')
  expect(own(removed?.requestObject, 'preconditions')).toEqual({ uid })
  const ms = Date.parse(removed?.answeredAt ?? '') - Date.parse(written?.receivedAt ?? '')
  expect(ms).toBeLessThan(DELETE_MS)
}

async function untilRefused(space: string, field: string): Promise<void> {
  const message = `a mutating webhook or policy changes ${field} of the ClusterSPIFFEID: it is not left in force`
  await untilReason(cp, space, 'chat', 'ManagedOutputApplyFailed', message)
  expect(await outputsIn(space)).toEqual([])
}

/** Waits until the operator has asked, with dry runs alone, so many times more. */
async function untilDryRuns(space: string, count: number): Promise<void> {
  const before = webhook.asked.length
  const since = (): readonly boolean[] =>
    webhook.asked
      .slice(before)
      .filter(({ user, hint }) => user === OPERATOR && hint.startsWith(`${space}/`))
      .map(({ dryRun }) => dryRun)
  await until(() => since().length >= count, `${count} more tries for ${space}`, NEXT_TRY_MS)
  expect(since()).not.toContain(false)
}

async function untilRecovered(space: string): Promise<void> {
  webhook.mutate(space, undefined)
  await until(
    async () => {
      const now = await cp.admin.get(bindingId(space, 'chat'))
      return stringAt(conditionOf(now, 'Ready'), 'reason') === 'Reconciled'
    },
    `${space} to recover`,
    NEXT_TRY_MS,
  )
  const { output } = await settled(cp, space)
  expect(listAt(output, 'spec', 'workloadSelectorTemplates')).toHaveLength(4)
}

describe.concurrent('what a webhook widens is deleted at once, and comes back when the webhook lets it', () => {
  test.concurrent.for<[string, Mutation, string]>([
    ['selectors-stripped', stripSelectors, '.spec.workloadSelectorTemplates'],
    ['admin-added', switchAdminOn, '.spec.admin'],
    ['annotations-stripped', stripAnnotations, '.metadata.annotations'],
  ])('%s on create', async ([space, mutation, field]) => {
    webhook.mutate(space, mutation)
    await prepare(cp, space)
    await cp.apply([binding(space, 'chat')])
    await untilRefused(space, field)
    await untilDryRuns(space, 2)
    expect(await verbsIn(space)).toEqual(['create', 'delete'])
    await expectDeletedAtOnce(space, 'create')
    await untilRecovered(space)
    expect(await verbsIn(space)).toEqual(['create', 'delete', 'create'])
  })

  test.concurrent.for<[string, Mutation, string]>([
    ['selectors-on-update', stripSelectors, '.spec.workloadSelectorTemplates'],
    ['annotations-on-update', stripAnnotations, '.metadata.annotations'],
  ])('%s', async ([space, mutation, field]) => {
    await settle(cp, space)
    webhook.mutate(space, mutation)
    await cp.admin.patch(bindingId(space, 'chat'), { spec: { containerName: 'other' } })
    await untilRefused(space, field)
    await untilDryRuns(space, 1)
    expect(await verbsIn(space)).toEqual(['create', 'update', 'delete'])
    await expectDeletedAtOnce(space, 'update')
    await untilRecovered(space)
  })

  test('a webhook that alters updates alone: the output is deleted, and made anew', async () => {
    const space = 'updates-alone'
    const { name } = await settle(cp, space)
    webhook.mutate(space, when('UPDATE', stripSelectors))
    await cp.admin.patch(bindingId(space, 'chat'), { spec: { containerName: 'other' } })
    await until(
      async () => (await verbsIn(space)).join() === 'create,update,delete,create',
      'the output to be made anew',
    )
    await expectDeletedAtOnce(space, 'update')
    const now = await cp.admin.get(outputId(name))
    expect(listAt(now, 'spec', 'workloadSelectorTemplates')).toContain('k8s:container-name:other')
  })

  test('a webhook that changes only labels: the output stays, and the log says so', async () => {
    const space = 'labels-alone'
    webhook.mutate(space, stripLabels)
    const { name } = await settle(cp, space)
    const warned = await until(
      () => operator.log().find((line) => line['level'] === 'warn' && line['clusterSPIFFEID'] === name),
      'a warning',
    )
    expect(warned['message']).toContain('it is left so until it changes')
    const [output] = await outputsIn(space)
    expect(stringAt(output, 'metadata', 'annotations', ANNOTATION_BINDING)).toBe(`${space}/chat`)
    // A dry run has shown that a PUT would change nothing.
    const asked = webhook.asked.filter(({ user, hint }) => user === OPERATOR && hint.startsWith(`${space}/`))
    expect(asked.map(({ dryRun }) => dryRun)).toEqual([false, true])
    expect(await verbsIn(space)).toEqual(['create'])
  })
})

test('a killed operator that starts again stores nothing altered: the status is its memory', async () => {
  const space = 'restarted'
  webhook.mutate(space, stripSelectors)
  await prepare(cp, space)
  await cp.apply([binding(space, 'chat')])
  await untilRefused(space, '.spec.workloadSelectorTemplates')
  await operator.kill()
  operator = await startLeading(cp)
  await untilDryRuns(space, 2)
  await untilRefused(space, '.spec.workloadSelectorTemplates')
  expect(await verbsIn(space)).toEqual(['create', 'delete'])
  // This time the whole webhook goes.
  await webhook.uninstall()
  await untilRecovered(space)
  expect(await verbsIn(space)).toEqual(['create', 'delete', 'create'])
})

test('in all of this every write was a POST, a PUT or a DELETE that names what it judged, under kleym-operator', async () => {
  expect((await judgeWrites(cp)).broken).toEqual([])
})
