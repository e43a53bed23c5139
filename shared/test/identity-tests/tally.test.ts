// What an assertion keeps of all that it hears: ten thousand assertions may each have something to say of every container.
import { expect, test } from 'vitest'
import { Tally } from '../../src/core/answers/identity-tests/tally.ts'

const NOTHING = { why: 'nothing matches', fix: '' }

test('of a thousand lines few are made, and all of them count', () => {
  const tally = new Tally(undefined, false)
  let made = 0
  for (let at = 0; at < 1000; at++)
    tally.doubt(() => {
      made++
      return `container ${String(at).padStart(4, '0')}`
    })
  const { why, evidence } = tally.outcome('claim', () => NOTHING)
  expect(why).toBe('1000 things are undetermined')
  expect(evidence).toHaveLength(11)
  expect(evidence[0]).toBe('container 0000')
  expect(evidence.at(-1)).toBe('and 990 more')
  expect(made).toBeLessThan(300)
})

test('equal lines are one', () => {
  const tally = new Tally(undefined, false)
  for (let at = 0; at < 50; at++) tally.doubt(() => 'the same')
  expect(tally.outcome('claim', () => NOTHING)).toMatchObject({ state: 'unknown', why: 'the same' })
})
