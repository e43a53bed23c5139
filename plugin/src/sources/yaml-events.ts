// A YAML text as the events of js-yaml's parser, as kubectl's reader (libyaml, as go.yaml.in/yaml/v2 has it) takes them. The library reads
// YAML 1.2. One of its rules is left out: text in quotes or brackets may be indented less than its key. What kubectl refuses, or reads
// differently, is refused here (docs/reading-files.md, "YAML as kubectl reads it"): it shows in the scalars, and in the gaps between them,
// where only blanks, comments and indicators stand.
import { COLLECTION_STYLE, EVENT_ID, parseEvents, SCALAR_STYLE, YAMLException, type Event } from 'js-yaml'

/** A node of a text: a scalar, an alias, the beginning of a mapping or a list. */
export type NodeEvent = Exclude<Event, { type: typeof EVENT_ID.DOCUMENT | typeof EVENT_ID.POP }>
export type ScalarEvent = Extract<Event, { type: typeof EVENT_ID.SCALAR }>

/** A text that is not read. */
export class YamlRefusal extends Error {
  override readonly name = 'YamlRefusal'
  /** Where it stands in the text; undefined: nowhere. */
  readonly offset: number | undefined

  constructor(why: string, offset?: number) {
    super(why)
    this.offset = offset
  }
}

/** The events of the first document in a text, the only one that kubectl reads; none if it is empty. Throws a YamlRefusal. */
export function eventsOf(text: string, depthMax: number): readonly Event[] {
  const directive = DIRECTIVE.exec(text)
  if (directive !== null)
    throw new YamlRefusal('a directive (%YAML, %TAG) is not read', directive[0].length - 1)
  if (BEHIND_BEGIN.test(text)) throw new YamlRefusal('something stands right behind the --- of a line', 0)
  if (INDENTED_BEGIN.test(text)) throw new YamlRefusal('a --- that is indented begins no document', 0)
  const read = upToEnd(text)
  const { events, isLenient } = parsed(read, depthMax)
  const check = new Check(read, isLenient)
  for (const event of events) check.take(event)
  check.end()
  return events
}

/** Comments, and then a line that begins a directive. */
const DIRECTIVE = /^(?:(?:---)?[ \t]*(?:#[^\n]*)?\r?\n)*%/
/** A line that begins a document, and has more than a comment on it. */
const BEHIND_BEGIN = /^---(?:[ \t]*[^ \t\r\n#]|#)/
const INDENTED_BEGIN = /^(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]+---(?=\s|$)/
/** The end of a document, behind which kubectl reads nothing. */
const END = /^\.\.\.(?=[ \t\r\n]|$)/m
const NOTHING_YET = /^(?:[ \t\r]*(?:#[^\n]*)?\n)*$/

function upToEnd(text: string): string {
  const end = END.exec(text)
  if (end === null) return text
  if (NOTHING_YET.test(text.slice(0, end.index)))
    throw new YamlRefusal('the end of a document (...) stands before anything in it', end.index)
  return text.slice(0, end.index)
}

function parsed(
  text: string,
  depthMax: number,
): { readonly events: readonly Event[]; readonly isLenient: boolean } {
  const throwAt: unknown = Reflect.get(YAMLException, 'throwAt')
  let isLenient = false
  // The parser goes on where this returns. The library is pinned, and the oracle's answers hold what this rests on.
  Reflect.set(YAMLException, 'throwAt', (_: string, at: number, reason: string): void => {
    if (reason !== 'deficient indentation') throw refusalOf(text, at, reason, depthMax)
    isLenient = true
  })
  try {
    return { events: parseEvents(text, { maxDepth: depthMax }), isLenient }
  } finally {
    Reflect.set(YAMLException, 'throwAt', throwAt)
  }
}

function refusalOf(text: string, at: number, reason: string, depthMax: number): YamlRefusal {
  if (reason.startsWith('nesting exceeded'))
    return new YamlRefusal(`it is nested more than ${depthMax} levels deep`, at)
  // A comma is missing behind a value, and shows at what comes next.
  const offset = reason.startsWith('missed comma') ? text.slice(0, at).trimEnd().length : at
  return new YamlRefusal(`${inPlainWords(reason)}${keyText(text, offset)}`, offset)
}

const BEHIND_VALUE =
  'a key or an item stands where a value ends: a line is not indented as it should be, or a text with ": " has no quotes'
const TAB = 'a tab stands where only blanks may indent'

/** What the library says in words of the specification, as a person says it. */
const IN_PLAIN_WORDS: readonly (readonly [said: RegExp, plain: string])[] = [
  [
    /within a flow collection$|^missed comma|^expected the node content/,
    'a { or [ is not closed, or a comma is missing in it',
  ],
  [
    /multiline key|^expected ':' after/,
    'a key goes on in the next line: a {, [ or quote is not closed, or a line is not indented as it should be',
  ],
  [/^bad indentation/, BEHIND_VALUE],
  [
    /^end of the stream or/,
    'something stands behind the end of its first mapping, less indented than that begins',
  ],
  [/within a (?:single|double) quoted scalar$/, 'the closing quote is missing'],
  [/^tab characters/, TAB],
  [/^tag (?:name|suffix) cannot/, 'a tag needs a blank behind it'],
  [/^named tag handle cannot/, 'the tag with a name between two ! means nothing'],
]

/** The longest reason of the library that is shown; it may quote the text. */
const REASON_MAX = 160

function inPlainWords(reason: string): string {
  const plain = IN_PLAIN_WORDS.find(([said]) => said.test(reason))?.[1]
  return plain ?? (reason.length > REASON_MAX ? `${reason.slice(0, REASON_MAX)}...` : reason)
}

/** The key on the line of an offset, and never a value: a Secret may stand there. */
function keyText(text: string, offset: number): string {
  const key = /^[ \t]*(?:- +)*([A-Za-z][A-Za-z0-9_./-]{0,62}):(?:\s|$)/.exec(lineAround(text, offset))
  return key?.[1] === undefined ? '' : ` (at the key ${key[1]})`
}

const LINE_READ = 256

/** The line on which an offset is, up to so many characters. */
export function lineAround(text: string, offset: number): string {
  const from = text.lastIndexOf('\n', Math.max(0, offset - 1)) + 1
  const [first = ''] = text.slice(from, from + LINE_READ).split(/\r?\n/)
  return first
}

/** Whether an event is a node, or begins one. */
export function isNode(event: Event): event is NodeEvent {
  return event.type !== EVENT_ID.POP && event.type !== EVENT_ID.DOCUMENT
}

/** Where a node begins, without its tag and its anchor; -1: it is empty. A text block begins behind its head. */
export function startOf(node: NodeEvent): number {
  if (node.type === EVENT_ID.ALIAS) return node.anchorStart - 1
  if (node.type !== EVENT_ID.SCALAR) return node.start
  return isQuoted(node) ? node.valueStart - 1 : node.valueStart
}

function isQuoted({ style }: ScalarEvent): boolean {
  return style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED
}

function isBlock({ style }: ScalarEvent): boolean {
  return style === SCALAR_STYLE.LITERAL_BLOCK || style === SCALAR_STYLE.FOLDED_BLOCK
}

function startWithProperties(node: NodeEvent, start: number): number {
  const tagStart = node.type === EVENT_ID.ALIAS ? -1 : node.tagStart
  return Math.min(...[node.anchorStart - 1, tagStart, start].filter((at) => at >= 0))
}

/** A mapping or a list that has not ended. */
interface Open {
  readonly isMapping: boolean
  readonly isFlow: boolean
  /** How many nodes have begun in it. */
  count: number
}

/** Goes along with the events of a text, and throws a YamlRefusal for what kubectl would not take. */
class Check {
  readonly #text: string
  /** Whether a gap may hold something that is looked for. */
  readonly #mayBeOdd: boolean
  readonly #open: Open[] = []
  /** How many brackets are open. */
  #depth = 0
  /** Where the last scalar, alias, tag or anchor has ended, and how many brackets were open there. */
  #end = 0
  #depthAtEnd = 0
  /** Where the key began that was last, if its colon is to follow. */
  #key: number | undefined
  /** A key behind a question mark was last. */
  #isExplicit = false

  constructor(text: string, isLenient: boolean) {
    this.#text = text
    this.#mayBeOdd = isLenient || /[\t?]/.test(text)
  }

  take(event: Event): void {
    if (event.type === EVENT_ID.POP && this.#open.pop()?.isFlow === true) this.#depth--
    if (!isNode(event)) return
    const within = this.#open.at(-1)
    if (within !== undefined) within.count++
    const isKey = within?.isMapping === true && within.count % 2 === 1
    const start = startOf(event)
    if (start !== -1) {
      if (this.#key !== undefined) this.#colonBehind(this.#key)
      if (this.#mayBeOdd) this.#gap(event, start, isKey, within)
    }
    this.#properties(event, start)
    if (event.type === EVENT_ID.MAPPING || event.type === EVENT_ID.SEQUENCE) {
      const isFlow = event.style === COLLECTION_STYLE.FLOW
      this.#open.push({ isMapping: event.type === EVENT_ID.MAPPING, isFlow, count: 0 })
      if (isFlow) this.#depth++
      this.#key = undefined
      return
    }
    if (event.type === EVENT_ID.SCALAR) this.#scalar(event)
    else this.#endAt(event.anchorEnd)
    this.#key = isKey && start !== -1 && !this.#isExplicit ? startWithProperties(event, start) : undefined
  }

  #refuse(why: string, offset: number): never {
    throw new YamlRefusal(why, offset)
  }

  #endAt(end: number): void {
    this.#end = end
    this.#depthAtEnd = this.#depth
  }

  /** A key ends on the line on which it begins, and its colon stands there, not too far to the right. */
  #colonBehind(key: number): void {
    const text = this.#text.slice(key, this.#text.indexOf(':', this.#end))
    if (text.length > KEY_MAX) this.#refuse(`a key is longer than ${KEY_MAX} characters`, key)
    if (text.includes('\n')) this.#refuse('a key and its colon stand on several lines', key)
  }

  /** Where the text ends. */
  end(): void {
    if (this.#mayBeOdd) this.#checkTabs(this.#text.slice(this.#end).replaceAll(COMMENT, '$1'))
  }

  #checkTabs(gap: string): void {
    const isLine = this.#end === 0 || this.#text[this.#end - 1] === '\n'
    let depth = this.#depthAtEnd
    for (const part of `${isLine ? '\n' : ''}${gap}`.split(BRACKET)) {
      if (part === '[' || part === '{') depth++
      else if (part === ']' || part === '}') depth--
      else if (depth === 0 && TAB_FIRST.test(part)) this.#refuse(TAB, this.#text.indexOf('\t', this.#end))
    }
  }

  /** What stands between the last node and this one. */
  #gap(event: NodeEvent, start: number, isKey: boolean, within: Open | undefined): void {
    const gap = this.#text.slice(this.#end, start).replaceAll(COMMENT, '$1')
    this.#checkTabs(gap)
    const isNext = within !== undefined && !within.isFlow && within.count > 1 && (isKey || !within.isMapping)
    if (isNext && !/\n[^\]}]*$/.test(gap) && this.#text[this.#end - 1] !== '\n')
      this.#refuse(BEHIND_VALUE, start)
    // Behind a question mark stands a key of one line, and nothing but a comment behind that: so kubectl prints long keys.
    if (this.#isExplicit && !/^[ \t]*\r?\n/.test(gap)) this.#refuse(EXPLICIT, start)
    this.#isExplicit = /\?\s/.test(gap)
    if (!this.#isExplicit) return
    const isLine =
      event.type === EVENT_ID.SCALAR &&
      !isBlock(event) &&
      !this.#text.slice(event.valueStart, event.valueEnd).includes('\n')
    if (!isLine || !isKey || this.#depth > 0 || !/\?[ \t]*$/.test(gap)) this.#refuse(EXPLICIT, start)
  }

  #properties(event: NodeEvent, start: number): void {
    const { anchorStart, anchorEnd } = event
    if (anchorStart !== -1 && !NAME.test(this.#text.slice(anchorStart, anchorEnd)))
      this.#refuse('the name of an anchor may have letters, digits, - and _ alone', anchorStart - 1)
    if (event.type === EVENT_ID.ALIAS) return
    const { tagStart, tagEnd } = event
    const end = Math.max(anchorEnd, tagEnd)
    if (end === -1) return
    if (tagStart !== -1 && /^[^\s]/.test(this.#text.slice(tagEnd, tagEnd + 1)))
      this.#refuse('a tag needs a blank behind it', tagStart)
    if (start === -1) this.#endAt(end)
    else if (this.#depth > 0 && this.#text.slice(end, start).includes('\n'))
      this.#refuse('an anchor or a tag in brackets stands on a line before its value', end)
  }

  #scalar(event: ScalarEvent): void {
    const { valueStart, valueEnd, style } = event
    if (valueStart === -1) return
    const raw = event.fast && this.#depth === 0 ? '' : this.#text.slice(valueStart, valueEnd)
    const why =
      style === SCALAR_STYLE.PLAIN
        ? this.#plainFault(raw, valueEnd)
        : style === SCALAR_STYLE.DOUBLE_QUOTED
          ? quotedFault(raw)
          : isBlock(event)
            ? blockFault(this.#text.slice(this.#end, valueStart), raw)
            : undefined
    if (why !== undefined) this.#refuse(why, startOf(event))
    this.#endAt(isQuoted(event) ? valueEnd + 1 : valueEnd)
  }

  #plainFault(raw: string, end: number): string | undefined {
    if (this.#depth === 0) return /\n *\t/.test(raw) ? TAB : undefined
    if (raw.includes('?')) return 'a question mark in brackets needs quotes around its text'
    const isTight = raw.startsWith(':') || /^:[^\s]/.test(this.#text.slice(end, end + 2))
    return isTight ? 'a colon in brackets needs a blank behind it' : undefined
  }
}

/** What is wrong with a text block, given the blanks before it and its lines. */
function blockFault(gap: string, text: string): string | undefined {
  const isIndented = /[|>][-+]?[1-9][-+]?[ \t]*(?:#[^\n]*)?\r?\n$/.test(gap)
  if (!isIndented && /^(?: *\r?\n)* *\t/.test(text))
    return 'the first line of the text below begins with a tab'
  return isIndented && /^[ \r\n]+$/.test(text) && text.includes(' ') ? 'the text below is blank' : undefined
}

/** What is wrong with a scalar in double quotes. */
function quotedFault(text: string): string | undefined {
  if (!text.includes('\\')) return undefined
  const escapes = text.replaceAll('\\\\', '')
  if (/\\(?:u|U0000)[dD][89a-fA-F]|\\U(?!000|0010)/.test(escapes))
    return 'an escape stands for no character, or for half of one (\\ud800 to \\udfff)'
  if (escapes.includes('\\/')) return 'the escape \\/ is one of JSON alone'
  return /\\\r?\n[ \t]*\r?\n/.test(escapes) ? 'an empty line stands behind a backslash' : undefined
}

/** A comment, with the blank before it. */
const COMMENT = /(^|\s)#[^\n]*/g
const BRACKET = /([[\]{}])/
/** A tab that would say how far a line is indented, or what stands behind a dash or a question mark. */
const TAB_FIRST = /\n(?: |[-?](?=[ \t]))*\t/
/** Where the colon of a key stands at most, in characters behind the beginning of the key. */
const KEY_MAX = 1024
const EXPLICIT = 'an explicit key (? key) is read where it is one line of text alone'
/** An anchor or an alias that kubectl takes. */
const NAME = /^[0-9A-Za-z_-]+$/
