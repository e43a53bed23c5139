// The commands, in the order in which help lists them. The class of one holds flags and words only, and is loaded when it is asked for;
// the code behind it when it runs.
import type { Command } from '@oclif/core/command'

/** What loads the class of each command, by the word on the command line. */
const LOADERS = {
  explain: async () => (await import('./explain/command.ts')).ExplainCommand,
  diff: async () => (await import('./diff/command.ts')).DiffCommand,
  'who-selects': async () => (await import('./who-selects/command.ts')).WhoSelectsCommand,
  why: async () => (await import('./why/command.ts')).WhyCommand,
  conflicts: async () => (await import('./conflicts/command.ts')).ConflictsCommand,
  policies: async () => (await import('./policies/command.ts')).PoliciesCommand,
  suggest: async () => (await import('./suggest/command.ts')).SuggestCommand,
  migrate: async () => (await import('./migrate/command.ts')).MigrateCommand,
  rename: async () => (await import('./rename/command.ts')).RenameCommand,
  test: async () => (await import('./test/command.ts')).TestCommand,
  verify: async () => (await import('./verify/command.ts')).VerifyCommand,
  map: async () => (await import('./map/command.ts')).MapCommand,
  settings: async () => (await import('./settings/command.ts')).SettingsCommand,
  status: async () => (await import('./status/command.ts')).StatusCommand,
  watch: async () => (await import('./watch/command.ts')).WatchCommand,
  mcp: async () => (await import('./mcp/command.ts')).McpCommand,
  completion: async () => (await import('./completion/command.ts')).CompletionCommand,
} as const satisfies Record<string, () => Promise<Command.Class>>

/** The class of a command: its flags and words, and what runs it. */
export type CommandClass = Awaited<ReturnType<(typeof LOADERS)[CommandId]>>

/** A word on the command line that is a command. */
export type CommandId = keyof typeof LOADERS

/** The words on the command line. */
export const COMMAND_IDS: readonly string[] = Object.keys(LOADERS)

/** Whether a word is a command. */
export function isCommand(word: string): word is CommandId {
  return Object.hasOwn(LOADERS, word)
}

/** The class of a command. */
export async function commandClass(id: CommandId): Promise<CommandClass> {
  return LOADERS[id]()
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
  settings: 'Which settings count, and where do they come from?',
  status: 'Is the installation sound?',
  watch: 'Watch bindings live',
  mcp: 'How does an assistant ask all of this?',
  completion: 'How does the shell complete this?',
}
