// The commands, in the order in which help lists them. A class holds flags and words only; the code behind it is
// loaded when it runs.
import { Completion } from '../answers/completion/command.ts'
import { Conflicts } from '../answers/conflicts/command.ts'
import { Diff } from '../answers/diff/command.ts'
import { Explain } from '../answers/explain/command.ts'
import { Policies } from '../answers/policies/command.ts'
import { Status } from '../answers/status/command.ts'
import { Watch } from '../answers/watch/command.ts'
import { WhoSelects } from '../answers/who-selects/command.ts'
import type { CommandClasses } from './embedded.ts'

/** Command classes by the word on the command line. */
export const COMMANDS = {
  explain: Explain,
  diff: Diff,
  'who-selects': WhoSelects,
  conflicts: Conflicts,
  policies: Policies,
  status: Status,
  watch: Watch,
  completion: Completion,
} as const satisfies CommandClasses

export type CommandId = keyof typeof COMMANDS

/** The words on the command line. */
export const COMMAND_IDS: readonly string[] = Object.keys(COMMANDS)

/** Whether a word is a command. */
export function isCommand(word: string): word is CommandId {
  return Object.hasOwn(COMMANDS, word)
}

/** The question that each command answers, for the root help. */
export const QUESTIONS: Readonly<Record<CommandId, string>> = {
  explain: 'Why is this binding refused, and what does it give to whom?',
  diff: 'What would change if these files were applied?',
  'who-selects': 'Who gets which identity here?',
  conflicts: 'What clashes?',
  policies: 'Whom do access policies name?',
  status: 'Is the installation sound?',
  watch: 'How do the bindings stand, as it changes?',
  completion: 'How does the shell complete this?',
}
