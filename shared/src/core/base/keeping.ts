// What was made of a text before, for those that ask again: the same template is asked about in each world and for each state.

/** So many are kept; with one more, all are let go. A template may be some 10 KB, and an install has a handful. */
const KEPT_MAX = 100

/** Makes something of a text once. It must not change, and depend on the text alone. */
export function keeping<Made>(make: (text: string) => Made): (text: string) => Made {
  const kept = new Map<string, Made>()
  return (text) => {
    const known = kept.get(text)
    if (known !== undefined) return known
    const made = make(text)
    if (kept.size >= KEPT_MAX) kept.clear()
    kept.set(text, made)
    return made
  }
}
