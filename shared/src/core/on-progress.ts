// Long work says now and then how far it has come, so that whoever runs it can give memory back meanwhile. The work itself
// stays pure: nothing that it answers depends on who listens.

/** Told that one more object has been worked on. It must not throw, nor change anything that the work reads. */
export type Pace = () => void

/** Nobody listens. */
export const NO_PACE: Pace = () => {}

/** The items, each of them a step. */
export function* paced<T>(items: Iterable<T>, pace: Pace): Generator<T, void, undefined> {
  for (const item of items) {
    pace()
    yield item
  }
}
