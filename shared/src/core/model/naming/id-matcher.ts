// Which SPIFFE IDs a name takes in: one exactly, or all that have some texts in one order. An index finds the names that take an ID in
// without asking each of them.
import { getOrCreate } from '../../base/get-or-create.ts'
import { lazy } from '../../base/lazy.ts'
import { beginningWith, distinct } from '../../base/text/bytes.ts'
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
  const { before, after, isTrustDomain } = knownOf(rendered)
  const mayHold = (text: string): boolean => {
    const end = fromSlash(text)
    return !isTrustDomain || end === undefined || after.includes(end)
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

/** What is known of an ID with placeholders, before the first of them and behind the last. */
function knownOf(rendered: string): {
  readonly before: string
  readonly after: string
  /** It has one placeholder, for its trust domain, which has no slash: what a matcher asks for from a slash on must stand behind it. */
  readonly isTrustDomain: boolean
} {
  const [begin, end] = [rendered.indexOf('<'), rendered.lastIndexOf('>') + 1]
  return {
    before: rendered.slice(0, begin),
    after: rendered.slice(end),
    isTrustDomain: begin === SCHEME.length && rendered.lastIndexOf('<') === begin,
  }
}

/** What a text holds from its first slash on, the scheme aside. */
function fromSlash(text: string): string | undefined {
  const slash = text.indexOf('/', text.startsWith(SCHEME) ? SCHEME.length : 0)
  return slash === -1 ? undefined : text.slice(slash)
}

/** Whether one of a list takes in an ID. A long list has an index, since all values beside it ask it. */
function anyMatches(list: readonly IdMatcher[], id: string): boolean {
  if (list.length <= SHORT) return list.some((one) => matchesId(one, id))
  const index = getOrCreate(
    INDEXES,
    list,
    () => new MatcherIndex(list.map((matcher) => ({ matcher, item: true }))),
  )
  return index.of(id).size > 0
}

/** As many matchers are asked one by one. */
export const SHORT = 8
const INDEXES = new WeakMap<readonly IdMatcher[], MatcherIndex<boolean>>()

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

/** What has a matcher. */
export interface MatcherEntry<T> {
  readonly matcher: IdMatcher
  readonly item: T
}

/** Finds what has a matcher that takes in an ID, without asking each of them. */
export class MatcherIndex<T> {
  readonly #exact: () => ReadonlyMap<string, readonly MatcherEntry<T>[]>
  readonly #byText: () => TextIndex<T>
  readonly #fromSlash: () => TextIndex<T>
  readonly #beginnings: () => BeginningIndex<T>

  constructor(all: readonly MatcherEntry<T>[]) {
    this.#exact = lazy(() =>
      Map.groupBy(
        all.filter(({ matcher }) => matcher.length === 1),
        ({ matcher: [text = ''] }) => text,
      ),
    )
    const open = lazy(() => all.filter(({ matcher }) => matcher.length !== 1))
    this.#byText = lazy(() => new TextIndex(open(), textsAsked))
    this.#fromSlash = lazy(() => new TextIndex(all, textsFromSlash))
    this.#beginnings = lazy(() => new BeginningIndex(all))
  }

  /** What takes an ID in, each once, in no order to rely on. */
  of(id: string): ReadonlySet<T> {
    const found = new Set(
      this.#exact()
        .get(id)
        ?.map(({ item }) => item),
    )
    for (const { matcher, item } of this.#byText().in(id))
      if (!found.has(item) && matchesId(matcher, id)) found.add(item)
    return found
  }

  /** What may take in an ID with placeholders (`patternMatchesRendered`), and little else. */
  mayTake(rendered: string): ReadonlySet<T> {
    if (!rendered.includes('<')) return this.of(rendered)
    const { before, after, isTrustDomain } = knownOf(rendered)
    const entries = isTrustDomain ? this.#fromSlash().in(after) : this.#beginnings().along(before)
    return new Set([...entries].map(({ item }) => item))
  }
}

/** Where a text must stand in what a matcher takes in: at its beginning, at its end, or from a slash on. */
type Place = 'beginning' | 'end' | 'slash'
type AskedText = readonly [Place, string]

function keyOf([place, text]: AskedText): string {
  return `${place} ${text}`
}

function textsAsked(matcher: IdMatcher): readonly AskedText[] {
  const [first = '', last = ''] = [matcher[0], matcher.at(-1)]
  const inside = matcher.slice(1, -1).filter((text) => text.startsWith('/'))
  return [
    ...(first.length > SCHEME.length ? [['beginning', first] as const] : []),
    ...(last === '' ? [] : [['end', last] as const]),
    ...inside.map((text) => ['slash', text] as const),
  ]
}

function textsFromSlash(matcher: IdMatcher): readonly AskedText[] {
  return matcher.flatMap((text) => {
    const end = fromSlash(text)
    return end === undefined || end.includes('//') ? [] : [['slash', end] as const]
  })
}

/** Matchers by the one of their texts that the fewest others have. */
class TextIndex<T> {
  readonly #byPlace: Readonly<Record<Place, Map<string, MatcherEntry<T>[]>>> = {
    beginning: new Map(),
    end: new Map(),
    slash: new Map(),
  }
  readonly #lengths: Readonly<Record<Place, Set<number>>> = {
    beginning: new Set(),
    end: new Set(),
    slash: new Set(),
  }
  /** Those without a text. */
  readonly #rest: MatcherEntry<T>[] = []

  constructor(entries: readonly MatcherEntry<T>[], textsOf: (matcher: IdMatcher) => readonly AskedText[]) {
    const counts = new Map<string, number>()
    const texts = entries.map(({ matcher }) => textsOf(matcher))
    for (const one of texts.flat()) counts.set(keyOf(one), (counts.get(keyOf(one)) ?? 0) + 1)
    const countOf = (one: AskedText): number => counts.get(keyOf(one)) ?? 0
    entries.forEach((entry, at) => {
      const [rarest] = (texts[at] ?? []).toSorted((a, b) => countOf(a) - countOf(b))
      if (rarest === undefined) this.#rest.push(entry)
      else {
        const [place, text] = rarest
        getOrCreate(this.#byPlace[place], text, () => []).push(entry)
        this.#lengths[place].add(text.length)
      }
    })
  }

  /** Those whose text stands in its place in an ID or a part of it, and those without a text. */
  *in(id: string): Iterable<MatcherEntry<T>> {
    const { beginning, end, slash } = this.#byPlace
    for (const length of this.#lengths.beginning)
      if (length <= id.length) yield* beginning.get(id.slice(0, length)) ?? []
    for (const length of this.#lengths.end)
      if (length <= id.length) yield* end.get(id.slice(id.length - length)) ?? []
    if (slash.size > 0)
      for (let at = id.indexOf('/'); at !== -1; at = id.indexOf('/', at + 1))
        for (const length of this.#lengths.slash)
          if (at + length <= id.length) yield* slash.get(id.slice(at, at + length)) ?? []
    yield* this.#rest
  }
}

/** Matchers by their first text. */
class BeginningIndex<T> {
  readonly #byFirst: ReadonlyMap<string, readonly MatcherEntry<T>[]>
  readonly #sorted: readonly string[]

  constructor(entries: readonly MatcherEntry<T>[]) {
    this.#byFirst = Map.groupBy(entries, ({ matcher: [first = ''] }) => first)
    this.#sorted = distinct(this.#byFirst.keys())
  }

  /** Those whose first text begins with a text, or the other way round. */
  *along(text: string): Iterable<MatcherEntry<T>> {
    for (let length = 0; length < text.length; length += 1)
      yield* this.#byFirst.get(text.slice(0, length)) ?? []
    for (const first of beginningWith(text, this.#sorted)) yield* this.#byFirst.get(first) ?? []
  }
}
