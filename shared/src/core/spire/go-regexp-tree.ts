// The tree of a parsed regular expression. Greediness and groups have no effect on whether a text matches, so that
// they leave no trace in it.
import type { Ranges } from './go-regexp-class.ts'

/** Why a text is no expression, or what of it is not followed here. */
export type Failure =
  | { readonly kind: 'invalid'; readonly message: string }
  | { readonly kind: 'unsupported'; readonly construct: string }

/** Go refuses the expression; `message` completes a sentence that begins with it. */
export function invalid(message: string): Failure {
  return { kind: 'invalid', message }
}

/** Go may take the expression, but the construct is not followed here. */
export function unsupported(construct: string): Failure {
  return { kind: 'unsupported', construct }
}

/** A place that an expression may ask for. */
export type Assertion =
  | 'text start'
  | 'text end'
  | 'line start'
  | 'line end'
  | 'word boundary'
  | 'no word boundary'

/** A parsed expression. `size` is its weight when compiled, `height` that of the tree. */
export type Node = { readonly size: number; readonly height: number } & (
  | { readonly kind: 'character'; readonly ranges: Ranges }
  | { readonly kind: 'assert'; readonly assertion: Assertion }
  | { readonly kind: 'concat' | 'alternate'; readonly parts: readonly Node[] }
  | ({ readonly kind: 'repeat'; readonly of: Node } & Repeat)
)

/** How often something comes: `max` may be Infinity. */
export interface Repeat {
  readonly min: number
  readonly max: number
  /** Written as `{n,m}`; such repeats may not multiply beyond 1000. */
  readonly counted: boolean
}

/** One character out of `ranges`; many ranges weigh more, because each is compared. */
export function oneOf(ranges: Ranges): Node {
  return { kind: 'character', ranges, size: Math.max(1, ranges.length / 2), height: 1 }
}

/** A place, which takes no character. */
export function asserted(assertion: Assertion): Node {
  return { kind: 'assert', assertion, size: 1, height: 1 }
}

/** The parts one after the other, or one of them. */
export function combined(kind: 'concat' | 'alternate', parts: readonly Node[]): Node {
  const [only] = parts
  if (only !== undefined && parts.length === 1) return only
  let size = 1
  let height = 0
  for (const part of parts) {
    size += part.size + 1
    height = Math.max(height, part.height)
  }
  return { kind, parts, size, height: height + 1 }
}

/** `of`, as often as `repeat` says. */
export function repeated(of: Node, repeat: Repeat): Node {
  const { min, max } = repeat
  const size = max === Infinity ? Math.max(min, 1) * of.size + 1 : max * (of.size + 1)
  return { kind: 'repeat', of, ...repeat, size: Math.max(1, size), height: of.height + 1 }
}

/** Whether counted repeats inside each other ask for more than `limit` copies (`repeatIsValid` in Go's parser). */
export function repeatsOver(node: Node, limit: number): boolean {
  switch (node.kind) {
    case 'character':
    case 'assert':
      return false
    case 'concat':
    case 'alternate':
      return node.parts.some((part) => repeatsOver(part, limit))
    case 'repeat':
      if (!node.counted) return repeatsOver(node.of, limit)
      return countedOver(node.of, node.max === Infinity ? node.min : node.max, node.max === 0, limit)
  }
}

function countedOver(of: Node, copies: number, never: boolean, limit: number): boolean {
  if (never) return false
  if (copies > limit) return true
  return repeatsOver(of, copies > 0 ? Math.floor(limit / copies) : limit)
}
