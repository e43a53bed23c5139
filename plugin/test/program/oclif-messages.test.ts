// The messages of oclif that usage-errors.ts tells apart by their text, from the installed version: an upgrade that words
// one differently fails here, before a user reads "the command line is wrong".
import * as Flags from '@oclif/core/flags'
import { parse } from '@oclif/core/parser'
import { expect, test } from 'vitest'
import { isUsageError, usageError } from '../../src/program/usage-errors.ts'

const FLAGS = {
  output: Flags.string({ char: 'o', options: ['text', 'json'] }),
  name: Flags.string({ multiple: false }),
  count: Flags.integer({ min: 1 }),
  offline: Flags.boolean(),
}

/** What some messages end with. */
const HELP = '\nSee more help with --help'

/** What oclif throws at a command line. */
async function thrownAt(argv: readonly string[]): Promise<unknown> {
  return parse([...argv], { flags: FLAGS, args: {}, strict: true }).then(
    () => undefined,
    (error: unknown) => error,
  )
}

test.each<[why: string, argv: readonly string[], message: string, what: string]>([
  ['a flag that there is not', ['--nope'], `Nonexistent flag: --nope${HELP}`, 'unknown flag --nope'],
  ['a word too many', ['word'], `Unexpected argument: word${HELP}`, 'unexpected argument word'],
  ['words too many', ['one', 'two'], `Unexpected arguments: one, two${HELP}`, 'unexpected argument one'],
  [
    'a value that is none of the options',
    ['--output=xml'],
    `Expected --output=xml to be one of: text, json${HELP}`,
    '--output does not take xml',
  ],
  ['no value', ['--name'], 'Flag --name expects a value', '--name needs a value'],
  [
    'no value where there are options',
    ['--output'],
    'Flag --output expects one of these values: text, json',
    '--output needs a value',
  ],
  [
    'a flag twice',
    ['--name=a', '--name=b'],
    'Flag --name can only be specified once',
    '--name is given twice',
  ],
  [
    'a value that cannot be read',
    ['--count=x'],
    `Parsing --count \n\tExpected an integer but received: x${HELP}`,
    '--count has a wrong value',
  ],
])('%s', async (_, argv, message, what) => {
  const thrown = await thrownAt(argv)
  if (!isUsageError(thrown)) throw new TypeError(`oclif throws ${String(thrown)}`)
  expect(thrown.message).toBe(message)
  expect(usageError(thrown, undefined)).toMatchObject({ what })
})
