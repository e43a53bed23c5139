import { expect, test } from 'vitest'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { fileProgress, type FileProgress } from '../../src/sources/file-progress.ts'

const BACK = '\r\u001B[K'

function watched(isTerminal = true): {
  progress: FileProgress
  clock: FakeClock
  written: readonly string[]
} {
  const clock = new FakeClock()
  const written: string[] = []
  const stderr = { write: (text: string) => void written.push(text), isTerminal, columns: 18 }
  return { progress: fileProgress({ stderr, clock, env: {} }), clock, written }
}

test('files that are read in less than a second show nothing', () => {
  const { progress, clock, written } = watched()
  clock.advance(999)
  progress.at(() => 'reading: 1 of 2 files')
  progress.end()
  expect(written).toEqual([])
})

test('after that a line is shown ten times a second at most, no wider than the terminal, and wiped in the end', () => {
  const { progress, clock, written } = watched()
  clock.advance(1_000)
  progress.at(() => 'reading: 1 of 20000 files')
  clock.advance(99)
  progress.at(() => 'reading: 2')
  clock.advance(1)
  progress.at(() => 'reading: 3')
  progress.end()
  progress.end()
  expect(written).toEqual([`${BACK}reading: 1 of 200`, `${BACK}reading: 3`, BACK])
})

test('no terminal, no line', () => {
  const { progress, clock, written } = watched(false)
  clock.advance(5_000)
  progress.at(() => 'reading')
  progress.end()
  expect(written).toEqual([])
})
