// A program that blocks the worker of a test cannot be ended by the runner, so each has a bound: test/testing/src/child-process.ts
// is the one place that runs a program so.
import { expect, test } from 'vitest'
import { textOf, withEnding } from './files.ts'

const BOUNDED = 'test/testing/src/child-process.ts'
/** The functions of Node that block until a program has ended. */
const BLOCKING = /\b(?:spawn|exec|execFile)Sync\b/

test('a program that blocks a test is run by the one function that has a bound', () => {
  const files = withEnding('ts', 'tsx', 'mts', 'js', 'mjs').filter((path) => /^(?:\w+\/)?test\//.test(path))
  const blocking = files.filter((path) => BLOCKING.test(textOf(path)))
  expect(blocking).toEqual([BOUNDED])
})
