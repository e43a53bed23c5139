// How a process is asked for completions rather than for an answer.
import { basename } from 'node:path'

/** The hidden first word that asks for a completion, as programs of cobra have it. */
export const COMPLETE = '__complete'

/** How kubectl calls what completes for a plugin. */
const COMPLETER = /^kubectl_complete-/

/** The words of the command line; a program that was started as the completer is asked for a completion. */
export function commandLineWords(argv0: string, words: readonly string[]): readonly string[] {
  return COMPLETER.test(basename(argv0)) ? [COMPLETE, ...words] : words
}
