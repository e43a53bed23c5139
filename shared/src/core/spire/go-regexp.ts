// Go's regular expressions (RE2) as SPIRE Controller Manager uses them for `ignoreNamespaces`: unanchored, in time
// linear in the text whatever the pattern, and never a guess where a construct is not followed.
import { buildProgram, search } from './go-regexp-program.ts'
import { parseGoRegexp } from './go-regexp-syntax.ts'
import type { Failure } from './go-regexp-tree.ts'

/** A compiled expression, why Go refuses it, or the construct in it that is not followed here. */
export type GoRegexp = { readonly kind: 'regexp'; matches(text: string): boolean } | Failure

/** What most people write, the name of a namespace or how it begins: anywhere in a text, that is whether it holds it. */
const NAME = /^([A-Za-z0-9_-]{0,253})(?:\.\*)?$/

/** Compiles a Go regular expression; `matches` finds it anywhere in a text, as `Regexp.MatchString` does. */
export function compileGoRegexp(source: string): GoRegexp {
  const name = NAME.exec(source)?.[1]
  if (name !== undefined) return { kind: 'regexp', matches: (text) => text.includes(name) }
  const syntax = parseGoRegexp(source)
  if (syntax.kind !== 'parsed') return syntax
  const program = buildProgram(syntax.root)
  return { kind: 'regexp', matches: (text) => search(program, text).matched }
}
