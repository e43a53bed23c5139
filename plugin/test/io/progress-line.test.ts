import { expect, test } from 'vitest'
import { FakeClock } from '@kleym/testing/fake-clock.ts'
import { anyProgressLine, type ProgressLine } from '../../src/io/progress-line.ts'

const BACK = '\r\u001B[K'

function watched(
  isTerminal = true,
  env: Record<string, string> = {},
): {
  progress: ProgressLine
  clock: FakeClock
  written: readonly string[]
} {
  const clock = new FakeClock()
  const written: string[] = []
  const stderr = { write: (text: string) => void written.push(text), isTerminal, columns: 18 }
  return { progress: anyProgressLine({ stderr, clock, env }), clock, written }
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

test('what is known to take long is reported at once, and what follows it is held back as ever', () => {
  const { progress, clock, written } = watched()
  progress.now('reading big')
  progress.at(() => 'reading: 2')
  clock.advance(100)
  progress.at(() => 'reading: 3')
  progress.end()
  expect(written).toEqual([`${BACK}reading big`, `${BACK}reading: 3`, BACK])
})

test.each([
  ['a pipe', false, {}],
  ['a terminal that cannot wipe', true, { TERM: 'dumb' }],
  ['the terminal of a CI job, whose log would keep it', true, { CI: 'true' }],
])('%s shows nothing', (_, isTerminal, env) => {
  const { progress, clock, written } = watched(isTerminal, env)
  clock.advance(5_000)
  progress.at(() => 'reading')
  progress.now('reading big')
  progress.end()
  expect(written).toEqual([])
})
