// The SPIFFE IDs in a text, wherever they stand in it: the value of a variable, an argument, a line of a configuration.
import { entryIdProblem } from './spiffe-id.ts'

/** What begins every SPIFFE ID. */
export const SCHEME = 'spiffe://'

/** A SPIFFE ID in a text; or, if `isWhole` is false, the beginning of a pattern, a template or a folder of IDs. */
export interface IdInText {
  readonly text: string
  readonly isWhole: boolean
}

/** In the order of the text, in time linear in it. A trust domain without a path is no identity, and left out. */
export function idsInText(text: string): readonly IdInText[] {
  const found: IdInText[] = []
  for (let at = text.indexOf(SCHEME); at !== -1; at = text.indexOf(SCHEME, at + SCHEME.length)) {
    ID.lastIndex = at
    const match = ID.exec(text)?.[0]
    if (match === undefined) continue
    const end = at + match.length
    const isAll = at === 0 && end === text.length
    const id = isAll ? match : withoutStops(match)
    const isWhole = !OPEN_END.has(text.charAt(end)) && entryIdProblem(id) === undefined
    if (isWhole) found.push({ text: id, isWhole })
    else if (id.length > SCHEME.length && (id.includes('/', SCHEME.length) || OPEN_END.has(text.charAt(end))))
      found.push({ text: id, isWhole })
  }
  return found
}

/** A full stop at the end of a sentence is no part of an ID. */
function withoutStops(text: string): string {
  let end = text.length
  while (text.charAt(end - 1) === '.') end -= 1
  return text.slice(0, end)
}

const ID = /spiffe:\/\/[A-Za-z0-9._-]*(?:\/[A-Za-z0-9._-]+)*\/?/y
/** What follows an ID that something else completes: a template, a variable, a regular expression, a wildcard. */
const OPEN_END: ReadonlySet<string> = new Set('{$<%*[(+?\\')

/** Whether a text may hold a SPIFFE ID, plain or in the Base64 of a Secret. */
export function mayHoldIds(text: string): boolean {
  return text.includes(SCHEME) || BASE64_SCHEMES.some((one) => text.includes(one))
}

/** `spiffe://` in Base64 at each of its three places: without the characters that its neighbours change. */
const BASE64_SCHEMES = ['c3BpZmZlOi8v', 'NwaWZmZTovL', 'zcGlmZmU6Ly']
