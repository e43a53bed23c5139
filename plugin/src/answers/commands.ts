// The commands, in the order in which help lists them. A class holds flags and words only; the code behind it is
// loaded when it runs.
import { CompletionCommand } from './completion/command.ts'
import { ConflictsCommand } from './conflicts/command.ts'
import { DiffCommand } from './diff/command.ts'
import { ExplainCommand } from './explain/command.ts'
import { MapCommand } from './map/command.ts'
import { McpCommand } from './mcp/command.ts'
import { MigrateCommand } from './migrate/command.ts'
import { PoliciesCommand } from './policies/command.ts'
import { RenameCommand } from './rename/command.ts'
import { SettingsCommand } from './settings/command.ts'
import { StatusCommand } from './status/command.ts'
import { SuggestCommand } from './suggest/command.ts'
import { TestCommand } from './test/command.ts'
import { VerifyCommand } from './verify/command.ts'
import { WatchCommand } from './watch/command.ts'
import { WhoSelectsCommand } from './who-selects/command.ts'
import { WhyCommand } from './why/command.ts'
import type { CommandClasses } from '../flags/command.ts'

/** Command classes by the word on the command line. */
export const COMMANDS = {
  explain: ExplainCommand,
  diff: DiffCommand,
  'who-selects': WhoSelectsCommand,
  why: WhyCommand,
  conflicts: ConflictsCommand,
  policies: PoliciesCommand,
  suggest: SuggestCommand,
  migrate: MigrateCommand,
  rename: RenameCommand,
  test: TestCommand,
  verify: VerifyCommand,
  map: MapCommand,
  settings: SettingsCommand,
  status: StatusCommand,
  watch: WatchCommand,
  mcp: McpCommand,
  completion: CompletionCommand,
} as const satisfies CommandClasses

/** A word on the command line that is a command. */
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
  why: 'Why has this pod no SVID?',
  conflicts: 'What clashes?',
  policies: 'Whom do access policies name?',
  suggest: 'Which bindings could these pools have?',
  migrate: 'How do hand-written ClusterSPIFFEIDs become bindings?',
  rename: 'How does an identity get another name?',
  test: 'Is what we state about identities true?',
  verify: 'Does the SPIRE server agree?',
  map: 'Who holds what, as a picture?',
  settings: 'What is kleym set to, and who says so?',
  status: 'Is the installation sound?',
  watch: 'Watch bindings live',
  mcp: 'How does an assistant ask all of this?',
  completion: 'How does the shell complete this?',
}
