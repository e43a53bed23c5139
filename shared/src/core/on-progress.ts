// Long work reports its progress, so that its caller can free memory meanwhile. The work stays pure: its result does not
// depend on the listener.

/** Called after each object. It must not throw, nor change anything that the work reads. */
export type OnProgress = () => void

/** Ignores all reports. */
export const IGNORE_PROGRESS: OnProgress = () => {}

/** Yields the items, and reports each of them. */
export function* reporting<T>(items: Iterable<T>, onProgress: OnProgress): Generator<T, void, undefined> {
  for (const item of items) {
    onProgress()
    yield item
  }
}
