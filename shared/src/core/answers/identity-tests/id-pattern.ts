// The patterns of SPIFFE IDs in identity tests. No regular expression: a hostile pattern must not take long.
import { getOrCreate } from '../../base/get-or-create.ts'
import { mayBecome } from '../../base/go/template/mentions.ts'
import { PLAIN_FACTS } from '../../predict/index.ts'
import { NO, open, YES, type Truth } from '../../model/truth/truth.ts'
import { atRuntime } from '../../model/truth/unknown.ts'
import { parseSpiffeId } from '../../model/spiffe-id.ts'

/** Whether an ID is of a pattern; open: a part of the ID is known only when the pod runs. */
export interface PatternMatch {
  readonly fits: Truth
  /** What `{namespace}` stands for in an ID that fits for certain; undefined where the pattern has none. */
  readonly captured: string | undefined
}

/** A pattern of SPIFFE IDs, read. */
export interface IdPattern {
  readonly text: string
  /** The ID itself, where the pattern stands for one alone. */
  readonly exact: string | undefined
  readonly match: (spiffeId: string) => PatternMatch
}

/** That a part of an ID is not known. */
export const IN_PART = open(atRuntime('the whole ID is known only when the pod runs'))

/** The placeholder of a segment. */
export const NAMESPACE_CAPTURE = '{namespace}'

const FITS: PatternMatch = { fits: YES, captured: undefined }
const MAYBE: PatternMatch = { fits: IN_PART, captured: undefined }
const NEVER: PatternMatch = { fits: NO, captured: undefined }

/** `*` stands for a part of one segment, `**` for any rest, segments included. */
export function globPattern(text: string): IdPattern {
  if (!text.includes('*')) {
    return {
      text,
      exact: text,
      match: (id) => (id === text ? FITS : hasHole(id) && mayBecome(id, text) ? MAYBE : NEVER),
    }
  }
  const tokens = text.match(/\*\*+|\*|[^*]+/g) ?? []
  const ofHoles = new Map<string, PatternMatch>()
  return {
    text,
    exact: undefined,
    match: (id) => {
      if (!hasHole(id)) return fits(tokens, id) ? FITS : NEVER
      return getOrCreate(ofHoles, id, () => matchWithHoles(tokens, id))
    },
  }
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
  const tokens = at < 0 ? [head, '**'] : [head, '*', tail, '**'].filter((token) => token !== '')
  const endsSegment = (id: string, end: number): boolean =>
    text.endsWith('/') || end === id.length || id[end] === '/'
  const certain = (id: string): PatternMatch => {
    if (!id.startsWith(head)) return NEVER
    if (at < 0) return endsSegment(id, head.length) ? FITS : NEVER
    const slash = id.indexOf('/', head.length)
    const end = slash < 0 ? id.length : slash
    const captured = id.slice(head.length, end)
    if (captured === '' || hasHole(captured) || !id.startsWith(tail, end)) return NEVER
    return endsSegment(id, end + tail.length) ? { fits: YES, captured } : NEVER
  }
  // The containers of a workload hold one ID, and a rule asks several times of each.
  let last = { id: '', match: NEVER }
  const certainly = (id: string): PatternMatch => {
    if (id !== last.id) last = { id, match: certain(id) }
    return last.match
  }
  return {
    text,
    exact: undefined,
    match: (id) => {
      const match = certainly(id)
      if (match.fits === YES || !hasHole(id)) return match
      return matchWithHoles(tokens, id).fits === NO ? NEVER : MAYBE
    },
  }
}

/** Whether a part of an ID is known only when the pod runs: it stands there as a placeholder, such as `<pod UID>`. */
function hasHole(id: string): boolean {
  return id.includes('<')
}

/** A placeholder, and whether what it stands for holds no slash. */
interface Hole {
  readonly isPlain: boolean
}

function withHoles(id: string): readonly (string | Hole)[] {
  return id.split(/(<[^<>]*>)/).flatMap((part, at): readonly (string | Hole)[] => {
    if (at % 2 === 0) return part.split('')
    return [{ isPlain: isPlain(part) }]
  })
}

function isPlain(hole: string): boolean {
  return PLAIN_FACTS.has(hole) || hole.startsWith('<label ')
}

/** The narrowest pattern of an ID with placeholders, whatever they stand for. */
export function patternOfHoles(id: string): string {
  return id.replaceAll(/<[^<>]*>/g, (hole) => (isPlain(hole) ? '*' : '**'))
}

function matchWithHoles(tokens: readonly string[], id: string): PatternMatch {
  const elements = withHoles(id)
  if (passes(tokens, elements, false)) return FITS
  return passes(tokens, elements, true) ? MAYBE : NEVER
}

/**
 * Whether an ID with placeholders matches a pattern for every text of the placeholders, or (`generous`) for at least one. It
 * follows the positions in the ID that can be reached, one character of the pattern after the other.
 */
function passes(tokens: readonly string[], elements: readonly (string | Hole)[], generous: boolean): boolean {
  const closed = (places: ReadonlySet<number>, isOver: (element: string | Hole) => boolean): Set<number> => {
    const all = new Set(places)
    for (const place of all) {
      const element = elements[place]
      if (element !== undefined && isOver(element)) all.add(place + 1)
    }
    return all
  }
  // A placeholder may stand for nothing at all, as far as is known.
  const ended = (places: ReadonlySet<number>): Set<number> =>
    closed(places, (element) => generous && typeof element !== 'string')
  let reached: ReadonlySet<number> = ended(new Set([0]))
  for (const token of tokens) {
    if (token.startsWith('*')) {
      const crosses = token.length > 1
      reached = closed(reached, (element) =>
        typeof element === 'string' ? crosses || element !== '/' : crosses || generous || element.isPlain,
      )
    } else {
      for (const letter of token) {
        const next = new Set<number>()
        for (const place of reached) {
          const element = elements[place]
          if (element === letter) next.add(place + 1)
          else if (generous && element !== undefined && typeof element !== 'string') next.add(place)
        }
        reached = ended(next)
      }
    }
    if (reached.size === 0) return false
  }
  return reached.has(elements.length)
}

const SCHEME = 'spiffe://'
/** A pattern of more is no pattern that a person reads. */
const STARS_MAX = 8

/** Why a text is no SPIFFE ID, or no pattern of one; undefined where it is. */
export function idProblem(text: string, form: 'id' | 'pattern' | 'prefix'): string | undefined {
  if (!text.startsWith(SCHEME)) return `it does not begin with ${SCHEME}`
  const trustDomain = trustDomainOf(text)
  if (trustDomain === '') return 'it has no trust domain'
  const stars = text.split('*').length - 1
  if (form === 'prefix' && stars > 0) return 'a prefix has no star: it means whatever begins with it anyway'
  if (form === 'id' && stars > 0) return 'a pattern is not allowed here; write the whole ID'
  if (stars > STARS_MAX) return `it holds more than ${STARS_MAX} stars`
  if (trustDomain.includes('*') || trustDomain.includes(NAMESPACE_CAPTURE))
    return 'a trust domain cannot be a pattern'
  const captures = text.split(NAMESPACE_CAPTURE).length - 1
  if (form !== 'prefix' && captures > 0)
    return `${NAMESPACE_CAPTURE} stands for a segment in identitiesBelow alone`
  if (captures > 1) return `${NAMESPACE_CAPTURE} is used twice`
  // With what stands in for a part of a segment, it must be an ID that SPIRE could issue: else nothing ever fits.
  const filled = text.replaceAll(/\*+/g, 'x').replace(NAMESPACE_CAPTURE, 'x')
  const whole = parseSpiffeId(form === 'prefix' && filled.endsWith('/') ? filled.slice(0, -1) : filled)
  return whole.ok ? undefined : `it ${whole.message}`
}

/** The trust domain of a SPIFFE ID, or of a pattern; empty where it has none. */
export function trustDomainOf(text: string): string {
  return text.slice(SCHEME.length).split('/')[0] ?? ''
}
