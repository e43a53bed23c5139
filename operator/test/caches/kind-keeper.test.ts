// How far each cache may be believed as kinds come, go and fail (docs/contract.md §4): with a clock that the test turns, and a server
// whose faults come when the test says so.
import { describe, expect, it } from 'vitest'
import { CRDS, groupVersionPath } from '@kleym/shared/kube/resources.ts'
import { settled } from '../build/fake-time.ts'
import { crdOf } from './kinds-server.ts'
import {
  begin,
  fail,
  FAILED,
  filled,
  forbid,
  FORBIDDEN,
  MINUTE,
  named,
  NOTHING,
  permit,
  SECOND,
  setUp,
  SUBJECT,
  without,
  type Setup,
} from './keeper-setup.ts'

/** When discovery was asked for the group of the kind, in seconds. */
function askedAt({ server }: Setup): readonly number[] {
  const path = groupVersionPath(SUBJECT)
  return server.discoveries.filter((asked) => asked.path === path).map(({ ms }) => ms / SECOND)
}

interface Step {
  readonly does: (setup: Setup) => void
  /** How long it stays so, in milliseconds. */
  readonly forMs: number
}

const silence = ({ server }: Setup): void => {
  server.discoveryFault = FAILED
}
const answers = ({ server }: Setup): void => {
  server.discoveryFault = undefined
}

async function play(setup: Setup, steps: readonly Step[]): Promise<void> {
  for (const { does, forMs } of steps) {
    does(setup)
    await setup.time.advance(forMs)
  }
}

describe('a cache that was filled and cannot be read any more', () => {
  // A watch that breaks says nothing yet: only its second failure counts, 0.8 s after the first; tries follow at 2.4 s,
  // 5.6 s, 12 s, 24.8 s.
  const cases: readonly {
    readonly name: string
    readonly steps: readonly Step[]
    readonly said: readonly string[]
    readonly recoveries: number
  }[] = [
    {
      name: 'is believed for ten seconds of 403, and not longer',
      steps: [{ does: forbid, forMs: MINUTE }],
      said: ['10.8 s: unknown: forbidden'],
      recoveries: 0,
    },
    {
      name: 'is believed again as soon as it can be read',
      steps: [
        { does: forbid, forMs: 20 * SECOND },
        { does: permit, forMs: MINUTE },
      ],
      said: ['10.8 s: unknown: forbidden', '24.8 s: synced'],
      recoveries: 1,
    },
    {
      name: 'is believed all along where it can be read again within ten seconds',
      steps: [
        { does: forbid, forMs: 5 * SECOND },
        { does: permit, forMs: MINUTE },
      ],
      said: [],
      recoveries: 1,
    },
    {
      name: 'has ten seconds each time anew',
      steps: [
        { does: forbid, forMs: 5 * SECOND },
        { does: permit, forMs: SECOND },
        { does: forbid, forMs: 5 * SECOND },
        { does: permit, forMs: MINUTE },
      ],
      said: [],
      recoveries: 2,
    },
    {
      name: 'has ten seconds in all, whether lists or watches are forbidden',
      steps: [
        { does: forbid, forMs: 5 * SECOND },
        { does: ({ server }) => server.compact(SUBJECT), forMs: MINUTE },
      ],
      said: ['10.8 s: unknown: forbidden'],
      recoveries: 0,
    },
    {
      name: 'is believed for ten seconds where its kind is served in another version alone',
      steps: [
        { does: ({ server }) => server.serveIn(SUBJECT, 'v9'), forMs: MINUTE },
        { does: ({ server }) => server.serveIn(SUBJECT, undefined), forMs: MINUTE },
      ],
      said: ['10 s: unknown: served in another version', '61.5 s: synced'],
      recoveries: 1,
    },
    {
      name: 'is believed for ten seconds where its kind is not served and its CRD is there',
      steps: [
        { does: ({ server }) => server.write(CRDS, crdOf(SUBJECT)), forMs: MINUTE },
        { does: ({ server }) => server.withdraw(SUBJECT), forMs: MINUTE },
      ],
      said: ['70 s: unknown: not served'],
      recoveries: 0,
    },
    {
      name: 'is believed however long a proxy answers 404 to everything',
      steps: [
        {
          does: ({ server }) => {
            server.discoveryFault = NOTHING
            server.refuse(SUBJECT, NOTHING)
          },
          forMs: 10 * MINUTE,
        },
      ],
      said: [],
      recoveries: 0,
    },
    {
      name: 'is believed however long the server fails',
      steps: [{ does: fail, forMs: 10 * MINUTE }],
      said: [],
      recoveries: 0,
    },
    {
      name: 'is believed where the server fails before the ten seconds of 403 are over',
      steps: [
        { does: forbid, forMs: 5 * SECOND },
        { does: fail, forMs: 10 * MINUTE },
      ],
      said: [],
      recoveries: 0,
    },
  ]
  it.each(cases)('$name', async ({ steps, said, recoveries }) => {
    const setup = await filled('llama')
    await play(setup, steps)
    expect({ said: setup.said, recoveries: setup.recoveries, names: setup.names() }).toEqual({
      said,
      recoveries,
      names: ['llama'],
    })
  })

  it('is known at once to be unknown where it was never filled', async () => {
    const setup = setUp()
    forbid(setup)
    await begin(setup)
    expect(setup.said).toEqual(['0 s: unknown: forbidden'])
    permit(setup)
    await setup.time.advance(SECOND)
    expect([setup.syncState(), setup.recoveries]).toEqual(['synced', 1])
  })
})

describe('discovery', () => {
  const cases: readonly {
    readonly name: string
    readonly does: (setup: Setup) => void
    readonly syncState: string
  }[] = [
    { name: 'that names a kind has its cache filled', does: () => {}, syncState: 'synced' },
    {
      name: 'that names no such group makes it absent',
      does: ({ server }) => server.withdraw(SUBJECT),
      syncState: 'absent',
    },
    {
      name: 'that names a group in which nothing is found leaves it unknown',
      does: ({ server }) => {
        server.withdraw(SUBJECT)
        server.hollow(SUBJECT)
      },
      syncState: 'unknown: failed',
    },
    { name: 'that fails leaves it unknown', does: silence, syncState: 'unknown: failed' },
    {
      name: 'that is forbidden leaves it unknown',
      does: ({ server }) => {
        server.discoveryFault = FORBIDDEN
      },
      syncState: 'unknown: forbidden',
    },
  ]
  it.each(cases)('$name', async ({ does, syncState }) => {
    const setup = setUp()
    does(setup)
    await begin(setup)
    expect(setup.syncState()).toBe(syncState)
  })

  it('that fails is asked again ever less often, and from the beginning after an answer', async () => {
    const setup = setUp()
    silence(setup)
    await begin(setup)
    await setup.time.advance(100 * SECOND)
    expect(askedAt(setup)).toEqual([0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5, 61.5, 91.5])
    answers(setup)
    await setup.time.advance(30 * SECOND)
    expect([setup.syncState(), askedAt(setup).at(-1)]).toEqual(['synced', 121.5])
    silence(setup)
    await setup.recheck()
    await setup.time.advance(2 * SECOND)
    expect(askedAt(setup).slice(-3)).toEqual([130, 130.5, 131.5])
  })

  it('that fails changes nothing for a kind that is followed', async () => {
    const setup = await filled('llama')
    silence(setup)
    await setup.recheck()
    await setup.time.advance(10 * MINUTE)
    expect([setup.said, setup.names()]).toEqual([[], ['llama']])
  })

  it.each([
    {
      name: 'that fails is waited for ten seconds before an absent kind counts as unknown',
      steps: [{ does: silence, forMs: MINUTE }],
      // It was looked for at 30 s.
      said: ['40 s: unknown: failed'],
    },
    {
      name: 'that answers within ten seconds leaves an absent kind absent',
      steps: [
        { does: silence, forMs: 35 * SECOND },
        { does: answers, forMs: MINUTE },
      ],
      said: [],
    },
    {
      name: 'that answers later than that makes it absent again',
      steps: [
        { does: silence, forMs: 50 * SECOND },
        { does: answers, forMs: MINUTE },
      ],
      said: ['40 s: unknown: failed', '61.5 s: absent'],
    },
  ])('$name', async ({ steps, said }) => {
    const setup = await without()
    await play(setup, steps)
    expect(setup.said).toEqual(said)
  })
})

describe('a kind', () => {
  it('that discovery names in time is not doubted later, however long its list takes', async () => {
    const setup = await without()
    silence(setup)
    await setup.time.advance(32 * SECOND)
    setup.server.serve(SUBJECT)
    setup.server.holdLists(SUBJECT)
    answers(setup)
    await setup.time.advance(20 * SECOND)
    expect(setup.said).toEqual(['33.5 s: waiting'])
    setup.server.letListsGo(SUBJECT)
    await settled()
    expect(setup.syncState()).toBe('synced')
  })

  it('whose CRD changes is looked for once, and tried again at once', async () => {
    const setup = await filled('llama')
    // It was tried at 24.8 s.
    await play(setup, [
      { does: fail, forMs: 26 * SECOND },
      { does: permit, forMs: SECOND },
    ])
    expect(setup.recoveries).toBe(0)
    setup.server.write(CRDS, crdOf(SUBJECT))
    await setup.time.advance(SECOND)
    expect([setup.recoveries, askedAt(setup)]).toEqual([1, [0, 27]])
  })

  it('that appears is followed as soon as discovery, which lags behind its CRD, names it', async () => {
    const setup = await without()
    await setup.time.advance(SECOND)
    setup.server.hollow(SUBJECT)
    setup.server.write(CRDS, crdOf(SUBJECT))
    // It is asked for at once, 0.5 s later, 1.5 s after that, and so on.
    await setup.time.advance(0.9 * SECOND)
    setup.server.serve(SUBJECT)
    setup.server.write(SUBJECT, named('llama'))
    await setup.time.advance(MINUTE)
    expect([setup.said, setup.names()]).toEqual([['3 s: waiting', '3 s: synced'], ['llama']])
  })

  it('that appears where CRDs may not be watched is found within half a minute', async () => {
    const setup = setUp()
    setup.server.refuse(CRDS, FORBIDDEN)
    setup.server.withdraw(SUBJECT)
    await begin(setup)
    await setup.time.advance(SECOND)
    setup.server.serve(SUBJECT)
    await setup.time.advance(MINUTE)
    expect(setup.said).toEqual(['0 s: absent', '30 s: waiting', '30 s: synced'])
  })

  it('whose versions change is not absent while discovery lists neither the old one nor the new one', async () => {
    const setup = await filled('llama')
    setup.server.write(CRDS, crdOf(SUBJECT))
    await setup.time.advance(MINUTE)
    setup.server.vanish(SUBJECT)
    setup.server.write(CRDS, crdOf(SUBJECT))
    await setup.time.advance(SECOND)
    setup.server.serveIn(SUBJECT, 'v9')
    await setup.time.advance(MINUTE)
    expect([setup.said, setup.names()]).toEqual([['71 s: unknown: served in another version'], ['llama']])
  })

  it('whose CRD is there and not served is not absent at the start, either', async () => {
    const setup = setUp()
    setup.server.write(CRDS, crdOf(SUBJECT))
    setup.server.withdraw(SUBJECT)
    setup.server.holdLists(CRDS)
    const begun = begin(setup)
    await setup.time.advance(SECOND)
    expect(setup.said).toEqual([])
    setup.server.letListsGo(CRDS)
    await begun
    await setup.time.advance(MINUTE)
    expect(setup.said).toEqual(['1 s: unknown: not served'])
  })

  it('that vanishes with its CRD is absent before its objects are gone', async () => {
    const setup = await filled('llama')
    setup.server.write(CRDS, crdOf(SUBJECT))
    await setup.time.advance(MINUTE)
    setup.server.remove(CRDS, 'clusterspiffeids.spire.spiffe.io')
    setup.server.withdraw(SUBJECT)
    await setup.time.advance(MINUTE)
    expect([setup.said, setup.heard, setup.names()]).toEqual([
      ['60 s: absent'],
      ['removed llama while absent'],
      [],
    ])
  })

  it('that discovery names for a while after its CRD has gone is absent once it does not', async () => {
    const setup = await filled('llama')
    setup.server.write(CRDS, crdOf(SUBJECT))
    // Right after a watch was opened anew, so that discovery is the first to tell.
    await setup.time.advance(40 * SECOND)
    setup.server.remove(CRDS, 'clusterspiffeids.spire.spiffe.io')
    await setup.time.advance(7 * SECOND)
    expect(setup.said).toEqual([])
    // Its watch hangs.
    setup.server.vanish(SUBJECT)
    await setup.time.advance(20 * SECOND)
    expect(setup.said).toEqual(['56 s: absent'])
  })

  it('that vanishes where CRDs may not be watched is absent once its watch has broken', async () => {
    const setup = setUp()
    setup.server.refuse(CRDS, FORBIDDEN)
    setup.server.write(SUBJECT, named('llama'))
    await begin(setup)
    setup.server.withdraw(SUBJECT)
    await setup.time.advance(MINUTE)
    expect([setup.syncState(), setup.names()]).toEqual(['absent', []])
  })

  it('that comes back has nothing of what was there before', async () => {
    const setup = await filled('llama', 'qwen')
    setup.server.withdraw(SUBJECT)
    await setup.time.advance(MINUTE)
    setup.server.serve(SUBJECT)
    setup.server.write(SUBJECT, named('qwen'))
    setup.server.write(CRDS, crdOf(SUBJECT))
    await setup.time.advance(MINUTE)
    setup.server.write(SUBJECT, named('mistral'))
    await settled()
    expect(setup.names()).toEqual(['mistral', 'qwen'])
    expect(setup.said.map((line) => line.replace(/.* /, ''))).toEqual(['absent', 'waiting', 'synced'])
  })
})

it('leaves no timer behind, whatever it was waiting for', async () => {
  const { keeper, time, server, ...setup } = await without()
  server.discoveryFault = FAILED
  // Absent for 31 s: its discovery is tried again, it will be doubted, and its CRD has just come.
  await time.advance(31 * SECOND)
  server.write(CRDS, crdOf(SUBJECT))
  await settled()
  await keeper.stop()
  expect(time.pending).toBe(0)
  await time.advance(MINUTE)
  expect(setup.said).toEqual([])
})
