// What a command may use of the process. main.ts makes the one real context; tests make others. Nothing else in the
// plugin touches process.env, the streams or the exit code.
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { choosePalette, type ColourFlag, type Palette } from './palette.ts'
import type { ExitCode } from './errors.ts'

/**
 * What is collected. `young`: only what was made since the last time, which is quick; what is in use by then counts as old from then on.
 * `as needed`: that, or all once the process has grown much since all was collected.
 */
export type Garbage = 'young' | 'as needed' | 'all'

/** What the sources need of the process. */
export interface SourceIo {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: AsyncIterable<unknown>
  /** As CommandContext has it. */
  readonly collectGarbage?: (which: Garbage) => void
  /** Where progress is shown, on a terminal; undefined: nowhere. */
  readonly stderr?: OutputStream
  readonly clock?: Clock
  /** What ends the process, which then ends the programs that it runs too. */
  readonly interrupts?: Interrupts
}

/** One output stream. */
export interface OutputStream {
  /** Writes text; a reader that has left is no error. */
  write(text: string): void
  readonly isTerminal: boolean
  /** The terminal's columns, where it is one and says so. */
  readonly columns: number | undefined
  /** Calls `run` once the reader of the stream has left (`| head`). Absent where that is never known. */
  readonly onReaderLeft?: (run: () => void) => void
}

/** A terminal that can be drawn on, and listened to key by key. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
}

/** The signals that end a process which draws on a terminal. */
export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

/** What ends a process from outside, for a command that must put the terminal right first. */
export interface Interrupts {
  /** Calls `run` when the signal comes, in place of dying of it; the result ends that. */
  readonly on: (signal: Signal, run: () => void) => () => void
  /** Calls `run` with an uncaught error, before it is reported as a bug; the result ends that. */
  readonly onCrash: (run: (error: unknown) => void) => () => void
  /** Ends the process by the signal, so that its parent sees which one it was. */
  readonly raise: (signal: Signal) => void
}

/** What a command may use of the process. */
export interface CommandContext extends SourceIo {
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly clock: Clock
  /**
   * Gives memory back now, where the runtime can be told to: Bun lets its heap grow to twice what is in use before it
   * does so by itself, which shows with a hundred thousand pods.
   */
  readonly collectGarbage?: (which: Garbage) => void
  /**
   * Says that little is left to do. Where the runtime can be told so, it compiles nearly nothing from then on: in a run of
   * 50 ms its compiler takes an eighth of the CPU time and gives less than that back.
   */
  readonly expectShortRun?: () => void
  /** The terminal; undefined where stdin or stdout is none. */
  readonly terminal?: () => Terminal | undefined
  /** The version of kleym. */
  readonly version: string
}

/** What a command answers; the program prints it. */
export interface CommandResult {
  /** For stdout: the answer and nothing else, with its last line break. */
  readonly answer: string
  /** For stderr, after the answer: one line each, escaped when printed. */
  readonly notes: readonly string[]
  /** For stderr, after the notes: finished text from `formatError`. */
  readonly errors?: readonly string[]
  readonly exitCode: ExitCode
}

/** The palette for a stream, stdout if none is given, under `--color`. */
export function paletteFor(flag: ColourFlag, { env, stdout }: CommandContext, stream = stdout): Palette {
  return choosePalette({ flag, env, isTerminal: stream.isTerminal })
}
