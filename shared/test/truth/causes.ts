// Causes for tests: each name is one cause.
import type { Unknown } from '../../src/core/truth/unknown.ts'

/** A cause that differs from those of other names. */
export function causeNamed(name: string): Unknown {
  return { kind: 'runtime', of: { kind: 'Pod' }, fact: 'node', why: name }
}

/** The names of causes made by `causeNamed`, in their order. */
export function namesOf(causes: Iterable<Unknown>): readonly string[] {
  return [...causes].map((cause) => (cause.kind === 'runtime' ? cause.why : cause.kind))
}
