// What is given and what is being typed, for the ways in which flags can be written.
import * as Flags from '@oclif/core/flags'
import { expect, test } from 'vitest'
import { readWords } from '../../src/completion/words.ts'

const FLAGS = {
  filename: Flags.string({ char: 'f', multiple: true }),
  recursive: Flags.boolean({ char: 'R' }),
  namespace: Flags.string({ char: 'n' }),
  'all-namespaces': Flags.boolean({ char: 'A' }),
  v: Flags.integer({ char: 'v' }),
}

test.each<[string, readonly string[], object]>([
  ['nothing yet', [''], { given: {}, args: [], cursor: { kind: 'argument', typed: '' } }],
  ['an argument', ['te'], { given: {}, args: [], cursor: { kind: 'argument', typed: 'te' } }],
  ['a second argument', ['a', 'b'], { given: {}, args: ['a'], cursor: { kind: 'argument', typed: 'b' } }],
  ['one dash', ['-'], { cursor: { kind: 'flag', typed: '-' } }],
  ['a long flag', ['--na'], { cursor: { kind: 'flag', typed: '--na' } }],
  ['a letter, not yet its value', ['-n'], { cursor: { kind: 'flag', typed: '-n' } }],
  [
    'the value after a letter',
    ['-n', 'te'],
    { given: {}, cursor: { kind: 'value', flag: 'namespace', typed: 'te', head: '' } },
  ],
  [
    'the value after a long flag',
    ['--namespace', ''],
    { cursor: { kind: 'value', flag: 'namespace', typed: '', head: '' } },
  ],
  [
    'the value in a word with =',
    ['--namespace=te'],
    { cursor: { kind: 'value', flag: 'namespace', typed: 'te', head: '' } },
  ],
  [
    'an empty value after =',
    ['--namespace='],
    { cursor: { kind: 'value', flag: 'namespace', typed: '', head: '' } },
  ],
  [
    'the value in one word with its letter: the letter must stay',
    ['-nte'],
    { cursor: { kind: 'value', flag: 'namespace', typed: 'te', head: '-n' } },
  ],
  [
    'a letter with =: shells see only what follows it',
    ['-n=te'],
    { cursor: { kind: 'value', flag: 'namespace', typed: 'te', head: '' } },
  ],
  [
    'letters in one word, the last with its value',
    ['-RAnte'],
    { cursor: { kind: 'value', flag: 'namespace', typed: 'te', head: '-RAn' } },
  ],
  [
    'letters in one word, the last with its value in the next',
    ['-Rf', 'ex'],
    { given: { recursive: [''] }, cursor: { kind: 'value', flag: 'filename', typed: 'ex', head: '' } },
  ],
  [
    'values that are given',
    ['-f', 'a', '-fb', '-f=c', '--filename=d', '--filename', 'e', '-A', ''],
    {
      given: { filename: ['a', 'b', 'c', 'd', 'e'], 'all-namespaces': [''] },
      args: [],
      cursor: { kind: 'argument', typed: '' },
    },
  ],
  ['stdin, which is no flag', ['-f', '-', ''], { given: { filename: ['-'] }, args: [] }],
  ['a flag that does not exist', ['--nonsense', '-x', 'a', ''], { given: {}, args: ['a'] }],
  ['a flag named as a thing of JavaScript', ['--constructor', 'a', ''], { given: {}, args: ['a'] }],
  ['a dash after --', ['--', '-n'], { given: {}, args: [], cursor: { kind: 'argument', typed: '-n' } }],
  ['what looks like flags after --', ['--', '-n', ''], { given: {}, args: ['-n'] }],
  ['a flag of one letter, by its long name', ['--v', ''], { cursor: { kind: 'value', flag: 'v' } }],
])('%s', (_, words, expected) => {
  const { given, args, cursor } = readWords(words, FLAGS)
  expect({ given: Object.fromEntries(given), args, cursor }).toMatchObject(expected)
})
