// What the cache of one kind believes, in which order whatever reaches it.
import { describe, expect, it } from 'vitest'
import { readMeta, type ObjectMeta } from '../../src/core/model/objects/meta.ts'
import { compareVersions } from '../../src/kube/resource-version.ts'
import { objectKey, Store, type StoreChange } from '../../src/kube/store.ts'

interface Thing {
  readonly meta: ObjectMeta
  readonly colours: readonly string[]
}

/** `thing('a', 'u1', 5)`: ns/a with UID u1 at version 5. */
function thing(name: string, uid: string, version: number | string, ...colours: string[]): Thing {
  const metadata = { name, namespace: 'ns', uid, resourceVersion: String(version) }
  return { meta: readMeta({ metadata }), colours }
}

function open(...listed: Thing[]): { store: Store<Thing>; log: string[]; errors: unknown[] } {
  const errors: unknown[] = []
  const store = new Store<Thing>({ onError: (error) => errors.push(error) })
  store.replace(listed, '10', store.listBegins())
  const log: string[] = []
  store.subscribe((change) => log.push(told(change)))
  return { store, log, errors }
}

function told(change: StoreChange<Thing>): string {
  if (change.kind === 'updated') return `updated ${tag(change.before)} to ${tag(change.now)}`
  return `${change.kind} ${tag(change.kind === 'added' ? change.now : change.before)}`
}

function tag({ meta }: Thing): string {
  return `${meta.name}/${meta.uid}@${meta.resourceVersion}`
}

function held(store: Store<Thing>): readonly string[] {
  return [...store.values()].map(tag).toSorted()
}

/** The names under which something confirmed gone is still remembered: any later version of it is refused. */
function tombstonesAfter(listed: readonly Thing[], act: Case['act']): readonly string[] {
  return ['a', 'b', 'c'].filter((name) =>
    ['u1', 'u2', 'u3'].some((uid) => {
      const { store } = open(...listed)
      act(store)
      store.apply('ADDED', thing(name, uid, '9'.repeat(30)))
      return store.get(`ns/${name}`)?.meta.uid !== uid
    }),
  )
}

describe('resource versions', () => {
  it.each<[string | undefined, string | undefined, string]>([
    ['9', '10', 'older'],
    ['10', '9', 'newer'],
    ['12', '12', 'same'],
    ['99999999999999999999999999998', '99999999999999999999999999999', 'older'],
    ['9007199254740993', '9007199254740992', 'newer'],
    ['0', '1', 'older'],
    ['abc', 'abc', 'same'],
    ['abc', '5', 'unknown'],
    ['007', '8', 'unknown'],
    ['-3', '8', 'unknown'],
    ['1e3', '8', 'unknown'],
    ['', '8', 'unknown'],
    [undefined, '8', 'unknown'],
    [undefined, undefined, 'unknown'],
  ])('%s against %s is %s', (a, b, expected) => {
    const order = compareVersions(a, b)
    const word = order === undefined ? 'unknown' : order < 0 ? 'older' : order > 0 ? 'newer' : 'same'
    expect(word).toBe(expected)
  })
})

interface Case {
  readonly name: string
  /** In a list at version 10. */
  readonly listed?: readonly Thing[]
  readonly act: (store: Store<Thing>) => void
  readonly tells: readonly string[]
  readonly holds: readonly string[]
  /** How many confirmed deletions are still awaited; 0 when absent. */
  readonly awaits?: number
}

const A1 = thing('a', 'u1', 5)

const CASES: Record<string, readonly Case[]> = {
  events: [
    {
      name: 'an object comes, changes and goes',
      act: (store) => {
        store.apply('ADDED', thing('a', 'u1', 11))
        store.apply('MODIFIED', thing('a', 'u1', 12))
        store.apply('DELETED', thing('a', 'u1', 13))
      },
      tells: ['added a/u1@11', 'updated a/u1@11 to a/u1@12', 'removed a/u1@12'],
      holds: [],
    },
    {
      name: 'the same version again is no change',
      listed: [A1],
      act: (store) => store.apply('MODIFIED', thing('a', 'u1', 5)),
      tells: [],
      holds: ['a/u1@5'],
    },
    {
      name: 'an older version of the same object is history',
      listed: [A1],
      act: (store) => store.apply('MODIFIED', thing('a', 'u1', 4)),
      tells: [],
      holds: ['a/u1@5'],
    },
    {
      name: 'another UID under the same key is a removal and an addition',
      listed: [A1],
      act: (store) => store.apply('ADDED', thing('a', 'u2', 12)),
      tells: ['removed a/u1@5', 'added a/u2@12'],
      holds: ['a/u2@12'],
    },
    {
      name: 'the late deletion of an earlier namesake leaves the later one',
      listed: [A1],
      act: (store) => {
        store.apply('ADDED', thing('a', 'u2', 12))
        store.apply('DELETED', thing('a', 'u1', 11))
      },
      tells: ['removed a/u1@5', 'added a/u2@12'],
      holds: ['a/u2@12'],
    },
    {
      name: 'a deletion wins although its event carries the version of the last write',
      listed: [A1],
      act: (store) => store.apply('DELETED', thing('a', 'u1', 5)),
      tells: ['removed a/u1@5'],
      holds: [],
    },
    {
      name: 'the deletion of what is not held is nothing',
      act: (store) => store.apply('DELETED', thing('a', 'u1', 12)),
      tells: [],
      holds: [],
    },
    {
      name: 'versions that cannot be compared are taken in the order of the stream',
      act: (store) => {
        store.apply('ADDED', thing('a', 'u1', 'x'))
        store.apply('MODIFIED', thing('a', 'u1', 'b'))
        store.apply('MODIFIED', thing('a', 'u1', 'b'))
      },
      tells: ['added a/u1@x', 'updated a/u1@x to a/u1@b'],
      holds: ['a/u1@b'],
    },
    {
      name: 'an object that can no longer be read is not there until it can',
      listed: [A1],
      act: (store) => {
        store.unreadable(thing('a', 'u1', 12).meta)
        store.apply('MODIFIED', thing('a', 'u1', 13))
      },
      tells: ['removed a/u1@5', 'added a/u1@13'],
      holds: ['a/u1@13'],
    },
    {
      name: 'an unreadable state that is older than what was observed is history',
      listed: [A1],
      act: (store) => {
        store.observe(thing('a', 'u1', 14))
        store.unreadable(thing('a', 'u1', 12).meta)
      },
      tells: ['updated a/u1@5 to a/u1@14'],
      holds: ['a/u1@14'],
    },
  ],
  lists: [
    {
      name: 'a relist tells the difference: removals first, with the last known object',
      listed: [A1, thing('b', 'u2', 6), thing('c', 'u3', 7)],
      act: (store) =>
        store.replace(
          [thing('d', 'u4', 12), thing('b', 'u2', 6), thing('c', 'u3', 13)],
          '20',
          store.listBegins(),
        ),
      tells: ['removed a/u1@5', 'added d/u4@12', 'updated c/u3@7 to c/u3@13'],
      holds: ['b/u2@6', 'c/u3@13', 'd/u4@12'],
    },
    {
      name: 'an object that was recreated between two lists is a removal and an addition',
      listed: [A1],
      act: (store) => store.replace([thing('a', 'u2', 12)], '20', store.listBegins()),
      tells: ['removed a/u1@5', 'added a/u2@12'],
      holds: ['a/u2@12'],
    },
    {
      name: 'a list is believed when it goes back in time, as after a restored etcd',
      listed: [A1, thing('b', 'u2', 9)],
      act: (store) => {
        store.observe(thing('c', 'u3', 15))
        store.replace([thing('a', 'u1', 3)], '4', store.listBegins())
        store.observe(thing('d', 'u4', 6))
      },
      tells: [
        'added c/u3@15',
        'removed b/u2@9',
        'removed c/u3@15',
        'updated a/u1@5 to a/u1@3',
        'added d/u4@6',
      ],
      holds: ['a/u1@3', 'd/u4@6'],
    },
  ],
  'answers to our own calls': [
    {
      name: 'a created object is there at once, and its event is no second change',
      act: (store) => {
        store.observe(thing('a', 'u1', 12))
        store.apply('ADDED', thing('a', 'u1', 12))
      },
      tells: ['added a/u1@12'],
      holds: ['a/u1@12'],
    },
    {
      name: 'older events do not turn an observed object back',
      listed: [A1],
      act: (store) => {
        store.observe(thing('a', 'u1', 15))
        store.apply('MODIFIED', thing('a', 'u1', 12))
        store.apply('MODIFIED', thing('a', 'u1', 14))
      },
      tells: ['updated a/u1@5 to a/u1@15'],
      holds: ['a/u1@15'],
    },
    {
      name: 'an answer that the stream has passed is dropped: the object may have been deleted since',
      act: (store) => {
        store.apply('ADDED', thing('a', 'u1', 11))
        store.apply('DELETED', thing('a', 'u1', 13))
        store.observe(thing('a', 'u1', 11))
      },
      tells: ['added a/u1@11', 'removed a/u1@11'],
      holds: [],
    },
    {
      name: 'an answer that the stream has passed and that is newer than what is held is right: a restore went unnoticed',
      listed: [A1],
      act: (store) => {
        store.bookmark('30')
        store.observe(thing('a', 'u1', 12))
      },
      tells: ['updated a/u1@5 to a/u1@12'],
      holds: ['a/u1@12'],
    },
    {
      name: 'a read that still finds what the stream had passed before it began is right: a restore went unnoticed',
      act: (store) => {
        store.bookmark('30')
        store.observe(thing('a', 'u1', 12), store.listBegins())
      },
      tells: ['added a/u1@12'],
      holds: ['a/u1@12'],
    },
    {
      name: 'so is one that finds what was confirmed gone before it began',
      listed: [A1],
      act: (store) => {
        store.confirmGone(A1.meta)
        store.observe(A1, store.listBegins())
      },
      tells: ['removed a/u1@5', 'added a/u1@5'],
      holds: ['a/u1@5'],
    },
    {
      name: 'what the stream has passed while the read was on its way may have been deleted since',
      act: (store) => {
        const began = store.listBegins()
        store.bookmark('30')
        store.observe(thing('a', 'u1', 12), began)
      },
      tells: [],
      holds: [],
    },
    {
      name: 'what was confirmed gone while the read was on its way is gone',
      listed: [A1],
      act: (store) => {
        const began = store.listBegins()
        store.confirmGone(A1.meta)
        store.observe(A1, began)
      },
      tells: ['removed a/u1@5'],
      holds: [],
      awaits: 1,
    },
    {
      name: 'a read that is older than what is held changes nothing',
      listed: [A1],
      act: (store) => {
        const began = store.listBegins()
        store.apply('MODIFIED', thing('a', 'u1', 12))
        store.observe(A1, began)
      },
      tells: ['updated a/u1@5 to a/u1@12'],
      holds: ['a/u1@12'],
    },
    {
      name: 'a bookmark passes an answer too',
      act: (store) => {
        store.bookmark('30')
        store.observe(thing('a', 'u1', 30))
      },
      tells: [],
      holds: [],
    },
    {
      name: 'an older bookmark takes nothing back',
      act: (store) => {
        store.bookmark('30')
        store.bookmark('12')
        store.observe(thing('a', 'u1', 20))
      },
      tells: [],
      holds: [],
    },
    {
      name: 'of two answers out of order the newer one stays',
      listed: [A1],
      act: (store) => {
        store.observe(thing('a', 'u1', 15))
        store.observe(thing('a', 'u1', 13))
      },
      tells: ['updated a/u1@5 to a/u1@15'],
      holds: ['a/u1@15'],
    },
    {
      name: 'an answer whose version cannot be compared is left to the stream',
      act: (store) => store.observe(thing('a', 'u1', 'x')),
      tells: [],
      holds: [],
    },
    {
      name: 'what was observed after a list began survives it, when it is newer',
      listed: [A1],
      act: (store) => {
        const began = store.listBegins()
        store.observe(thing('a', 'u1', 25))
        store.observe(thing('b', 'u2', 26))
        store.replace([thing('a', 'u1', 15)], '20', began)
      },
      tells: ['updated a/u1@5 to a/u1@25', 'added b/u2@26'],
      holds: ['a/u1@25', 'b/u2@26'],
    },
    {
      name: 'what was observed after a list began does not survive it, when the list is newer',
      act: (store) => {
        const began = store.listBegins()
        store.observe(thing('b', 'u2', 19))
        store.replace([], '20', began)
      },
      tells: ['added b/u2@19', 'removed b/u2@19'],
      holds: [],
    },
    {
      name: 'an observed namesake replaces the object before the stream says so',
      listed: [A1],
      act: (store) => {
        store.observe(thing('a', 'u2', 15))
        store.apply('MODIFIED', thing('a', 'u1', 12))
        store.apply('DELETED', thing('a', 'u1', 13))
        store.apply('ADDED', thing('a', 'u2', 14))
      },
      tells: ['removed a/u1@5', 'added a/u2@15'],
      holds: ['a/u2@15'],
    },
  ],
  'confirmed deletions': [
    {
      name: 'the object leaves at once, and late events of it do not bring it back',
      listed: [A1],
      act: (store) => {
        store.confirmGone(A1.meta)
        store.apply('MODIFIED', thing('a', 'u1', 12))
      },
      tells: ['removed a/u1@5'],
      holds: [],
      awaits: 1,
    },
    {
      name: 'the DELETED event ends the wait',
      listed: [A1],
      act: (store) => {
        store.confirmGone(A1.meta)
        store.apply('DELETED', thing('a', 'u1', 13))
      },
      tells: ['removed a/u1@5'],
      holds: [],
    },
    {
      name: 'a deletion that the stream has shown already leaves nothing to wait for',
      listed: [A1],
      act: (store) => {
        store.apply('DELETED', thing('a', 'u1', 13))
        store.confirmGone(A1.meta)
      },
      tells: ['removed a/u1@5'],
      holds: [],
    },
    {
      name: 'a list that began before does not bring it back',
      listed: [A1],
      act: (store) => {
        const began = store.listBegins()
        store.confirmGone(A1.meta)
        store.replace([thing('a', 'u1', 12)], '20', began)
        store.apply('MODIFIED', thing('a', 'u1', 21))
      },
      tells: ['removed a/u1@5'],
      holds: [],
      awaits: 1,
    },
    {
      name: 'a list that began before and does not show it ends the wait',
      listed: [A1],
      act: (store) => {
        const began = store.listBegins()
        store.confirmGone(A1.meta)
        store.replace([], '20', began)
      },
      tells: ['removed a/u1@5'],
      holds: [],
    },
    {
      name: 'a list from before its creation does not end the wait',
      act: (store) => {
        const began = store.listBegins()
        store.observe(thing('a', 'u1', 25))
        store.confirmGone(thing('a', 'u1', 25).meta)
        store.replace([], '20', began)
        store.apply('ADDED', thing('a', 'u1', 24))
      },
      tells: ['added a/u1@25', 'removed a/u1@25'],
      holds: [],
      awaits: 1,
    },
    {
      name: 'a list that began after ends the wait',
      listed: [A1],
      act: (store) => {
        store.confirmGone(A1.meta)
        store.replace([], '20', store.listBegins())
      },
      tells: ['removed a/u1@5'],
      holds: [],
    },
    {
      name: 'a list that began after ends the wait even where versions cannot be compared',
      listed: [thing('a', 'u1', 'x')],
      act: (store) => {
        store.confirmGone(thing('a', 'u1', 'x').meta)
        store.replace([], '20', store.listBegins())
      },
      tells: ['removed a/u1@x'],
      holds: [],
    },
    {
      name: 'a list that began after is believed even where it goes back in time, as after a restored etcd',
      listed: [A1],
      act: (store) => {
        store.confirmGone(A1.meta)
        store.replace([thing('a', 'u1', 3)], '4', store.listBegins())
      },
      tells: ['removed a/u1@5', 'added a/u1@3'],
      holds: ['a/u1@3'],
    },
    {
      name: 'the newest version that is held counts, not the one that the caller saw',
      act: (store) => {
        const began = store.listBegins()
        store.observe(thing('a', 'u1', 25))
        store.confirmGone(thing('a', 'u1', 11).meta)
        store.replace([], '20', began)
        store.apply('MODIFIED', thing('a', 'u1', 24))
      },
      tells: ['added a/u1@25', 'removed a/u1@25'],
      holds: [],
      awaits: 1,
    },
    {
      name: 'one that the stream never showed does not appear',
      act: (store) => {
        store.confirmGone(thing('a', 'u1', 15).meta)
        store.apply('ADDED', thing('a', 'u1', 14))
        store.apply('MODIFIED', thing('a', 'u1', 15))
        store.apply('DELETED', thing('a', 'u1', 16))
      },
      tells: [],
      holds: [],
    },
    {
      name: 'an earlier namesake that the stream never showed does not appear either',
      act: (store) => {
        store.observe(thing('a', 'u2', 15))
        store.confirmGone(thing('a', 'u2', 15).meta)
        store.apply('ADDED', thing('a', 'u1', 12))
      },
      tells: ['added a/u2@15', 'removed a/u2@15'],
      holds: [],
      awaits: 1,
    },
    {
      name: 'a late answer of our own does not bring it back',
      listed: [A1],
      act: (store) => {
        store.confirmGone(A1.meta)
        store.observe(thing('a', 'u1', 12))
      },
      tells: ['removed a/u1@5'],
      holds: [],
      awaits: 1,
    },
    {
      name: 'a later namesake comes in, and ends the wait',
      listed: [A1],
      act: (store) => {
        store.confirmGone(A1.meta)
        store.apply('ADDED', thing('a', 'u2', 14))
      },
      tells: ['removed a/u1@5', 'added a/u2@14'],
      holds: ['a/u2@14'],
    },
    {
      name: 'that an earlier namesake is gone does not touch the later one',
      listed: [A1],
      act: (store) => {
        store.observe(thing('a', 'u2', 15))
        store.confirmGone(A1.meta)
      },
      tells: ['removed a/u1@5', 'added a/u2@15'],
      holds: ['a/u2@15'],
    },
    {
      name: 'that a later namesake is gone means that the earlier one is too',
      listed: [A1],
      act: (store) => {
        store.confirmGone(thing('a', 'u2', 15).meta)
        store.apply('MODIFIED', thing('a', 'u1', 12))
      },
      tells: ['removed a/u1@5'],
      holds: [],
      awaits: 1,
    },
    {
      name: 'the confirmation of an earlier namesake does not forget that of a later one',
      listed: [A1],
      act: (store) => {
        store.confirmGone(thing('a', 'u2', 15).meta)
        store.confirmGone(thing('a', 'u1', 12).meta)
        store.apply('ADDED', thing('a', 'u2', 14))
      },
      tells: ['removed a/u1@5'],
      holds: [],
      awaits: 1,
    },
  ],
}

describe.each(Object.entries(CASES))('%s', (_, cases) => {
  it.each(cases)('$name', ({ listed = [], act, tells, holds, awaits = 0 }) => {
    const { store, log, errors } = open(...listed)
    act(store)
    expect(log).toEqual(tells)
    expect(held(store)).toEqual(holds)
    expect(errors).toEqual([])
    expect(tombstonesAfter(listed, act)).toHaveLength(awaits)
  })
})

describe('our own write, when the stream shows it', () => {
  interface Echo {
    readonly name: string
    readonly act: (store: Store<Thing>) => void
    /** What the stream shows then. */
    readonly meta: ObjectMeta
    readonly isKnown: boolean
    /** Where a watch goes on. */
    readonly seen: string
  }
  const observed = (store: Store<Thing>): void => store.observe(thing('a', 'u1', 12))
  const versionless: ObjectMeta = { ...A1.meta, resourceVersion: undefined }
  const cases: readonly Echo[] = [
    {
      name: 'is known in the very version that is held, and the stream goes on from it',
      act: observed,
      meta: thing('a', 'u1', 12).meta,
      isKnown: true,
      seen: '12',
    },
    {
      name: 'is known in a version that the stream has passed, which it does not go back to',
      act: (store) => {
        observed(store)
        store.bookmark('30')
      },
      meta: thing('a', 'u1', 12).meta,
      isKnown: true,
      seen: '30',
    },
    {
      name: 'is another’s where its version is newer, and is still to be applied',
      act: observed,
      meta: thing('a', 'u1', 13).meta,
      isKnown: false,
      seen: '10',
    },
    {
      name: 'is not what is held where its version is older',
      act: observed,
      meta: thing('a', 'u1', 11).meta,
      isKnown: false,
      seen: '10',
    },
    {
      name: 'is not that of a namesake, whatever its version',
      act: observed,
      meta: thing('a', 'u2', 12).meta,
      isKnown: false,
      seen: '10',
    },
    {
      name: 'is not known where nothing is held',
      act: () => {},
      meta: thing('a', 'u1', 12).meta,
      isKnown: false,
      seen: '10',
    },
    {
      name: 'is not known any more when the object is confirmed gone',
      act: (store) => {
        observed(store)
        store.confirmGone(thing('a', 'u1', 12).meta)
      },
      meta: thing('a', 'u1', 12).meta,
      isKnown: false,
      seen: '10',
    },
    {
      name: 'is not known without a version: two that lack one may differ',
      act: (store) => store.apply('ADDED', { meta: versionless, colours: [] }),
      meta: versionless,
      isKnown: false,
      seen: '10',
    },
  ]
  it.each(cases)('$name', ({ act, meta, isKnown, seen }) => {
    const { store, log, errors } = open()
    act(store)
    const before = { log: [...log], holds: held(store) }
    expect(store.echoed(meta)).toBe(isKnown)
    expect({ log, holds: held(store), seen: store.seen, errors }).toEqual({ ...before, seen, errors: [] })
  })

  it('is what the stream says from then on: a list that goes back in time is believed', () => {
    const { store, log } = open()
    const began = store.listBegins()
    observed(store)
    store.echoed(thing('a', 'u1', 12).meta)
    store.replace([], '4', began)
    expect(log).toEqual(['added a/u1@12', 'removed a/u1@12'])
  })
})

describe('a list beside the stream', () => {
  it('makes history of what the stream still shows of its time: no object comes back that it lacked', () => {
    const { store, log } = open(thing('a', 'u1', 5))
    store.observe(thing('c', 'u3', 18))
    store.caughtUp('20')
    log.length = 0
    store.apply('ADDED', thing('b', 'u2', 12))
    store.apply('MODIFIED', thing('a', 'u1', 14))
    store.unreadable(thing('c', 'u3', 19).meta)
    store.deleted(thing('b', 'u2', 20).meta)
    expect([log, held(store), store.seen]).toEqual([[], ['a/u1@5', 'c/u3@18'], '20'])
    store.apply('ADDED', thing('b', 'u4', 21))
    expect(held(store)).toEqual(['a/u1@5', 'b/u4@21', 'c/u3@18'])
  })

  it('outlives an older list that was on its way', () => {
    const { store } = open()
    const began = store.listBegins()
    store.observe(thing('c', 'u3', 18))
    store.caughtUp('20')
    store.replace([thing('b', 'u2', 12)], '15', began)
    store.apply('ADDED', thing('a', 'u1', 16))
    expect([held(store), store.seen]).toEqual([['c/u3@18'], '20'])
  })

  it('does not outlive a list that began later, wherever its versions are', () => {
    const { store } = open()
    store.caughtUp('20')
    store.replace([thing('b', 'u2', 12)], '15', store.listBegins())
    expect([held(store), store.seen]).toEqual([['b/u2@12'], '15'])
    store.deleted(thing('b', 'u2', 16).meta)
    expect(held(store), 'its deletions count').toEqual([])
  })
})

describe('what is held may be of another history', () => {
  it('is replaced by the next list, also in the very version that it is held in, and only by that one', () => {
    const { store } = open(A1)
    const heard: string[] = []
    store.subscribe(({ kind }) => heard.push(kind))
    store.distrust()
    store.replace([thing('a', 'u1', 5, 'red')], '10', store.listBegins())
    expect([[...store.values()].flatMap(({ colours }) => colours), heard]).toEqual([['red'], ['updated']])
    store.replace([thing('a', 'u1', 5, 'blue')], '10', store.listBegins())
    expect([[...store.values()].flatMap(({ colours }) => colours), heard]).toEqual([['red'], ['updated']])
  })
})

describe('before the first list', () => {
  it('has not listed, holds what was observed, and lets the list decide', () => {
    const store = new Store<Thing>({ onError: () => {} })
    store.observe(thing('a', 'u1', 5))
    expect([store.listed, store.seen, held(store)]).toEqual([false, undefined, ['a/u1@5']])
    store.replace([], '10', store.listBegins())
    expect([store.listed, store.seen, held(store)]).toEqual([true, '10', []])
  })
})

describe('indexes', () => {
  it('follow every change before listeners hear of it', () => {
    const { store } = open(thing('a', 'u1', 5, 'red', 'blue'))
    const byColour = store.index((object) => object.colours)
    const names = (colour: string): string[] => [...byColour.get(colour)].map(({ meta }) => meta.name)
    const heard: unknown[] = []
    store.subscribe(() => heard.push([names('red'), names('blue')]))
    store.apply('MODIFIED', thing('a', 'u1', 11, 'blue'))
    store.observe(thing('b', 'u2', 12, 'red', 'red'))
    store.apply('DELETED', thing('a', 'u1', 13, 'blue'))
    store.replace([thing('b', 'u3', 20, 'blue')], '20', store.listBegins())
    expect(heard).toEqual([
      [[], ['a']],
      [['b'], ['a']],
      [['b'], []],
      [[], ['b']],
      [[], ['b']],
    ])
  })

  it('begin with what is held', () => {
    const { store } = open(thing('a', 'u1', 5, 'red'))
    expect([...store.index((object) => object.colours).get('red')].map(tag)).toEqual(['a/u1@5'])
  })
})

describe('listeners', () => {
  it('hear one order when one of them changes the store in its turn', () => {
    const { store } = open()
    const second: string[] = []
    store.subscribe((change) => {
      if (change.kind === 'added' && change.now.meta.name === 'a') store.observe(thing('b', 'u2', 20))
    })
    store.subscribe((change) => second.push(told(change)))
    store.apply('ADDED', thing('a', 'u1', 11))
    expect(second).toEqual(['added a/u1@11', 'added b/u2@20'])
  })

  it('that throw neither harm the store nor the others, and are reported', () => {
    const { store, errors } = open()
    const fault = new Error('a fault of a listener')
    const second: string[] = []
    store.subscribe(() => {
      throw fault
    })
    store.subscribe((change) => second.push(told(change)))
    store.apply('ADDED', thing('a', 'u1', 11))
    store.apply('MODIFIED', thing('a', 'u1', 12))
    expect(second).toEqual(['added a/u1@11', 'updated a/u1@11 to a/u1@12'])
    expect(errors).toEqual([fault, fault])
    expect(held(store)).toEqual(['a/u1@12'])
  })

  it('that have left hear nothing, not even the rest of a list', () => {
    const { store } = open()
    const heard: string[] = []
    const leave = store.subscribe((change) => {
      heard.push(told(change))
      leave()
    })
    store.replace([thing('a', 'u1', 11), thing('b', 'u2', 12)], '20', store.listBegins())
    expect(heard).toEqual(['added a/u1@11'])
  })

  it('that join while a list is handed on hear nothing that they can already see', () => {
    const { store } = open()
    const heard: string[] = []
    let joined = false
    store.subscribe(() => {
      if (!joined) store.subscribe((change) => heard.push(told(change)))
      joined = true
    })
    store.replace([thing('a', 'u1', 11), thing('b', 'u2', 12)], '20', store.listBegins())
    store.apply('ADDED', thing('c', 'u3', 21))
    expect(heard).toEqual(['added c/u3@21'])
  })
})

it('keeps a cluster-scoped object under its bare name', () => {
  expect([objectKey({ namespace: '', name: 'a' }), objectKey({ namespace: 'ns', name: 'a' })]).toEqual([
    'a',
    'ns/a',
  ])
})
