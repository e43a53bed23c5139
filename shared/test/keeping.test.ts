// What was made of a text is made once, and let go of when there is too much of it.
import { keeping } from '@kleym/shared/core/base/keeping.ts'
import { expect, test } from 'vitest'

test('of a text something is made once, until a hundred others have come', () => {
  const made: string[] = []
  const make = keeping((text) => {
    made.push(text)
    return { text }
  })
  const first = make('a')
  expect(make('a')).toBe(first)
  for (let number = 0; number < 99; number++) make(`other ${number}`)
  expect(make('a')).toBe(first)
  make('one more')
  expect(make('a')).toEqual(first)
  expect(made.filter((text) => text === 'a')).toHaveLength(2)
})
