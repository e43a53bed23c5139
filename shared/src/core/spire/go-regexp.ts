// Go's regular expressions (RE2) as SPIRE Controller Manager uses them for `ignoreNamespaces`: unanchored, in time
// linear in the text whatever the pattern, and never a guess where a construct is not followed.
import { buildProgram, search } from './go-regexp-program.ts'
import { parseGoRegexp } from './go-regexp-syntax.ts'
import type { Failure } from './go-regexp-tree.ts'

/** A compiled expression, why Go refuses it, or the construct in it that is not followed here. */
export type GoRegexp = { readonly kind: 'regexp'; matches(text: string): boolean } | Failure

/** Compiles a Go regular expression; `matches` finds it anywhere in a text, as `Regexp.MatchString` does. */
export function compileGoRegexp(source: string): GoRegexp {
  const syntax = parseGoRegexp(source)
  if (syntax.kind !== 'parsed') return syntax
  const program = buildProgram(syntax.root)
  return { kind: 'regexp', matches: (text) => search(program, text).matched }
}
