import { describe, expect, test } from 'vitest'
import { asKleymError, ERROR_EXIT, formatError, formatStack, KleymError } from '../../src/io/errors.ts'

const parts = { what: 'cannot read it', why: 'it is broken', fix: 'mend it' }

describe('formatError', () => {
  test('has what, why and fix, and where and docs where there are any', () => {
    expect(formatError(new KleymError('input', parts))).toBe(
      'error: cannot read it\n  why:  it is broken\n  fix:  mend it\n',
    )
    expect(formatError(new KleymError('input', { ...parts, where: 'f.yaml:3', docs: 'docs/x.md' }))).toBe(
      'error: cannot read it (f.yaml:3)\n  why:  it is broken\n  fix:  mend it\n  docs: docs/x.md\n',
    )
  })

  test('a line break in a part forges no other part', () => {
    expect(formatError(new KleymError('input', { ...parts, why: 'one\n  fix:  rm -rf' }))).toContain(
      String.raw`  why:  one\n  fix:  rm -rf`,
    )
  })

  test('hostile text is escaped in every part', () => {
    const evil = '\u001b[2J\u202e##[error]'
    const text = formatError(
      new KleymError('input', {
        what: evil,
        where: evil,
        why: `${evil}\n::error::x`,
        fix: evil,
        docs: evil,
      }),
    )
    expect(text).not.toMatch(/[\u001b\u202e]|##\[/)
    expect(text).not.toMatch(/^\s*::/m)
    expect(text).toContain(String.raw`\x1b[2J\u202e`)
  })
})

test('exit codes are those of docs/reference/commands.md', () => {
  expect(ERROR_EXIT).toEqual({
    usage: 2,
    'not-found': 3,
    unreachable: 4,
    input: 4,
    output: 4,
    internal: 5,
    'timed-out': 124,
    interrupted: 130,
  })
})

describe('asKleymError', () => {
  test('leaves a KleymError as it is', () => {
    const error = new KleymError('input', parts)
    expect(asKleymError(error)).toBe(error)
  })

  test.each([
    ['an error', new TypeError('x is not a function'), 'TypeError: x is not a function'],
    ['a text', 'oops', 'oops'],
    ['nothing', undefined, 'undefined'],
  ])('%s is a bug, which says how to report it', (_, thrown, why) => {
    const error = asKleymError(thrown)
    expect(error).toMatchObject({ code: 'internal', exitCode: 5, why, cause: thrown })
    expect(error.fix).toContain('-v=6')
  })
})

test('formatStack shows the causes, escaped', () => {
  const text = formatStack(new KleymError('input', { ...parts, cause: new Error('inner \u001b[2J') }))
  expect(text).toMatch(/KleymError: cannot read it\n\s+at /)
  expect(text).toContain(String.raw`caused by Error: inner \x1b[2J`)
})
