// Splits a template into tokens, after Go's text/template/parse/lex.go (Go 1.26), state for state.
import { runeAt } from './byte-text.ts'
import { SyntaxFault, Unsupported } from './signals.ts'

/** What a token is; a keyword is its own kind. */
export type TokenKind =
  | 'eof'
  | 'text'
  | 'left'
  | 'right'
  | 'space'
  | 'assign'
  | 'declare'
  | 'pipe'
  | 'string'
  | 'raw'
  | 'char'
  | 'number'
  | 'variable'
  | 'field'
  | 'dot'
  | 'identifier'
  | 'bool'
  | 'nil'
  | '('
  | ')'
  | 'other'
  | Keyword

const KEYWORDS = [
  'block',
  'break',
  'continue',
  'define',
  'else',
  'end',
  'if',
  'range',
  'template',
  'with',
] as const
/** The words that make an action. */
export type Keyword = (typeof KEYWORDS)[number]

/** One token of a template. */
export interface Token {
  readonly kind: TokenKind
  readonly text: string
  /** Where it starts, in bytes. */
  readonly at: number
}

const SINGLE: Readonly<Record<string, TokenKind>> = { '=': 'assign', '|': 'pipe' }
const LETTER = /[\p{L}\p{Nd}]/u

/** Gives the tokens of a byte text one by one; after the end, `eof` each time. */
export class Lexer {
  readonly #input: string
  #at = 0
  #inside = false
  #parens = 0

  constructor(input: string) {
    this.#input = input
  }

  /** The next token. Throws `SyntaxFault` or `Unsupported`. */
  next(): Token {
    return this.#inside ? this.#action() : this.#text()
  }

  /** The line of a byte offset, from 1. */
  lineOf(at: number): number {
    let line = 1
    for (
      let here = this.#input.indexOf('\n');
      here >= 0 && here < at;
      here = this.#input.indexOf('\n', here + 1)
    )
      line++
    return line
  }

  #fault(why: string): never {
    throw new SyntaxFault(`line ${this.lineOf(this.#at)}: ${why}`)
  }

  #emit(kind: TokenKind, start: number): Token {
    return { kind, text: this.#input.slice(start, this.#at), at: start }
  }

  #text(): Token {
    for (;;) {
      const start = this.#at
      const delimiter = this.#input.indexOf('{{', start)
      if (delimiter < 0) {
        this.#at = this.#input.length
        return this.#emit(this.#at > start ? 'text' : 'eof', start)
      }
      if (delimiter > start) {
        this.#at = delimiter
        let end = delimiter
        if (this.#leftTrim(delimiter + 2)) while (end > start && this.#isSpace(end - 1)) end--
        if (end > start) return { kind: 'text', text: this.#input.slice(start, end), at: start }
      }
      const trim = this.#leftTrim(delimiter + 2)
      this.#at = delimiter + 2 + (trim ? 2 : 0)
      if (!this.#input.startsWith('/*', this.#at)) {
        this.#inside = true
        this.#parens = 0
        return { kind: 'left', text: '{{', at: delimiter }
      }
      this.#comment()
    }
  }

  #comment(): void {
    const end = this.#input.indexOf('*/', this.#at + 2)
    if (end < 0) this.#fault('unclosed comment')
    this.#at = end + 2
    if (this.#rightDelimiter(this.#at) === 0) this.#fault('comment ends before closing delimiter')
    this.#closeAction()
  }

  /** Passes the right delimiter and the spaces that its trim marker takes. */
  #closeAction(): void {
    const width = this.#rightDelimiter(this.#at)
    this.#at += width
    if (width > 2) while (this.#isSpace(this.#at)) this.#at++
    this.#inside = false
  }

  #leftTrim(at: number): boolean {
    return this.#input[at] === '-' && this.#isSpace(at + 1)
  }

  /** The width of `}}` or ` -}}` at a place, else 0. */
  #rightDelimiter(at: number): number {
    if (this.#isSpace(at) && this.#input.startsWith('-}}', at + 1)) return 4
    return this.#input.startsWith('}}', at) ? 2 : 0
  }

  #isSpace(at: number): boolean {
    const unit = this.#input.charCodeAt(at)
    return unit === 0x20 || unit === 0x0a || unit === 0x09 || unit === 0x0d
  }

  #action(): Token {
    const start = this.#at
    if (this.#rightDelimiter(start) > 0) {
      if (this.#parens > 0) this.#fault('unclosed left paren')
      this.#closeAction()
      return { kind: 'right', text: '}}', at: start }
    }
    if (start >= this.#input.length) this.#fault('unclosed action')
    if (this.#isSpace(start)) return this.#space()
    const first = this.#input.charAt(start)
    this.#at++
    if (first === '"') return this.#quoted('"', 'string', 'quoted string')
    if (first === "'") return this.#quoted("'", 'char', 'character constant')
    if (first === '`') return this.#raw()
    if (first === '$') return this.#word('variable')
    if (first === '.' && !isDigit(this.#input[this.#at]) && this.#at < this.#input.length)
      return this.#word('field')
    if (first === '.' || first === '+' || first === '-' || isDigit(first)) return this.#number(start)
    this.#at--
    if (this.#alphanumericWidth() > 0) return this.#identifier()
    this.#at++
    return this.#symbol(first, start)
  }

  #symbol(first: string, start: number): Token {
    const single = SINGLE[first]
    if (single !== undefined) return this.#emit(single, start)
    if (first === ':') {
      if (this.#input[this.#at] !== '=') this.#fault('expected :=')
      this.#at++
      return this.#emit('declare', start)
    }
    if (first === '(') {
      this.#parens++
      return this.#emit('(', start)
    }
    if (first === ')') {
      if (--this.#parens < 0) this.#fault('unexpected right paren')
      return this.#emit(')', start)
    }
    if (first < ' ' || first > '~') this.#fault('unrecognized character in action')
    return this.#emit('other', start)
  }

  #space(): Token {
    const start = this.#at
    while (this.#isSpace(this.#at)) this.#at++
    // The last space belongs to a trim marker that follows.
    if (this.#rightDelimiter(this.#at - 1) === 4) {
      this.#at--
      if (this.#at === start) return this.#action()
    }
    return this.#emit('space', start)
  }

  #quoted(quote: string, kind: TokenKind, name: string): Token {
    const start = this.#at - 1
    for (;;) {
      const here = this.#input[this.#at++]
      if (here === quote) return this.#emit(kind, start)
      const escaped = here === '\\' ? this.#input[this.#at++] : here
      if (escaped === undefined || escaped === '\n') this.#fault(`unterminated ${name}`)
    }
  }

  #raw(): Token {
    const start = this.#at - 1
    const end = this.#input.indexOf('`', this.#at)
    if (end < 0) this.#fault('unterminated raw quoted string')
    this.#at = end + 1
    return this.#emit('raw', start)
  }

  /** A field or a variable: its mark was passed. */
  #word(kind: 'field' | 'variable'): Token {
    const start = this.#at - 1
    if (this.#atTerminator()) return this.#emit(kind === 'field' ? 'dot' : 'variable', start)
    this.#passWord()
    return this.#emit(kind, start)
  }

  #identifier(): Token {
    const start = this.#at
    this.#passWord()
    const word = this.#input.slice(start, this.#at)
    if (isKeyword(word)) return this.#emit(word, start)
    if (word === 'nil') return this.#emit('nil', start)
    return this.#emit(word === 'true' || word === 'false' ? 'bool' : 'identifier', start)
  }

  #passWord(): void {
    for (let width = this.#alphanumericWidth(); width > 0; width = this.#alphanumericWidth())
      this.#at += width
    if (!this.#atTerminator()) this.#fault('bad character in a name')
  }

  #atTerminator(): boolean {
    const here = this.#input[this.#at]
    return (
      here === undefined ||
      this.#isSpace(this.#at) ||
      '.,|:)('.includes(here) ||
      this.#input.startsWith('}}', this.#at)
    )
  }

  /** The width of the letter, digit or underscore here, else 0. */
  #alphanumericWidth(): number {
    const unit = this.#input.charCodeAt(this.#at)
    if (unit < 0x80) return isWordUnit(unit) ? 1 : 0
    if (Number.isNaN(unit)) return 0
    const rune = runeAt(this.#input, this.#at)
    // Which characters are letters depends on the Unicode version of the Go release.
    if (!rune.invalid && LETTER.test(String.fromCodePoint(rune.code)))
      throw new Unsupported('a letter outside ASCII in an action')
    return 0
  }

  #number(start: number): Token {
    this.#at = start
    this.#scanNumber()
    const sign = this.#input[this.#at]
    if (sign === '+' || sign === '-') {
      this.#scanNumber()
      if (this.#input[this.#at - 1] !== 'i') this.#fault('bad number syntax')
      throw new Unsupported('a complex number')
    }
    return this.#emit('number', start)
  }

  #scanNumber(): void {
    this.#accept('+-')
    let digits = '0123456789_'
    if (this.#accept('0')) {
      if (this.#accept('xX')) digits = '0123456789abcdefABCDEF_'
      else if (this.#accept('oO')) digits = '01234567_'
      else if (this.#accept('bB')) digits = '01_'
    }
    this.#acceptRun(digits)
    if (this.#accept('.')) this.#acceptRun(digits)
    if ((digits.length === 11 && this.#accept('eE')) || (digits.length === 23 && this.#accept('pP'))) {
      this.#accept('+-')
      this.#acceptRun('0123456789_')
    }
    this.#accept('i')
    if (this.#alphanumericWidth() > 0) this.#fault('bad number syntax')
  }

  #accept(valid: string): boolean {
    const here = this.#input[this.#at]
    if (here === undefined || !valid.includes(here)) return false
    this.#at++
    return true
  }

  #acceptRun(valid: string): void {
    while (this.#accept(valid));
  }
}

function isKeyword(word: string): word is Keyword {
  return (KEYWORDS as readonly string[]).includes(word)
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9'
}

function isWordUnit(unit: number): boolean {
  return (
    unit === 0x5f ||
    (unit >= 0x30 && unit <= 0x39) ||
    (unit >= 0x41 && unit <= 0x5a) ||
    (unit >= 0x61 && unit <= 0x7a)
  )
}
