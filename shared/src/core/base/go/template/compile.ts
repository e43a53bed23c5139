// Turns the tree of a template into closures, once, and executes them: Go's text/template/exec.go. Executing throws
// `TemplateFailure` or `Unknowable`.
import { compareBytes } from '../../text/bytes.ts'
import type { Branch, Command, TemplateNode, Operand, ParsedSource, Pipe } from './ast.ts'
import { evalField } from './fields.ts'
import { BUILTINS, printable } from './functions.ts'
import { FUNCTIONS } from './parser.ts'
import { print } from './printf.ts'
import { checkLength, TemplateFailure, MAX_DEPTH, MAX_STEPS, Unknowable } from './signals.ts'
import {
  elementAt,
  entryOf,
  GoFloat,
  GoInt,
  indirect,
  keyValue,
  lengthOf,
  PlaceholderValue,
  Ref,
  sortedKeys,
  truth,
  typeName,
  type Value,
} from './values.ts'

/** The value piped into a command, or this when there is none. */
const MISSING = Symbol('missing')
type Piped = Value | typeof MISSING

type Eval = (run: Run, dot: Value) => Value
type Stage = (run: Run, dot: Value, piped: Piped) => Value
/** How a list ended: at its end, or at a jump out of the loop around it. */
type Ending = 'end' | 'break' | 'continue'
type Walk = (run: Run, dot: Value) => Ending

/** One execution: its output, and the variables in scope, innermost last. */
class Run {
  out = ''
  readonly whats = new Set<string>()
  names: string[] = ['$']
  values: Value[]
  depth = 0
  #steps = 0

  constructor(dot: Value) {
    this.values = [dot]
  }

  /** Counts work; a long text counts for more. */
  step(cost = 1): void {
    this.#steps += cost
    if (this.#steps > MAX_STEPS) throw new Unknowable(`an execution of more than ${MAX_STEPS} steps`)
  }

  write(bytes: string): void {
    this.out += bytes
    checkLength(this.out.length)
  }

  print(value: Value): void {
    if (typeof value === 'string') {
      this.write(value)
      return
    }
    const printed = print([printable(value)])
    this.write(printed.text)
    for (const what of printed.whats) this.whats.add(what)
  }

  declare(name: string, value: Value): void {
    this.names.push(name)
    this.values.push(value)
  }

  find(name: string): number {
    const at = this.names.lastIndexOf(name)
    if (at < 0) throw new TemplateFailure(`undefined variable: ${name}`)
    this.step(1 + ((this.names.length - at) >> 4))
    return at
  }

  forget(mark: number): void {
    this.names.length = mark
    this.values.length = mark
  }
}

/** What an execution produced, as a byte text, with what is not known in it. */
export interface Executed {
  readonly bytes: string
  readonly whats: readonly string[]
}

/** Compiles a parsed template to a function of the dot. */
export function compile(source: ParsedSource): (dot: Value) => Executed {
  const walk = new Compiler(source.defined).list(source.main)
  return (dot) => {
    const run = new Run(dot)
    walk(run, dot)
    return { bytes: run.out, whats: run.whats.size === 0 ? [] : [...run.whats].toSorted(compareBytes) }
  }
}

class Compiler {
  readonly #templates = new Map<string, Walk>()

  constructor(defined: ParsedSource['defined']) {
    for (const [name, list] of defined) this.#templates.set(name, this.list(list))
  }

  list(nodes: readonly TemplateNode[]): Walk {
    const walks = nodes.map((node) => this.#node(node))
    return (run, dot) => {
      for (const walk of walks) {
        const ending = walk(run, dot)
        if (ending !== 'end') return ending
      }
      return 'end'
    }
  }

  #node(node: TemplateNode): Walk {
    switch (node.kind) {
      case 'text':
        return text(node.text)
      case 'action':
        return action(node.pipe)
      case 'if':
      case 'with':
        return this.#condition(node)
      case 'range':
        return this.#range(node)
      case 'template':
        return this.#call(node.name, node.pipe === undefined ? () => undefined : pipeline(node.pipe))
      case 'break':
      case 'continue':
        return () => node.kind
    }
  }

  #condition(node: Branch): Walk {
    const test = pipeline(node.pipe)
    const list = this.list(node.list)
    const otherwise = node.otherwise === undefined ? undefined : this.list(node.otherwise)
    return (run, dot) => {
      run.step()
      const mark = run.names.length
      const value = test(run, dot)
      const ending = truth(value)
        ? deeper(run, list, node.kind === 'with' ? value : dot)
        : otherwise === undefined
          ? 'end'
          : deeper(run, otherwise, dot)
      run.forget(mark)
      return ending
    }
  }

  #range(node: Branch): Walk {
    const over = pipeline(node.pipe)
    const list = this.list(node.list)
    const otherwise = node.otherwise === undefined ? undefined : this.list(node.otherwise)
    return (run, dot) => {
      run.step()
      const mark = run.names.length
      const value = indirect(over(run, dot))
      const body = run.names.length
      let rounds = 0
      for (const [key, element] of elements(value, node.pipe.declared.length)) {
        run.step()
        rounds++
        bindRound(run, node.pipe, key, element)
        const ending = deeper(run, list, element)
        run.forget(body)
        if (ending === 'break') break
      }
      const ending = rounds === 0 && otherwise !== undefined ? deeper(run, otherwise, dot) : 'end'
      run.forget(mark)
      return ending
    }
  }

  #call(name: string, evaluate: Eval): Walk {
    return (run, dot) => {
      run.step()
      const walk = this.#templates.get(name)
      if (walk === undefined) throw new TemplateFailure(`template ${JSON.stringify(name)} not defined`)
      const value = evaluate(run, dot)
      const { names, values } = run
      run.names = ['$']
      run.values = [value]
      deeper(run, walk, value)
      run.names = names
      run.values = values
      return 'end'
    }
  }
}

function deeper(run: Run, walk: Walk, dot: Value): Ending {
  if (++run.depth > MAX_DEPTH) throw new Unknowable(`an execution nested deeper than ${MAX_DEPTH}`)
  const ending = walk(run, dot)
  run.depth--
  return ending
}

function text(content: string): Walk {
  return (run) => {
    run.write(content)
    return 'end'
  }
}

function action(pipe: Pipe): Walk {
  const evaluate = pipeline(pipe)
  const prints = pipe.declared.length === 0
  return (run, dot) => {
    run.step()
    const value = evaluate(run, dot)
    if (prints) run.print(value)
    return 'end'
  }
}

/** Gives the variables of a range their values for one round. */
function bindRound(run: Run, pipe: Pipe, key: Value, element: Value): void {
  const [first, second] = pipe.declared
  if (first === undefined) return
  if (pipe.assigns) {
    run.values[run.find(first)] = second === undefined ? element : key
    if (second !== undefined) run.values[run.find(second)] = element
    return
  }
  run.values[run.values.length - 1] = element
  if (second !== undefined) run.values[run.values.length - 2] = key
}

/** What a range goes through: keys or places, and elements. */
function* elements(value: Value, variables: number): Generator<readonly [Value, Value]> {
  if (value === undefined) return
  if (value instanceof PlaceholderValue)
    throw new Unknowable(`a range over the ${value.what}, which is not known yet`)
  if (value instanceof GoInt) {
    if (variables > 1)
      throw new TemplateFailure("can't use an integer to iterate over more than one variable")
    for (let at = 0n; at < value.value; at++) yield [undefined, new GoInt(at, value.type)]
    return
  }
  if (value instanceof Ref && value.type.kind === 'slice') {
    const size = lengthOf(value)
    for (let at = 0; at < size; at++) yield [new GoInt(BigInt(at)), elementAt(value, value.type, at)]
    return
  }
  if (!(value instanceof Ref) || value.type.kind !== 'map')
    throw new TemplateFailure(`range can't iterate over a value of type ${typeName(value)}`)
  lengthOf(value)
  for (const key of sortedKeys(value)) {
    const element = entryOf(value, value.type, key)
    if (element instanceof PlaceholderValue)
      throw new Unknowable(`a range over the ${value.what}, where the ${element.what} is not known yet`)
    yield [keyValue(value.type, key), element]
  }
}

function pipeline(pipe: Pipe): Eval {
  const [first, ...rest] = pipe.commands.map(command)
  if (first === undefined) throw new TemplateFailure('an empty pipeline')
  const start: Eval = (run, dot) => first(run, dot, MISSING)
  const chained: Eval =
    rest.length === 0
      ? start
      : (run, dot) => rest.reduce((value, stage) => stage(run, dot, value), start(run, dot))
  if (pipe.declared.length === 0) return chained
  return (run, dot) => {
    const value = chained(run, dot)
    for (const name of pipe.declared) {
      if (pipe.assigns) run.values[run.find(name)] = value
      else run.declare(name, value)
    }
    return value
  }
}

function command({ first, args }: Command): Stage {
  if (first.kind === 'function') return call(first.name, args)
  if (first.kind === 'field') return fieldStage((_run, dot) => dot, first.names, args)
  if (first.kind === 'chain') return fieldStage(argument(first.of), first.names, args)
  if (first.kind === 'variable' && first.names.length > 0)
    return fieldStage(variable(first.name), first.names, args)
  if (first.kind === 'nil')
    return () => {
      throw new TemplateFailure('nil is not a command')
    }
  const value = argument(first)
  return (run, dot, piped) => {
    if (args.length > 0 || piped !== MISSING) throw new TemplateFailure("can't give argument to non-function")
    return value(run, dot)
  }
}

/** `.A.B.C` on a value: arguments, the piped one too, go to the last name. */
function fieldStage(receiver: Eval, names: readonly string[], args: readonly Operand[]): Stage {
  const [only] = names
  if (names.length === 1 && only !== undefined)
    return (run, dot, piped) => evalField(receiver(run, dot), only, args.length + (piped === MISSING ? 0 : 1))
  const last = names.length - 1
  return (run, dot, piped) => {
    let value = receiver(run, dot)
    run.step(names.length)
    for (let at = 0; at <= last; at++)
      value = evalField(value, names[at] ?? '', at < last ? 0 : args.length + (piped === MISSING ? 0 : 1))
    return value
  }
}

function variable(name: string): Eval {
  return (run) => run.values[run.find(name)]
}

/** An operand where a value of any type is wanted. */
function argument(operand: Operand): Eval {
  switch (operand.kind) {
    case 'dot':
      return (_run, dot) => dot
    case 'nil':
      return () => undefined
    case 'bool':
      return () => operand.value
    case 'string':
      return () => operand.text
    case 'number':
      return number(operand.number)
    case 'pipe':
      return parenthesized(operand.pipe)
    case 'variable':
      return operand.names.length === 0 ? variable(operand.name) : alone(operand)
    case 'function':
    case 'field':
    case 'chain':
      return alone(operand)
  }
}

/** An operand as a command without arguments. */
function alone(operand: Operand): Eval {
  const stage = command({ first: operand, args: [] })
  return (run, dot) => stage(run, dot, MISSING)
}

function parenthesized(pipe: Pipe): Eval {
  const value = pipeline(pipe)
  return (run, dot) => {
    if (++run.depth > MAX_DEPTH) throw new Unknowable(`an execution nested deeper than ${MAX_DEPTH}`)
    const result = value(run, dot)
    run.depth--
    return result
  }
}

function number(constant: Extract<Operand, { kind: 'number' }>['number']): Eval {
  if (constant.kind === 'overflow')
    return () => {
      throw new TemplateFailure(`${constant.text} overflows int`)
    }
  const value = constant.kind === 'int' ? new GoInt(constant.value) : new GoFloat(constant.value)
  return () => value
}

function call(name: string, operands: readonly Operand[]): Stage {
  const args = operands.map(argument)
  const [least, most] = FUNCTIONS[name] ?? [0, 0]
  const builtin = BUILTINS[name]
  return (run, dot, piped) => {
    const count = args.length + (piped === MISSING ? 0 : 1)
    if (count < least || count > most)
      throw new TemplateFailure(`wrong number of args for ${name}: got ${count}`)
    if (builtin === undefined) return shortCircuit(name, args, run, dot, piped)
    const values = args.map((evaluate) => evaluate(run, dot))
    if (piped !== MISSING) values.push(piped)
    run.step(workFor(values))
    return builtin(values)
  }
}

/** What a call costs: its arguments, and more for long texts. */
function workFor(values: readonly Value[]): number {
  let work = 1 + values.length
  for (const value of values) if (typeof value === 'string') work += value.length >> 6
  return work
}

/** `and` and `or`: the first argument that decides, else the last. */
function shortCircuit(name: string, args: readonly Eval[], run: Run, dot: Value, piped: Piped): Value {
  const last = piped === MISSING ? args.length - 1 : args.length
  for (const [at, evaluate] of args.entries()) {
    run.step()
    const value = evaluate(run, dot)
    if (at === last || truth(value) === (name === 'or')) return value
  }
  return piped === MISSING ? undefined : piped
}
