// Durations as Go reads them (`time.ParseDuration`, Go 1.26) and as SPIRE Controller Manager sends them: `ttl` and
// `jwtTtl` of a ClusterSPIFFEID. A text that Go cannot read stops SCM for all ClusterSPIFFEIDs (docs/spire-facts.md §11.9), so
// that this code accepts and refuses exactly what Go does, overflows included.

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['\u00b5s', 1_000n],
  ['\u03bcs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
])

/** The magnitude of Go's smallest duration; a positive one is smaller by a nanosecond. */
const LARGEST = 1n << 63n

/** A duration in nanoseconds, or why Go refuses the text. */
export type GoDuration =
  | { readonly ok: true; readonly nanoseconds: bigint }
  | { readonly ok: false; readonly message: string }

/** Reads a duration exactly as `time.ParseDuration` does: `1h30m`, `1.5h`, `-500ms`, `0`. */
export function parseGoDuration(text: string): GoDuration {
  const signed = /^[-+]/.test(text)
  const terms = signed ? text.slice(1) : text
  if (terms === '0') return { ok: true, nanoseconds: 0n }
  if (terms === '') return refuse(signed ? 'is a sign without a number' : 'is empty')
  let total = 0n
  for (let at = 0; at < terms.length;) {
    const term = readTerm(terms, at)
    if (!term.ok) return refuse(term.message)
    at = term.end
    // Go adds in 64 unsigned bits: twice 2^63 is 0, and accepted.
    total = BigInt.asUintN(64, total + term.nanoseconds)
    if (total > LARGEST) return refuse(TOO_LARGE)
  }
  if (text.startsWith('-')) return { ok: true, nanoseconds: -total }
  return total < LARGEST ? { ok: true, nanoseconds: total } : refuse(TOO_LARGE)
}

/** The seconds that SCM sends for a TTL: cut to whole seconds, then wrapped to a signed 32-bit number. */
export function wireSeconds(nanoseconds: bigint): number {
  return Number(BigInt.asIntN(32, nanoseconds / 1_000_000_000n))
}

const TOO_LARGE = 'is over 2562047 hours, the most that Go can hold'

type Term =
  | { readonly ok: true; readonly nanoseconds: bigint; readonly end: number }
  | { readonly ok: false; readonly message: string }

/** A number with its unit: `1.5h`. */
function readTerm(text: string, start: number): Term {
  const point = pastDigits(text, start)
  const pastPoint = text[point] === '.' ? point + 1 : point
  const numberEnd = pastPoint === point ? point : pastDigits(text, pastPoint)
  const whole = text.slice(start, point)
  const fraction = text.slice(pastPoint, numberEnd)
  if (whole + fraction === '')
    return refuse(`has no number at ${JSON.stringify(text.slice(start, start + 8))}`)
  const end = pastUnit(text, numberEnd)
  const unit = UNITS.get(text.slice(numberEnd, end))
  if (unit === undefined) return refuse(unitProblem(text.slice(start, numberEnd), text.slice(numberEnd, end)))
  const value = readWhole(whole)
  if (value === undefined || value > LARGEST / unit) return refuse(TOO_LARGE)
  const nanoseconds = value * unit + readFraction(fraction, unit)
  return nanoseconds > LARGEST ? refuse(TOO_LARGE) : { ok: true, nanoseconds, end }
}

function unitProblem(number: string, unit: string): string {
  const cause = unit === '' ? 'has no unit' : `has the unknown unit ${JSON.stringify(unit.slice(0, 16))}`
  return `${cause} after ${JSON.stringify(number.slice(0, 32))}; Go knows h, m, s, ms, us and ns`
}

/** Undefined over 2^63. The limit on digits, without leading zeros, bounds the work that a hostile text can cause. */
function readWhole(digits: string): bigint | undefined {
  const significant = digits.replace(/^0+/, '')
  if (significant.length > 19) return undefined
  const value = BigInt(significant)
  return value > LARGEST ? undefined : value
}

/** The fraction of a unit, in Go's own floating-point steps; digits past 64 bits are dropped, as there. */
function readFraction(digits: string, unit: bigint): bigint {
  let value = 0n
  let scale = 1
  for (const digit of digits) {
    const next = value * 10n + BigInt(digit)
    if (next > LARGEST) break
    value = next
    scale *= 10
  }
  return BigInt(Math.trunc(Number(value) * (Number(unit) / scale)))
}

function pastDigits(text: string, start: number): number {
  let end = start
  while (isDigit(text[end])) end++
  return end
}

function pastUnit(text: string, start: number): number {
  let end = start
  while (end < text.length && text[end] !== '.' && !isDigit(text[end])) end++
  return end
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9'
}

function refuse(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message }
}
