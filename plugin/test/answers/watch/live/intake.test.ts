// What a watch keeps, counted: of lists that come in, of stores that change, and of feeds that end.
import { expect, test } from 'vitest'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { BINDINGS, PODS } from '@kleym/shared/kube/resources.ts'
import type { Cached } from '@kleym/shared/kube/store.ts'
import { Intake, type FeedIntake } from '../../../../src/answers/watch/live/intake.ts'
import { KEPT_MAX } from '../../../../src/cluster/kept-size.ts'
import type { KleymError } from '../../../../src/io/errors.ts'

/** A third of what may be kept. */
const THIRD = 'x'.repeat(KEPT_MAX / 3)

function setUp() {
  const told: KleymError[] = []
  const intake = new Intake((error) => told.push(error))
  return { intake, told }
}

function read(feed: FeedIntake, name: string, spec: unknown = ''): Cached {
  const object: Cached = { meta: { name, namespace: 'team-a', uid: name, resourceVersion: '1' } }
  feed.read(object, { metadata: { name }, spec } satisfies JsonRecord)
  return object
}

test('objects that together are more than may be kept end the watch, whatever feeds they come by', () => {
  const { intake, told } = setUp()
  const [one, other] = [intake.of(PODS), intake.of(BINDINGS)]
  read(one, 'a', THIRD)
  read(one, 'b', THIRD)
  expect(told).toEqual([])
  read(other, 'c', THIRD)
  expect(told[0]).toMatchObject({
    code: 'input',
    what: 'cannot watch so much of the cluster',
    why: 'what a watch keeps of it is more than 512 MiB',
    fix: 'watch one namespace with -n',
  })
})

test('an object that is edited again and again counts once, and one that is gone does not count', () => {
  const { intake, told } = setUp()
  const feed = intake.of(PODS)
  let before = read(feed, 'a', THIRD)
  feed.changed({ kind: 'added', now: before })
  for (let edit = 0; edit < 10; edit++) {
    const now = read(feed, 'a', THIRD)
    feed.changed({ kind: 'updated', before, now })
    before = now
  }
  feed.changed({ kind: 'removed', before })
  for (const name of ['b', 'c']) feed.changed({ kind: 'added', now: read(feed, name, THIRD) })
  expect(told).toEqual([])
})

test('a list that begins anew does not count beside what is left of the one before', () => {
  const { intake, told } = setUp()
  const feed = intake.of(PODS)
  for (let tries = 0; tries < 5; tries++) {
    feed.listBegins()
    for (const name of ['a', 'b']) read(feed, name, THIRD)
  }
  expect(told).toEqual([])
})

test('what a feed kept that has ended does not count', () => {
  const { intake, told } = setUp()
  for (const namespace of ['team-a', 'team-b', 'team-c', 'team-d']) {
    const feed = intake.of(PODS)
    feed.changed({ kind: 'added', now: read(feed, namespace, THIRD) })
    feed.end()
  }
  expect(told).toEqual([])
})

test('managed fields are not kept, and do not count', () => {
  const { intake, told } = setUp()
  const object: Cached = { meta: { name: 'a', namespace: '', uid: 'a', resourceVersion: '1' } }
  for (let at = 0; at < 5; at++) intake.of(PODS).read(object, { metadata: { managedFields: [THIRD] } })
  expect(told).toEqual([])
})

test('more bindings than kleym takes in end the watch too', () => {
  const { intake, told } = setUp()
  const feed = intake.of(BINDINGS)
  for (let at = 0; at <= 20_000; at++) feed.changed({ kind: 'added', now: read(feed, `b-${at}`) })
  expect(told[0]?.why).toBe('it has more than 20,000 bindings')
})
