// Floats as Go's strconv.AppendFloat writes them: %e, %f and %g, shortest or with a precision, rounded half to even
// on the exact value.
import { Unknowable } from './signals.ts'

/** The decimal digits of a positive number: `0.d1d2d3... * 10^point`. */
interface Digits {
  readonly text: string
  readonly point: number
}

/** Formats the absolute value of a finite number; `precision` undefined means the shortest text that reads back. */
export function formatFloat(value: number, verb: string, precision: number | undefined): string {
  const size = Math.abs(value)
  switch (verb) {
    case 'f':
    case 'F':
      return plain(digitsFor(size, precision, 'places'), precision)
    case 'e':
    case 'E':
      return scientific(
        digitsFor(size, precision === undefined ? undefined : precision + 1, 'digits'),
        precision,
        verb,
      )
    case 'g':
    case 'G':
      return general(size, verb, precision)
    default:
      throw new Unknowable(`the format %${verb} of a floating-point number`)
  }
}

function general(size: number, verb: string, precision: number | undefined): string {
  const wanted = precision === 0 ? 1 : precision
  const digits = digitsFor(size, wanted, 'digits')
  const exponent = digits.point - 1
  const shown = digits.text.length
  const limit = wanted === undefined ? 6 : wanted > shown && shown >= digits.point ? shown : wanted
  if (exponent < -4 || exponent >= limit)
    return scientific(digits, Math.max(Math.min(wanted ?? shown, shown) - 1, 0), verb === 'g' ? 'e' : 'E')
  return plain(digits, Math.max(shown - digits.point, 0))
}

function scientific(digits: Digits, precision: number | undefined, verb: string): string {
  const places = precision ?? digits.text.length - 1
  const first = digits.text.charAt(0) || '0'
  const rest = digits.text.slice(1, 1 + places).padEnd(places, '0')
  const exponent = digits.text === '' ? 0 : digits.point - 1
  const sign = exponent < 0 ? '-' : '+'
  return `${first}${rest === '' ? '' : `.${rest}`}${verb}${sign}${String(Math.abs(exponent)).padStart(2, '0')}`
}

function plain(digits: Digits, precision: number | undefined): string {
  const { text, point } = digits
  const whole = point > 0 ? text.slice(0, point).padEnd(point, '0') : '0'
  const fraction = point > 0 ? text.slice(point) : `${'0'.repeat(-point)}${text}`
  const places = precision ?? (text === '' ? 0 : fraction.length)
  return places > 0 ? `${whole}.${fraction.slice(0, places).padEnd(places, '0')}` : whole
}

/** The digits, rounded to `count` decimal places or significant digits; all that are needed when undefined. */
function digitsFor(size: number, count: number | undefined, unit: 'places' | 'digits'): Digits {
  if (size === 0) return { text: '', point: 0 }
  const [mantissa = '', exponent = '0'] = size.toExponential().split('e')
  const point = Number(exponent) + 1
  if (count === undefined) return { text: mantissa.replace('.', ''), point }
  return rounded(size, unit === 'places' ? count : count - point)
}

/** Rounds to `places` decimal places, exactly. */
function rounded(size: number, places: number): Digits {
  const [numerator, denominator] = exactRatio(size)
  const scale = 10n ** BigInt(Math.abs(places))
  const top = places >= 0 ? numerator * scale : numerator
  const bottom = places >= 0 ? denominator : denominator * scale
  const quotient = top / bottom
  const twice = (top % bottom) * 2n
  const up = twice > bottom || (twice === bottom && quotient % 2n === 1n)
  const whole = String(quotient + (up ? 1n : 0n))
  if (whole === '0') return { text: '', point: 0 }
  return { text: whole.replace(/0+$/, ''), point: whole.length - places }
}

/** A finite positive number as a ratio of integers. */
function exactRatio(size: number): readonly [bigint, bigint] {
  let value = size
  let shift = 0
  while (!Number.isInteger(value)) {
    value *= 2
    shift++
  }
  return [BigInt(value), 1n << BigInt(shift)]
}
