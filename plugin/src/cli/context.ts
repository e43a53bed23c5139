// What a command may use of the process. main.ts makes the one real context; tests make others. Nothing else in the
// plugin touches process.env, the streams or the exit code.
import type { SourceIo } from '../sources/load.ts'
import { choosePalette, type ColourFlag, type Palette } from '../view/palette.ts'
import { DEFAULT_WIDTH } from '../view/wrap.ts'
import type { ExitCode } from './errors.ts'

/** One output stream. */
export interface Output {
  /** Writes text; a reader that has gone away is no error. */
  write(text: string): void
  readonly isTerminal: boolean
  /** The terminal's columns, where it is one and says so. */
  readonly columns: number | undefined
}

export interface CommandContext extends SourceIo {
  readonly stdout: Output
  readonly stderr: Output
  /** The version of kleym. */
  readonly version: string
}

/** What a command has to say; the shell around it does the printing. */
export interface Outcome {
  /** For stdout: the answer and nothing else, with its last line break. */
  readonly answer: string
  /** For stderr, after the answer: one line each, escaped when printed. */
  readonly notes: readonly string[]
  /** For stderr, after the notes: finished text from `formatError`. */
  readonly errors?: readonly string[]
  readonly exitCode: ExitCode
}

/** The palette for stdout under `--color`. */
export function paletteFor(flag: ColourFlag, { env, stdout }: CommandContext): Palette {
  return choosePalette({ flag, env, isTerminal: stdout.isTerminal })
}

/** The narrowest layout; a smaller terminal wraps by itself. */
const MIN_WIDTH = 40

/** Columns for a text view: those of the terminal, else `COLUMNS`, else 80. */
export function viewWidth({ env, stdout }: CommandContext): number {
  const told = stdout.columns ?? Number(env['COLUMNS'])
  return Number.isInteger(told) && told > 0 ? Math.max(MIN_WIDTH, told) : DEFAULT_WIDTH
}
