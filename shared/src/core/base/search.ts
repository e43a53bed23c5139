// Whether a long text holds many others: by an index of its pieces, and not by a look at all of it for each.
import { getOrCreate } from './get-or-create.ts'

/** Characters of a piece. */
const PIECE = 12

/** Makes a function that tells what `includes` tells. What has fewer characters than two pieces is looked for in the whole text. */
export function searchIn(text: string): (part: string) => boolean {
  const places = new Map<string, number[]>()
  for (let at = 0; at + PIECE <= text.length; at += PIECE)
    getOrCreate(places, text.slice(at, at + PIECE), () => []).push(at)
  return (part) => {
    if (part.length < 2 * PIECE) return text.includes(part)
    // A piece of the text begins at one of the first characters of the part, wherever that stands, and so do all that follow it.
    for (let shift = 0; shift < PIECE; shift += 1) {
      let [rarest, from]: [readonly number[] | undefined, number] = [undefined, shift]
      for (let at = shift; at + PIECE <= part.length; at += PIECE) {
        const found = places.get(part.slice(at, at + PIECE)) ?? []
        if (rarest === undefined || found.length < rarest.length) [rarest, from] = [found, at]
      }
      if (rarest?.some((at) => text.startsWith(part, at - from)) === true) return true
    }
    return false
  }
}
