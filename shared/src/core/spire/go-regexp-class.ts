// Character classes of Go's regular expressions as sorted ranges of code points: lowest, highest, lowest, highest...
// (`regexp/syntax` of Go 1.26: `perl_groups.go`, `appendFoldedRange`, `negateClass`).

/** Sorted, disjoint ranges of code points: lowest, highest, lowest, highest... */
export type Ranges = readonly number[]

const LARGEST = 0x10ffff
/** Go folds nothing below or above these. */
const FIRST_FOLDED = 0x41
const LAST_FOLDED = 0x1e943

const LONG_S = 0x17f
const KELVIN = 0x212a

/** Any character; any character but a line feed. */
export const ANY: Ranges = [0, LARGEST]
export const ANY_BUT_LINE_FEED: Ranges = [0, 0x09, 0x0b, LARGEST]

/** `\d`, `\s` and `\w`; a capital stands for the complement. */
export const PERL_CLASSES: ReadonlyMap<string, Ranges> = new Map([
  ['d', [0x30, 0x39]],
  ['s', [0x09, 0x0a, 0x0c, 0x0d, 0x20, 0x20]],
  ['w', [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a]],
])

/** The classes of `[[:alpha:]]`, by name; `[:^alpha:]` is the complement. */
export const POSIX_CLASSES: ReadonlyMap<string, Ranges> = new Map([
  ['alnum', [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a]],
  ['alpha', [0x41, 0x5a, 0x61, 0x7a]],
  ['ascii', [0x00, 0x7f]],
  ['blank', [0x09, 0x09, 0x20, 0x20]],
  ['cntrl', [0x00, 0x1f, 0x7f, 0x7f]],
  ['digit', [0x30, 0x39]],
  ['graph', [0x21, 0x7e]],
  ['lower', [0x61, 0x7a]],
  ['print', [0x20, 0x7e]],
  ['punct', [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e]],
  ['space', [0x09, 0x0d, 0x20, 0x20]],
  ['upper', [0x41, 0x5a]],
  ['word', [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a]],
  ['xdigit', [0x30, 0x39, 0x41, 0x46, 0x61, 0x66]],
])

/** Sorts ranges and joins those that touch. */
export function normalise(ranges: Ranges): Ranges {
  const pairs: [number, number][] = []
  for (let at = 0; at + 1 < ranges.length; at += 2) pairs.push([ranges[at] ?? 0, ranges[at + 1] ?? 0])
  pairs.sort((a, b) => a[0] - b[0])
  const joined: [number, number][] = []
  for (const [lowest, highest] of pairs) {
    const last = joined.at(-1)
    if (last !== undefined && lowest <= last[1] + 1) last[1] = Math.max(last[1], highest)
    else joined.push([lowest, highest])
  }
  return joined.flat()
}

/** All characters that `ranges` do not hold. */
export function complement(ranges: Ranges): Ranges {
  const rest: number[] = []
  let lowest = 0
  const sorted = normalise(ranges)
  for (let at = 0; at + 1 < sorted.length; at += 2) {
    const start = sorted[at] ?? 0
    if (start > lowest) rest.push(lowest, start - 1)
    lowest = (sorted[at + 1] ?? 0) + 1
  }
  if (lowest <= LARGEST) rest.push(lowest, LARGEST)
  return rest
}

/**
 * The characters from `lowest` to `highest` and whatever differs from them in case only; undefined where that takes
 * Unicode's folding tables, which are not followed here.
 */
export function foldCase(lowest: number, highest: number): Ranges | undefined {
  const folded = [lowest, highest]
  const none = highest < FIRST_FOLDED || lowest > LAST_FOLDED
  const all = lowest <= FIRST_FOLDED && highest >= LAST_FOLDED
  if (none || all) return folded
  const special = lowest === highest && (lowest === LONG_S || lowest === KELVIN)
  if (highest > 0x7f && !special) return undefined
  for (let letter = 0x61; letter <= 0x7a; letter++) {
    const orbit = [letter, letter - 0x20]
    if (letter === 0x6b) orbit.push(KELVIN)
    if (letter === 0x73) orbit.push(LONG_S)
    if (orbit.some((member) => member >= lowest && member <= highest)) {
      for (const member of orbit) folded.push(member, member)
    }
  }
  return folded
}
