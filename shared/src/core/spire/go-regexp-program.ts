// Runs a parsed Go regular expression: Thompson's construction and a simulation of all states at once, as Go's own
// engine does it. No pattern can make it slow: each character of the text visits each instruction at most once.
import type { Assertion, Node } from './go-regexp-tree.ts'

/** One instruction; `next` and `other` are indexes into the program. */
type Instruction =
  | { readonly op: 'match' }
  | { readonly op: 'character'; readonly ranges: readonly number[]; readonly next: number }
  | { readonly op: 'assert'; readonly assertion: Assertion; readonly next: number }
  | { readonly op: 'split'; readonly next: number; other: number }

/** A compiled expression: its instructions, and where to start. */
export interface Program {
  readonly instructions: readonly Instruction[]
  readonly start: number
}

/** What a search found, and how many instructions it visited: at most (characters + 1) × instructions. */
export interface Search {
  readonly matched: boolean
  readonly steps: number
}

/** Builds the program of an expression from its end to its start. */
export function buildProgram(root: Node): Program {
  const instructions: Instruction[] = [{ op: 'match' }]
  const start = emit(root, 0, instructions)
  return { instructions, start }
}

function add(instructions: Instruction[], instruction: Instruction): number {
  instructions.push(instruction)
  return instructions.length - 1
}

/** Adds the instructions of `node`, which go on at `next`; returns where they begin. */
function emit(node: Node, next: number, into: Instruction[]): number {
  switch (node.kind) {
    case 'character':
      return add(into, { op: 'character', ranges: node.ranges, next })
    case 'assert':
      return add(into, { op: 'assert', assertion: node.assertion, next })
    case 'concat':
      return node.parts.reduceRight((after, part) => emit(part, after, into), next)
    case 'alternate':
      return node.parts
        .map((part) => emit(part, next, into))
        .reduceRight((other, branch) => add(into, { op: 'split', next: branch, other }))
    case 'repeat':
      return emitRepeat(node, next, into)
  }
}

function emitRepeat(node: Node & { kind: 'repeat' }, next: number, into: Instruction[]): number {
  let start = next
  if (node.max === Infinity) start = emitLoop(node, next, into)
  else
    for (let count = node.min; count < node.max; count++) {
      start = add(into, { op: 'split', next: emit(node.of, start, into), other: next })
    }
  // The loop has a turn of its own, which serves as the last of the obligatory ones.
  const obligatory = node.max === Infinity ? Math.max(node.min - 1, 0) : node.min
  for (let count = 0; count < obligatory; count++) start = emit(node.of, start, into)
  return start
}

function emitLoop(node: Node & { kind: 'repeat' }, next: number, into: Instruction[]): number {
  const split: Instruction = { op: 'split', next, other: next }
  const at = add(into, split)
  const body = emit(node.of, at, into)
  split.other = body
  return node.min > 0 ? body : at
}

/** Searches `text`, from wherever a match may begin. Half a surrogate pair counts as U+FFFD, as in UTF-8. */
export function search(program: Program, text: string): Search {
  const characters = Array.from(text, (character) => {
    const codePoint = character.codePointAt(0) ?? 0
    return codePoint >= 0xd800 && codePoint <= 0xdfff ? 0xfffd : codePoint
  })
  const seen = new Int32Array(program.instructions.length).fill(-1)
  let states: number[] = []
  let steps = 0
  for (let at = 0; at <= characters.length; at++) {
    const pending = [program.start, ...states]
    const character = characters[at]
    states = []
    for (let state = pending.pop(); state !== undefined; state = pending.pop()) {
      const instruction = program.instructions[state]
      if (instruction === undefined || seen[state] === at) continue
      seen[state] = at
      steps++
      if (instruction.op === 'match') return { matched: true, steps }
      if (instruction.op === 'split') pending.push(instruction.other, instruction.next)
      else if (instruction.op === 'assert') {
        if (holds(instruction.assertion, characters[at - 1], character)) pending.push(instruction.next)
      } else if (character !== undefined && inRanges(instruction.ranges, character))
        states.push(instruction.next)
    }
  }
  return { matched: false, steps }
}

/** Whether `ranges` (lowest, highest, lowest, ...) hold the character. */
function inRanges(ranges: readonly number[], character: number): boolean {
  for (let at = 0; at < ranges.length; at += 2) {
    if ((ranges[at] ?? Infinity) <= character && character <= (ranges[at + 1] ?? -1)) return true
  }
  return false
}

const LINE_FEED = 0x0a

function holds(assertion: Assertion, before: number | undefined, after: number | undefined): boolean {
  switch (assertion) {
    case 'text start':
      return before === undefined
    case 'text end':
      return after === undefined
    case 'line start':
      return before === undefined || before === LINE_FEED
    case 'line end':
      return after === undefined || after === LINE_FEED
    case 'word boundary':
      return isWord(before) !== isWord(after)
    case 'no word boundary':
      return isWord(before) === isWord(after)
  }
}

function isWord(character: number | undefined): boolean {
  return character !== undefined && /\w/.test(String.fromCodePoint(character))
}
