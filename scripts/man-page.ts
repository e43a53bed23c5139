// `docs/reference/kubectl-kleym.1`: the manual page, from the classes that `--help` reads. Archives and the npm package carry it.
import type { Command } from '@oclif/core/command'
import { keysOf } from '../shared/src/core/base/json.ts'
import { COMMANDS } from '../plugin/src/answers/all-commands.ts'
import { QUESTIONS, type CommandId } from '../plugin/src/answers/commands.ts'
import { EXIT } from '../plugin/src/io/errors.ts'
import {
  describe,
  EXIT_MEANINGS,
  exampleLines,
  SHARED,
  shownArguments,
  usages,
  type Flags,
} from './command-reference.ts'

/** The page, in the macros of man(7). */
export function manPage(version: string): string {
  return `${[
    '.\\" Generated from plugin/src/answers by `npm run generate`; do not edit.',
    `.TH KUBECTL\\-KLEYM 1 "" "kleym ${version}" "User Commands"`,
    '.SH NAME',
    'kubectl\\-kleym \\- explain which SPIFFE identities inference workloads get, and why',
    '.SH SYNOPSIS',
    '.B kubectl kleym',
    '.I COMMAND',
    '[flags]',
    '.SH DESCRIPTION',
    text(
      'Asks the cluster of the kubeconfig, read-only; the cluster as it would be after -f FILES; or files alone, with --offline. It never writes to a cluster.',
    ),
    '.SH COMMANDS',
    ...[...COMMANDS].flatMap(([id, command]) => commandLines(id, command)),
    '.SH SHARED FLAGS',
    ...flagLines(SHARED, Object.keys(SHARED)),
    '.SH EXIT STATUS',
    ...keysOf(EXIT).flatMap((name) => ['.TP', `.B ${EXIT[name]}`, text(EXIT_MEANINGS[name])]),
    '.SH SEE ALSO',
    '.BR kubectl (1)',
  ].join('\n')}\n`
}

function commandLines(id: CommandId, command: Command.Class): readonly string[] {
  const flags: Flags = { ...command.flags, ...command.baseFlags }
  const own = Object.keys(flags).filter((name) => SHARED[name] !== flags[name])
  const examples = exampleLines(command)
  return [
    `.SS ${id}`,
    text(QUESTIONS[id]),
    '.PP',
    ...usages(command, id)
      .split('\n')
      .flatMap((usage) => [`.B ${escaped(usage)}`, '.br']),
    ...(command.description === undefined ? [] : ['.PP', text(command.description)]),
    ...shownArguments(command).flatMap(([name, { description = '' }]) => [
      '.TP',
      `.I ${escaped(name.toUpperCase())}`,
      text(description),
    ]),
    ...flagLines(flags, own),
    ...(examples.length === 0 ? [] : ['.PP', '.nf', ...examples.map((line) => escaped(line)), '.fi']),
  ]
}

function flagLines(flags: Flags, names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    const flag = flags[name]
    if (flag === undefined || flag.hidden === true) return []
    const long = name.length > 1 ? [`--${name}`] : []
    const written = [...(flag.char === undefined ? [] : [`-${flag.char}`]), ...long].join(', ')
    const value = flag.type === 'boolean' ? '' : ` \\fI${escaped(flag.helpValue?.toString() ?? 'VALUE')}\\fR`
    return ['.TP', `\\fB${escaped(written)}\\fR${value}`, text(describe(flag))]
  })
}

/** A paragraph; names in backticks are bold. */
function text(source: string): string {
  return source
    .split('\n')
    .map((line) => escaped(line.trim()).replaceAll(/`([^`]*)`/g, '\\fB$1\\fR'))
    .filter((line) => line !== '')
    .join('\n')
}

/** What roff would take for its own. */
function escaped(source: string): string {
  return source
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/, '\\&')
}
