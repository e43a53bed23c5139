// Long work says now and then how far it has come, so that whoever runs it can give memory back meanwhile. The work itself
// stays pure: nothing that it answers depends on who listens.

/** Told that one more object has been worked on. It must not throw, nor change anything that the work reads. */
export type OnProgress = () => void

/** Nobody listens. */
export const IGNORE_PROGRESS: OnProgress = () => {}

/** The items, each of them a step. */
export function* reporting<T>(items: Iterable<T>, onProgress: OnProgress): Generator<T, void, undefined> {
  for (const item of items) {
    onProgress()
    yield item
  }
}
