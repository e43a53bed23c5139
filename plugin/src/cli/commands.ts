// The commands, in the order in which help lists them. A class holds flags and words only; the code behind it is
// loaded when it runs.
import { Completion } from '../commands/completion/command.ts'
import { Conflicts } from '../commands/conflicts/command.ts'
import { Diff } from '../commands/diff/command.ts'
import { Explain } from '../commands/explain/command.ts'
import { Policies } from '../commands/policies/command.ts'
import { Status } from '../commands/status/command.ts'
import { Watch } from '../commands/watch/command.ts'
import { WhoSelects } from '../commands/who-selects/command.ts'
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
