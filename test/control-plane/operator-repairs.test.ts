// Drift of our outputs on a real API server (docs/contract.md §8): what hands do to them is put back within seconds, and
// who does it again and again, or changes whatever is written, does not make kleym write for ever.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dig, listAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { ANNOTATION_BINDING_UID, FINALIZER } from '../../shared/src/core/model/names.ts'
import { WRITE_VERBS, type AuditEvent, type AuditMark } from './audit.ts'
import type { ControlPlane } from './control-plane.ts'
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts'
import {
  ANOTHER_UID,
  copyOf,
  foreign,
  prepare,
  settle,
  settled,
  uidOf,
  untilGone,
  untilPutBack,
} from './in-force.ts'
import { besideInForce } from './in-force-writes.ts'
import { installWebhook, type MutatingWebhook } from './mutating-webhook.ts'
import { bindingId, outputId, poolOnly, untilReason } from './objects.ts'
import { OPERATOR } from './operator-access.ts'
import { startLeading, startOperatorPlane, stopAll, whileDown, type RunningOperator } from './operator.ts'
import { until } from '@kleym/testing/wait.ts'
import { judgeWrites } from './write-rules.ts'

let cp: ControlPlane
let proxy: FaultProxy
let operator: RunningOperator
let webhook: MutatingWebhook
beforeAll(async () => {
  cp = await startOperatorPlane()
  webhook = await installWebhook(cp)
  proxy = await startFaultProxy(cp)
  operator = await startLeading(cp, { server: proxy.server })
  await prepare(cp, 'edits')
})
afterAll(() => stopAll(webhook, proxy, cp))

/** What the operator did to one output and the API server carried out. */
/** The writes that were stored: a dry run is none. */
async function writesOf(name: string): Promise<readonly AuditEvent[]> {
  const { writes } = await judgeWrites(cp)
  return writes.filter(
    (write) =>
      write.resource === 'clusterspiffeids' && write.name === name && write.status < 300 && !isDryRun(write),
  )
}

function isDryRun({ uri }: AuditEvent): boolean {
  return /[?&]dryRun=All(&|$)/.test(uri)
}

async function verbsOn(name: string): Promise<readonly string[]> {
  return (await writesOf(name)).map(({ verb }) => verb)
}

async function untilVerbs(name: string, verbs: readonly string[]): Promise<void> {
  await until(
    async () => {
      expect(await verbsOn(name)).toEqual(verbs)
      return true
    },
    `the writes of ${name} to be ${verbs.join(', ')}`,
  )
}

// All at once: each has an object of its own, and most of the time is waiting.
describe.concurrent('a hand edit of our output is put back within seconds', () => {
  test.concurrent.for<[string, JsonRecord]>([
    ['admin is switched on', { spec: { admin: true } }],
    ['it federates', { spec: { federatesWith: ['elsewhere.org'] } }],
    ['a class is set', { spec: { className: 'other' } }],
    ['it becomes a fallback', { spec: { fallback: true } }],
    ['the selectors are loosened', { spec: { workloadSelectorTemplates: ['k8s:ns:edits'] } }],
    ['the pods are others', { spec: { podSelector: { matchLabels: { app: null, a: 'b' } } } }],
    ['the namespace selector is taken out', { spec: { namespaceSelector: null } }],
    ['the SPIFFE ID is another', { spec: { spiffeIDTemplate: 'spiffe://example.org/admin' } }],
    ['our labels are taken off', { metadata: { labels: null } }],
    ['a label of ours is changed', { metadata: { labels: { 'kleym.sonda.red/managed-by': 'me' } } }],
  ])('%s', async ([what, patch]) => {
    const bindingName = what.toLowerCase().replaceAll(' ', '-')
    await cp.apply([poolOnly('edits', bindingName)])
    const pair = await settled(cp, 'edits', bindingName)
    await cp.admin.patch(outputId(pair.name), patch)
    const now = await untilPutBack(cp, pair)
    expect(now['spec']).toEqual(pair.output['spec'])
  })

  test('the UID of the binding is another: that is an orphan now, and goes before the output is written anew', async () => {
    await cp.apply([poolOnly('edits', 'uid')])
    const pair = await settled(cp, 'edits', 'uid')
    await cp.admin.patch(outputId(pair.name), {
      metadata: { annotations: { [ANNOTATION_BINDING_UID]: ANOTHER_UID } },
    })
    await untilGone(cp, pair.name, uidOf(pair.output))
    const again = await settled(cp, 'edits', 'uid')
    expect(again.name).toBe(pair.name)
    expect(again.output['spec']).toEqual(pair.output['spec'])
  })

  test('what others have put beside it stays: labels, annotations, owners, finalizers', async () => {
    await cp.apply([poolOnly('edits', 'beside')])
    const pair = await settled(cp, 'edits', 'beside')
    const owner = await cp.admin.create({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'edits-owner' },
    })
    const theirs = {
      labels: { team: 'blue' },
      annotations: { 'example.com/ticket': '42' },
      finalizers: ['example.com/audit'],
      ownerReferences: [{ apiVersion: 'v1', kind: 'Namespace', name: 'edits-owner', uid: uidOf(owner) }],
    }
    await cp.admin.patch(outputId(pair.name), { metadata: theirs, spec: { admin: true } })
    const now = await untilPutBack(cp, pair)
    expect(now['metadata']).toMatchObject(theirs)
    await cp.admin.patch(outputId(pair.name), { metadata: { finalizers: null } })
  })

  test('kubectl replace of another spec', async () => {
    await cp.apply([poolOnly('edits', 'replaced')])
    const pair = await settled(cp, 'edits', 'replaced')
    const input = JSON.stringify({ ...copyOf(pair.output, pair.name), spec: foreign(pair.name)['spec'] })
    expect(await cp.kubectl(['replace', '-f', '-'], { input })).toMatchObject({ status: 0 })
    await untilPutBack(cp, pair)
  })

  test('a deletion, after which the status names the new object', async () => {
    const before = await settle(cp, 'deleted-by-hand')
    await cp.admin.delete(outputId(before.name))
    await untilGone(cp, before.name, uidOf(before.output))
    const after = await settled(cp, 'deleted-by-hand')
    expect(after.name).toBe(before.name)
    expect(after.output['spec']).toEqual(before.output['spec'])
  })

  test('a finalizer of ours that is taken off a binding', async () => {
    await settle(cp, 'finalizer')
    const id = bindingId('finalizer', 'chat')
    await cp.admin.patch(id, { metadata: { finalizers: ['example.com/other'] } })
    await until(
      async () => listAt(await cp.admin.get(id), 'metadata', 'finalizers').includes(FINALIZER),
      'the finalizer to be back',
    )
    const now = await cp.admin.get(id)
    expect(listAt(now, 'metadata', 'finalizers')).toEqual(['example.com/other', FINALIZER])
    await cp.admin.patch(id, { metadata: { finalizers: [FINALIZER] } })
  })

  test('an edit that comes in before the answer to a repair, which it is not taken for', async () => {
    await cp.apply([poolOnly('edits', 'early'), poolOnly('edits', 'sentinel')])
    const [early, sentinel] = await Promise.all([
      settled(cp, 'edits', 'early'),
      settled(cp, 'edits', 'sentinel'),
    ])
    const held = proxy.inject({
      method: 'PUT',
      path: new RegExp(`/clusterspiffeids/${early.name}`),
      fault: { kind: 'hold answer' },
    })
    await cp.admin.patch(outputId(early.name), { spec: { admin: true } })
    await untilPutBack(cp, early)
    await cp.admin.patch(outputId(early.name), { spec: { admin: true } })
    // One watch carries both: whoever undoes this edit has seen that one.
    await cp.admin.patch(outputId(sentinel.name), { spec: { admin: true } })
    await untilPutBack(cp, sentinel)
    held.release()
    const now = await untilPutBack(cp, early)
    expect(dig(now, 'spec', 'admin')).toBeUndefined()
  })
})

describe.concurrent('kleym does not write for ever', () => {
  test('an edit that comes back again and again is undone at once twice, and then less and less often', async () => {
    const pair = await settle(cp, 'again-and-again')
    for (let edits = 0; edits < 4; edits++) {
      // Nothing that widens it: an edit of another test may let the binding wait for a moment, and that would then be withdrawn.
      await cp.admin.patch(outputId(pair.name), { spec: { className: 'other' } })
      await untilPutBack(cp, pair)
    }
    await untilVerbs(pair.name, ['create', 'update', 'update', 'update', 'update'])
    const puts = (await writesOf(pair.name)).filter(({ verb }) => verb === 'update')
    const [first = NaN, second = NaN, third = NaN, fourth = NaN, ...more] = puts.map(({ receivedAt }) =>
      Date.parse(receivedAt),
    )
    expect(more).toEqual([])
    expect(second - first).toBeLessThan(third - second)
    // Every edit followed the repair before it at once: what lies between is the pause of kleym.
    expect(third - second).toBeGreaterThanOrEqual(5_000)
    expect(fourth - third).toBeGreaterThanOrEqual(10_000)
    // The line and the count follow the write, which shows before.
    const repairs = (): number =>
      operator
        .log()
        .filter((line) => line['message'] === 'repaired an output' && line['clusterSPIFFEID'] === pair.name)
        .length
    await until(() => repairs() >= 4, 'four repairs in the log')
    expect(repairs()).toBe(4)
    const counted = /^kleym_\w*repair\w*_total (\d+)$/m.exec(await operator.metrics())
    expect(Number(counted?.[1])).toBeGreaterThanOrEqual(4)
  })

  test('an object that is changed whenever it is written: no PUT, until the object or the wish changes', async () => {
    const space = 'changed-always'
    setTtlOn(space, ['CREATE', 'UPDATE'])
    const { name } = await settle(cp, space)
    await untilVerbs(name, ['create'])
    expect(dig(await cp.admin.get(outputId(name)), 'spec', 'ttl')).toBe('1h')
    // The object changes, in what kleym does not care for and in what it does.
    await cp.admin.patch(outputId(name), { metadata: { labels: { team: 'blue' } } })
    await cp.admin.patch(outputId(name), { spec: { downstream: true } })
    await until(
      async () => dig(await cp.admin.get(outputId(name)), 'spec', 'downstream') === undefined,
      'the edit to be undone',
    )
    await untilVerbs(name, ['create', 'update'])
    // The wish changes.
    await cp.admin.patch(bindingId(space, 'chat'), { spec: { containerName: 'other' } })
    await untilReason(cp, space, 'chat', 'Reconciled')
    expect(await verbsOn(name)).toEqual(['create', 'update', 'update'])
    const selectors = listAt(await cp.admin.get(outputId(name)), 'spec', 'workloadSelectorTemplates')
    expect(selectors).toContain('k8s:container-name:other')
    const warnings = operator
      .log()
      .filter((line) => line['level'] === 'warn' && line['clusterSPIFFEID'] === name)
    expect(warnings).toHaveLength(3)
  })

  test('an object that is changed when it is created alone: one PUT makes it right', async () => {
    setTtlOn('changed-at-first', ['CREATE'])
    const { name } = await settle(cp, 'changed-at-first')
    await untilVerbs(name, ['create', 'update'])
    expect(dig(await cp.admin.get(outputId(name)), 'spec', 'ttl')).toBeUndefined()
  })
})

test('a restart writes nothing, not even what is changed whenever it is written', async () => {
  const { name } = await settled(cp, 'changed-always')
  // Marked between the two runs: the first may still have had writes of the tests before under way.
  let mark: AuditMark = { offset: 0 }
  const setMark = async (): Promise<void> => {
    mark = await cp.auditMark()
  }
  operator = await whileDown(cp, operator, setMark, { server: proxy.server })
  await until(
    async () =>
      (await cp.audit({ user: OPERATOR, verbs: ['update'], since: mark })).some(isRehearsalOf(name)),
    `the dry run of ${name}`,
  )
  // Looked at last, so that the rest has had its look.
  await settle(cp, 'sentinel')
  const writes = await besideInForce(cp, await cp.audit({ user: OPERATOR, verbs: WRITE_VERBS, since: mark }))
  const others = writes.filter(
    (write) =>
      write.resource !== 'leases' &&
      write.resource !== 'events' &&
      write.namespace !== 'sentinel' &&
      !isDryRun(write),
  )
  expect(others.map(({ verb, name: written }) => `${verb} ${written}`)).toEqual([
    expect.stringMatching(/^create kleym-sentinel-chat-/),
  ])
})

function isRehearsalOf(name: string): (write: AuditEvent) => boolean {
  return (write) => write.name === name && isDryRun(write)
}

/** Has the webhook set a TTL in the outputs of a namespace, whenever one of these writes comes. */
function setTtlOn(space: string, operations: readonly string[]): void {
  webhook.mutate(space, (_object, operation) =>
    operations.includes(operation) ? [{ op: 'add', path: '/spec/ttl', value: '1h' }] : [],
  )
}

test('in all of this every write was a POST, a PUT or a DELETE that names what it judged, under kleym-operator', async () => {
  expect((await judgeWrites(cp)).broken).toEqual([])
})
