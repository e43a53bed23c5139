import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import {
  afterWrite,
  IN_FORCE_DELAY_MS,
  lookInForce,
  NOTHING_SEEN,
  type InForceMemory,
  type InForceObservation,
  type InForceReason,
} from '../../src/core/decide/in-force/in-force.ts'
import { IN_FORCE_REASONS } from '../../src/core/decide/reasons/in-force-reasons.ts'
import {
  readOutputStats,
  reasonOfStats,
  STAT_NAMES,
  type OutputStats,
} from '../../src/core/model/objects/output-stats.ts'

const NONE: OutputStats = {
  namespacesSelected: 0,
  namespacesIgnored: 0,
  podsSelected: 0,
  podEntryRenderFailures: 0,
  entriesMasked: 0,
  entriesToSet: 0,
  entryFailures: 0,
}

function stats(some: Partial<OutputStats>): OutputStats {
  return { ...NONE, namespacesSelected: 1, ...some }
}

const REGISTERED = stats({ podsSelected: 2, entriesToSet: 2 })
const NO_PODS = stats({})

test('a failure to render may be for want of a node, or because of another trust domain', () => {
  const { message, fix } = IN_FORCE_REASONS.RenderFailed
  for (const text of [message, fix]) expect(text).toMatch(/trust-?\s?domain/i)
  expect(message).toContain('no node')
})

describe('the word of SCM counters', () => {
  test.each<readonly [name: string, counters: OutputStats, word: string]>([
    ['entries that the server took', REGISTERED, 'Registered'],
    [
      'some entries taken, some refused',
      stats({ podsSelected: 3, entriesToSet: 3, entryFailures: 2 }),
      'Registered',
    ],
    ['all entries refused', stats({ podsSelected: 3, entriesToSet: 3, entryFailures: 3 }), 'EntriesRefused'],
    [
      'an ignored namespace, which SCM counts as selected too',
      stats({ namespacesIgnored: 1 }),
      'NamespaceIgnored',
    ],
    ['no pods', NO_PODS, 'NoPods'],
    ['all entries masked', stats({ podsSelected: 1, entriesMasked: 1 }), 'Masked'],
    ['pods that are not scheduled', stats({ podsSelected: 1, podEntryRenderFailures: 1 }), 'RenderFailed'],
    [
      'refused before masked',
      stats({ podsSelected: 2, entriesToSet: 1, entryFailures: 1, entriesMasked: 1 }),
      'EntriesRefused',
    ],
    ['pods, and nothing that explains why they have no entry', stats({ podsSelected: 1 }), 'Undetermined'],
  ])('%s', (_, counters, word) => {
    expect(reasonOfStats(counters)).toBe(word)
  })

  test.each<readonly [name: string, status: unknown]>([
    ['no status', undefined],
    ['a status that is a list', []],
    ['stats that are text', { stats: 'many' }],
    ['all counters zero', { stats: Object.fromEntries(STAT_NAMES.map((name) => [name, 0])) }],
    [
      'counters that are no counts',
      { stats: { podsSelected: -1, entriesToSet: '4', entriesMasked: 1.5, entryFailures: Infinity } },
    ],
  ])('%s is as none', (_, status) => {
    expect(readOutputStats({ status })).toBeUndefined()
  })

  test('counters are read by their own names', () => {
    const written = { namespacesSelected: 1, podsSelected: 4, entriesToSet: 3, entryFailures: 1, other: 7 }
    expect(readOutputStats({ status: { stats: written } })).toEqual(
      stats({ podsSelected: 4, entriesToSet: 3, entryFailures: 1 }),
    )
  })
})

const output = (counters: OutputStats | undefined): InForceObservation => ({
  kind: 'output',
  stats: counters,
})

/** Looks at each moment; returns what is said at the end of each, where nothing new is said the last word. */
function story(
  memory: InForceMemory,
  moments: readonly (readonly [atMs: number, seen: InForceObservation])[],
): readonly (InForceReason | undefined)[] {
  let last: InForceReason | undefined
  return moments.map(([atMs, seen]) => {
    const answer = lookInForce(memory, seen, atMs)
    memory = answer.memory
    last = answer.reason ?? last
    return last
  })
}

describe('when a word is said', () => {
  test('after a create: Pending, and Registered as soon as SCM has spoken', () => {
    expect(
      story(afterWrite(undefined, 0), [
        [1, output(undefined)],
        [2_000, output(REGISTERED)],
      ]),
    ).toEqual(['Pending', 'Registered'])
  })

  test('after a create that SCM never looks at: NotHandled when sixty seconds have passed', () => {
    expect(
      story(afterWrite(undefined, 0), [
        [1, output(undefined)],
        [59_999, output(undefined)],
        [60_000, output(undefined)],
      ]),
    ).toEqual(['Pending', 'Pending', 'NotHandled'])
  })

  test('after a change that makes no difference to SCM: the counters that are there count after sixty seconds', () => {
    expect(
      story(afterWrite(REGISTERED, 0), [
        [1, output(REGISTERED)],
        [60_000, output(REGISTERED)],
      ]),
    ).toEqual(['Pending', 'Registered'])
  })

  test('a bad word lasts sixty seconds before it is said, and the last one stays until then', () => {
    expect(
      story(NOTHING_SEEN, [
        [0, output(REGISTERED)],
        [1_000, output(NO_PODS)],
        [60_999, output(NO_PODS)],
        [61_000, output(NO_PODS)],
      ]),
    ).toEqual(['Registered', 'Registered', 'Registered', 'NoPods'])
  })

  test('an interruption begins the sixty seconds anew', () => {
    expect(
      story(NOTHING_SEEN, [
        [0, output(NO_PODS)],
        [50_000, output(REGISTERED)],
        [51_000, output(NO_PODS)],
        [65_000, output(NO_PODS)],
      ]),
    ).toEqual([undefined, 'Registered', 'Registered', 'Registered'])
  })

  test('a pool that scales up from zero passes through render failures, which are not said', () => {
    const unscheduled = stats({ podsSelected: 2, podEntryRenderFailures: 2 })
    expect(
      story(NOTHING_SEEN, [
        [0, output(NO_PODS)],
        [60_000, output(NO_PODS)],
        [70_000, output(unscheduled)],
        [75_000, output(REGISTERED)],
      ]),
    ).toEqual([undefined, 'NoPods', 'NoPods', 'Registered'])
  })

  test('no output is said at once, and forgets everything', () => {
    const answer = lookInForce(afterWrite(REGISTERED, 0), { kind: 'no output' }, 1)
    expect(answer).toEqual({ reason: 'NoOutput', memory: NOTHING_SEEN, againInMs: undefined })
  })

  test('output that cannot be read is Undetermined, and keeps the clock running', () => {
    const memory = afterWrite(undefined, 0)
    expect(lookInForce(memory, { kind: 'unknown' }, 1)).toEqual({
      reason: 'Undetermined',
      memory,
      againInMs: undefined,
    })
  })
})

test('whatever the counters do: a bad word was seen for sixty seconds, and looking again when told is enough', () => {
  const observed = fc.constantFrom(
    undefined,
    REGISTERED,
    NO_PODS,
    stats({ podsSelected: 1, entriesMasked: 1 }),
  )
  const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 90_000 }), observed), {
    minLength: 1,
    maxLength: 12,
  })
  let said = 0
  fc.assert(
    fc.property(steps, fc.boolean(), (timeline, written) => {
      let memory = written ? afterWrite(undefined, 0) : NOTHING_SEEN
      let now = 0
      let wordSince = 0
      let word: InForceReason | undefined
      for (const [pause, counters] of timeline) {
        now += pause
        const current: InForceReason = counters === undefined ? 'NotHandled' : reasonOfStats(counters)
        if (current !== word) {
          // Nothing was there before the write either.
          wordSince = word === undefined && current === 'NotHandled' && written ? 0 : now
          word = current
        }
        const answer = lookInForce(memory, output(counters), now)
        memory = answer.memory
        if (answer.reason !== undefined && answer.reason !== 'Registered' && answer.reason !== 'Pending') {
          said++
          if (now - wordSince < IN_FORCE_DELAY_MS) return false
        }
        // Looking again when the answer says so settles it, where nothing changes.
        if (answer.againInMs !== undefined) {
          const later = lookInForce(memory, output(counters), now + answer.againInMs)
          if (later.reason !== current || later.againInMs !== undefined) return false
        }
      }
      return true
    }),
    { numRuns: runs(500) },
  )
  expect(said).toBeGreaterThan(leastSeen(50))
})
