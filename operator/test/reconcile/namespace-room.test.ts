// The limit on bindings with an output in a namespace (docs/contract.md §8, "Quiet and fair").
import { expect, test } from 'vitest'
import { ANNOTATION_BINDING, FINALIZER } from '@kleym/shared/core/model/names.ts'
import { binding } from '@kleym/testing/manifests.ts'
import { createCaches } from '../../src/caches/caches.ts'
import { NamespaceRoom } from '../../src/reconcile/namespace-room.ts'

function cluster(bindingsPerNamespace: number | undefined) {
  const caches = createCaches({ onError: (error) => expect.fail(String(error)) })
  const woken: string[] = []
  const room = new NamespaceRoom({ caches, bindingsPerNamespace, wake: (key) => void woken.push(key) })
  let version = 0
  type Type = 'ADDED' | 'MODIFIED' | 'DELETED'
  const show = (type: Type, name: string, { named = false, deletedAt = '' } = {}): void => {
    version += 1
    const raw = binding({ name, ...(deletedAt === '' ? {} : { deletedAt }) })
    const metadata = { ...Object(raw['metadata']), resourceVersion: String(version), finalizers: [FINALIZER] }
    const status = named ? { clusterSPIFFEID: { name: `kleym-${name}`, uid: 'u' } } : {}
    caches.bindings.store.apply(type, caches.bindings.read({ ...raw, metadata, status }))
  }
  const showOutput = (type: Type, name: string, of: string): void => {
    version += 1
    const annotations = { [ANNOTATION_BINDING]: `team-a/${of}` }
    const metadata = { name, uid: name, resourceVersion: String(version), annotations }
    caches.outputs.store.apply(type, caches.outputs.read({ metadata, spec: {} }))
  }
  const fullFor = (...names: readonly string[]) => names.map((name) => room.fullFor(`team-a/${name}`))
  const ended = (...names: readonly string[]): void => {
    for (const name of names) room.ended(`team-a/${name}`)
  }
  return { show, showOutput, fullFor, ended, woken }
}

test('who has an output keeps room, whatever the limit is', () => {
  const { show, showOutput, fullFor } = cluster(1)
  for (const name of ['a', 'b']) {
    show('ADDED', name)
    showOutput('ADDED', name, name)
  }
  expect(fullFor('a', 'b')).toEqual([undefined, undefined])
})

test('a finalizer that anybody may write gives no room', () => {
  const { show, showOutput, fullFor } = cluster(1)
  for (const name of ['a', 'b']) show('ADDED', name)
  showOutput('ADDED', 'a', 'a')
  expect(fullFor('b')).toEqual([1])
})

test('an output that a hand deletes has its room for as long as the status names it', () => {
  const { ended, show, showOutput, fullFor, woken } = cluster(1)
  show('ADDED', 'a', { named: true })
  showOutput('ADDED', 'a', 'a')
  show('ADDED', 'b')
  expect(fullFor('b')).toEqual([1])
  showOutput('DELETED', 'a', 'a')
  expect(fullFor('a', 'b')).toEqual([undefined, 1])
  ended('a', 'b')
  expect(woken).toEqual([])
  show('MODIFIED', 'a')
  expect(woken).toEqual(['team-a/b'])
  expect(fullFor('b', 'a')).toEqual([undefined, 1])
})

test('a binding that is being deleted gets no output any more, and keeps no room for one', () => {
  const { ended, show, showOutput, fullFor, woken } = cluster(1)
  show('ADDED', 'a', { named: true })
  showOutput('ADDED', 'a', 'a')
  show('ADDED', 'b')
  expect(fullFor('b')).toEqual([1])
  ended('b')
  show('MODIFIED', 'a', { named: true, deletedAt: '2026-01-01T00:00:00Z' })
  expect(woken).toEqual([])
  showOutput('DELETED', 'a', 'a')
  expect(woken).toEqual(['team-a/b'])
  expect(fullFor('b')).toEqual([undefined])
  // Its last finalizer goes: it holds nothing by then.
  show('DELETED', 'a', { named: true, deletedAt: '2026-01-01T00:00:00Z' })
  expect(fullFor('c')).toEqual([1])
})

test('one more is held back until one is gone, and those that are about to enter count', () => {
  const { ended, show, showOutput, fullFor, woken } = cluster(2)
  for (const name of ['a', 'b', 'c', 'd']) show('ADDED', name)
  expect(fullFor('a', 'b', 'c', 'd')).toEqual([undefined, undefined, 2, 2])
  for (const name of ['a', 'b']) showOutput('ADDED', name, name)
  ended('a', 'b', 'c', 'd')
  showOutput('DELETED', 'a', 'a')
  expect(woken).toEqual(['team-a/c'])
  expect(fullFor('c', 'd')).toEqual([undefined, 2])
})

test('an output that takes the place of another counts with it as one', () => {
  const { show, showOutput, fullFor, woken } = cluster(1)
  for (const name of ['a', 'b']) show('ADDED', name)
  showOutput('ADDED', 'old', 'a')
  showOutput('ADDED', 'new', 'a')
  expect(fullFor('b')).toEqual([1])
  showOutput('DELETED', 'old', 'a')
  expect(woken).toEqual([])
  showOutput('DELETED', 'new', 'a')
  expect(woken).toEqual(['team-a/b'])
})

test('one that came to no output leaves its room to the next', () => {
  const { ended, show, fullFor, woken } = cluster(1)
  for (const name of ['a', 'b']) show('ADDED', name)
  expect(fullFor('a', 'b')).toEqual([undefined, 1])
  ended('a')
  expect(woken).toEqual(['team-a/b'])
})

test('one that is taken up and comes to no output passes its room on', () => {
  const { ended, show, showOutput, fullFor, woken } = cluster(1)
  for (const name of ['a', 'b', 'c']) show('ADDED', name)
  showOutput('ADDED', 'a', 'a')
  expect(fullFor('b', 'c')).toEqual([1, 1])
  showOutput('DELETED', 'a', 'a')
  // It is refused now, and does not ask.
  ended('b')
  expect(woken).toEqual(['team-a/b', 'team-a/c'])
  expect(fullFor('c', 'b')).toEqual([undefined, 1])
})

test('one that is deleted while its output is on its way keeps its room until the look at it ends', () => {
  const { ended, show, showOutput, fullFor, woken } = cluster(1)
  for (const name of ['a', 'b']) show('ADDED', name)
  expect(fullFor('a', 'b')).toEqual([undefined, 1])
  show('DELETED', 'a')
  expect(fullFor('b')).toEqual([1])
  showOutput('ADDED', 'a', 'a')
  ended('a')
  expect(woken).toEqual([])
  showOutput('DELETED', 'a', 'a')
  expect(woken).toEqual(['team-a/b'])
})

test('one whose output is made anew while its status goes keeps its room', () => {
  const { ended, show, showOutput, fullFor, woken } = cluster(1)
  show('ADDED', 'a', { named: true })
  show('ADDED', 'b')
  expect(fullFor('a', 'b')).toEqual([undefined, 1])
  show('DELETED', 'a')
  expect(fullFor('b')).toEqual([1])
  showOutput('ADDED', 'a', 'a')
  ended('a', 'b')
  expect(woken).toEqual([])
})

test('one that is taken up is held back again where outputs have come meanwhile', () => {
  const { show, showOutput, fullFor, woken } = cluster(1)
  for (const name of ['a', 'b']) show('ADDED', name)
  showOutput('ADDED', 'a', 'a')
  expect(fullFor('b')).toEqual([1])
  showOutput('DELETED', 'a', 'a')
  expect(woken).toEqual(['team-a/b'])
  showOutput('ADDED', 'again', 'a')
  expect(fullFor('b')).toEqual([1])
  showOutput('DELETED', 'again', 'a')
  expect(woken).toEqual(['team-a/b', 'team-a/b'])
})

test('one that is deleted before its output is made leaves its room to the next', () => {
  const { ended, show, fullFor, woken } = cluster(1)
  for (const name of ['a', 'b']) show('ADDED', name)
  expect(fullFor('a', 'b')).toEqual([undefined, 1])
  show('DELETED', 'a')
  ended('a')
  expect(woken).toEqual(['team-a/b'])
})

test('one that is held back and deleted is not waited for', () => {
  const { show, showOutput, fullFor, woken } = cluster(1)
  for (const name of ['a', 'b', 'c']) show('ADDED', name)
  showOutput('ADDED', 'a', 'a')
  expect(fullFor('b', 'c')).toEqual([1, 1])
  show('DELETED', 'b')
  showOutput('DELETED', 'a', 'a')
  expect(woken).toEqual(['team-a/c'])
})

test('without a limit nobody is held back', () => {
  const { show, fullFor } = cluster(undefined)
  for (const name of ['a', 'b']) show('ADDED', name)
  expect(fullFor('a', 'b')).toEqual([undefined, undefined])
})
