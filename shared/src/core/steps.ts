// Long work in steps. The work is pure and does not know who drives it: the one that does may pause between two steps, to
// give memory back for example, and nothing that the work returns depends on it.

/** Work that returns a `T` and can be paused wherever it yields: at each object that it works on. */
export type Steps<T> = Generator<void, T, void>

/** Drives work to its end and returns its result. */
export type Drive = <T>(steps: Steps<T>) => T

/** Drives work to its end without a pause. */
export const driveAtOnce: Drive = (steps) => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
