// What a template can read and what it can render, from its text alone: which parts of a pod must be kept for it, and whether
// it can render a given text at all. Both err on the safe side: they keep too much, and call too much possible.
import type { Command, ParsedSource, TemplateNode, Operand, Pipe } from './ast.ts'
import { toByteText } from './byte-text.ts'
import { parseSource } from './parser.ts'
import { MAX_SOURCE, SyntaxFault, Unsupported } from './signals.ts'

/**
 * The fields of the root that a template names, as `PodMeta.Labels`; `PodMeta` alone if it uses the whole value, and `*` if it
 * uses everything, or if the fields are not known.
 */
export function mentionsOf(template: string): ReadonlySet<string> {
  const parsed = sourceOf(template)
  if (parsed === 'syntax error') return new Set()
  if (parsed === 'unclear') return new Set(['*'])
  return mentionedIn([...parsed.main, ...[...parsed.defined.values()].flat()])
}

function mentionedIn(nodes: readonly TemplateNode[]): ReadonlySet<string> {
  const mentioned = new Set<string>()
  for (const pipe of pipesOf(nodes)) for (const operand of operandsOf(pipe)) mention(operand, mentioned)
  return mentioned
}

const ASCII = /^[\u0020-\u007e]*$/

/** Whether a template may render one of some texts for some pod: each action may render any text. */
export function mayGive(template: string, texts: readonly string[]): boolean {
  // Most templates have no action, and render their own text.
  if (ASCII.test(template) && !template.includes('{{')) return texts.includes(template)
  const parsed = sourceOf(template)
  if (parsed === 'syntax error') return false
  if (parsed === 'unclear') return true
  const parts = partsOf(parsed)
  return texts.some((text) => fits(toByteText(text), parts))
}

/** The fields that whoever makes a pod chooses. */
const CHOSEN: ReadonlySet<string> = new Set([
  ...['Labels', 'Annotations', 'Name', 'GenerateName'].map((field) => `PodMeta.${field}`),
  'PodSpec.ServiceAccountName',
])

/**
 * Tells which texts a template may render for pods that somebody is free to make. Undefined: other fields decide too, such as the namespace, or
 * it has branches. Labels and names hold no slash, annotations do.
 */
export function chosenByPods(template: string): ((text: string) => boolean) | undefined {
  const parsed = sourceOf(template)
  if (typeof parsed === 'string') return undefined
  const mentioned = parsed.main.flatMap((node) => (node.kind === 'text' ? [] : [mentionedIn([node])]))
  const isChosen = mentioned.every((one) => one.size > 0 && one.isSubsetOf(CHOSEN))
  if (!isChosen || parsed.main.some(({ kind }) => kind !== 'text' && kind !== 'action')) return undefined
  const parts = partsOf(parsed)
  if (mentioned.some((one) => one.has('PodMeta.Annotations'))) return (text) => fits(toByteText(text), parts)
  const segments: (string | undefined)[][] = [[]]
  for (const part of parts)
    for (const [at, piece] of (part?.split('/') ?? [undefined]).entries()) {
      if (at > 0) segments.push([])
      segments.at(-1)?.push(piece)
    }
  return (text) => {
    const pieces = toByteText(text).split('/')
    return pieces.length === segments.length && pieces.every((one, at) => fits(one, segments[at] ?? []))
  }
}

/** The texts of a template, with undefined for each action. */
function partsOf({ main }: ParsedSource): readonly (string | undefined)[] {
  return main.map((node) => (node.kind === 'text' ? node.text : undefined))
}

/** Whether a rendered text with placeholders such as `<pod UID>` may be this text, whatever they stand for. */
export function mayBecome(rendered: string, text: string): boolean {
  if (!rendered.includes('<')) return rendered === text
  const parts = rendered.split(/(<[^<>]*>)/).map((part, at) => (at % 2 === 0 ? part : undefined))
  return fits(text, parts)
}

/** Whether two such texts may be the same one; of two with placeholders, their beginnings and ends alone are compared. */
export function mayMeet(left: string, right: string): boolean {
  if (!right.includes('<')) return mayBecome(left, right)
  if (!left.includes('<')) return mayBecome(right, left)
  const [starts, ends] = [
    [left, right].map((one) => one.slice(0, one.indexOf('<'))),
    [left, right].map((one) => one.slice(one.lastIndexOf('>') + 1)),
  ]
  return (
    starts.some((one) => starts.every((other) => one.startsWith(other))) &&
    ends.some((one) => ends.every((other) => one.endsWith(other)))
  )
}

/** Whether a text is these parts one after the other; undefined stands for any text. In time `text` by `parts`. */
function fits(text: string, parts: readonly (string | undefined)[]): boolean {
  const literals = [...joined(parts)]
  const first = literals.shift() ?? ''
  const last = literals.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const literal of literals) {
    const found = text.indexOf(literal, at)
    if (found < 0) return false
    at = found + literal.length
  }
  return at <= text.length - last.length
}

/** The texts between the gaps, with an empty one where two gaps meet or where a gap stands at an end. */
function* joined(parts: readonly (string | undefined)[]): Iterable<string> {
  let text = ''
  for (const part of parts) {
    if (part === undefined) {
      yield text
      text = ''
    } else text += part
  }
  yield text
}

/** A template's tree; Go refuses one with a syntax error, and what kleym cannot follow is unclear. */
export function sourceOf(template: string): ParsedSource | 'syntax error' | 'unclear' {
  if (template.length > MAX_SOURCE) return 'unclear'
  try {
    return parseSource(toByteText(template))
  } catch (error) {
    if (error instanceof SyntaxFault) return 'syntax error'
    if (error instanceof Unsupported || error instanceof RangeError) return 'unclear'
    throw error
  }
}

function* pipesOf(nodes: readonly TemplateNode[]): Iterable<Pipe> {
  for (const node of nodes) {
    if ('pipe' in node && node.pipe !== undefined) yield node.pipe
    if ('list' in node) {
      yield* pipesOf(node.list)
      yield* pipesOf(node.otherwise ?? [])
    }
  }
}

function* operandsOf({ commands }: Pipe): Iterable<Operand> {
  for (const { first, args } of commands satisfies readonly Command[])
    for (const operand of [first, ...args]) yield* within(operand)
}

function* within(operand: Operand): Iterable<Operand> {
  yield operand
  if (operand.kind === 'pipe') yield* operandsOf(operand.pipe)
  if (operand.kind === 'chain') yield* within(operand.of)
}

/** The objects of the root; what is below any other name was reached through one of them. */
export const OBJECTS: ReadonlySet<string> = new Set(['PodMeta', 'PodSpec', 'NodeMeta', 'NodeSpec'])

function mention(operand: Operand, mentioned: Set<string>): void {
  // Inside `range` and `with` the dot is something that was named before; outside it is everything.
  if (operand.kind === 'dot' || (operand.kind === 'variable' && operand.names.length === 0)) {
    if (operand.kind === 'dot' || operand.name === '$') mentioned.add('*')
    return
  }
  if (operand.kind !== 'field' && operand.kind !== 'variable') return
  const [object = '', field] = operand.names
  if (OBJECTS.has(object)) mentioned.add(field === undefined ? object : `${object}.${field}`)
}
