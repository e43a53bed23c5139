// Lists of names for people: a few, and how many more.

const NAMED = 6

/** `a, b, c` or `a, b, c, d, e, f and 12 more`. */
export function namesText(names: readonly string[]): string {
  const distinct = [...new Set(names)]
  const more = distinct.length - NAMED
  return more > 0 ? `${distinct.slice(0, NAMED).join(', ')} and ${more} more` : distinct.join(', ')
}
