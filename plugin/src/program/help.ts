// Help: the questions first, `kubectl kleym` everywhere, 80 columns, no colours, examples that can be pasted.
import { QUESTIONS } from '../answers/commands.ts'
import type { CommandConfig } from '../flags/command.ts'
import { line, lineText } from '../text/line.ts'
import { wrap } from '../text/wrap.ts'
import { BIN } from './bin.ts'

/** The widest help; a narrower terminal folds it. */
const HELP_WIDTH = 80
/** oclif indents what it has folded by these columns more than it counts. */
const FOLDED_OVERHANG = 2
const HELP_FLAGS: ReadonlySet<string> = new Set(['--help', '-h'])

/** Whether a command line asks for help: a help flag before `--`, the word `help`, or nothing at all. */
export function asksForHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  const flags = end === -1 ? argv : argv.slice(0, end)
  return argv.length === 0 || argv[0] === 'help' || flags.some((word) => HELP_FLAGS.has(word))
}

/** The help that a command line asks for; throws a usage error for a command that does not exist. */
export async function helpText(
  argv: readonly string[],
  loadConfig: () => Promise<CommandConfig>,
  width: number,
): Promise<string> {
  const words = argv.filter((word) => !word.startsWith('-'))
  const subject = words[0] === 'help' ? words[1] : words[0]
  if (subject === undefined) return folded(rootHelp(), width)
  const { commandHelp } = await import('./command-help.ts')
  return commandHelp(subject, await loadConfig(), width < HELP_WIDTH ? width - FOLDED_OVERHANG : HELP_WIDTH)
}

/** Lines that are too long for a narrow terminal go on below, under their second column where they have one. */
function folded(text: string, width: number): string {
  if (width >= HELP_WIDTH) return text
  return text
    .split('\n')
    .flatMap((row) => {
      const hang = /^ *\S+ {2,}/.exec(row)?.[0].length ?? (row.startsWith(' ') ? 4 : 0)
      return row.length <= width ? [row] : wrap(line(row), width, hang).map(lineText)
    })
    .join('\n')
}

function rootHelp(): string {
  const column = Math.max(...Object.keys(QUESTIONS).map((id) => id.length)) + 2
  const questions = Object.entries(QUESTIONS).map(([id, question]) => `  ${id.padEnd(column)}${question}`)
  return `Explains which SPIFFE identities inference workloads get, and why. Never writes to a cluster.

USAGE
  $ ${BIN} COMMAND [flags]

QUESTIONS
${questions.join('\n')}

EXAMPLES
  $ ${BIN} explain -A
  $ ${BIN} who-selects pod llama-0 -n team-a
  $ ${BIN} diff -R -f manifests
  $ ${BIN} explain team-a/chat --offline -R -f manifests
  $ ${BIN} explain KLM201

EXIT CODES
  0  complete answer, nothing at the threshold
  1  findings, or differences
  2  wrong usage
  3  not found
  4  something could not be read or was not given
  5  a bug

Flags of a command: ${BIN} COMMAND --help
Version:            ${BIN} --version
`
}
