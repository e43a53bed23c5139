// The limit on bindings with an output in a namespace (docs/contract.md §8, "Quiet and fair").
import { expect, test } from 'vitest'
import { FINALIZER } from '@kleym/shared/core/names.ts'
import { binding } from '@kleym/testing/manifests.ts'
import { createCaches } from '../../src/caches/caches.ts'
import { NamespaceRoom } from '../../src/reconcile/namespace-room.ts'

function cluster(bindingsPerNamespace: number | undefined) {
  const caches = createCaches({ onError: (error) => expect.fail(String(error)) })
  const woken: string[] = []
  const room = new NamespaceRoom({ caches, bindingsPerNamespace, wake: (key) => void woken.push(key) })
  let version = 0
  const show = (
    type: 'ADDED' | 'MODIFIED' | 'DELETED',
    name: string,
    finalizers: readonly string[] = [],
  ): void => {
    version += 1
    const raw = binding({ name })
    const metadata = { ...Object(raw['metadata']), resourceVersion: String(version), finalizers }
    caches.bindings.store.apply(type, caches.bindings.read({ ...raw, metadata }))
  }
  return { room, show, woken }
}

test('who has the finalizer keeps room, whatever the limit is', () => {
  const { room, show } = cluster(1)
  show('ADDED', 'a', [FINALIZER])
  show('ADDED', 'b', [FINALIZER])
  expect([room.fullFor('team-a/a'), room.fullFor('team-a/b')]).toEqual([undefined, undefined])
})

test('one more is held back until one is gone, and those that are about to enter count', () => {
  const { room, show, woken } = cluster(2)
  for (const name of ['a', 'b', 'c', 'd']) show('ADDED', name)
  expect(['a', 'b', 'c', 'd'].map((name) => room.fullFor(`team-a/${name}`))).toEqual([
    undefined,
    undefined,
    2,
    2,
  ])
  for (const name of ['a', 'b']) show('MODIFIED', name, [FINALIZER])
  show('DELETED', 'a', [FINALIZER])
  expect(woken).toEqual(['team-a/c'])
  expect(room.fullFor('team-a/c')).toBeUndefined()
  expect(room.fullFor('team-a/d')).toBe(2)
})

test('one that came to no output leaves its room to the next', () => {
  const { room, show, woken } = cluster(1)
  for (const name of ['a', 'b']) show('ADDED', name)
  expect(room.fullFor('team-a/a')).toBeUndefined()
  expect(room.fullFor('team-a/b')).toBe(1)
  room.ended('team-a/a')
  expect(woken).toEqual(['team-a/b'])
})

test('one that is held back and deleted is not waited for', () => {
  const { room, show, woken } = cluster(1)
  show('ADDED', 'a', [FINALIZER])
  for (const name of ['b', 'c']) show('ADDED', name)
  expect([room.fullFor('team-a/b'), room.fullFor('team-a/c')]).toEqual([1, 1])
  show('DELETED', 'b')
  show('DELETED', 'a', [FINALIZER])
  expect(woken).toEqual(['team-a/c'])
})

test('without a limit nobody is held back', () => {
  const { room, show } = cluster(undefined)
  for (const name of ['a', 'b']) show('ADDED', name)
  expect([room.fullFor('team-a/a'), room.fullFor('team-a/b')]).toEqual([undefined, undefined])
})
