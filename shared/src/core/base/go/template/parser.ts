// Builds the tree of a template, after Go's text/template/parse/parse.go (Go 1.26), rule for rule.
import { keeping } from '../../keeping.ts'
import type { Branch, Command, TemplateNode, Operand, ParsedSource, Pipe } from './ast.ts'
import { fromByteText } from './byte-text.ts'
import { Lexer, type Token, type TokenKind } from './lexer.ts'
import { charConstant, numberConstant, stringConstant } from './literals.ts'
import { MAX_NESTING, SyntaxFault, Unsupported } from './signals.ts'

/** The functions of text/template, with the least and the greatest number of arguments. */
export const FUNCTIONS: Readonly<Record<string, readonly [least: number, most: number]>> = {
  and: [1, Infinity],
  call: [1, Infinity],
  eq: [1, Infinity],
  ge: [2, 2],
  gt: [2, 2],
  html: [0, Infinity],
  index: [1, Infinity],
  js: [0, Infinity],
  le: [2, 2],
  len: [1, 1],
  lt: [2, 2],
  ne: [2, 2],
  not: [1, 1],
  or: [1, Infinity],
  print: [0, Infinity],
  printf: [1, Infinity],
  println: [0, Infinity],
  slice: [1, Infinity],
  urlquery: [0, Infinity],
}

/** The controller manager names the main template so: a definition or a call of that name is about the main one. */
const MAIN_NAMES: ReadonlySet<string> = new Set([
  'spiffeIDTemplate',
  'dnsNameTemplate',
  'workloadSelectorTemplate',
  'customParentIDTemplate',
  'defaultParentIDTemplate',
])

const OPERAND_STARTS: ReadonlySet<TokenKind> = new Set<TokenKind>([
  'bool',
  'char',
  'dot',
  'field',
  'identifier',
  'number',
  'nil',
  'raw',
  'string',
  'variable',
  '(',
])
const NOT_EXECUTABLE: ReadonlySet<Operand['kind']> = new Set<Operand['kind']>([
  'bool',
  'dot',
  'nil',
  'number',
  'string',
])

type Ending = { readonly end: 'end' } | { readonly end: 'else'; readonly chained: 'if' | 'with' | undefined }

/** Parses a byte text. Throws `SyntaxFault` or `Unsupported`. */
export function parseSource(source: string): ParsedSource {
  // Without an action, and most have none, a template is its text.
  if (!source.includes('{{')) return textAlone(source)
  return parsed(source)
}

const parsed = keeping((source) => new Parser(source).parse())

function textAlone(text: string): ParsedSource {
  return {
    main: text === '' ? [] : [{ kind: 'text', text }],
    defined: new Map(),
    hasNumber: false,
    callsTemplate: false,
  }
}

/** What Go keeps per tree: the main part, and each `define` and `block`. */
interface TreeState {
  variables: string[]
  ranges: number
}

class Parser {
  readonly #lexer: Lexer
  readonly #pending: Token[] = []
  readonly #defined = new Map<string, readonly TemplateNode[]>()
  #tree: TreeState = { variables: ['$'], ranges: 0 }
  #nesting = 0
  #inDefinition = 0
  #hasNumber = false
  #callsTemplate = false

  constructor(source: string) {
    this.#lexer = new Lexer(source)
  }

  parse(): ParsedSource {
    const main: TemplateNode[] = []
    for (;;) {
      const token = this.#next()
      if (token.kind === 'eof') break
      if (token.kind === 'left') {
        const first = this.#nextNonSpace()
        if (first.kind === 'define') {
          this.#definition()
          continue
        }
        this.#pending.push(first)
      }
      const node = this.#textOrAction(token)
      if ('end' in node) this.#fault(token, `unexpected {{${node.end}}}`)
      main.push(node)
    }
    return {
      main,
      defined: this.#defined,
      hasNumber: this.#hasNumber,
      callsTemplate: this.#callsTemplate,
    }
  }

  #fault(at: Token, why: string): never {
    throw new SyntaxFault(`line ${this.#lexer.lineOf(at.at)}: ${why}`)
  }

  #unexpected(token: Token, context: string): never {
    this.#fault(
      token,
      `unexpected ${token.kind === 'eof' ? 'EOF' : JSON.stringify(token.text)} in ${context}`,
    )
  }

  #next(): Token {
    return this.#pending.pop() ?? this.#lexer.next()
  }

  #peek(): Token {
    const token = this.#next()
    this.#pending.push(token)
    return token
  }

  #nextNonSpace(): Token {
    let token = this.#next()
    while (token.kind === 'space') token = this.#next()
    return token
  }

  #peekNonSpace(): Token {
    const token = this.#nextNonSpace()
    this.#pending.push(token)
    return token
  }

  #expect(kind: TokenKind, context: string): Token {
    const token = this.#nextNonSpace()
    if (token.kind !== kind) this.#unexpected(token, context)
    return token
  }

  /** Runs `parse` one level deeper. */
  #deeper<T>(parse: () => T): T {
    if (++this.#nesting > MAX_NESTING) throw new Unsupported(`nesting deeper than ${MAX_NESTING}`)
    const result = parse()
    this.#nesting--
    return result
  }

  #definition(): void {
    const name = this.#templateName(this.#nextNonSpace(), 'define clause')
    this.#expect('right', 'define clause')
    this.#body(name, 'define clause')
  }

  /** The body of a `define` or `block`: a tree of its own, without the variables and loops around it. */
  #body(name: string, context: string): void {
    const outer = this.#tree
    this.#tree = { variables: ['$'], ranges: 0 }
    this.#inDefinition++
    const [list, ending] = this.#deeper(() => this.#itemList())
    if (ending.end !== 'end') this.#fault(this.#peek(), `unexpected {{else}} in ${context}`)
    this.#inDefinition--
    this.#tree = outer
    const old = this.#defined.get(name)
    if (old === undefined || isEmpty(old)) this.#defined.set(name, list)
    else if (!isEmpty(list)) this.#fault(this.#peek(), `multiple definition of template ${name}`)
  }

  #itemList(): readonly [readonly TemplateNode[], Ending] {
    const list: TemplateNode[] = []
    for (;;) {
      const token = this.#nextNonSpace()
      if (token.kind === 'eof') this.#fault(token, 'unexpected EOF')
      const node = this.#textOrAction(token)
      if ('end' in node) return [list, node]
      list.push(node)
    }
  }

  #textOrAction(token: Token): TemplateNode | Ending {
    if (token.kind === 'text') return { kind: 'text', text: token.text }
    if (token.kind !== 'left') this.#unexpected(token, 'input')
    return this.#action()
  }

  #action(): TemplateNode | Ending {
    const token = this.#nextNonSpace()
    const { kind } = token
    if (kind === 'block') return this.#block()
    if (kind === 'break' || kind === 'continue') return this.#jump(token, kind)
    if (kind === 'else') return this.#else()
    if (kind === 'if' || kind === 'with' || kind === 'range') return this.#branch(kind)
    if (kind === 'template') return this.#template()
    if (kind === 'end') {
      this.#expect('right', 'end')
      return { end: 'end' }
    }
    this.#pending.push(token)
    return { kind: 'action', pipe: this.#pipe('command', 'right') }
  }

  #jump(token: Token, kind: 'break' | 'continue'): TemplateNode {
    this.#expect('right', `{{${kind}}}`)
    if (this.#tree.ranges === 0) this.#fault(token, `{{${kind}}} outside {{range}}`)
    return { kind }
  }

  #else(): Ending {
    const token = this.#peekNonSpace()
    if (token.kind === 'if' || token.kind === 'with') return { end: 'else', chained: token.kind }
    this.#expect('right', 'else')
    return { end: 'else', chained: undefined }
  }

  #branch(kind: Branch['kind']): Branch {
    return this.#deeper(() => {
      const known = this.#tree.variables.length
      const pipe = this.#pipe(kind, 'right')
      if (kind === 'range') this.#tree.ranges++
      const [list, ending] = this.#itemList()
      if (kind === 'range') this.#tree.ranges--
      const otherwise = ending.end === 'else' ? this.#otherwise(kind, ending.chained) : undefined
      this.#tree.variables.length = known
      return { kind, pipe, list, otherwise }
    })
  }

  #otherwise(kind: Branch['kind'], chained: 'if' | 'with' | undefined): readonly TemplateNode[] {
    if (chained !== undefined && chained === kind) {
      this.#next()
      return [this.#branch(chained)]
    }
    const [list, ending] = this.#itemList()
    if (ending.end !== 'end') this.#fault(this.#peek(), 'expected end; found {{else}}')
    return list
  }

  #block(): TemplateNode {
    const name = this.#templateName(this.#nextNonSpace(), 'block clause')
    const pipe = this.#pipe('block clause', 'right')
    this.#body(name, 'block clause')
    return { kind: 'template', name, pipe }
  }

  #template(): TemplateNode {
    this.#callsTemplate = true
    const name = this.#templateName(this.#nextNonSpace(), 'template clause')
    if (this.#peekNonSpace().kind !== 'right')
      return { kind: 'template', name, pipe: this.#pipe('template clause', 'right') }
    this.#nextNonSpace()
    return { kind: 'template', name, pipe: undefined }
  }

  #templateName(token: Token, context: string): string {
    if (token.kind !== 'string' && token.kind !== 'raw') this.#unexpected(token, context)
    const name = stringConstant(token.text, token.kind === 'raw')
    if (MAIN_NAMES.has(name)) throw new Unsupported(`a template named ${name}, as the main one is`)
    return name
  }

  #pipe(context: string, end: TokenKind): Pipe {
    const { declared, assigns } = this.#declarations(context)
    const commands: Command[] = []
    for (;;) {
      const token = this.#nextNonSpace()
      if (token.kind === end) break
      if (!OPERAND_STARTS.has(token.kind)) this.#unexpected(token, context)
      this.#pending.push(token)
      const command = this.#command()
      if (commands.length > 0 && NOT_EXECUTABLE.has(command.first.kind))
        this.#fault(token, `non executable command in pipeline stage ${commands.length + 1}`)
      commands.push(command)
    }
    if (commands.length === 0) this.#fault(this.#peek(), `missing value for ${context}`)
    return { declared, assigns, commands }
  }

  #declarations(context: string): { declared: string[]; assigns: boolean } {
    const declared: string[] = []
    for (;;) {
      const variable = this.#peekNonSpace()
      if (variable.kind !== 'variable') return { declared, assigns: false }
      this.#next()
      const after = this.#peek()
      const next = this.#peekNonSpace()
      const comma = next.kind === 'other' && next.text === ','
      if (next.kind !== 'assign' && next.kind !== 'declare' && !comma) {
        if (after.kind === 'space') this.#pending.push(after)
        this.#pending.push(variable)
        return { declared, assigns: false }
      }
      this.#next()
      declared.push(variable.text)
      this.#tree.variables.push(variable.text)
      if (!comma) return { declared, assigns: next.kind === 'assign' }
      if (context !== 'range' || declared.length >= 2)
        this.#fault(next, `too many declarations in ${context}`)
      if (!['variable', 'right', ')'].includes(this.#peekNonSpace().kind))
        this.#fault(next, 'range can only initialize variables')
    }
  }

  #command(): Command {
    const operands: Operand[] = []
    for (;;) {
      this.#peekNonSpace()
      const operand = this.#operand()
      if (operand !== undefined) operands.push(operand)
      const token = this.#next()
      if (token.kind === 'space') continue
      if (token.kind === 'right' || token.kind === ')') this.#pending.push(token)
      else if (token.kind !== 'pipe') this.#unexpected(token, 'operand')
      break
    }
    const [first, ...args] = operands
    if (first === undefined) this.#fault(this.#peek(), 'empty command')
    return { first, args }
  }

  #operand(): Operand | undefined {
    const term = this.#term()
    if (term === undefined || this.#peek().kind !== 'field') return term
    const at = this.#peek()
    const names: string[] = []
    while (this.#peek().kind === 'field') names.push(this.#next().text.slice(1))
    if (term.kind === 'field') return { kind: 'field', names: [...term.names, ...names] }
    if (term.kind === 'variable')
      return { kind: 'variable', name: term.name, names: [...term.names, ...names] }
    if (NOT_EXECUTABLE.has(term.kind)) this.#fault(at, 'unexpected . after a constant or the dot')
    return { kind: 'chain', of: term, names }
  }

  #term(): Operand | undefined {
    const token = this.#nextNonSpace()
    const { kind, text } = token
    if (kind === 'field') return { kind, names: [text.slice(1)] }
    if (kind === 'dot' || kind === 'nil') return { kind }
    if (kind === 'bool') return { kind, value: text === 'true' }
    if (kind === 'string' || kind === 'raw')
      return { kind: 'string', text: stringConstant(text, kind === 'raw') }
    if (kind === 'char' || kind === 'number') return this.#numberTerm(text, kind)
    if (kind === 'identifier') return this.#function(token)
    if (kind === 'variable') return this.#variable(token)
    if (kind === '(')
      return { kind: 'pipe', pipe: this.#deeper(() => this.#pipe('parenthesized pipeline', ')')) }
    this.#pending.push(token)
    return undefined
  }

  #function(token: Token): Operand {
    if (!Object.hasOwn(FUNCTIONS, token.text))
      this.#fault(token, `function ${JSON.stringify(token.text)} not defined`)
    return { kind: 'function', name: token.text }
  }

  #variable(token: Token): Operand {
    if (!this.#tree.variables.includes(token.text))
      this.#fault(token, `undefined variable ${JSON.stringify(token.text)}`)
    return { kind: 'variable', name: token.text, names: [] }
  }

  #numberTerm(text: string, kind: 'char' | 'number'): Operand {
    if (this.#inDefinition === 0) this.#hasNumber = true
    return { kind: 'number', number: kind === 'char' ? charConstant(text) : numberConstant(text) }
  }
}

const SPACE = /^[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/

/** Go's IsEmptyTree: nothing but space. */
function isEmpty(list: readonly TemplateNode[]): boolean {
  return list.every((node) => node.kind === 'text' && SPACE.test(fromByteText(node.text).text))
}
