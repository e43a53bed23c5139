// Causes for tests: each name is one cause.
import { atRuntime, type Unknown } from '../../src/core/model/truth/unknown.ts'

/** A cause that differs from those of other names. */
export function causeNamed(name: string): Unknown {
  return atRuntime(name, 'Pod')
}

/** The names of causes made by `causeNamed`, in their order. */
export function namesOf(causes: Iterable<Unknown>): readonly string[] {
  return [...causes].map((cause) => (cause.kind === 'runtime' ? cause.why : cause.kind))
}
