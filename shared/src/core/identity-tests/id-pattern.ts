// The patterns of SPIFFE IDs in identity tests. No regular expression: a hostile pattern must not take long.

/** A pattern of SPIFFE IDs, read. */
export interface IdPattern {
  readonly text: string
  /** The ID itself, where the pattern stands for one alone. */
  readonly exact: string | undefined
  /** What `{namespace}` stands for in an ID that fits, empty where the pattern has none; undefined where it does not fit. */
  readonly match: (spiffeId: string) => string | undefined
}

/** The placeholder of a segment. */
export const NAMESPACE_CAPTURE = '{namespace}'

/** `*` stands for a part of one segment, `**` for any rest, segments included. */
export function globPattern(text: string): IdPattern {
  if (!text.includes('*')) return { text, exact: text, match: (id) => (id === text ? '' : undefined) }
  const tokens = text.match(/\*\*+|\*|[^*]+/g) ?? []
  return { text, exact: undefined, match: (id) => (fits(tokens, id) ? '' : undefined) }
}

/** Whether a text is made of the tokens: the places that can be reached behind each of them, one token after the other. */
function fits(tokens: readonly string[], text: string): boolean {
  let reached: readonly number[] = [0]
  for (const token of tokens) {
    reached = token.startsWith('*')
      ? behindStar(reached, text, token.length > 1)
      : reached.filter((at) => text.startsWith(token, at)).map((at) => at + token.length)
    if (reached.length === 0) return false
  }
  return reached.includes(text.length)
}

/** Each place once, in order. */
function behindStar(from: readonly number[], text: string, crossesSlash: boolean): readonly number[] {
  const places: number[] = []
  let next = 0
  for (const start of from) {
    for (let at = Math.max(start, next); at <= text.length; at++) {
      places.push(at)
      next = at + 1
      if (!crossesSlash && text[at] === '/') break
    }
  }
  return places
}

/** Every ID that begins with the text, up to the end of a segment: `…/ns/a` is no prefix of `…/ns/ab`. */
export function prefixPattern(text: string): IdPattern {
  const at = text.indexOf(NAMESPACE_CAPTURE)
  const [head, tail] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + NAMESPACE_CAPTURE.length)]
  const endsSegment = (id: string, end: number): boolean =>
    text.endsWith('/') || end === id.length || id[end] === '/'
  return {
    text,
    exact: undefined,
    match: (id) => {
      if (!id.startsWith(head)) return undefined
      if (at < 0) return endsSegment(id, head.length) ? '' : undefined
      const slash = id.indexOf('/', head.length)
      const end = slash < 0 ? id.length : slash
      const captured = id.slice(head.length, end)
      if (captured === '' || !id.startsWith(tail, end)) return undefined
      return endsSegment(id, end + tail.length) ? captured : undefined
    },
  }
}

const SCHEME = 'spiffe://'
/** A pattern of more is no pattern that a person reads. */
const STARS_MAX = 8

/** Why a text is no SPIFFE ID, or no pattern of one; undefined where it is. */
export function idProblem(text: string, form: 'id' | 'pattern' | 'prefix'): string | undefined {
  if (!text.startsWith(SCHEME)) return `it does not begin with ${SCHEME}`
  if (trustDomainOf(text) === '') return 'it has no trust domain'
  const stars = text.split('*').length - 1
  if (form === 'prefix' && stars > 0)
    return 'a prefix holds no star: it stands for whatever begins with it anyway'
  if (form === 'id' && stars > 0) return 'a pattern cannot stand here; write the whole ID'
  if (stars > STARS_MAX) return `it holds more than ${STARS_MAX} stars`
  if (trustDomainOf(text).includes('*')) return 'a trust domain cannot be a pattern'
  const captures = text.split(NAMESPACE_CAPTURE).length - 1
  if (form !== 'prefix' && captures > 0)
    return `${NAMESPACE_CAPTURE} stands for a segment in identitiesBelow alone`
  return captures > 1 ? `${NAMESPACE_CAPTURE} stands twice` : undefined
}

/** The trust domain of a SPIFFE ID, or of a pattern; empty where it has none. */
export function trustDomainOf(text: string): string {
  return text.slice(SCHEME.length).split('/')[0] ?? ''
}
