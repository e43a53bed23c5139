// `docs/reference/commands.md`: every command with its usage, flags and examples, from the classes that `--help` reads.
import type { Command } from '@oclif/core/command'
import { keysOf } from '../shared/src/core/base/json.ts'
import { SourceCommand } from '../plugin/src/flags/command.ts'
import { COMMANDS } from '../plugin/src/answers/all-commands.ts'
import { QUESTIONS, type CommandId } from '../plugin/src/answers/commands.ts'
import { BIN } from '../plugin/src/program/bin.ts'
import { EXIT } from '../plugin/src/io/errors.ts'

const NOTE = '<!-- Generated from plugin/src/answers by `npm run generate`; do not edit. -->'

/** What each exit code says, once for every command and format. */
export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'a complete answer with nothing at or above `--fail-on`; no difference',
  findings:
    'findings at or above `--fail-on`; differences (`diff`, `verify`); a failed assertion (`test`); a broken hop (`why`)',
  usage: 'wrong usage',
  notFound: 'a named object does not exist',
  incomplete:
    'the cluster cannot be reached, or something that could not be read or was not given may hide a finding: the answer is printed first, then what is missing',
  internal: 'a bug in kleym',
  timedOut: 'timed out',
  interrupted: 'interrupted',
}

/** Flags of a command, by their names. */
export type Flags = Command.Class['flags']

/** The flags that commands share. */
export const SHARED: Flags = SourceCommand.baseFlags

/** The page. */
export function commandReference(): string {
  return [
    NOTE,
    '# Commands\n',
    'Every command with all its flags, as `--help` prints them at a terminal. What the formats of `-o` hold:',
    '[output](output.md); files as a source: [the plugin on files](../offline.md); in CI: [CI](../ci.md).\n',
    '| command | question |',
    '|---|---|',
    ...keysOf(QUESTIONS).map((id) => `| [\`${id}\`](#${id}) | ${QUESTIONS[id]} |`),
    '',
    ...[...COMMANDS].map(([id, command]) => commandSection(id, command)),
    sharedSection(),
    exitSection(),
  ].join('\n')
}

function commandSection(id: CommandId, command: Command.Class): string {
  const flags: Flags = { ...command.flags, ...command.baseFlags }
  const names = Object.keys(flags)
  const shared = names.filter((name) => SHARED[name] === flags[name])
  const own = names.filter((name) => !shared.includes(name))
  const args = shownArguments(command).map(
    ([name, { description = '', options }]) =>
      `| \`${name.toUpperCase()}\` | ${cell(description)}${options === undefined ? '' : ` One of ${options.join(', ')}.`} |`,
  )
  return [
    `## ${id}\n`,
    `\`\`\`\n${usages(command, id)}\n\`\`\`\n`,
    `**${command.summary ?? ''}** ${command.description ?? ''}\n`,
    ...(args.length === 0 ? [] : [['| argument | |', '|---|---|', ...args, ''].join('\n')]),
    ...(own.length === 0 ? [] : [flagTable(flags, own)]),
    ...sharedLine(shared),
    ...examples(command),
  ].join('\n')
}

function sharedLine(names: readonly string[]): readonly string[] {
  if (names.length === 0) return []
  if (names.length === Object.keys(SHARED).length)
    return ['It also takes the [shared flags](#shared-flags).\n']
  const written = names.map((name) => `\`${name.length > 1 ? '--' : '-'}${name}\``).join(', ')
  return [`Of the [shared flags](#shared-flags) it takes ${written}.\n`]
}

/** The arguments that a person is told of. */
export function shownArguments({
  args,
}: Command.Class): readonly (readonly [name: string, arg: Command.Class['args'][string]])[] {
  return Object.entries(args).filter(([, { hidden }]) => hidden !== true)
}

/** A line for each way to call a command. */
export function usages({ usage }: Command.Class, id: string): string {
  const lines = usage === undefined ? [id] : [usage].flat()
  return lines.map((line) => `${BIN} ${line}`).join('\n')
}

function flagTable(flags: Flags, names: readonly string[]): string {
  const rows = names.flatMap((name) => {
    const flag = flags[name]
    return flag === undefined || flag.hidden === true
      ? []
      : [`| ${flagCell(name, flag)} | ${cell(describe(flag))} |`]
  })
  return ['| flag | |', '|---|---|', ...rows, ''].join('\n')
}

function flagCell(name: string, flag: Flags[string]): string {
  const long = name.length > 1 ? [`--${name}`] : []
  const written = [...(flag.char === undefined ? [] : [`-${flag.char}`]), ...long].join('`, `')
  if (flag.type === 'boolean') return `\`${written}\``
  const value = flag.helpValue?.toString() ?? flag.options?.join('|') ?? 'VALUE'
  return `\`${written}\` \`${value.replaceAll('|', String.raw`\|`)}\``
}

/** What a flag is for, and its default. */
export function describe(flag: Flags[string]): string {
  const { description = '' } = flag
  const given: unknown = flag.type === 'option' ? flag.default : undefined
  return typeof given === 'string' || typeof given === 'number'
    ? `${description} Default: \`${given}\`.`
    : description
}

function examples(command: Command.Class): readonly string[] {
  const lines = exampleLines(command)
  return lines.length === 0 ? [] : [`\`\`\`sh\n${lines.join('\n')}\n\`\`\`\n`]
}

/** The examples of a command, as lines of a shell. */
export function exampleLines({ examples: given }: Command.Class): readonly string[] {
  return given.flatMap((example) =>
    typeof example === 'string'
      ? [shellLine(example)]
      : [`# ${example.description}`, shellLine(example.command)],
  )
}

function shellLine(example: string): string {
  return example.replaceAll('<%= config.bin %>', BIN).replace(/^\$ /, '')
}

/** The flags that commands share, by the groups of the help. */
function sharedSection(): string {
  const groups = [...new Set(Object.values(SHARED).map(({ helpGroup }) => helpGroup ?? ''))]
  return [
    '## Shared flags\n',
    ...groups.map((group) => {
      const members = Object.keys(SHARED).filter((name) => (SHARED[name]?.helpGroup ?? '') === group)
      return `### ${group.charAt(0)}${group.slice(1).toLowerCase()}\n\n${flagTable(SHARED, members)}`
    }),
  ].join('\n')
}

function exitSection(): string {
  const rows = keysOf(EXIT).map((name) => `| ${EXIT[name]} | ${EXIT_MEANINGS[name]} |`)
  return [
    '## Exit codes\n',
    'They never depend on the output format. 4 takes precedence over 1: an incomplete answer is never just "findings".\n',
    '| exit | meaning |',
    '|---|---|',
    ...rows,
    '',
  ].join('\n')
}

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`)
}
