// A first word that is no command, with a did-you-mean.
import { nearest } from '@kleym/shared/core/base/text/suggest.ts'
import { KleymError } from '../io/errors.ts'
import { BIN } from './bin.ts'

/** What other programs call a command of kleym's. */
const OTHER_WORDS: ReadonlyMap<string, string> = new Map([
  ...['get', 'describe', 'list', 'show'].map((word) => [word, 'explain'] as const),
  ...['analyze', 'check', 'lint'].map((word) => [word, 'conflicts'] as const),
  ...['create', 'generate'].map((word) => [word, 'suggest'] as const),
  ['who-can', 'who-selects'],
  ['graph', 'map'],
])

/** The error for a first word that is no command. */
export function unknownCommand(word: string, known: readonly string[]): KleymError {
  const docs = `${BIN} --help`
  if (word.startsWith('-')) {
    return new KleymError('usage', {
      what: `a flag comes before the command`,
      where: word,
      why: `the first word is one of ${known.join(', ')}`,
      fix: `write the command first: ${BIN} ${known[0] ?? ''} ${word} ...`,
      docs,
    })
  }
  const best = OTHER_WORDS.get(word) ?? nearest(word, known)[0]
  return new KleymError('usage', {
    what: `there is no command ${word}`,
    why: `the commands are ${known.join(', ')}`,
    fix: best === undefined ? 'use one of them' : `did you mean: ${BIN} ${best}`,
    docs,
  })
}
