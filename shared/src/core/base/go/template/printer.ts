// Prints one value under the flags of a directive, after Go's fmt/print.go (pp) and fmt/format.go. Texts are byte texts.
// It throws `Unknowable` where Go would print an address or the text of a struct.
import { encodeRune, runeAt, runeCount } from './byte-text.ts'
import { formatFloat } from './floats.ts'
import type { MapType, SliceType } from './go-types.ts'
import { canBackquote, isPrintable, quote, quoteRune } from './quoting.ts'
import { checkLength, Unknowable } from './signals.ts'
import {
  elementAt,
  entryOf,
  GoFloat,
  GoInt,
  GoNamed,
  keyValue,
  lengthOf,
  PlaceholderValue,
  Ref,
  sortedKeys,
  typeName,
  type Value,
} from './values.ts'

/** What was printed, and which values in it are not known. */
export interface Printed {
  readonly text: string
  readonly whats: readonly string[]
}

/** The flags of a directive, as Go's fmtFlags. */
export interface FormatFlags {
  sharp: boolean
  sharpV: boolean
  zero: boolean
  plus: boolean
  plusV: boolean
  minus: boolean
  space: boolean
  width: number | undefined
  precision: number | undefined
}

/** A directive without flags. */
export function noFlags(): FormatFlags {
  return {
    sharp: false,
    sharpV: false,
    zero: false,
    plus: false,
    plusV: false,
    minus: false,
    space: false,
    width: undefined,
    precision: undefined,
  }
}

const BASES: Readonly<Record<string, number>> = { v: 10, d: 10, b: 2, o: 8, O: 8, x: 16, X: 16 }

/** Go's pp: prints one value under the current flags. */
export class Printer {
  flags = noFlags()
  #plainFlags = true
  #text = ''
  readonly #whats: string[] = []

  printed(): Printed {
    return { text: this.#text, whats: this.#whats }
  }

  write(text: string): void {
    this.#text += text
    checkLength(this.#text.length)
  }

  /** Sets the flags of a directive. */
  use(flags: FormatFlags): void {
    this.flags = flags
    this.#plainFlags = Object.values(flags).every((flag) => flag === false || flag === undefined)
  }

  arg(value: Value, verb: string): void {
    if (value === undefined) {
      if (verb === 'T' || verb === 'v') this.#pad('<nil>')
      else this.#bad(value, verb)
      return
    }
    if (value instanceof PlaceholderValue) {
      this.#placeholder(value, verb)
      return
    }
    if (verb === 'T') {
      this.#string(typeName(value), 's')
      return
    }
    if (verb === 'p' && value instanceof Ref) addressOf(value)
    this.#value(value, verb, 0)
  }

  #value(value: Value, verb: string, depth: number): void {
    if (typeof value === 'string') this.#stringOrBad(value, value, verb)
    else if (value instanceof GoNamed) this.#stringOrBad(value.text, value, verb)
    else if (typeof value === 'boolean') {
      if (verb === 't' || verb === 'v') this.#pad(String(value))
      else this.#bad(value, verb)
    } else if (value instanceof GoInt) this.#integer(value, verb)
    else if (value instanceof GoFloat) this.#float(value, verb)
    else if (value instanceof PlaceholderValue)
      throw new Unknowable(`a list or map with the ${value.what}, which is not known yet`)
    else if (value instanceof Ref) this.#ref(value, verb, depth)
  }

  #placeholder(value: PlaceholderValue, verb: string): void {
    const { kind } = value.type
    const scalar = kind !== 'struct' && kind !== 'pointer' && kind !== 'slice' && kind !== 'map'
    if (!this.#plainFlags || !scalar || (verb !== 'v' && !(verb === 's' && kind === 'string')))
      throw new Unknowable(`the format of the ${value.what}, which is not known yet`)
    this.write(value.text)
    this.#whats.push(...value.whats)
  }

  /** Go's badVerb. */
  #bad(value: Value, verb: string): void {
    this.write(`%!${verb}(`)
    if (value === undefined) this.write('<nil>')
    else {
      this.write(`${typeName(value)}=`)
      this.#value(value, 'v', 0)
    }
    this.write(')')
  }

  #stringOrBad(text: string, value: Value, verb: string): void {
    if (!this.#string(text, verb)) this.#bad(value, verb)
  }

  /** Go's fmtString; false when the verb does not fit. */
  #string(text: string, verb: string): boolean {
    if (verb === 'q' || (verb === 'v' && this.flags.sharpV)) this.#quoted(text)
    else if (verb === 'v' || verb === 's') this.#pad(this.#truncate(text))
    else if (verb === 'x' || verb === 'X') this.#hexText(text, verb)
    else return false
    return true
  }

  #truncate(text: string): string {
    const { precision } = this.flags
    if (precision === undefined) return text
    let end = 0
    for (let left = precision; left > 0 && end < text.length; left--) end += runeAt(text, end).width
    return text.slice(0, end)
  }

  #quoted(text: string): void {
    const cut = this.#truncate(text)
    if (this.flags.sharp && canBackquote(cut)) this.#pad(`\`${cut}\``)
    else this.#pad(quote(cut, this.flags.plus))
  }

  #hexText(text: string, verb: string): void {
    const { precision, space, sharp, width = 0, minus } = this.flags
    const mark = sharp ? `0${verb}` : ''
    const pairs = Array.from(text.slice(0, precision), (byte) => hexByte(byte.charCodeAt(0), verb))
    const shown =
      pairs.length === 0 ? '' : space ? pairs.map((pair) => mark + pair).join(' ') : mark + pairs.join('')
    // Go pads by bytes here, and an empty text on the left whatever the flag says.
    const padding = this.#padding(width - shown.length)
    this.write(minus && shown !== '' ? shown + padding : padding + shown)
  }

  #padding(count: number): string {
    if (count <= 0) return ''
    checkLength(count)
    return (this.flags.zero && !this.flags.minus ? '0' : ' ').repeat(count)
  }

  #pad(text: string): void {
    const { width, minus } = this.flags
    if (width === undefined || width === 0) {
      this.write(text)
      return
    }
    const padding = this.#padding(width - runeCount(text))
    this.write(minus ? text + padding : padding + text)
  }

  /** Pads with spaces, whatever the zero flag says. */
  #padSpaces(text: string): void {
    const { zero } = this.flags
    this.flags.zero = false
    this.#pad(text)
    this.flags.zero = zero
  }

  #integer(value: GoInt, verb: string): void {
    const base = BASES[verb]
    if (base !== undefined) {
      const sharpHex = verb === 'v' && this.flags.sharpV && value.type.kind === 'uint'
      this.#digits(value.value, sharpHex ? 16 : base, verb, this.flags.sharp || sharpHex)
      return
    }
    const code = value.value < 0n || value.value > 0x10ffffn ? 0xfffd : Number(value.value)
    if (verb === 'c') this.#pad(encodeRune(code))
    else if (verb === 'q') this.#pad(quoteRune(code, this.flags.plus))
    else if (verb === 'U') this.#unicode(value.value)
    else this.#bad(value, verb)
  }

  /** Go's fmtInteger. */
  #digits(value: bigint, base: number, verb: string, sharp: boolean): void {
    const { precision, width = 0, zero, minus, plus, space } = this.flags
    checkLength(Math.max(precision ?? 0, width))
    if (precision === 0 && value === 0n) {
      this.#padSpaces('')
      return
    }
    const negative = value < 0n
    let least = precision ?? 0
    if (precision === undefined && zero && !minus && width > 0)
      least = width - (negative || plus || space ? 1 : 0)
    let text = (negative ? -value : value).toString(base).padStart(least, '0')
    if (verb === 'X') text = text.toUpperCase()
    if (sharp) text = prefixed(text, base, verb)
    if (verb === 'O') text = `0o${text}`
    this.#padSpaces(`${negative ? '-' : plus ? '+' : space ? ' ' : ''}${text}`)
  }

  #unicode(value: bigint): void {
    const unsigned = BigInt.asUintN(64, value)
    const least = Math.max(4, this.flags.precision ?? 0)
    checkLength(least)
    let text = `U+${unsigned.toString(16).toUpperCase().padStart(least, '0')}`
    if (this.flags.sharp && unsigned <= 0x10ffffn && isPrintable(Number(unsigned)))
      text += ` '${encodeRune(Number(unsigned))}'`
    this.#padSpaces(text)
  }

  #float(value: GoFloat, verb: string): void {
    const kind = verb === 'v' ? 'g' : verb
    if (!'eEfFgGbxX'.includes(kind)) {
      this.#bad(value, verb)
      return
    }
    const { sharp, sharpV, width = 0, zero, minus, plus, space, precision } = this.flags
    if (sharp || sharpV) throw new Unknowable('the # flag on a floating-point number')
    checkLength(precision ?? 0)
    const standard = 'eEfF'.includes(kind) ? 6 : undefined
    const number = formatFloat(value.value, kind, precision ?? standard)
    const negative = value.value < 0 || Object.is(value.value, -0)
    const sign = negative ? '-' : plus ? '+' : space ? ' ' : ''
    if (sign !== '' && zero && !minus && width > number.length + 1)
      this.write(sign + this.#padding(width - number.length - 1) + number)
    else this.#pad(sign + number)
  }

  #ref(value: Ref, verb: string, depth: number): void {
    const { type } = value
    if (type.kind === 'pointer') this.#pointer(value, verb)
    else if (type.kind === 'struct')
      throw new Unknowable(`the text of a Go struct: the ${value.what} (${type.name})`)
    else if (verb === 'w' && depth === 0) this.#bad(value, verb)
    else if (type.kind === 'slice') this.#slice(value, type, verb, depth)
    else this.#map(value, type, verb, depth)
  }

  #pointer(value: Ref, verb: string): void {
    if (!value.isNil) addressOf(value)
    const { type } = value
    const elem = type.kind === 'pointer' ? type.elem : type
    const nilText = elem.kind === 'struct' ? elem.nilText : '<nil>'
    if (!this.#plainFlags || verb !== 'v')
      throw new Unknowable(`the format %${verb} of a nil pointer (${type.name})`)
    this.write(nilText)
  }

  #slice(value: Ref, type: SliceType, verb: string, depth: number): void {
    const size = lengthOf(value)
    const elements = Array.from(
      { length: size },
      (_, at) => () => this.#value(elementAt(value, type, at), verb, depth + 1),
    )
    this.#composite(value, '[', ']', elements)
  }

  #map(value: Ref, type: MapType, verb: string, depth: number): void {
    lengthOf(value)
    const entries = sortedKeys(value).map((key) => () => {
      this.#value(keyValue(type, key), verb, depth + 1)
      this.write(':')
      this.#value(entryOf(value, type, key), verb, depth + 1)
    })
    this.#composite(value, 'map[', ']', entries)
  }

  /** A list in Go's plain form, or with `%#v` in Go's syntax. */
  #composite(value: Ref, open: string, close: string, elements: readonly (() => void)[]): void {
    const { sharpV } = this.flags
    if (sharpV && value.isNil) {
      this.write(`${value.type.name}(nil)`)
      return
    }
    this.write(sharpV ? `${value.type.name}{` : open)
    elements.forEach((element, at) => {
      if (at > 0) this.write(sharpV ? ', ' : ' ')
      element()
    })
    this.write(sharpV ? '}' : close)
  }
}

function addressOf(value: Ref): never {
  throw new Unknowable(`an address: the ${value.what} is of type ${value.type.name}`)
}

function prefixed(text: string, base: number, verb: string): string {
  if (base === 2) return `0b${text}`
  if (base === 8) return text.startsWith('0') ? text : `0${text}`
  return base === 16 ? `0${verb === 'X' ? 'X' : 'x'}${text}` : text
}

function hexByte(byte: number, verb: string): string {
  const text = byte.toString(16).padStart(2, '0')
  return verb === 'X' ? text.toUpperCase() : text
}
