// Long work in steps. The work is pure and does not know who drives it: the one that does may pause between two steps, to
// give memory back for example, and nothing that the work returns depends on it.

/** Work that returns a `T` and can be paused wherever it yields: at each object that it works on. */
export type Steps<T> = Generator<void, T, void>

/** How much each step of a work leaves behind that is not needed any more: a rule about a pod much, reading the pod little. */
export type StepWaste = 'much' | 'little'

/** Drives work to its end and returns its result; without `waste`, each step may leave much behind. */
export type Drive = <T>(steps: Steps<T>, waste?: StepWaste) => T

/** Drives work to its end without a pause. */
export const driveAtOnce: Drive = (steps) => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
