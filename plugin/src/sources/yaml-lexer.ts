// The words of a YAML text, as kubectl's reader (libyaml, as go.yaml.in/yaml/v2 has it) takes them. The library reads YAML 1.2,
// and its lexer is corrected in two places: a scalar in quotes goes on to its closing quote, and a list or mapping in brackets to
// its closing bracket, however far their lines are indented; many generated CRDs have such. What else kubectl refuses, or reads differently, is refused here, before the
// library parses it (docs/reading-files.md, "YAML as kubectl reads it").
import type * as Yaml from 'yaml'

/** The words of a text, and what kubectl would not take of it, or not in this sense. */
export interface Words {
  readonly words: readonly string[]
  readonly fault: WordFault | undefined
}

/** What is wrong, and where it stands in the text. */
export interface WordFault {
  readonly why: string
  readonly offset: number
}

/** Takes a text apart; ends after `most` words, and where brackets are nested deeper than `depthMax`. */
export function wordsOf(
  yaml: typeof Yaml,
  text: string,
  { most, depthMax }: { readonly most: number; readonly depthMax: number },
): Words | 'too many' {
  const words: string[] = []
  const check = new WordCheck(depthMax)
  for (const word of lexemes(yaml, text)) {
    if (words.push(word) > most) return 'too many'
    const fault = check.take(word)
    if (fault !== undefined) return { words, fault }
  }
  return { words, fault: undefined }
}

/** What of the lexer's state is needed here. `yaml` is pinned, and the oracle's answers hold what this rests on. */
interface OpenLexer {
  readonly buffer: string
  readonly pos: number
  readonly flowLevel: number
  indentNext: number
  parseQuotedScalar: () => Generator<string, 'flow' | 'doc'>
  parseFlowCollection: () => Generator<string, unknown>
  readonly pushToIndex: (end: number, allowEmpty: boolean) => Generator<string, number>
  readonly lex: (source: string) => Generator<string, void>
}

function isOpen(lexer: object): lexer is OpenLexer {
  const methods = ['parseQuotedScalar', 'parseFlowCollection', 'pushToIndex', 'lex']
  const numbers = ['pos', 'flowLevel', 'indentNext']
  return (
    methods.every((name) => typeof Reflect.get(lexer, name) === 'function') &&
    numbers.every((name) => typeof Reflect.get(lexer, name) === 'number')
  )
}

function lexemes(yaml: typeof Yaml, text: string): Generator<string, void> {
  const open: object = new yaml.Lexer()
  if (!isOpen(open)) throw new Error("the library's lexer is another one than this is written for")
  open.parseQuotedScalar = function* parseQuotedScalar() {
    const end = endOfQuoted(open.buffer, open.pos)
    yield* open.pushToIndex(end, false)
    return open.flowLevel > 0 ? 'flow' : 'doc'
  }
  const parseFlowCollection = open.parseFlowCollection.bind(open)
  open.parseFlowCollection = function* parseBrackets() {
    // Between brackets no line is indented too little.
    const { indentNext } = open
    open.indentNext = 0
    const next = yield* parseFlowCollection()
    open.indentNext = indentNext
    return next
  }
  return open.lex(text)
}

/** Where a scalar in quotes has ended: behind its closing quote, or where a document ends before that. */
function endOfQuoted(text: string, from: number): number {
  const closing = text[from] === '"' ? /[^"\\]*(?:\\[^][^"\\]*)*"?/y : /[^']*(?:''[^']*)*'?/y
  closing.lastIndex = from + 1
  closing.test(text)
  const end = closing.lastIndex
  // A line that marks a document ends it wherever it stands.
  const mark = /\n(?:---|\.\.\.)(?=[ \t\r\n]|$)/.exec(text.slice(from, end))
  return mark === null ? end : from + mark.index
}

/** What the lexer says beside pieces of the text: a document begins, brackets do not end, a scalar begins. */
const [DOCUMENT, UNCLOSED, SCALAR, ORDER_MARK] = ['\u0002', '\u0018', '\u001f', '\ufeff']

/** What a word is, as far as the next ones depend on it. */
type WordClass = 'break' | 'blank' | 'indicator' | 'plain' | 'quoted' | 'other'

/** Goes along with the words of a text. */
class WordCheck {
  readonly #depthMax: number
  #offset = 0
  #depth = 0
  /** The word before; blanks do not count. */
  #last: WordClass = 'break'
  /** Whether anything but comments has come yet. */
  #isBegun = false
  /** The word before was an anchor or a tag. */
  #isProperty = false
  /** A question mark has come, and the key behind it has not; or the key has, and the end of its line has not. */
  #explicit: 'key' | 'end' | undefined
  /** The word right before was a tag. */
  #isTag = false
  /** The header of the block scalar that follows. */
  #header = ''
  #isScalar = false
  /** The colon just passed stands between brackets, right behind a scalar without quotes. */
  #isTightColon = false

  constructor(depthMax: number) {
    this.#depthMax = depthMax
  }

  take(word: string): WordFault | undefined {
    if (word === DOCUMENT || word === UNCLOSED || word === ORDER_MARK) {
      this.#offset += word === ORDER_MARK ? 1 : 0
      return undefined
    }
    if (word === SCALAR) {
      this.#isScalar = true
      return undefined
    }
    const why = this.#isScalar ? this.#scalar(word) : this.#word(word)
    const offset = this.#offset
    this.#offset += word.length
    this.#isScalar = false
    return why === undefined ? undefined : { why, offset }
  }

  #word(word: string): string | undefined {
    const first = word[0] ?? ''
    const [wasTight, wasTag] = [this.#isTightColon, this.#isTag]
    this.#isTightColon = false
    this.#isTag = first === '!'
    if (first === ' ' || first === '\t')
      return word.includes('\t') && this.#depth === 0 && this.#mayIndent() ? TAB : undefined
    if (first === '\n' || first === '\r') {
      if (this.#explicit === 'key') return EXPLICIT
      this.#explicit = undefined
      this.#last = 'break'
      return this.#isProperty && this.#depth > 0 ? PROPERTY_ALONE : undefined
    }
    if (wasTight) return TIGHT_COLON
    if (wasTag && (first === '"' || first === "'" || first === '[' || first === '{'))
      return 'a tag needs a blank behind it'
    if (first === '#') return undefined
    if (this.#explicit === 'end' || (this.#explicit === 'key' && !isKeyOfLine(word))) return EXPLICIT
    if (this.#explicit === 'key') this.#explicit = 'end'
    if (word === '...' && !this.#isBegun) return 'the end of a document (...) stands before anything in it'
    this.#isBegun = true
    this.#isProperty = first === '&' || first === '!'
    const last = this.#last
    this.#last = first === '"' || first === "'" ? 'quoted' : 'other'
    switch (first) {
      case '[':
      case '{':
        this.#depth++
        return this.#depth > this.#depthMax ? nestedTooDeep(this.#depthMax) : undefined
      case ']':
      case '}':
        this.#depth--
        return undefined
      case '-':
        if (word === '-') this.#last = 'indicator'
        return undefined
      case '?':
        if (word !== '?') return undefined
        this.#explicit = 'key'
        return this.#depth === 0 && (last === 'break' || last === 'indicator') ? undefined : EXPLICIT
      case ':':
        this.#isTightColon = this.#depth > 0 && last === 'plain'
        return undefined
      case '&':
      case '*':
        return NAME.test(word) ? undefined : 'the name of an anchor may have letters, digits, - and _ alone'
      case '%':
        return 'a directive (%YAML, %TAG) is not read'
      case '"':
        return quotedFault(word)
      case "'":
        return /^'[^']*(?:''[^']*)*'$/.test(word) ? undefined : 'the closing quote is missing'
      case '|':
      case '>':
        this.#header = word
        return undefined
      default:
        return undefined
    }
  }

  #scalar(word: string): string | undefined {
    const header = this.#header
    this.#header = ''
    const isKey = this.#explicit === 'key'
    if (this.#explicit === 'end' || (isKey && (header !== '' || word.includes('\n')))) return EXPLICIT
    if (isKey) this.#explicit = 'end'
    this.#isBegun = true
    this.#isProperty = false
    if (this.#isTightColon || (this.#depth > 0 && word.startsWith(':'))) return TIGHT_COLON
    this.#last = header === '' ? 'plain' : 'break'
    if (header !== '') return blockFault(header, word)
    return this.#depth > 0 && word.includes('?') ? FLOW_QUESTION : undefined
  }

  /** Whether what stands here says how far a line or an item is indented. */
  #mayIndent(): boolean {
    return this.#last === 'break' || this.#last === 'indicator'
  }
}

/** That brackets, mappings or lists are nested deeper than is read. */
export function nestedTooDeep(most: number): string {
  return `it is nested more than ${most} levels deep`
}

/** What is wrong with a block scalar. */
function blockFault(header: string, text: string): string | undefined {
  const isIndented = /[1-9]/.test(header)
  if (!isIndented && TAB_FIRST.test(text)) return 'the first line of the text below begins with a tab'
  return isIndented && /^[ \r\n]+$/.test(text) && text.includes(' ') ? 'the text below is blank' : undefined
}

/** What is wrong with a scalar in double quotes. */
function quotedFault(word: string): string | undefined {
  if (!/^"[^"\\]*(?:\\[^][^"\\]*)*"$/.test(word)) return 'the closing quote is missing'
  if (!word.includes('\\')) return undefined
  const escapes = word.replaceAll('\\\\', '')
  if (/\\(?:u|U0000)[dD][89a-fA-F]/.test(escapes))
    return 'an escape stands for half a character (\\ud800 to \\udfff)'
  if (escapes.includes('\\/')) return 'the escape \\/ is one of JSON alone'
  return /\\\r?\n[ \t]*\r?\n/.test(escapes) ? 'an empty line stands behind a backslash' : undefined
}

/** Whether a word in quotes is a key that kubectl prints behind a question mark: it does so with long ones. */
function isKeyOfLine(word: string): boolean {
  return /^["']/.test(word) && !word.includes('\n')
}

const TIGHT_COLON = 'a colon in brackets needs a blank behind it'
const PROPERTY_ALONE = 'an anchor or a tag in brackets stands on a line before its value'
const TAB = 'a tab stands where only blanks may indent'
const EXPLICIT = 'an explicit key (? key) is read where it is one line of text alone'
const FLOW_QUESTION = 'a question mark in brackets needs quotes around its text'
/** An anchor or an alias that kubectl takes. */
const NAME = /^[&*][0-9A-Za-z_-]+$/
/** Lines of blanks, and then one whose blanks go over into a tab. */
const TAB_FIRST = /^(?: *\r?\n)* *\t/
