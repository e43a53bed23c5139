// Things that are said together, and things that are said once.

/** What has the same key: at least one, in the order in which they came. */
export type Group<T> = readonly [T, ...T[]]

/** Things by a key of theirs, in the order of the first of each group. */
export function groupsBy<T>(all: readonly T[], keyOf: (one: T) => unknown): readonly Group<T>[] {
  // A map takes more than what is in it: one thing, as most pods show, needs none.
  if (all.length === 1) return all.map((one): Group<T> => [one])
  const groups = new Map<unknown, [T, ...T[]]>()
  for (const one of all) {
    const key = keyOf(one)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [one])
    else group.push(one)
  }
  return [...groups.values()]
}

/** Things that may share keys, one of each key: the last of them, in the place of the first. */
export function onceBy<T>(all: Iterable<T>, keyOf: (one: T) => unknown): T[] {
  const byKey = new Map<unknown, T>()
  for (const one of all) byKey.set(keyOf(one), one)
  return [...byKey.values()]
}
