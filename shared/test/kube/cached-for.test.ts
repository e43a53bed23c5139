// A kept value is got once, and again when it is due or wanted anew.
import { expect, test } from 'vitest'
import { cachedFor } from '../../src/kube/cached-for.ts'
import { rejection } from '@kleym/testing/clusters.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'

test('all who ask at the same time get the same, and those who ask within its time too', async () => {
  const clock = new FakeClock()
  let loads = 0
  const value = cachedFor(clock, 1000, async () => (loads += 1))
  expect(await Promise.all([value(), value(), value()])).toEqual([1, 1, 1])
  clock.advance(999)
  expect(await value()).toBe(1)
  clock.advance(1)
  expect(await value()).toBe(2)
})

test('a refresh gets a new one at once, once for all who want it', async () => {
  let loads = 0
  const asked: boolean[] = []
  const value = cachedFor(new FakeClock(), 1000, async (refresh) => {
    asked.push(refresh)
    return (loads += 1)
  })
  await value()
  expect(await Promise.all([value(true), value(true)])).toEqual([2, 2])
  expect(await value()).toBe(2)
  expect(asked).toEqual([false, true])
})

test('a failure is not kept', async () => {
  let loads = 0
  const value = cachedFor(new FakeClock(), 1000, async () => {
    loads += 1
    if (loads === 1) throw new Error('not yet')
    return loads
  })
  expect(await rejection(value())).toMatchObject({ message: 'not yet' })
  expect(await value()).toBe(2)
})
