// Whose a ClusterSPIFFEID is, on a real API server (docs/contract.md §8): what was ours and answers to nobody goes, what
// is not ours is never touched, however much it looks like it, and nothing is ever adopted.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { outputName } from '../../shared/src/core/decide/compile/output.ts'
import { dig, own, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { ANNOTATION_BINDING, ANNOTATION_BINDING_UID } from '../../shared/src/core/model/names.ts'
import type { ControlPlane } from './control-plane.ts'
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts'
import {
  ANOTHER_UID,
  copyOf,
  expectUntouched,
  foreign,
  nameOf,
  prepare,
  settle,
  settled,
  uidOf,
  untilBindingGone,
  untilGone,
  untilPutBack,
  type Pair,
} from './in-force.ts'
import {
  binding,
  bindingId,
  conditionOf,
  outputId,
  outputs,
  outputsOf,
  poolOnly,
  untilReason,
} from './objects.ts'
import { OPERATOR } from './operator-access.ts'
import { startLeading, startOperatorPlane, stopAll, whileDown, type RunningOperator } from './operator.ts'
import { until } from '@kleym/testing/wait.ts'
import { judgeWrites } from './write-rules.ts'

let cp: ControlPlane
let proxy: FaultProxy
let operator: RunningOperator
beforeAll(async () => {
  cp = await startOperatorPlane()
  proxy = await startFaultProxy(cp)
  operator = await startLeading(cp, { server: proxy.server })
})
afterAll(() => stopAll(proxy, cp))

/** Does something while no operator runs. */
async function meanwhile(act: () => Promise<void>): Promise<void> {
  operator = await whileDown(cp, operator, act, { server: proxy.server })
}

/** The name that the output of binding `chat` has in a namespace. */
function nameIn(space: string): string {
  return outputName(space, 'chat', 'objective', `spiffe://example.org/ns/${space}/objective/chat`)
}

function patchAnnotation(name: string, annotation: string, value: string | null): Promise<JsonRecord> {
  return cp.admin.patch(outputId(name), { metadata: { annotations: { [annotation]: value } } })
}

/** `theirs` stands under the name of binding `chat`: it stays, the binding says so, and takes the name when it is free. */
async function expectInTheWay(space: string, theirs: JsonRecord): Promise<void> {
  const refused = await untilReason(cp, space, 'chat', 'OutputNotOwned')
  expect(conditionOf(refused, 'Ready')).toMatchObject({
    status: 'False',
    message: expect.stringContaining(nameIn(space)),
  })
  expect(dig(refused, 'status', 'clusterSPIFFEID')).toBeUndefined()
  await expectUntouched(cp, theirs)
  await cp.admin.delete(outputId(nameIn(space)))
  const { output } = await settled(cp, space)
  expect(uidOf(output)).not.toBe(uidOf(theirs))
}

describe.concurrent('a foreign object under the name of our output', () => {
  test('that was there before is named in the refusal, and makes room when a person removes it', async () => {
    const space = 'foreign-before'
    const theirs = await cp.admin.create(foreign(nameIn(space)))
    await prepare(cp, space)
    await cp.apply([binding(space, 'chat')])
    await expectInTheWay(space, theirs)
    expect(await outputsOf(cp, space, 'chat')).toHaveLength(1)
  })

  test('that is created between our look and our POST is so too', async () => {
    const space = 'foreign-between'
    const held = proxy.inject({
      method: 'POST',
      path: /\/clusterspiffeids/,
      when: ({ body }) => nameOf(body) === nameIn(space),
      fault: { kind: 'hold' },
    })
    await prepare(cp, space)
    await cp.apply([binding(space, 'chat')])
    await held.hit()
    const theirs = await cp.admin.create(foreign(nameIn(space)))
    held.release()
    await expectInTheWay(space, theirs)
    expect(await outputsOf(cp, space, 'chat')).toHaveLength(1)
  })

  test('survives a repair that was on its way to the object before it', async () => {
    const space = 'foreign-put'
    const { name } = await settle(cp, space)
    const path = new RegExp(`/clusterspiffeids/${name}`)
    const held = proxy.inject({ method: 'PUT', path, fault: { kind: 'hold' } })
    await cp.admin.patch(outputId(name), { spec: { admin: true } })
    await held.hit()
    await cp.admin.delete(outputId(name))
    const theirs = await cp.admin.create(foreign(name))
    held.release()
    await expectInTheWay(space, theirs)
    expect(held.hits.map(({ status }) => status)).toEqual([409])
  })

  test('survives a deletion that was meant for the object before it', async () => {
    const space = 'foreign-delete'
    const { name } = await settle(cp, space)
    const path = new RegExp(`/clusterspiffeids/${name}`)
    const held = proxy.inject({ method: 'DELETE', path, fault: { kind: 'hold' } })
    await cp.admin.delete(bindingId(space, 'chat'))
    await held.hit()
    await cp.admin.delete(outputId(name))
    const theirs = await cp.admin.create(foreign(name))
    held.release()
    await untilBindingGone(cp, space)
    await expectUntouched(cp, theirs)
    expect(held.hits.map(({ status }) => status)).toEqual([409])
    await cp.admin.delete(outputId(name))
  })

  test.concurrent.for<[string, string, (name: string) => Promise<unknown>]>([
    [
      'is our own after kubectl replace without labels and annotations',
      'replaced-bare',
      (name) => cp.kubectl(['replace', '-f', '-'], { input: JSON.stringify(foreign(name)) }),
    ],
    [
      'is our own without the annotation that names the binding',
      'without-binding',
      (name) => patchAnnotation(name, ANNOTATION_BINDING, null),
    ],
    [
      'is our own without the UID of the binding',
      'without-uid',
      (name) => patchAnnotation(name, ANNOTATION_BINDING_UID, null),
    ],
    [
      'is our own when it names another binding',
      'other-binding',
      (name) => patchAnnotation(name, ANNOTATION_BINDING, 'other-binding/nobody'),
    ],
  ])('%s', async ([, space, act]) => {
    const { name, output } = await settle(cp, space)
    await act(name)
    const theirs = (await cp.admin.get(outputId(name))) ?? {}
    expect(uidOf(theirs)).toBe(uidOf(output))
    await expectInTheWay(space, theirs)
  })
})

describe.concurrent('what only looks like ours is neither adopted nor touched', () => {
  test.concurrent.for<[string, string, JsonRecord]>([
    ['a copy with our labels under another name', 'copy-labels', { annotations: {} }],
    ['a copy with our labels and annotations under another name', 'copy-all', {}],
    [
      'a copy under another name that names the binding, but no UID',
      'copy-no-uid',
      { annotations: { [ANNOTATION_BINDING]: 'copy-no-uid/chat' } },
    ],
    [
      'a copy under another name that names another UID of the binding',
      'copy-other-uid',
      { annotations: { [ANNOTATION_BINDING]: 'copy-other-uid/chat', [ANNOTATION_BINDING_UID]: ANOTHER_UID } },
    ],
    [
      'a copy under another name that names a binding that never was',
      'copy-never-was',
      {
        annotations: { [ANNOTATION_BINDING]: 'copy-never-was/nobody', [ANNOTATION_BINDING_UID]: ANOTHER_UID },
      },
    ],
  ])('%s', async ([, space, metadata]) => {
    const { name, output } = await settle(cp, space)
    const copy = await cp.admin.create(copyOf(output, `${space}-by-hand`, metadata))
    // What must happen after it was seen: a hand deletion that is put back, and a deleted binding that goes.
    await cp.admin.delete(outputId(name))
    await untilGone(cp, name, uidOf(output))
    const again = await settled(cp, space)
    expect(again.name).toBe(name)
    await expectUntouched(cp, copy)
    await cp.admin.delete(bindingId(space, 'chat'))
    await untilBindingGone(cp, space)
    expect(await cp.admin.get(outputId(name))).toBeUndefined()
    await expectUntouched(cp, copy)
  })
})

describe.concurrent('a write for a binding never reaches its re-created namesake', () => {
  test.concurrent.for([
    // A JSON Patch whose test of the UID fails is invalid, an update of another UID is a conflict.
    ['finalizer', 'namesake-finalizer', /inferenceidentitybindings\/chat\?/, 422],
    ['status', 'namesake-status', /inferenceidentitybindings\/chat\/status\?/, 409],
  ] as const)('%s', async ([, space, path, refusal]) => {
    const held = proxy.inject({
      path,
      when: (request) => request.method !== 'GET' && request.path.includes(`/namespaces/${space}/`),
      fault: { kind: 'hold' },
    })
    await prepare(cp, space)
    const first = await cp.admin.create(binding(space, 'chat'))
    await held.hit()
    await takeAway(space)
    const second = await cp.admin.create(binding(space, 'chat'))
    held.release()
    const after = await settled(cp, space)
    expect(uidOf(after.binding)).toBe(uidOf(second))
    expect(held.hits.map(({ status }) => status)).toEqual([refusal])
    const sent = await cp.audit({ user: OPERATOR, namespace: space, name: 'chat' })
    const late = sent.filter(({ requestObject }) => isAboutUid(requestObject, uidOf(first)))
    expect(late.at(-1)).toMatchObject({ status: refusal })
    expect(await outputsOf(cp, space, 'chat')).toHaveLength(1)
  })
})

/** Whether a write is about the object of this UID: an update of it, or a JSON Patch that tests for it. */
function isAboutUid(body: unknown, uid: string): boolean {
  if (!Array.isArray(body)) return uidOf(body) === uid
  return body.some((step) => own(step, 'op') === 'test' && own(step, 'value') === uid)
}

/** Takes a binding away behind the operator's back. */
async function takeAway(space: string, name = 'chat'): Promise<void> {
  await cp.admin.patch(bindingId(space, name), { metadata: { finalizers: null } })
  await cp.admin.delete(bindingId(space, name))
  expect(await cp.admin.get(bindingId(space, name))).toBeUndefined()
}

/** Another object under the same name, for the binding that lives now, and no other beside it. */
async function expectOwnOutput(space: string, before: Pair): Promise<void> {
  const after = await settled(cp, space)
  expect(after.name).toBe(before.name)
  expect(uidOf(after.output)).not.toBe(uidOf(before.output))
  expect(uidOf(after.binding)).not.toBe(uidOf(before.binding))
  expect(await outputsOf(cp, space, 'chat')).toHaveLength(1)
}

/** Both objects are lost, and what the backup holds of them is created anew. */
async function loseAndRestore({ binding: backup, output, name }: Pair): Promise<void> {
  const metadata = own(backup, 'metadata')
  const space = stringAt(metadata, 'namespace') ?? ''
  const bindingName = nameOf(backup)
  await takeAway(space, bindingName)
  await cp.admin.delete(outputId(name))
  const kept = { name: bindingName, namespace: space, finalizers: own(metadata, 'finalizers') }
  await cp.admin.create({ ...poolOnly(space, bindingName), metadata: kept })
  await cp.admin.patch(bindingId(space, bindingName), { status: own(backup, 'status') }, 'status')
  await cp.admin.create(copyOf(output, name))
}

describe('what happens behind the operator’s back is put right', () => {
  test('a stripped finalizer and a deleted binding leave an orphan, which goes when the operator starts', async () => {
    const { name } = await settle(cp, 'orphan-down')
    await meanwhile(() => takeAway('orphan-down'))
    await untilGone(cp, name)
    expect(await outputsOf(cp, 'orphan-down', 'chat')).toEqual([])
  })

  test('a stripped finalizer and a deleted binding leave an orphan, which goes when the operator sees it', async () => {
    const { name } = await settle(cp, 'orphan-up')
    await operator.pause()
    try {
      await takeAway('orphan-up')
    } finally {
      await operator.resume()
    }
    await untilGone(cp, name)
    expect(await outputsOf(cp, 'orphan-up', 'chat')).toEqual([])
  })

  test('an orphan goes with its whole namespace gone too', async () => {
    const { name } = await settle(cp, 'orphan-namespace')
    await meanwhile(async () => {
      await takeAway('orphan-namespace')
      await cp.admin.delete({ apiVersion: 'v1', kind: 'Namespace', name: 'orphan-namespace' })
    })
    await untilGone(cp, name)
    expect(await outputsOf(cp, 'orphan-namespace', 'chat')).toEqual([])
  })

  test('a binding that was deleted and created again under its name gets an output of its own', async () => {
    const before = await settle(cp, 'again-up')
    await cp.admin.delete(bindingId('again-up', 'chat'))
    await untilBindingGone(cp, 'again-up')
    await cp.admin.create(binding('again-up', 'chat'))
    await expectOwnOutput('again-up', before)
    expect(await cp.audit({ user: OPERATOR, verbs: ['update'], name: before.name })).toEqual([])
  })

  test('so does one that was deleted and created again while the operator was down', async () => {
    const before = await settle(cp, 'again-down')
    await meanwhile(async () => {
      await takeAway('again-down')
      await cp.admin.create(binding('again-down', 'chat'))
    })
    await expectOwnOutput('again-down', before)
    // Nothing was adopted: what stood there was deleted.
    expect(await cp.audit({ user: OPERATOR, verbs: ['update'], name: before.name })).toEqual([])
  })

  test('of one that was deleted and created again with another identity nothing of the old one is left', async () => {
    const before = await settle(cp, 'again-other')
    await meanwhile(async () => {
      await takeAway('again-other')
      await cp.admin.create(poolOnly('again-other', 'chat'))
    })
    const after = await settled(cp, 'again-other')
    expect(after.name).not.toBe(before.name)
    await untilGone(cp, before.name)
  })

  test('a restored backup: bindings under new UIDs with their old statuses, beside outputs that name the old UIDs', async () => {
    const space = 'restored'
    await prepare(cp, space)
    const names = ['one', 'two', 'three']
    await cp.apply(names.map((name) => poolOnly(space, name)))
    const before = await Promise.all(names.map((name) => settled(cp, space, name)))
    await meanwhile(async () => {
      for (const pair of before) await loseAndRestore(pair)
    })
    const after = await Promise.all(names.map((name) => settled(cp, space, name)))
    for (const [at, pair] of after.entries()) {
      expect(pair.name).toBe(before[at]?.name)
      expect(uidOf(pair.binding)).not.toBe(uidOf(before[at]?.binding))
      expect(pair.output['spec']).toEqual(before[at]?.output['spec'])
      expect(await outputsOf(cp, space, names[at] ?? '')).toHaveLength(1)
    }
  })

  test('edits and deletions by hand are put back at the start', async () => {
    const edited = await settle(cp, 'down-edited')
    const deleted = await settle(cp, 'down-deleted')
    await meanwhile(async () => {
      await cp.admin.patch(outputId(edited.name), { spec: { admin: true, fallback: true } })
      await cp.admin.delete(outputId(deleted.name))
    })
    await untilPutBack(cp, edited)
    const again = await settled(cp, 'down-deleted')
    expect(uidOf(again.output)).not.toBe(uidOf(deleted.output))
  })
})

/** A look at the binding of an object leaves a trace in the metrics alone; the second one begins after the first has ended. */
async function untilLookedAt(name: string): Promise<void> {
  for (const label of ['here', null]) {
    const before = reconciles(await operator.metrics())
    await cp.admin.patch(outputId(name), { metadata: { labels: { look: label } } })
    await until(async () => reconciles(await operator.metrics()) > before, `a look at ${name}`)
  }
}

function reconciles(metrics: string): number {
  const counts = [...metrics.matchAll(/^controller_runtime_reconcile_total\{[^}]*\} (\d+)$/gm)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}

test('with the kind of bindings its objects go in order; nothing is an orphan while it is away, and orphans go when it is back', async () => {
  const CRD = 'inferenceidentitybindings.kleym.sonda.red'
  const { name, output } = await settle(cp, 'kind-gone')
  // The CRD goes when its objects do, and they go when the operator has deleted their outputs.
  await cp.removeCrd(CRD)
  expect(await cp.admin.get(outputId(name))).toBeUndefined()
  const left = (await outputs(cp)).map(nameOf)
  expect(left.filter((one) => one.startsWith('kleym-'))).toEqual([])
  // What a backup brings back before the CRD: by its annotations and its name it could be an orphan.
  const { metadata } = await cp.admin.create(copyOf(output, name))
  await untilLookedAt(name)
  await meanwhile(async () => undefined)
  await untilLookedAt(name)
  expect(uidOf(await cp.admin.get(outputId(name)))).toBe(stringAt(metadata, 'uid'))
  await cp.installCrd(CRD)
  await untilGone(cp, name)
})

test('in all of this every write was a POST, a PUT or a DELETE that names what it judged, under kleym-operator', async () => {
  expect((await judgeWrites(cp)).broken).toEqual([])
})
