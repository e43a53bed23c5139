// The help of one command, by oclif.
import type { Command } from '@oclif/core/command'
import { Help } from '@oclif/core/help'
import { COMMAND_IDS } from '../answers/commands.ts'
import type { CommandConfig } from '../flags/command.ts'
import { formatsText, OUTPUT_FORMATS } from '../flags/flags.ts'
import { formatsOf } from '../flags/options.ts'
import { unknownCommand } from './unknown-command.ts'

/** The help of a command; throws a usage error for one that does not exist. */
export async function commandHelp(subject: string, config: CommandConfig, maxWidth: number): Promise<string> {
  const command = config.findCommand(subject)
  if (command === undefined) throw unknownCommand(subject, COMMAND_IDS)
  const help = new KleymHelp(config, {
    maxWidth,
    stripAnsi: true,
    flagSortOrder: 'none',
    hideCommandSummaryInDescription: true,
  })
  await help.showCommandHelp(withOwnFormats(command))
  return help.text
}

/** The command, its `-o` with the formats that it has an answer in. */
function withOwnFormats(command: Command.Loadable): Command.Loadable {
  const { output } = command.flags
  if (output?.description !== formatsText(OUTPUT_FORMATS)) return command
  const own = { ...output, description: formatsText(formatsOf(command.id)) }
  return { ...command, load: () => command.load(), flags: { ...command.flags, output: own } }
}

class KleymHelp extends Help {
  text = ''

  protected override log(...lines: string[]): void {
    this.text += `${lines.join(' ')}\n`
  }

  protected override formatCommand(command: Command.Loadable): string {
    return withFirstFlagInPlace(super.formatCommand(command)).trimEnd()
  }
}

/** oclif trims the first flag of a group: where others leave room for a letter, it moves back under them. */
function withFirstFlagInPlace(text: string): string {
  return text.replaceAll(
    /^([A-Z]+ FLAGS\n) {2}(--[^]*?)(?=\n\n|(?![^]))/gm,
    (group, title: string, flags: string) =>
      /^(?: {6}| {2}-\w, )--/m.test(flags) ? `${title}      ${flags}` : group,
  )
}
