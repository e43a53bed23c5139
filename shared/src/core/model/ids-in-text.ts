// The SPIFFE IDs in a text, wherever they stand in it: the value of a variable, an argument, a line of a configuration.
import { asIssued, entryIdProblem } from './spiffe-id.ts'

/** What begins every SPIFFE ID. */
export const SCHEME = 'spiffe://'

/** Whether a text may hold a SPIFFE ID, in whatever case of letters, or the whole path of one of kleym's. */
export function holdsId(text: string): boolean {
  return /spiffe(?::|%3A)(?:\/|\\\/|%2F){2}|\bns\/[a-z0-9-]+\/(?:pool|objective)\//i.test(text)
}

/** Without the escapes of a URL, and those that JSON may have for slashes. */
function unescaped(text: string): string {
  if (!/spiffe(?:%3A|:\\\/|:%2F)/i.test(text)) return text
  return text.replaceAll(/%3A/gi, ':').replaceAll(/\\\/|%2F/gi, '/')
}

/** Whether a text may hold a SPIFFE ID, or the end of one of kleym's. */
export function holdsPart(text: string): boolean {
  return /spiffe(?::|%3A)(?:\/|\\\/|%2F){2}|\/(?:pool|objective)\//i.test(text)
}

/** A SPIFFE ID in a text; or, if `isWhole` is false, what is known of one that something else completes: a pattern, a template, a prefix. */
export interface IdInText {
  /** With `*` for what is not known. */
  readonly text: string
  /** The texts that are known, in their order (`IdMatcher`). */
  readonly matcher: readonly string[]
  readonly isWhole: boolean
  /** The line in which it stands, with U+0000 for the ID and no comma at its end, or `LONG_LINE`; absent: not looked at. */
  readonly around?: string
}

/**
 * In the order of the text, in time linear in it; `key` is the field of the text. Left out are a trust domain without a path, which is no
 * identity, and what may be any ID. One that is written in other letters than it is issued (`asIssued`) is not whole.
 */
export function idsInText(given: string, key = ''): readonly IdInText[] {
  const text = unescaped(given)
  const found: IdInText[] = []
  let run: Run = { end: 0, isOneOf: false, isClosed: false }
  // A key may be as long as its text, which may hold many IDs.
  const field = key.slice(-BEFORE_MAX)
  for (const { index: at } of text.matchAll(/spiffe:\/\//gi)) {
    const before = `${field}:${text.slice(Math.max(0, at - BEFORE_MAX), at)}`
    if (at >= run.end) run = runAt(text, at, before)
    const isBegun = run.isOneOf ? !run.isClosed : isOfPrefix(before)
    const isPattern = isBegun || run.isOneOf || before.endsWith('^')
    const { parts: written, end } = partsAt(text, at, { isBegun, isPattern })
    // `/a/` is a regular expression.
    const beside = before.endsWith('/') ? written.map((one) => one.replace(/\/$/, '')) : written
    const issued = beside.map(asIssued)
    const matcher = isPattern ? withoutDots(issued) : issued
    const isWhole = matcher.length === 1 && matcher[0] === beside[0]
    const isOne =
      matcher.length === 1
        ? matcher.every((id) => entryIdProblem(id) === undefined)
        : /[^/]/.test(matcher.join('').slice(SCHEME.length))
    const shown = issued.join('*')
    // SPIRE's configuration has templates of the IDs of agents, which no entry gives.
    if (isOne && !shown.startsWith(`${SCHEME}*/spire/`))
      found.push({ text: shown, matcher, isWhole, around: aroundIn(text, at, end) })
  }
  return found
}

/** The text without a blank or a quote that an ID stands in. */
interface Run {
  readonly end: number
  /** It has alternatives: `a|b`, of a regular expression that may ask for a part of a text. */
  readonly isOneOf: boolean
  /** They are the whole of what is asked for: `^(a|b)$`. */
  readonly isClosed: boolean
}

function runAt(text: string, at: number, before: string): Run {
  const run = matchAt(RUN, text, at)
  const isClosed = run.endsWith(')$') && /\^\((?:\?:)?$/.test(before)
  return { end: at + run.length, isOneOf: run.includes('|'), isClosed }
}

const RUN = /[^\s"'`,;]*/y

/** In a regular expression a full stop is any character. Trust domains have them, and no two differ by them alone. */
function withoutDots(parts: readonly string[]): readonly string[] {
  const [first = '', ...others] = parts
  const path = first.indexOf('/', SCHEME.length)
  if (path === -1 && others.length === 0) return parts
  const [begun = '', ...rest] = (path === -1 ? '' : first.slice(path)).split('.')
  const split = [...rest, ...others.flatMap((one) => one.split('.'))]
  const last = split.pop()
  const beginning = `${path === -1 ? first : first.slice(0, path)}${begun}`
  return last === undefined ? [beginning] : [beginning, ...split.filter((one) => one !== ''), last]
}

/** A line that is too long to be compared with others. */
export const LONG_LINE = '\0\0'

/** Only so much is looked at, so that a long line full of IDs costs no more than many short ones. */
function aroundIn(text: string, at: number, end: number): string {
  const before = text.slice(Math.max(0, at - BEFORE_MAX), at)
  const after = text.slice(end, end + BEFORE_MAX)
  const isCut =
    (at > BEFORE_MAX && !before.includes('\n')) || (text.length > end + BEFORE_MAX && !after.includes('\n'))
  if (isCut) return LONG_LINE
  return `${before.replace(/^[^]*\n/, '')}\0${after.replace(/\n[^]*$/, '')}`
    .replace(/[,\s]+$/, '')
    .trimStart()
}

function partsAt(
  text: string,
  at: number,
  { isBegun, isPattern }: { readonly isBegun: boolean; readonly isPattern: boolean },
): { readonly parts: readonly string[]; readonly end: number } {
  const parts: string[] = []
  let part = matchAt(BEGINNING, text, at)
  let end = at + part.length
  let gap = matchAt(GAP, text, end)
  while (gap !== '' && parts.length < PARTS_MAX) {
    // What stands before such a sign may be any character, or none.
    const mayBeNone = gap.startsWith('?') || (isPattern && !gap.startsWith('+'))
    if (/^(?:[*+?]|\{\d)/.test(gap)) part = part.replace(mayBeNone ? /[^/]$/ : /\.$/, '')
    if (parts.length === 0 || part !== '') parts.push(part)
    end += gap.length
    part = matchAt(MORE, text, end)
    end += part.length
    gap = matchAt(GAP, text, end)
  }
  const isAll = at === 0 && end === text.length
  const last = isAll ? part : withoutStops(part)
  const isUnended = isBegun && text.charAt(end) !== '$'
  const isOpen = isUnended || last.endsWith('/') || gap !== '' || matchAt(OPEN_END, text, end) !== ''
  // What is no ID may begin one.
  const isPart =
    parts.length === 0 && last.includes('/', SCHEME.length) && entryIdProblem(asIssued(last)) !== undefined
  const isLast = last === '' || !(isOpen || isPart)
  return { parts: [...parts, last, ...(isLast ? [] : [''])], end: end - part.length + last.length }
}

function matchAt(sticky: RegExp, text: string, at: number): string {
  sticky.lastIndex = at
  return sticky.exec(text)?.[0] ?? ''
}

/** So much of the text before and behind an ID is looked at, and so many parts of an ID. */
const BEFORE_MAX = 200
const PARTS_MAX = 16

const BEGINNING = /spiffe:\/\/[A-Z0-9._-]*(?:\/[A-Z0-9._-]+)*\/?/iy
const MORE = /[A-Za-z0-9._/-]*/y
/** What stands for a text that is not there: a variable, a template, a wildcard, a part of a regular expression. */
const GAP =
  /\$\{[^{}]{0,200}\}|\$\([^()]{0,200}\)|\$[A-Za-z_]\w*|\{\{(?!-?\s*(?:if|else|end|range|with)\b)[^{}]{0,200}\}\}|\{[^{}]{0,200}\}|<[A-Za-z][^<>/]{0,200}>|%[dqsv]|\[[^[\]]{0,200}\]|\([^()]{0,200}\)|[*+?]+|\\[./-]/y
/** What follows an ID that something else completes in another way. At the end `$` says that nothing does, and `</` ends an element. */
const OPEN_END = /[{%*[(+?\\]|<(?!\/)|\$(?![)"'|\s]|$)/y

/** Words of how a text is compared, if what is asked for may be in any place. */
export const ANYWHERE = String.raw`contains|reg_?exp?|regular_?expr|\bre2|glob(?!al)|wildcard|pattern|matches`
/** Those that ask for the beginning, or for any place. */
export const AT_BEGINNING = `prefix|starts_?with|${ANYWHERE}`
const PREFIX = new RegExp(
  String.raw`(?:(?:${AT_BEGINNING})\w*\\?["']?\s*[:=]\s*(?:\[[^\][{}]*)?|[=!\s]~\*?\s*|\^)\\?["'\`/]?$`,
  'i',
)

/** Whether what begins after a text may be a prefix: its name says so, a regular expression begins, or a call takes it. */
function isOfPrefix(before: string): boolean {
  if (PREFIX.test(before)) return true
  if (!/[(,]\s*[a-z]?\\?["'`]?$/i.test(before)) return false
  let closed = 0
  for (let at = before.length - 1; at >= 0; at -= 1) {
    const sign = before.charAt(at)
    if (/[)\]}]/.test(sign)) closed += 1
    else if (/[([{]/.test(sign)) {
      // What an operator, a list or plain brackets hold is compared as a whole.
      if (closed === 0) return sign === '(' && /\w/.test(before.charAt(at - 1))
      closed -= 1
    }
  }
  return false
}

/** The ends of IDs of kleym (docs/contract.md §5) without their beginning: their paths and, if `isShort`, what follows the namespace. */
export function pathsInText(text: string, isShort: boolean): readonly IdInText[] {
  const rest = unescaped(text).replaceAll(
    /spiffe:\/\/(?:\{\{[^{}]{0,200}\}\}|\$\([^()]{0,200}\)|[^\s"'`,;|)])*/gi,
    ' ',
  )
  return [...rest.matchAll(PATH)].flatMap(([found, sign]) => {
    const path = found.replace(/\.+$/, '')
    const matcher = [SCHEME, path, ...(sign === '' ? [] : [''])]
    const shown = matcher.join('*').slice(SCHEME.length)
    return isShort || /^\/?ns\//.test(path) ? { text: shown, matcher, isWhole: false } : []
  })
}

/** With the sign of a pattern behind it. */
const PATH =
  /(?:\/?\bns\/[a-z0-9-]+|(?<![\w.-]))\/(?:pool|objective)\/[\w.-]+(?:\/variant\/[\w.-]+)?(?=([{%*[(+?\\<]?))/g

/** A full stop at the end of a sentence is no part of an ID. */
function withoutStops(text: string): string {
  let end = text.length
  while (text.charAt(end - 1) === '.') end -= 1
  return text.slice(0, end)
}

/** The same of a text that may be, or may have in it, Base64. */
export function mayHoldIds(text: string): boolean {
  return holdsPart(text) || BASE64_SCHEMES.some((one) => text.includes(one))
}

/** `spiffe://` in Base64 at each of its three places: without the characters that its neighbours change. */
const BASE64_SCHEMES = ['c3BpZmZlOi8v', 'NwaWZmZTovL', 'zcGlmZmU6Ly']
