// Leader election: what client-go's `tools/leaderelection` promises, and that by nobody's own clock there are ever two.
import { array, assert, asyncProperty, constantFrom, double, integer, nat, record } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { dig } from '@kleym/shared/core/base/json.ts'
import { Election } from '../../src/election/election.ts'
import { FakeTime, settled, type ClockTraits, type ProcessClock } from '../build/fake-time.ts'
import { LeaseServer, PROMPT, type LeaseCallFate } from './lease-server.ts'
import { keptLog, type LogLine } from '../build/log-lines.ts'

interface Replica {
  readonly identity: string
  readonly clock: ProcessClock
  readonly election: Election
  readonly events: string[]
  readonly lines: readonly LogLine[]
}

function replica(
  time: FakeTime,
  server: LeaseServer,
  identity: string,
  { fateOf, ...traits }: ClockTraits & { fateOf?: () => LeaseCallFate; random?: () => number } = {},
): Replica {
  const clock = time.clock(traits)
  const { log, lines } = keptLog()
  const events: string[] = []
  const election = new Election({
    api: server.api(clock, fateOf),
    clock,
    random: () => 0.5,
    log,
    lease: { namespace: 'kleym-system', name: 'kleym-operator' },
    identity,
    onElected: () => void events.push('elected'),
    onLost: (reason) => void events.push(`lost: ${reason}`),
  })
  return { identity, clock, election, events, lines }
}

function setUp() {
  const time = new FakeTime()
  return { time, server: new LeaseServer(time) }
}

/** A replica that has led for so long, in milliseconds. */
async function leading(ms: number) {
  const { time, server } = setUp()
  const a = replica(time, server, 'a')
  a.election.start()
  await time.advance(ms)
  return { time, server, a }
}

/** A leader, and a replica that has stood by for so long. */
async function withStandby(ms: number) {
  const { time, server, a } = await leading(100)
  const b = replica(time, server, 'b')
  b.election.start()
  await time.advance(ms)
  return { time, server, a, b }
}

const NOT_RENEWED = 'lost: the Lease was not renewed for 10 s'
const TAKEN = 'lost: another process holds the Lease'

describe('an election', () => {
  test('makes the first process the leader at once, with a Lease as client-go writes it', async () => {
    const { server, a } = await leading(100)
    expect(a.election.isLeader()).toBe(true)
    expect(a.events).toEqual(['elected'])
    expect(server.lease).toMatchObject({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'kleym-system', name: 'kleym-operator' },
      spec: {
        holderIdentity: 'a',
        leaseDurationSeconds: 15,
        leaseTransitions: 0,
        acquireTime: '2026-11-21T00:00:00.002000Z',
        renewTime: '2026-11-21T00:00:00.002000Z',
      },
    })
  })

  test('costs a leader one request every 2 s and a standby one every 2 to 2.4 s', async () => {
    const { time, server } = setUp()
    const [a, b] = [replica(time, server, 'a'), replica(time, server, 'b')]
    a.election.start()
    await time.advance(1000)
    b.election.start()
    await time.advance(1000)
    server.requests.length = 0
    await time.advance(60_000)
    expect(server.requests.filter((request) => request === 'update')).toHaveLength(30)
    expect(server.requests.filter((request) => request === 'get').length).toBeLessThanOrEqual(30)
    expect(server.requests.filter((request) => request === 'get').length).toBeGreaterThanOrEqual(25)
    expect(dig(server.lease, 'spec', 'acquireTime')).toBe('2026-11-21T00:00:00.002000Z')
    expect(a.lines).toHaveLength(1)
    expect(b.lines).toEqual([])
  })

  test('gives the Lease of a process that died to a standby 15 s after it last saw it change, and counts it', async () => {
    const { time, server, a, b } = await withStandby(20_000)
    a.clock.stopped = true
    await time.advance(12_000)
    expect(b.election.isLeader()).toBe(false)
    await time.advance(8_000)
    expect(b.events).toEqual(['elected'])
    expect(dig(server.lease, 'spec', 'leaseTransitions')).toBe(1)
  })

  test('goes by what it sees change, not by times that others write', async () => {
    const { time, server } = setUp()
    server.edit({
      holderIdentity: 'gone',
      leaseDurationSeconds: 15,
      renewTime: '2001-01-01T00:00:00.000000Z',
      leaseTransitions: 7,
    })
    const b = replica(time, server, 'b', { skewMs: 86_400_000 })
    b.election.start()
    await time.advance(14_900)
    expect(b.events).toEqual([])
    await time.advance(500)
    expect(b.events).toEqual(['elected'])
    expect(dig(server.lease, 'spec', 'leaseTransitions')).toBe(8)
  })

  test('does not take labels that somebody sets for a sign of life', async () => {
    const { time, server } = setUp()
    const spec = { holderIdentity: 'gone', leaseDurationSeconds: 15 }
    const b = replica(time, server, 'b')
    server.edit(spec)
    b.election.start()
    for (let seconds = 0; seconds < 16; seconds++) {
      await time.advance(1000)
      if (!b.election.isLeader()) server.edit(spec, { seconds })
    }
    await time.advance(1000)
    expect(b.events).toEqual(['elected'])
  })

  test('leaves a Lease that is deleted by hand to the holder it saw, for as long as that one counts on it', async () => {
    const { time, server, a, b } = await withStandby(3_000)
    server.edit(undefined)
    for (let steps = 0; steps < 300; steps++) {
      await time.advance(100)
      expect([a, b].filter(({ election }) => election.isLeader()).map(({ identity }) => identity)).toEqual([
        'a',
      ])
    }
  })

  test('keeps labels and foreign fields of the Lease', async () => {
    const { time, server } = setUp()
    server.edit({ holderIdentity: '', strategy: 'x' }, { team: 'platform' })
    replica(time, server, 'a').election.start()
    await time.advance(100)
    expect(server.lease).toMatchObject({
      metadata: { labels: { team: 'platform' } },
      spec: { strategy: 'x' },
    })
  })

  test.each([
    ['no spec', {}],
    ['numbers for texts', { holderIdentity: 5, leaseDurationSeconds: 'x', leaseTransitions: 'y' }],
  ])('takes a Lease that makes no sense (%s)', async (_, spec) => {
    const { time, server } = setUp()
    server.edit(spec)
    const a = replica(time, server, 'a')
    a.election.start()
    await time.advance(40_000)
    expect(a.events).toEqual(['elected'])
  })
})

describe('a release', () => {
  test('empties the Lease, and a standby leads at its next try', async () => {
    const { time, server, a, b } = await withStandby(30_000)
    const released = a.election.release()
    expect(a.election.isLeader()).toBe(false)
    await time.advance(10)
    await released
    expect(server.lease).toMatchObject({ spec: { holderIdentity: '', leaseDurationSeconds: 1 } })
    await time.advance(2_400)
    expect(b.events).toEqual(['elected'])
    expect(server.lease).toMatchObject({ spec: { leaseDurationSeconds: 15, leaseTransitions: 1 } })
    expect(a.events).toEqual(['elected'])
  })

  test('of a standby writes nothing', async () => {
    const { time, server, a, b } = await withStandby(3_000)
    await b.election.release()
    expect(server.holders.every((holder) => holder === 'a')).toBe(true)
    a.clock.stopped = true
    await time.advance(60_000)
    expect(b.events).toEqual([])
  })

  test('gives back a Lease that a try without an answer had taken', async () => {
    const { time, server } = setUp()
    let fate: LeaseCallFate = PROMPT
    const b = replica(time, server, 'b', { fateOf: () => fate })
    server.edit({ holderIdentity: '' })
    b.election.start()
    await time.advance(1.5)
    fate = { ...PROMPT, fails: 'answer lost' }
    await time.advance(3_000)
    expect(dig(server.lease, 'spec', 'holderIdentity')).toBe('b')
    fate = PROMPT
    const released = b.election.release()
    await time.advance(6_000)
    await released
    expect(dig(server.lease, 'spec', 'holderIdentity')).toBe('')
    expect(b.events).toEqual([])
  })

  test('that the API server does not answer ends all the same', async () => {
    const { time, server } = setUp()
    let fate: LeaseCallFate = PROMPT
    const a = replica(time, server, 'a', { fateOf: () => fate })
    a.election.start()
    await time.advance(100)
    fate = { ...PROMPT, fails: 'lost' }
    const released = a.election.release()
    await time.advance(6_000)
    await released
    expect(a.lines.at(-1)).toMatchObject({
      level: 'warn',
      message: 'could not give the Lease up; it runs out by itself',
    })
    expect(time.pending).toBe(0)
  })
})

test('a leader that ends with writes under way leads no more, and leaves the Lease to run out: a standby waits for 15 s', async () => {
  const { time, server, a, b } = await withStandby(30_000)
  a.election.abandon()
  expect(a.election.isLeader()).toBe(false)
  expect(a.lines.at(-1)).toMatchObject({ level: 'warn', message: expect.stringContaining('still under way') })
  // The last renewal was at most 2 s ago.
  await time.advance(12_500)
  expect(dig(server.lease, 'spec', 'holderIdentity')).toBe('a')
  expect(b.events).toEqual([])
  await time.advance(5_500)
  expect(b.events).toEqual(['elected'])
  expect(a.events).toEqual(['elected'])
})

test('a standby that is stopped while it takes the Lease does not lead by an answer that is old when it reads it', async () => {
  const { time, server } = setUp()
  const b = replica(time, server, 'b')
  b.election.start()
  await time.advance(2.5)
  b.clock.stopped = true
  await time.advance(60_000)
  expect(server.holders).toEqual(['b'])
  b.clock.stopped = false
  await time.advance(1)
  expect({ leads: b.election.isLeader(), events: b.events }).toEqual({ leads: false, events: [] })
  await time.advance(5_000)
  expect({ leads: b.election.isLeader(), events: b.events }).toEqual({ leads: true, events: ['elected'] })
})

describe('a leader', () => {
  test.each(['lost', 'refused', 'answer lost'] as const)(
    'whose renewals fail (%s) is none 10 s after it sent the last good one, for ever',
    async (fails) => {
      const { time, server } = setUp()
      let fate: LeaseCallFate = PROMPT
      const a = replica(time, server, 'a', { fateOf: () => fate })
      a.election.start()
      await time.advance(4)
      fate = { ...PROMPT, fails }
      await time.advance(9_997)
      expect(a.election.isLeader()).toBe(true)
      await time.advance(2)
      expect(a.events).toEqual(['elected', NOT_RENEWED])
      fate = PROMPT
      await time.advance(60_000)
      expect(a.election.isLeader()).toBe(false)
      expect(a.events).toEqual(['elected', NOT_RENEWED])
      expect(a.lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
    },
  )

  test('survives renewals that fail for less than that', async () => {
    const { time, server } = setUp()
    let fate: LeaseCallFate = PROMPT
    const a = replica(time, server, 'a', { fateOf: () => fate })
    a.election.start()
    for (let round = 0; round < 5; round++) {
      fate = PROMPT
      await time.advance(8_000)
      fate = { ...PROMPT, fails: 'answer lost' }
      await time.advance(6_000)
    }
    fate = PROMPT
    await time.advance(8_000)
    expect(a.election.isLeader()).toBe(true)
    expect(a.events).toEqual(['elected'])
  })

  test('that sees another holder is none at once', async () => {
    const { time, server, a } = await leading(1_000)
    server.edit({ holderIdentity: 'thief', leaseDurationSeconds: 15 })
    await time.advance(1_100)
    expect(a.events).toEqual(['elected', TAKEN])
    expect(a.election.isLeader()).toBe(false)
  })

  test('keeps a Lease that somebody labels', async () => {
    const { time, server } = setUp()
    const a = replica(time, server, 'a')
    a.election.start()
    for (let round = 0; round < 20; round++) {
      await time.advance(1_000)
      const spec = dig(server.lease, 'spec')
      server.edit(structuredClone(Object(spec)), { round })
    }
    expect(a.events).toEqual(['elected'])
    expect(a.election.isLeader()).toBe(true)
  })

  test('that was stopped beyond its time knows so when it is first asked, before any timer or answer is there', async () => {
    const { time, server, a } = await leading(2_003)
    a.clock.stopped = true
    await time.advance(60_000)
    expect(a.events).toEqual(['elected'])
    expect(a.election.isLeader()).toBe(false)
    expect(a.events).toEqual(['elected', NOT_RENEWED])
    a.clock.stopped = false
    await time.advance(60_000)
    expect(a.events).toEqual(['elected', NOT_RENEWED])
    expect(server.holders).toEqual(['a'])
  })

  test('whose machine was suspended beyond its time knows so when it is first asked, though its monotonic clock stood still', async () => {
    const { time, server, a } = await leading(2_003)
    const b = replica(time, server, 'b')
    b.election.start()
    a.clock.suspended = true
    await time.advance(60_000)
    expect(b.election.isLeader()).toBe(true)
    const before = a.clock.monotonicMs()
    a.clock.suspended = false
    expect(a.clock.monotonicMs()).toBe(before)
    expect(a.election.isLeader()).toBe(false)
    expect(a.events).toEqual(['elected', NOT_RENEWED])
  })

  test('whose date is set back leads on, and loses the Lease by its monotonic clock', async () => {
    const { time, a } = await leading(2_003)
    a.clock.skewMs = -3_600_000
    await time.advance(20_000)
    expect(a.election.isLeader()).toBe(true)
    a.clock.stopped = true
    await time.advance(10_001)
    expect(a.election.isLeader()).toBe(false)
  })

  test('that was stopped beyond its time is told by its own timer, where nobody asks', async () => {
    const { time, a } = await leading(500)
    a.clock.stopped = true
    await time.advance(60_000)
    a.clock.stopped = false
    await time.advance(1)
    expect(a.events).toEqual(['elected', NOT_RENEWED])
  })
})

test('a bug in the way to the API server is not taken for a failed try', async () => {
  const { time, server } = setUp()
  const clock = time.clock()
  const { log } = keptLog()
  const api = { ...server.api(clock), get: () => Promise.reject(new TypeError('a bug')) }
  const errors: unknown[] = []
  const listen = (error: unknown): void => void errors.push(error)
  const before = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', listen)
  try {
    const lease = { namespace: 'x', name: 'y' }
    const callbacks = { onElected: () => {}, onLost: () => {} }
    new Election({ api, clock, random: () => 0, log, lease, identity: 'a', ...callbacks }).start()
    await settled()
    await settled()
  } finally {
    process.off('unhandledRejection', listen)
    for (const listener of before) process.on('unhandledRejection', listener)
  }
  expect(errors).toEqual([new TypeError('a bug')])
})

/** One thing that happens to the replicas. */
const happening = record({
  afterMs: integer({ min: 1, max: 9_000 }),
  what: constantFrom(
    'stop',
    'suspend',
    'go on',
    'cut off',
    'connect',
    'release',
    'abandon',
    'restart',
    'nothing',
  ),
  to: nat(2),
})

test('there are never two leaders, whatever stops, is cut off or runs fast, and one again when all is well', async () => {
  const fate = record({
    thereMs: integer({ min: 0, max: 6_000 }),
    backMs: integer({ min: 0, max: 6_000 }),
    fails: constantFrom(undefined, undefined, undefined, 'lost', 'refused', 'answer lost'),
  })
  // 10 s of the slowest clock are 12.5 s, and 15 s of the fastest are too.
  const rates = array(double({ min: 0.81, max: 1.19, noNaN: true }), { minLength: 3, maxLength: 3 })
  const property = asyncProperty(
    rates,
    array(fate, { minLength: 1, maxLength: 20 }),
    array(happening, { maxLength: 25 }),
    async (speeds, openVerdicts, happenings) => {
      const { time, server } = setUp()
      let sent = 0
      let well = false
      const cutOff = new Set<number>()
      const build = (at: number, life: number): Replica =>
        replica(time, server, `${at}.${life}`, {
          rate: speeds[at] ?? 1,
          skewMs: at * 3_600_000,
          fateOf: () => {
            if (cutOff.has(at)) return { ...PROMPT, fails: 'lost' }
            return well ? PROMPT : (openVerdicts[sent++ % openVerdicts.length] ?? PROMPT)
          },
        })
      const replicas = [build(0, 0), build(1, 0), build(2, 0)]
      const check = (): void => {
        // A process that is stopped writes nothing; when it goes on it asks before it writes.
        const leaders = replicas.filter(({ clock, election }) => !clock.stopped && election.isLeader())
        if (leaders.length > 1)
          throw new Error(`two lead: ${leaders.map(({ identity }) => identity).join(', ')}`)
      }
      for (const { election } of replicas) election.start()
      for (const [life, { afterMs, what, to }] of happenings.entries()) {
        await time.advance(afterMs, check)
        const one = replicas[to]
        if (one === undefined) continue
        if (what === 'stop') one.clock.stopped = true
        if (what === 'suspend' && !one.clock.stopped) one.clock.suspended = true
        if (what === 'go on') {
          one.clock.suspended = false
          one.clock.stopped = false
        }
        if (what === 'cut off') cutOff.add(to)
        if (what === 'connect') cutOff.delete(to)
        if (what === 'release' && !one.clock.stopped) void one.election.release()
        if (what === 'abandon' && !one.clock.stopped) one.election.abandon()
        if (what === 'restart') {
          one.clock.stopped = true
          replicas[to] = build(to, life + 1)
          replicas[to].election.start()
        }
        check()
      }
      well = true
      cutOff.clear()
      const last = build(0, 1_000)
      replicas.push(last)
      last.election.start()
      await time.advance(120_000, check)
      expect(replicas.filter(({ clock, election }) => !clock.stopped && election.isLeader())).toHaveLength(1)
    },
  )
  await assert(property, { numRuns: runs(150) })
})
