// Lists of what there is to say: each part beside its condition.

/** The parts that are there, in their order: one whose condition does not hold is `false`, one without a value is undefined. */
export function present<T>(...parts: readonly (T | false | undefined)[]): readonly T[] {
  return parts.filter((part): part is T => part !== false && part !== undefined)
}
