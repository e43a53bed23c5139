// Names for people: a few, and how many more there are.

const NAMED = 6

/** `a, b, c` or `a, b, c, d, e, f and 12 more`. */
export function namesText(names: readonly string[]): string {
  const distinct = [...new Set(names)]
  const more = distinct.length - NAMED
  return more > 0 ? `${distinct.slice(0, NAMED).join(', ')} and ${more} more` : distinct.join(', ')
}

/** `1 policy`, `2 policies`. */
export function policiesText(count: number): string {
  return count === 1 ? '1 policy' : `${count} policies`
}
