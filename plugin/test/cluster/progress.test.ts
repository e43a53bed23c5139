// The line of progress: shown after a while, on terminals alone, and wiped away in the end.
import { describe, expect, test } from 'vitest'
import { NODES, PODS } from '@kleym/shared/kube/resources.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { showProgress, type Progress } from '../../src/cluster/progress.ts'

const BACK = '\r\u001B[K'

interface Watched {
  readonly progress: Progress
  readonly clock: FakeClock
  readonly written: readonly string[]
}

function watched({
  isTerminal = true,
  columns = 80,
  env = {},
}: { isTerminal?: boolean; columns?: number; env?: Record<string, string> } = {}): Watched {
  const clock = new FakeClock()
  const written: string[] = []
  const stderr = { write: (text: string) => void written.push(text), isTerminal, columns }
  return { progress: showProgress({ stderr, clock, env }), clock, written }
}

test('a read that takes less than a second shows nothing', () => {
  const { progress, clock, written } = watched()
  progress.onPage(PODS, 500)
  clock.advance(999)
  progress.onPage(PODS, 900)
  progress.end()
  clock.advance(5000)
  expect(written).toEqual([])
  expect(clock.timers).toBe(0)
})

test('one that takes longer shows what has come, and is wiped away', () => {
  const { progress, clock, written } = watched()
  progress.onPage(PODS, 500)
  progress.onPage(NODES, 0)
  clock.advance(1000)
  clock.advance(100)
  progress.onPage(NODES, 3)
  clock.advance(100)
  // Of another namespace, or of the next page: they add up.
  progress.onPage(PODS, 500)
  progress.end()
  expect(written).toEqual([
    `${BACK}reading the cluster: 500 pods`,
    `${BACK}reading the cluster: 500 pods, 3 nodes`,
    `${BACK}reading the cluster: 1000 pods, 3 nodes`,
    BACK,
  ])
})

test('nothing has come yet', () => {
  const { clock, written } = watched()
  clock.advance(1000)
  expect(written).toEqual([`${BACK}reading the cluster`])
})

test('what comes after the end is not shown, and the end is wiped once', () => {
  const { progress, clock, written } = watched()
  clock.advance(1000)
  progress.end()
  progress.onPage(PODS, 500)
  progress.end()
  clock.advance(5000)
  expect(written).toEqual([`${BACK}reading the cluster`, BACK])
})

test('a line is never longer than the terminal', () => {
  const { progress, clock, written } = watched({ columns: 24 })
  progress.onPage(PODS, 500)
  clock.advance(1000)
  expect(written).toEqual([`${BACK}reading the cluster: 50`])
})

describe('nothing is shown', () => {
  test.each([
    ['on a pipe', { isTerminal: false }],
    ['on a terminal that cannot wipe', { env: { TERM: 'dumb' } }],
  ])('%s', (_says, io) => {
    const { progress, clock, written } = watched(io)
    clock.advance(5000)
    progress.onPage(PODS, 500)
    progress.end()
    expect(written).toEqual([])
    expect(clock.timers).toBe(0)
  })
})
