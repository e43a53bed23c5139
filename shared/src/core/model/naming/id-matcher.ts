// Which SPIFFE IDs a name takes in: one exactly, or all that have some texts in one order. An index finds the names that take an ID in
// without asking each of them.
import { getOrCreate } from '../../base/get-or-create.ts'
import type { ClientPattern, IdMatcher, Likeness } from '../objects/access-rule.ts'
import { parsedIdProblem, parseSpiffeId } from '../spiffe-id.ts'

/** Whether a matcher takes in an ID. In time `id` by the number of texts. */
export function matchesId(matcher: IdMatcher, id: string): boolean {
  const [first = ''] = matcher
  if (matcher.length < 2) return id === first
  const last = matcher.at(-1) ?? ''
  if (!id.startsWith(first) || !id.endsWith(last)) return false
  let at = first.length
  for (const text of matcher.slice(1, -1)) {
    const found = id.indexOf(text, at)
    if (found === -1) return false
    at = found + text.length
  }
  return at <= id.length - last.length
}

/** Whether a pattern takes in an ID. */
export function patternMatches({ all, none, like }: ClientPattern, id: string): boolean {
  return (
    all.every((list) => anyMatches(list, id)) &&
    !none.some((list) => anyMatches(list, id)) &&
    (like === undefined || isLike(id, like))
  )
}

/** In time `id` by the signs of the text: all places of the text that the ID may have come to are followed at once. */
function isLike(id: string, { text, ignoresCase }: Likeness): boolean {
  const signs = text.replaceAll(/\*+/g, '*')
  const [asked, given] = ignoresCase === true ? [signs.toLowerCase(), id.toLowerCase()] : [signs, id]
  let places = new Set<number>()
  // Any text may be none.
  const reach = (place: number, reached: Set<number>): void => {
    reached.add(place)
    if (asked[place] === '*') reach(place + 1, reached)
  }
  reach(0, places)
  for (const character of given) {
    const reached = new Set<number>()
    for (const place of places) {
      const sign = asked[place]
      const stays = sign === '*' || (sign === '+' && character !== '/')
      if (stays) reach(place, reached)
      if ((stays && sign === '+') || sign === '?' || sign === character) reach(place + 1, reached)
    }
    places = reached
  }
  return places.has(asked.length)
}

/**
 * Whether a pattern matches an ID with placeholders, such as `<pod name>`: by the text that the ID certainly contains, or by
 * its beginning and end.
 */
export function patternMatchesRendered(pattern: ClientPattern, rendered: string): 'yes' | 'perhaps' | 'no' {
  if (!rendered.includes('<')) return patternMatches(pattern, rendered) ? 'yes' : 'no'
  const { all, none, like } = pattern
  // No name holds it: what matches, matches whatever is filled in.
  const surely = rendered.replaceAll(/<[^<>]*>/g, '\0')
  const [begin, end] = [rendered.indexOf('<'), rendered.lastIndexOf('>') + 1]
  const [before, after] = [rendered.slice(0, begin), rendered.slice(end)]
  // A trust domain has no slash: what a matcher asks for from a slash on must stand behind it.
  const isTrustDomain = begin === SCHEME.length && rendered.lastIndexOf('<') === begin
  const mayHold = (text: string): boolean => {
    const slash = text.indexOf('/', text.startsWith(SCHEME) ? SCHEME.length : 0)
    return !isTrustDomain || slash === -1 || after.includes(text.slice(slash))
  }
  const mayMatch = (list: readonly IdMatcher[]): boolean =>
    list.some((matcher) => {
      if (!matcher.every(mayHold)) return false
      const [first = '', last = ''] = [matcher[0], matcher.at(-1)]
      const isBegun = first.startsWith(before) || (matcher.length > 1 && before.startsWith(first))
      return isBegun && (last.endsWith(after) || (matcher.length > 1 && after.endsWith(last)))
    })
  if (like === undefined && patternMatches({ all, none }, surely) && !none.some(mayMatch)) return 'yes'
  return all.every(mayMatch) && !none.some((list) => anyMatches(list, surely)) ? 'perhaps' : 'no'
}

/** Whether one of a list takes in an ID. A long list has an index, since all values beside it ask it. */
function anyMatches(list: readonly IdMatcher[], id: string): boolean {
  if (list.length <= SHORT) return list.some((one) => matchesId(one, id))
  const index = getOrCreate(INDEXES, list, () => {
    const made = new MatcherIndex<true>()
    for (const one of list) made.add(one, true)
    return made
  })
  return index.of(id).size > 0
}

/** As many matchers are asked one by one. */
export const SHORT = 8
const INDEXES = new WeakMap<readonly IdMatcher[], MatcherIndex<true>>()

/** The one ID that a matcher stands for; undefined for several. */
export function exactId(matcher: IdMatcher): string | undefined {
  return matcher.length === 1 ? matcher[0] : undefined
}

/** Whether there may be a SPIFFE ID with a path that a matcher takes in, by its texts alone: that there is none is certain. */
export function mayMatchAny(matcher: IdMatcher): boolean {
  const [first = '', ...others] = matcher
  if (others.length === 0) return parsedIdProblem(parseSpiffeId(first)) === undefined
  if (!first.startsWith(SCHEME)) return true
  return (
    BEGINNING.test(first) &&
    others.every((text) => INSIDE.test(text)) &&
    others.at(-1)?.endsWith('/') !== true
  )
}

const SCHEME = 'spiffe://'
const BEGINNING = /^spiffe:\/\/(?:[a-z0-9._-]*|[a-z0-9._-]+(?:\/(?!\.{1,2}\/)[A-Za-z0-9._-]+)*\/?)$/
const INSIDE = /^(?!.*\/\/)[A-Za-z0-9._/-]*$/

/** Finds what has a matcher that takes in an ID: by the text of a matcher that says most, at all places of the ID. */
export class MatcherIndex<T> {
  readonly #exact = new Map<string, T[]>()
  /** By the text that an ID must begin with, end with or hold, and by its length. */
  readonly #beginning = new TextIndex<T>()
  readonly #end = new TextIndex<T>()
  readonly #inside = new TextIndex<T>()
  readonly #rest: Entry<T>[] = []

  add(matcher: IdMatcher, item: T): void {
    const exact = exactId(matcher)
    if (exact !== undefined) {
      getOrCreate(this.#exact, exact, () => []).push(item)
      return
    }
    const entry = { matcher, item }
    const [first = '', last = ''] = [matcher[0], matcher.at(-1)]
    const inside = matcher.slice(1, -1).find((text) => text.startsWith('/'))
    if (first.length > SCHEME.length) this.#beginning.add(first, entry)
    else if (last !== '') this.#end.add(last, entry)
    else if (inside !== undefined) this.#inside.add(inside, entry)
    else this.#rest.push(entry)
  }

  /** What takes an ID in, each once, in no order to rely on. */
  of(id: string): ReadonlySet<T> {
    const found = new Set(this.#exact.get(id))
    const among = (entries: readonly Entry<T>[]): void => {
      for (const { matcher, item } of entries) if (!found.has(item) && matchesId(matcher, id)) found.add(item)
    }
    this.#beginning.at(id, (length) => [id.slice(0, length)], among)
    this.#end.at(id, (length) => [id.slice(id.length - length)], among)
    const slashes = [...id.matchAll(/\//g)].map(({ index }) => index)
    this.#inside.at(id, (length) => new Set(slashes.map((at) => id.slice(at, at + length))), among)
    among(this.#rest)
    return found
  }
}

interface Entry<T> {
  readonly matcher: IdMatcher
  readonly item: T
}

class TextIndex<T> {
  readonly #byText = new Map<string, Entry<T>[]>()
  readonly #lengths = new Set<number>()

  add(text: string, entry: Entry<T>): void {
    getOrCreate(this.#byText, text, () => []).push(entry)
    this.#lengths.add(text.length)
  }

  at(
    id: string,
    textsOf: (length: number) => Iterable<string>,
    among: (entries: readonly Entry<T>[]) => void,
  ): void {
    for (const length of this.#lengths) {
      if (length > id.length) continue
      for (const text of textsOf(length)) {
        const entries = this.#byText.get(text)
        if (entries !== undefined) among(entries)
      }
    }
  }
}
