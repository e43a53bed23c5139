// Events: what is written, what is tried again, and that nothing of it ever holds the operator up.
import { describe, expect, test } from 'vitest'
import { dig, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import type { Api, CallOptions } from '@kleym/shared/kube/api.ts'
import { ApiError, ConnectionError } from '@kleym/shared/kube/errors.ts'
import { eventRecorder, type EventNote } from '../../src/telemetry/events.ts'
import type { EventResult } from '../../src/telemetry/metrics.ts'
import { FakeTime, settled } from '../build/fake-time.ts'
import { keptLog } from '../build/log-lines.ts'

const NOTE: EventNote = {
  regarding: {
    apiVersion: 'kleym.sonda.red/v1alpha1',
    kind: 'InferenceIdentityBinding',
    namespace: 'team-a',
    name: 'chat',
    uid: 'uid-1',
    resourceVersion: '7',
  },
  type: 'Warning',
  reason: 'TargetPoolNotFound',
  action: 'Reconcile',
  note: 'there is no pool',
}

type Answer = (object: JsonRecord, options: CallOptions | undefined) => Promise<JsonRecord>

function setUp(answer: Answer = async (object) => object) {
  const time = new FakeTime()
  const posted: JsonRecord[] = []
  const ended: EventResult[] = []
  const { log, lines } = keptLog()
  const state = { leading: true }
  const api: Pick<Api, 'create'> = {
    create: (_, object, options) => {
      posted.push(object)
      return answer(object, options)
    },
  }
  const recorder = eventRecorder({
    api,
    clock: time.clock(),
    random: () => 0,
    log,
    instance: 'kleym-7d4b9-x2x',
    isLeader: () => state.leading,
    ended: (result) => ended.push(result),
  })
  return { time, posted, ended, lines, state, recorder }
}

const failure = (
  status: number,
  reason: string,
  more: { retryAfterMs?: number; details?: unknown } = {},
): ApiError => new ApiError({ status, reason, message: 'no', ...more })

const nameOf = (event: JsonRecord | undefined): string => {
  const metadata: unknown = event?.['metadata']
  return typeof metadata === 'object' && metadata !== null && 'name' in metadata ? String(metadata.name) : ''
}

describe('an event', () => {
  test('is written beside its binding as events.k8s.io/v1 asks for it', async () => {
    const { recorder, posted, ended } = setUp()
    recorder.record(NOTE)
    await settled()
    expect(posted).toEqual([
      {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { namespace: 'team-a', name: expect.stringMatching(/^chat\.[0-9a-f]{16}$/) },
        eventTime: '2026-11-21T00:00:00.000000Z',
        reportingController: 'kleym.sonda.red/operator',
        reportingInstance: 'kleym-7d4b9-x2x',
        regarding: NOTE.regarding,
        type: 'Warning',
        reason: 'TargetPoolNotFound',
        action: 'Reconcile',
        note: 'there is no pool',
      },
    ])
    expect(ended).toEqual(['recorded'])
  })

  test('has a name of its own each time, which fits however long the binding is named', async () => {
    const { recorder, posted } = setUp()
    const name = `${'a'.repeat(199)}.${'b'.repeat(53)}`
    const regarding = { ...NOTE.regarding, name }
    for (let times = 0; times < 3; times++) recorder.record({ ...NOTE, regarding })
    await settled()
    const names = posted.map(nameOf)
    expect(new Set(names).size).toBe(3)
    for (const each of names) expect(each).toMatch(/^a{199}\.[0-9a-f]{16}$/)
  })

  test('is cut where the API server would refuse it, and splits no character', async () => {
    const { recorder, posted } = setUp()
    recorder.record({ ...NOTE, note: '€'.repeat(1_000), action: 'x'.repeat(200) })
    await settled()
    expect(posted[0]).toMatchObject({ note: '€'.repeat(341), action: 'x'.repeat(128) })
  })

  test('is not written by a process that does not lead', async () => {
    const { recorder, posted, state } = setUp()
    state.leading = false
    recorder.record(NOTE)
    await settled()
    expect(posted).toEqual([])
  })
})

describe('a failure', () => {
  test.each([
    ['429', failure(429, 'TooManyRequests')],
    ['500', failure(500, 'InternalError')],
    ['503', failure(503, 'ServiceUnavailable')],
    ['a broken connection', new ConnectionError('reset', 'x', { cause: undefined, neverSent: false })],
  ])('of %s is tried again under the same name', async (_, error) => {
    let failures = 2
    const { time, recorder, posted, ended, lines } = setUp(async (object) => {
      if (failures-- > 0) throw error
      return object
    })
    recorder.record(NOTE)
    await time.advance(249)
    expect(posted).toHaveLength(1)
    await time.advance(1)
    expect(posted).toHaveLength(2)
    await time.advance(500)
    expect(new Set(posted.map(nameOf)).size).toBe(1)
    expect({ posts: posted.length, ended, lines }).toEqual({ posts: 3, ended: ['recorded'], lines: [] })
  })

  test('waits as long as the server asks, up to 10 s', async () => {
    const { time, recorder, posted } = setUp(async () => {
      throw failure(429, 'TooManyRequests', { retryAfterMs: 60_000 })
    })
    recorder.record(NOTE)
    await time.advance(9_999)
    expect(posted).toHaveLength(1)
    await time.advance(1)
    expect(posted).toHaveLength(2)
  })

  test('is given up after five tries, counted each time and logged once per class', async () => {
    const { time, recorder, posted, ended, lines } = setUp(async () => {
      throw failure(500, 'InternalError')
    })
    recorder.record(NOTE)
    recorder.record(NOTE)
    await time.advance(60_000)
    expect({ posts: posted.length, ended }).toEqual({ posts: 10, ended: ['failed', 'failed'] })
    expect(lines).toMatchObject([{ level: 'warn', keys: { why: '500 InternalError' } }])
  })

  test.each([
    ['a refusal', failure(403, 'Forbidden'), ['failed'], 1],
    ['a bad event', failure(422, 'Invalid'), ['failed'], 1],
    ['a bug', new TypeError('a bug'), ['failed'], 1],
    ['a namespace that is gone', failure(404, 'NotFound'), [], 0],
    [
      'a namespace that is being deleted',
      failure(403, 'Forbidden', { details: { causes: [{ reason: 'NamespaceTerminating' }] } }),
      [],
      0,
    ],
    ['an event that is there after all', failure(409, 'AlreadyExists'), ['recorded'], 0],
  ])('that is %s is not tried again', async (_, error, expected, logged) => {
    const { time, recorder, posted, ended, lines } = setUp(async () => {
      throw error
    })
    recorder.record(NOTE)
    await time.advance(60_000)
    expect({ posts: posted.length, ended, logged: lines.length }).toEqual({
      posts: 1,
      ended: expected,
      logged,
    })
  })

  test('of a process that has lost the Lease meanwhile is not tried again', async () => {
    const { time, recorder, posted, state } = setUp(async () => {
      throw failure(500, 'InternalError')
    })
    recorder.record(NOTE)
    await settled()
    state.leading = false
    await time.advance(60_000)
    expect(posted).toHaveLength(1)
  })
})

test('four events are written at a time, 10,000 wait, and what is beyond is dropped and counted', async () => {
  const { recorder, posted, ended, lines } = setUp(() => new Promise(() => {}))
  for (let at = 0; at < 10_010; at++) recorder.record(NOTE)
  await settled()
  expect(posted).toHaveLength(4)
  expect(ended).toEqual(Array.from({ length: 6 }, () => 'dropped'))
  expect(lines).toHaveLength(1)
})

function noteOf(namespace: string): EventNote {
  return { ...NOTE, regarding: { ...NOTE.regarding, namespace } }
}

function namespaceOf(event: JsonRecord): unknown {
  return dig(event, 'metadata', 'namespace')
}

/** A recorder whose events are answered when the test says `goOn`. */
function setUpHeld() {
  const answers: (() => void)[] = []
  const parts = setUp((object) => new Promise((resolve) => answers.push(() => resolve(object))))
  const goOn = async (): Promise<void> => {
    for (const answer of answers.splice(0)) answer()
    await settled()
  }
  return { ...parts, goOn }
}

describe('a namespace whose events pour', () => {
  test("holds up nobody else's: they are written in turn", async () => {
    const { recorder, posted, goOn } = setUpHeld()
    for (let at = 0; at < 5_000; at++) recorder.record(noteOf('team-a'))
    recorder.record(noteOf('team-b'))
    await settled()
    await goOn()
    expect(posted.map(namespaceOf)).toContain('team-b')
  })

  test('loses its own where too many wait, and nobody else does', async () => {
    const { recorder, posted, ended, goOn } = setUpHeld()
    for (let at = 0; at < 10_004; at++) recorder.record(noteOf('team-a'))
    for (let at = 0; at < 100; at++) recorder.record(noteOf('team-b'))
    for (let at = 0; at < 100; at++) recorder.record(noteOf('team-a'))
    expect(ended).toEqual(Array.from({ length: 200 }, () => 'dropped'))
    for (let round = 0; round < 60; round++) await goOn()
    expect(posted.map(namespaceOf).filter((namespace) => namespace === 'team-b')).toHaveLength(100)
  })
})

describe('draining', () => {
  test('waits for all that is recorded, and takes no more', async () => {
    const answers: (() => void)[] = []
    const { time, recorder, posted, ended } = setUp(
      (object) => new Promise((resolve) => answers.push(() => resolve(object))),
    )
    for (let at = 0; at < 6; at++) recorder.record(NOTE)
    let drained = false
    const drain = recorder.drain(5_000).finally(() => {
      drained = true
    })
    recorder.record(NOTE)
    while (answers.length > 0) {
      expect(drained).toBe(false)
      answers.shift()?.()
      await settled()
    }
    await drain
    expect({ posts: posted.length, ended: ended.length, timers: time.pending }).toEqual({
      posts: 6,
      ended: 6,
      timers: 0,
    })
  })

  test('with nothing to do ends at once', async () => {
    const { recorder, time } = setUp()
    await recorder.drain(5_000)
    expect(time.pending).toBe(0)
  })

  test('ends in time however the API server stalls, and gives up what runs', async () => {
    const signals: (AbortSignal | undefined)[] = []
    const { time, recorder, posted } = setUp((_, options) => {
      signals.push(options?.signal)
      return signals.length === 1
        ? new Promise(() => {})
        : Promise.reject(failure(500, 'InternalError', { retryAfterMs: 9_000 }))
    })
    for (let at = 0; at < 10; at++) recorder.record(NOTE)
    const drain = recorder.drain(5_000)
    await time.advance(5_000)
    await drain
    expect(signals[0]?.aborted).toBe(true)
    expect(posted).toHaveLength(4)
    expect(time.pending).toBe(0)
  })
})
