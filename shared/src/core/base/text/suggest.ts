// Did-you-mean: the nearest of a few known words, by Damerau-Levenshtein distance (optimal string alignment: a swap of
// two neighbours counts as one edit).

/** The known words that are closest to `written`, best first, at most three; empty when none is near. */
export function nearest(written: string, known: readonly string[]): readonly string[] {
  const word = written.toLowerCase()
  // A third of the letters may be wrong, at least one and at most three, so that a short word does not match all others.
  const limit = Math.max(1, Math.min(3, Math.floor(word.length / 3)))
  return known
    .map((candidate) => ({ candidate, distance: rank(word, candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, 3)
    .map(({ candidate }) => candidate)
}

/** `did you mean a, b or c?`, or undefined when nothing is near. */
export function didYouMean(written: string, known: readonly string[]): string | undefined {
  const close = nearest(written, known)
  if (close.length === 0) return undefined
  const last = close.at(-1) ?? ''
  return `did you mean ${close.length === 1 ? last : `${close.slice(0, -1).join(', ')} or ${last}`}?`
}

/** A word that begins with what was written (`who` for `who-selects`) or holds it (`class-name`, if long enough) counts as one edit away. */
function rank(word: string, candidate: string): number {
  if (word.length >= 2 && candidate.startsWith(word)) return 1
  if (word.length >= HELD_FROM && candidate.includes(word)) return 1
  return editDistance(word, candidate)
}

/** Shorter words stand in many. */
const HELD_FROM = 5

/** Edits from one word to the other: insert, delete, replace, swap neighbours. Words beyond 64 letters are far apart. */
export function editDistance(left: string, right: string): number {
  if (left.length > 64 || right.length > 64) return Number.POSITIVE_INFINITY
  const width = right.length + 1
  let before = Array.from({ length: width }, () => 0)
  let previous = Array.from({ length: width }, (_, at) => at)
  for (let i = 1; i <= left.length; i++) {
    const row = [i]
    for (let j = 1; j < width; j++) {
      const same = left[i - 1] === right[j - 1]
      let best = Math.min(
        (previous[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (previous[j - 1] ?? 0) + (same ? 0 : 1),
      )
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1])
        best = Math.min(best, (before[j - 2] ?? 0) + 1)
      row.push(best)
    }
    before = previous
    previous = row
  }
  return previous[right.length] ?? 0
}
