// What has come of a cluster so far, on the line of progress.
import { progressLine, SHOW_AFTER_MS } from '../io/progress-line.ts'
import type { CommandContext } from '../io/context.ts'
import type { OnPage } from './reader.ts'

/** What has come so far. */
export interface Progress {
  readonly onPage: OnPage
  /** Wipes the line away. */
  readonly end: () => void
}

/** Begins to wait; shows nothing where there is no line. */
export function showProgress(io: Pick<CommandContext, 'stderr' | 'clock' | 'env'>): Progress {
  const line = progressLine(io)
  if (line === undefined) return { onPage: () => {}, end: () => {} }
  const counts = new Map<string, number>()
  const text = (): string => {
    const read = [...counts].filter(([, count]) => count > 0).map(([plural, count]) => `${count} ${plural}`)
    return `reading the cluster${read.length === 0 ? '' : `: ${read.join(', ')}`}`
  }
  let hasEnded = false
  // A server may send nothing at all.
  const cancel = io.clock.after(SHOW_AFTER_MS, () => line.now(text()))
  return {
    onPage: ({ plural }, added) => {
      counts.set(plural, (counts.get(plural) ?? 0) + added)
      if (!hasEnded) line.at(text)
    },
    end: () => {
      hasEnded = true
      cancel()
      line.end()
    },
  }
}
