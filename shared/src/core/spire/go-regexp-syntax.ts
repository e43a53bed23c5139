// Reads a regular expression as Go does (`regexp/syntax` of Go 1.26 with the flags of `regexp.Compile`): what Go
// refuses is invalid here, and what is not followed here (Unicode classes, folding beyond ASCII, great size) is named.
import { ANY, ANY_BUT_LINE_FEED, foldCase, normalise } from './go-regexp-class.ts'
import { FOLDS_BEYOND_ASCII, readBracket, readNamedClass, type ClassRead } from './go-regexp-bracket.ts'
import { badEscape, readEscape, readLiteral } from './go-regexp-escape.ts'
import {
  asserted,
  combined,
  invalid,
  oneOf,
  repeated,
  repeatsOver,
  unsupported,
  type Failure,
  type Node,
  type Repeat,
} from './go-regexp-tree.ts'

/** What becomes of a text that should be an expression. */
export type Syntax = { readonly kind: 'parsed'; readonly root: Node } | Failure

/** The longest expression that is read, in UTF-16 units. */
export const SOURCE_MAX = 4096
/** The greatest size of an expression that is run. */
export const SIZE_MAX = 10_000
/** The deepest tree, and the deepest group, that is read; Go itself stops at a tree of 1000. */
const HEIGHT_MAX = 200
/** Go's limit on a counted repeat, and on the product of nested ones. */
const REPEAT_MAX = 1000

/** Reads a regular expression as Go does. */
export function parseGoRegexp(source: string): Syntax {
  if (source.length > SOURCE_MAX) return unsupported(`an expression over ${SOURCE_MAX} characters`)
  return new Parser(source).parse()
}

interface Flags {
  readonly fold: boolean
  readonly lines: boolean
  readonly dotAll: boolean
}

interface Group {
  /** The flags outside, which come back at its end. */
  readonly outer: Flags
  readonly alternatives: Node[]
  readonly parts: Node[]
}

class Parser {
  readonly #source: string
  #at = 0
  #flags: Flags = { fold: false, lines: false, dotAll: false }
  /** The innermost group, and those around it. */
  #group: Group = { outer: this.#flags, alternatives: [], parts: [] }
  readonly #around: Group[] = []
  #afterRepeat = false
  #failure: Failure | undefined

  constructor(source: string) {
    this.#source = source
  }

  parse(): Syntax {
    while (this.#at < this.#source.length && this.#failure === undefined) {
      const afterRepeat = this.#afterRepeat
      this.#afterRepeat = false
      this.#item(afterRepeat)
    }
    if (this.#failure !== undefined) return this.#failure
    if (this.#around.length > 0) return invalid('has a "(" that nothing closes')
    const root = closed(this.#group)
    if (root.size > SIZE_MAX) return unsupported('an expression of this size')
    return root.height > HEIGHT_MAX ? TOO_DEEP : { kind: 'parsed', root }
  }

  #item(afterRepeat: boolean): void {
    switch (this.#source.charAt(this.#at)) {
      case '(':
        return this.#open()
      case ')':
        return this.#close()
      case '|':
        this.#at++
        this.#group.alternatives.push(combined('concat', this.#group.parts.splice(0)))
        return
      case '^':
        return this.#push(asserted(this.#flags.lines ? 'line start' : 'text start'), 1)
      case '$':
        return this.#push(asserted(this.#flags.lines ? 'line end' : 'text end'), 1)
      case '.':
        return this.#push(oneOf(this.#flags.dotAll ? ANY : ANY_BUT_LINE_FEED), 1)
      case '[':
        return this.#class(readBracket(this.#source, this.#at, this.#flags.fold))
      case '*':
        return this.#repeat(1, { min: 0, max: Infinity, counted: false }, afterRepeat)
      case '+':
        return this.#repeat(1, { min: 1, max: Infinity, counted: false }, afterRepeat)
      case '?':
        return this.#repeat(1, { min: 0, max: 1, counted: false }, afterRepeat)
      case '{':
        return this.#counted(afterRepeat)
      case '\\':
        return this.#escape()
      default:
        return this.#literal(this.#next())
    }
  }

  #fail(failure: Failure): void {
    this.#failure ??= failure
  }

  /** Adds a node for the `width` units at hand. */
  #push(node: Node, width: number): void {
    this.#at += width
    this.#group.parts.push(node)
    if (node.height > HEIGHT_MAX) this.#fail(TOO_DEEP)
  }

  /** The character at hand, past which it moves. */
  #next(): number {
    const { character, end } = readLiteral(this.#source, this.#at)
    this.#at = end
    return character
  }

  #literal(character: number): void {
    const ranges = this.#flags.fold ? foldCase(character, character) : [character, character]
    if (ranges === undefined) this.#fail(FOLDS_BEYOND_ASCII)
    else this.#push(oneOf(normalise(ranges)), 0)
  }

  // Groups

  #open(): void {
    const rest = this.#source.slice(this.#at)
    if (rest.startsWith('(?')) return this.#openPerl(rest)
    this.#enter(1)
  }

  #enter(width: number): void {
    this.#at += width
    if (this.#around.length === HEIGHT_MAX) this.#fail(TOO_DEEP)
    this.#around.push(this.#group)
    this.#group = { outer: this.#flags, alternatives: [], parts: [] }
  }

  #openPerl(rest: string): void {
    const named = /^\(\?P?</.exec(rest)
    if (named !== null) {
      const name = /^\(\?P?<[A-Za-z0-9_]+>/.exec(rest)
      return name === null
        ? this.#fail(invalid('has a bad group name, or looks around'))
        : this.#enter(name[0].length)
    }
    const head = /^\(\?([imsU]*)(-[imsU]+)?([:)])/.exec(rest)
    if (head === null) return this.#fail(invalid(`has the unknown group ${JSON.stringify(rest.slice(0, 3))}`))
    const [all, on = '', off = '', end] = head
    if (end === ':') this.#enter(all.length)
    else this.#at += all.length
    const flag = (letter: string, now: boolean): boolean =>
      off.includes(letter) ? false : on.includes(letter) || now
    this.#flags = {
      fold: flag('i', this.#flags.fold),
      lines: flag('m', this.#flags.lines),
      dotAll: flag('s', this.#flags.dotAll),
    }
  }

  #close(): void {
    const outside = this.#around.pop()
    if (outside === undefined) return this.#fail(invalid('has a ")" that nothing opens'))
    const inside = closed(this.#group)
    this.#flags = this.#group.outer
    this.#group = outside
    this.#push(inside, 1)
  }

  // Repeats

  #counted(afterRepeat: boolean): void {
    const braces = /^\{(0|[1-9][0-9]*)(?:(,)(0|[1-9][0-9]*)?)?\}/.exec(this.#source.slice(this.#at))
    if (braces === null) return this.#literal(this.#next())
    const [all, least = '0', comma, most] = braces
    const min = Number(least)
    const max = most === undefined ? (comma === undefined ? min : Infinity) : Number(most)
    if (min > REPEAT_MAX || Number(most ?? 0) > REPEAT_MAX || min > max)
      return this.#fail(invalid(`has the bad repeat ${all.slice(0, 24)}`))
    this.#repeat(all.length, { min, max, counted: true }, afterRepeat)
  }

  #repeat(width: number, repeat: Repeat, afterRepeat: boolean): void {
    const operator = this.#source.slice(this.#at, this.#at + width)
    this.#at += width
    if (this.#source[this.#at] === '?') this.#at++
    if (afterRepeat) return this.#fail(invalid(`repeats a repeat with ${operator}`))
    const of = this.#group.parts.pop()
    if (of === undefined) return this.#fail(invalid(`has nothing to repeat before ${operator}`))
    const node = repeated(of, repeat)
    this.#push(node, 0)
    if (this.#failure !== undefined) return
    if (repeat.counted && (repeat.min > 1 || repeat.max > 1) && repeatsOver(node, REPEAT_MAX))
      this.#fail(invalid(`repeats more than ${REPEAT_MAX} times with ${operator}`))
    this.#afterRepeat = true
  }

  // Escapes and classes

  #escape(): void {
    switch (this.#source.charAt(this.#at + 1)) {
      case 'A':
        return this.#push(asserted('text start'), 2)
      case 'z':
        return this.#push(asserted('text end'), 2)
      case 'b':
        return this.#push(asserted('word boundary'), 2)
      case 'B':
        return this.#push(asserted('no word boundary'), 2)
      case 'Q':
        return this.#quotation()
      default: {
        const named = readNamedClass(this.#source, this.#at, this.#flags.fold)
        return named === undefined ? this.#character() : this.#class(named)
      }
    }
  }

  #class(read: ClassRead): void {
    if (read.kind !== 'class') return this.#fail(read)
    this.#push(oneOf(normalise(read.ranges)), read.end - this.#at)
  }

  #character(): void {
    const escape = readEscape(this.#source, this.#at)
    if (escape === undefined) return this.#fail(badEscape(this.#source, this.#at))
    this.#at = escape.end
    this.#literal(escape.character)
  }

  /** `\Q...\E`: whatever stands between is literal. */
  #quotation(): void {
    const start = this.#at + 2
    const found = this.#source.indexOf('\\E', start)
    const end = found === -1 ? this.#source.length : found
    this.#at = start
    while (this.#at < end) this.#literal(this.#next())
    this.#at = found === -1 ? end : end + 2
  }
}

const TOO_DEEP: Failure = { kind: 'unsupported', construct: 'groups and repeats nested this deep' }

function closed(group: Group): Node {
  return combined('alternate', [...group.alternatives, combined('concat', group.parts)])
}
