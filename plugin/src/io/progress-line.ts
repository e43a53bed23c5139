// One line that shows a person who waits how far an answer has come: on stderr, if that is a terminal, from one second on. Reading
// files and working on what was read give timers no turn, so they ask for the line themselves.
import type { SourceIo } from './context.ts'

/** What takes longer than this shows its progress, in milliseconds. */
export const SHOW_AFTER_MS = 1_000
/** How long a line stands at least, in milliseconds. */
const SHOWN_FOR_MS = 100
/** Carriage return, and erase to the end of the line (ECMA-48 EL). */
const BACK = '\r\u001B[K'

/** The line of progress. */
export interface ProgressLine {
  /** Shows the line if it is time to; `text` is asked for only then. */
  readonly at: (text: () => string) => void
  /** Shows the line at once: before a single step that is known to take long, or when a timer says that it is time. */
  readonly now: (text: string) => void
  /** Wipes the line away. */
  readonly end: () => void
}

const NONE: ProgressLine = { at: () => {}, now: () => {}, end: () => {} }

/** Begins to count the time; undefined where nobody would see the line, or a log would keep it. */
export function progressLine({
  stderr,
  clock,
  env,
}: Pick<SourceIo, 'stderr' | 'clock' | 'env'>): ProgressLine | undefined {
  if (stderr?.isTerminal !== true || clock === undefined) return undefined
  if (env['TERM'] === 'dumb' || (env['CI'] ?? '') !== '') return undefined
  let next = clock.monotonicMs() + SHOW_AFTER_MS
  let isShown = false
  const now = (text: string): void => {
    next = clock.monotonicMs() + SHOWN_FOR_MS
    isShown = true
    stderr.write(`${BACK}${text.slice(0, (stderr.columns ?? 80) - 1)}`)
  }
  return {
    now,
    at: (text) => {
      if (clock.monotonicMs() >= next) now(text())
    },
    end: () => {
      if (isShown) stderr.write(BACK)
      isShown = false
    },
  }
}

/** The same, where a line that nobody sees is as good as one. */
export function anyProgressLine(io: Pick<SourceIo, 'stderr' | 'clock' | 'env'>): ProgressLine {
  return progressLine(io) ?? NONE
}
