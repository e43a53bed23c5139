// A line on stderr that tells what has come so far, where a read takes longer than a second and a person is watching.
import type { CommandContext } from '../io/context.ts'
import type { OnPage } from './reader.ts'

/** A read that takes longer than this, in milliseconds, shows its progress. */
const SHOW_AFTER_MS = 1_000
/** Carriage return, and erase to the end of the line (ECMA-48 EL). */
const BACK = '\r\u001B[K'

/** The line of progress. */
export interface Progress {
  readonly onPage: OnPage
  /** Wipes the line away. */
  readonly end: () => void
}

/** Begins to wait; shows nothing where stderr is no terminal. */
export function showProgress({
  stderr,
  clock,
  env,
}: Pick<CommandContext, 'stderr' | 'clock' | 'env'>): Progress {
  const isShown = stderr.isTerminal && env['TERM'] !== 'dumb'
  if (!isShown) return { onPage: () => {}, end: () => {} }
  const counts = new Map<string, number>()
  let isLate = false
  let ended = false
  const show = (): void => {
    const read = [...counts].filter(([, count]) => count > 0).map(([plural, count]) => `${count} ${plural}`)
    const text = `reading the cluster${read.length === 0 ? '' : `: ${read.join(', ')}`}`
    stderr.write(`${BACK}${text.slice(0, (stderr.columns ?? 80) - 1)}`)
  }
  const cancel = clock.after(SHOW_AFTER_MS, () => {
    isLate = true
    show()
  })
  return {
    onPage: ({ plural }, added) => {
      counts.set(plural, (counts.get(plural) ?? 0) + added)
      if (isLate && !ended) show()
    },
    end: () => {
      if (isLate && !ended) stderr.write(BACK)
      ended = true
      cancel()
    },
  }
}
