// A line on stderr that tells how far the files have been read, where that takes longer than a second and a person is
// watching. Reading does not give timers a turn, so the reader itself asks for the line.
import type { SourceIo } from '../io/context.ts'

/** What takes longer than this shows its progress, in milliseconds. */
const SHOW_AFTER_MS = 1_000
/** How long a line stands at least, in milliseconds. */
const SHOWN_FOR_MS = 100
/** Carriage return, and erase to the end of the line (ECMA-48 EL). */
const BACK = '\r\u001B[K'

/** The line of progress. */
export interface FileProgress {
  /** Shows the line if it is time to; `text` is asked for only then. */
  readonly at: (text: () => string) => void
  /** Wipes the line away. */
  readonly end: () => void
}

/** Begins to count the time; shows nothing where stderr is no terminal. */
export function fileProgress({
  stderr,
  clock,
  env,
}: Pick<SourceIo, 'stderr' | 'clock' | 'env'>): FileProgress {
  if (stderr?.isTerminal !== true || clock === undefined || env['TERM'] === 'dumb')
    return { at: () => {}, end: () => {} }
  let next = clock.monotonicMs() + SHOW_AFTER_MS
  let isShown = false
  return {
    at: (text) => {
      const now = clock.monotonicMs()
      if (now < next) return
      next = now + SHOWN_FOR_MS
      isShown = true
      stderr.write(`${BACK}${text().slice(0, (stderr.columns ?? 80) - 1)}`)
    },
    end: () => {
      if (isShown) stderr.write(BACK)
      isShown = false
    },
  }
}
