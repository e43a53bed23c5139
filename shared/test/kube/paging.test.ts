// Pages of a list whose objects are of any size.
import { describe, expect, test } from 'vitest'
import { connectionError } from '../../src/kube/failures.ts'
import { PAGE_BYTES, pagesOf, type ReadPage } from '../../src/kube/paging.ts'
import { BodyTooLarge } from '../../src/kube/transport.ts'

const MIB = 1024 * 1024

/** A server with objects of these sizes, and the requests that it got: the limit of each, and whether it was too long. */
function serverOf(sizes: readonly number[]) {
  const requests: { readonly limit: number; readonly tooLong: boolean }[] = []
  const read: ReadPage = async ({ limit, continueToken = '0', bodyBytes = Infinity }) => {
    const from = Number(continueToken)
    const page = sizes.slice(from, from + limit)
    const bytes = page.reduce((sum, size) => sum + size, 0)
    requests.push({ limit, tooLong: bytes > bodyBytes })
    if (bytes > bodyBytes) throw new BodyTooLarge('list', 'too long')
    const next = from + limit < sizes.length ? String(from + limit) : ''
    const items = page.map((_size, at) => ({ metadata: { name: String(from + at) } }))
    return { items, metadata: { resourceVersion: '7', continue: next } }
  }
  return { read, requests }
}

async function namesOf(read: ReadPage, limit: number, pageBytes?: number): Promise<readonly unknown[]> {
  const names: unknown[] = []
  for await (const { items } of pagesOf(read, 'list', { limit, pageBytes })) names.push(...items)
  return names
}

test('a page that is too long shrinks to 25 and to 2 objects, and the list is whole and in order', async () => {
  const { read, requests } = serverOf(Array.from({ length: 60 }, () => 1.5 * MIB))
  const items = await namesOf(read, 250)
  expect(items).toEqual(Array.from({ length: 60 }, (_, at) => ({ metadata: { name: String(at) } })))
  expect(requests.slice(0, 3)).toEqual([
    { limit: 250, tooLong: true },
    { limit: 25, tooLong: true },
    { limit: 2, tooLong: false },
  ])
})

test('an object that alone is longer than a page may be is read by itself', async () => {
  const { read, requests } = serverOf([10, PAGE_BYTES + 1, 10])
  expect(await namesOf(read, 250)).toHaveLength(3)
  expect(requests).toContainEqual({ limit: 1, tooLong: false })
})

test('pages grow again after large objects', async () => {
  const { read, requests } = serverOf([
    ...Array.from({ length: 20 }, () => 1.5 * MIB),
    ...Array.from({ length: 980 }, () => 1000),
  ])
  expect(await namesOf(read, 250)).toHaveLength(1000)
  expect(requests.at(-1)).toEqual({ limit: 250, tooLong: false })
  expect(requests.length).toBeLessThan(32)
})

test('a server with large objects alone is seldom asked for a page that it makes in vain', async () => {
  const { read, requests } = serverOf(Array.from({ length: 300 }, () => 1.5 * MIB))
  expect(await namesOf(read, 250, 4 * MIB)).toHaveLength(300)
  const inVain = requests.filter(({ tooLong }) => tooLong).length
  expect(inVain / requests.length).toBeLessThan(0.25)
})

test('one page for each of 300 large objects: the server makes hardly more in vain than the first page that is too long', async () => {
  const { read, requests } = serverOf(Array.from({ length: 300 }, () => 1.4 * MIB))
  expect(await namesOf(read, 250, 2 * MIB)).toHaveLength(300)
  const inVain = requests.filter(({ tooLong }) => tooLong).reduce((sum, { limit }) => sum + limit, 0)
  expect(inVain).toBeLessThan(250 + 25 + 20)
  expect(requests.length).toBeLessThan(300 + 12)
})

test('where two large objects fit into a page, the pages stay at two', async () => {
  const { read, requests } = serverOf(Array.from({ length: 300 }, () => 0.9 * MIB))
  expect(await namesOf(read, 250, 2 * MIB)).toHaveLength(300)
  const limits = new Set(requests.slice(2).map(({ limit }) => limit))
  expect([...limits]).toEqual([2, 4])
  expect(requests.length).toBeLessThan(150 + 12)
})

/** A server of so many small objects that answers no page of more than `most`, and the limits that it was asked for. */
function lateAbove(most: number, total: number) {
  const { read } = serverOf(Array.from({ length: total }, () => 10))
  const limits: number[] = []
  const slow: ReadPage = async (page) => {
    limits.push(page.limit)
    if (page.limit > most) throw connectionError('timed out', 'list', { neverSent: false })
    return read(page)
  }
  return { slow, limits }
}

async function countOf(read: ReadPage, oneAfterTimeout: boolean): Promise<number> {
  let count = 0
  for await (const { items } of pagesOf(read, 'list', { limit: 250, oneAfterTimeout })) count += items.length
  return count
}

describe('a page that the server does not make in time', () => {
  test('is asked for again as a page of one, so that large objects of one tenant keep no list from ever being read', async () => {
    const { slow, limits } = lateAbove(100, 300)
    expect(await countOf(slow, true)).toBe(300)
    expect(limits.slice(0, 7)).toEqual([250, 1, 1, 1, 1, 2, 4])
  })

  test('fails when not even one comes: the server answers nothing', async () => {
    const { slow, limits } = lateAbove(0, 300)
    await expect(countOf(slow, true)).rejects.toThrow('no answer came in time')
    expect(limits).toEqual([250, 1])
  })

  test('fails at once for a caller that does not ask for it', async () => {
    const { slow, limits } = lateAbove(100, 300)
    await expect(countOf(slow, false)).rejects.toThrow('no answer came in time')
    expect(limits).toEqual([250])
  })
})
