// Go's fmt for the values a template can hold: print, println and printf, after fmt/print.go and fmt/format.go.
// Texts are byte texts. They throw `Unknowable` where Go would print an address or the text of a struct.
import { encodeRune, runeAt } from './byte-text.ts'
import { noFlags, Printer, type FormatFlags, type Printed } from './printer.ts'
import { MAX_TEXT, Unknowable } from './signals.ts'
import { GoInt, PlaceholderValue, typeName, typeOf, type Value } from './values.ts'

export type { Printed } from './printer.ts'

/** Go's fmt.Sprint: a space between two operands that are no strings. */
export function print(args: readonly Value[]): Printed {
  const printer = new Printer()
  let afterString = true
  for (const arg of args) {
    const isString = typeOf(arg)?.kind === 'string'
    if (!isString && !afterString) printer.write(' ')
    printer.arg(arg, 'v')
    afterString = isString
  }
  return printer.printed()
}

/** Go's fmt.Sprintln. */
export function println(args: readonly Value[]): Printed {
  const printer = new Printer()
  args.forEach((arg, at) => {
    if (at > 0) printer.write(' ')
    printer.arg(arg, 'v')
  })
  printer.write('\n')
  return printer.printed()
}

/** Go's fmt.Sprintf. */
export function printf(format: string, args: readonly Value[]): Printed {
  const printer = new Printer()
  new Format(format, args, printer).run()
  return printer.printed()
}

/** Go's doPrintf: walks a format and its arguments. */
class Format {
  readonly #format: string
  readonly #args: readonly Value[]
  readonly #printer: Printer
  #at = 0
  #arg = 0
  #reordered = false
  #goodArg = true
  #afterIndex = false

  constructor(format: string, args: readonly Value[], printer: Printer) {
    this.#format = format
    this.#args = args
    this.#printer = printer
  }

  run(): void {
    while (this.#at < this.#format.length) {
      const percent = this.#format.indexOf('%', this.#at)
      const end = percent < 0 ? this.#format.length : percent
      if (end > this.#at) this.#printer.write(this.#format.slice(this.#at, end))
      this.#at = end + 1
      if (percent >= 0 && !this.#directive()) break
    }
    if (!this.#reordered && this.#arg < this.#args.length) this.#extra()
  }

  /** One directive, its percent sign passed; false when the format ends in it. */
  #directive(): boolean {
    const flags = noFlags()
    this.#goodArg = true
    this.#afterIndex = false
    this.#flags(flags)
    this.#argNumber()
    this.#width(flags)
    this.#precision(flags)
    if (!this.#afterIndex) this.#argNumber()
    if (this.#at >= this.#format.length) {
      this.#printer.write('%!(NOVERB)')
      return false
    }
    const rune = runeAt(this.#format, this.#at)
    const verb = rune.invalid ? encodeRune(rune.code) : this.#format.slice(this.#at, this.#at + rune.width)
    this.#at += rune.width
    this.#verb(verb, flags)
    return true
  }

  #verb(verb: string, flags: FormatFlags): void {
    if (verb === '%') this.#printer.write('%')
    else if (!this.#goodArg) this.#printer.write(`%!${verb}(BADINDEX)`)
    else if (this.#arg >= this.#args.length) this.#printer.write(`%!${verb}(MISSING)`)
    else {
      if (verb === 'v' || verb === 'w') {
        flags.sharpV = flags.sharp
        flags.plusV = flags.plus
        flags.sharp = false
        flags.plus = false
      }
      this.#printer.use(flags)
      this.#printer.arg(this.#args[this.#arg], verb)
      this.#arg++
    }
  }

  #flags(flags: FormatFlags): void {
    for (; this.#at < this.#format.length; this.#at++) {
      const character = this.#format[this.#at]
      if (character === '#') flags.sharp = true
      else if (character === '0') flags.zero = true
      else if (character === '+') flags.plus = true
      else if (character === '-') flags.minus = true
      else if (character === ' ') flags.space = true
      else return
    }
  }

  /** Passes `[n]`, which names the next argument. */
  #argNumber(): void {
    this.#afterIndex = false
    if (this.#format[this.#at] !== '[') return
    this.#reordered = true
    const rest = this.#format.slice(this.#at)
    const close = rest.indexOf(']')
    if (rest.length < 3 || close < 1) {
      this.#goodArg = false
      this.#at++
      return
    }
    const number = wholeNumber(rest.slice(1, close))
    this.#at += close + 1
    this.#afterIndex = number !== undefined
    if (number !== undefined && number >= 1 && number <= this.#args.length) this.#arg = number - 1
    else this.#goodArg = false
  }

  #width(flags: FormatFlags): void {
    if (this.#format[this.#at] !== '*') {
      flags.width = this.#number()
      if (this.#afterIndex && flags.width !== undefined) this.#goodArg = false
      return
    }
    this.#at++
    flags.width = this.#starArg()
    if (flags.width === undefined) this.#printer.write('%!(BADWIDTH)')
    else if (flags.width < 0) {
      flags.width = -flags.width
      flags.minus = true
      flags.zero = false
    }
    this.#afterIndex = false
  }

  #precision(flags: FormatFlags): void {
    if (this.#at + 1 >= this.#format.length || this.#format[this.#at] !== '.') return
    this.#at++
    if (this.#afterIndex) this.#goodArg = false
    this.#argNumber()
    if (this.#format[this.#at] !== '*') {
      flags.precision = this.#number() ?? 0
      return
    }
    this.#at++
    const precision = this.#starArg()
    if (precision !== undefined && precision >= 0) flags.precision = precision
    else this.#printer.write('%!(BADPREC)')
    this.#afterIndex = false
  }

  /** Digits of the format as a number; an absurd one swallows the rest of the format, as in Go. */
  #number(): number | undefined {
    let number: number | undefined
    for (; this.#at < this.#format.length; this.#at++) {
      const digit = this.#format.charCodeAt(this.#at) - 0x30
      if (!(digit >= 0 && digit <= 9)) break
      if ((number ?? 0) > 1e6) {
        this.#at = this.#format.length
        return undefined
      }
      number = (number ?? 0) * 10 + digit
    }
    return number
  }

  /** The argument that `*` stands for, when it is an integer of a sane size. */
  #starArg(): number | undefined {
    if (this.#arg >= this.#args.length) return undefined
    const value = this.#args[this.#arg++]
    if (value instanceof PlaceholderValue)
      throw new Unknowable(`a width of the ${value.what}, which is not known yet`)
    if (!(value instanceof GoInt) || value.value > 1_000_000n || value.value < -1_000_000n) return undefined
    return Number(value.value)
  }

  #extra(): void {
    this.#printer.use(noFlags())
    this.#printer.write('%!(EXTRA ')
    this.#args.slice(this.#arg).forEach((arg, at) => {
      if (at > 0) this.#printer.write(', ')
      if (arg === undefined) this.#printer.write('<nil>')
      else {
        this.#printer.write(`${typeName(arg)}=`)
        this.#printer.arg(arg, 'v')
      }
    })
    this.#printer.write(')')
  }
}

/** The number in `[n]`; none when it is no number or an absurd one. */
function wholeNumber(digits: string): number | undefined {
  if (!/^\d+$/.test(digits)) return undefined
  const number = Number(digits)
  return number > MAX_TEXT * 100 ? undefined : number
}
