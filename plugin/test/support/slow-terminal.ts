// What a person at a terminal sees of work that takes long.
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { FakeClock } from '@kleym/testing/fake-clock.ts'

/** A terminal of 80 columns, on a machine that takes so long between two looks at the clock; `written` fills as it is written to. */
export function slowTerminal(lookMs: number): {
  readonly clock: Clock
  readonly stderr: {
    readonly write: (text: string) => void
    readonly isTerminal: true
    readonly columns: number
  }
  readonly written: readonly string[]
} {
  const clock = new FakeClock()
  const written: string[] = []
  return {
    clock: {
      now: () => clock.now(),
      after: (ms, run) => clock.after(ms, run),
      monotonicMs: () => {
        clock.advance(lookMs)
        return clock.monotonicMs()
      },
    },
    stderr: { write: (text) => void written.push(text), isTerminal: true, columns: 80 },
    written,
  }
}
