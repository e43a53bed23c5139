// Go's regular expressions as SPIRE Controller Manager uses them for `ignoreNamespaces`: unanchored, in time linear in the
// text, by re2js, a port of Go's own package. Where it is known to differ from Go 1.26, or its size has no bound that we
// can afford, the expression is *unsupported*, never guessed: test/go-oracle asks Go itself.
import { RE2JS, RE2JSSyntaxException } from 're2js'

/** Why a text is no expression, or what of it is not followed here. */
export type GoRegexpFailure =
  /** Go refuses the expression; `message` is what Go says of it. */
  | { readonly kind: 'invalid'; readonly message: string }
  /** Go may take the expression; `construct` is what is not followed here. */
  | { readonly kind: 'unsupported'; readonly construct: string }

/** A compiled expression, why Go refuses it, or the construct in it that is not followed here. */
export type GoRegexp = { readonly kind: 'regexp'; matches(text: string): boolean } | GoRegexpFailure

/** The longest expression that is read, in UTF-16 units. */
export const SOURCE_MAX = 4096
/** The greatest program that is run, in instructions: a search visits each at most once per character. */
export const SIZE_MAX = 10_000
/**
 * The greatest program that is compiled at all: re2js and Go stop at 1.4 million instructions, which take 1.4 s and 500 MB.
 */
const COMPILED_MAX = 100_000
/** Go's limit on a counted repeat, and on the product of nested ones. */
const REPEAT_MAX = 1000

/** What most people write, the name of a namespace or how it begins: anywhere in a text, that is whether it holds it. */
const NAME = /^([A-Za-z0-9_-]{0,253})(?:\.\*)?$/

/** An escape with what belongs to it: `\\` first, or its second half would begin another. */
const ESCAPE = /\\(?:[pP](?:\{[^}]*\}?|[^]?)|[^])/gu
/**
 * The general categories of Unicode, which each version of Go knows by these names. (re2js has names and a version of
 * Unicode of its own; the name of a namespace is ASCII, on which all versions agree.)
 */
const CATEGORY =
  /^\\[pP](?:[CLMNPSZ]|\{\^?(?:C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)\})$/

/**
 * What re2js says where Go says the same: held by more than two million expressions. It refuses other things than Go where
 * a group name stands twice and where `[:]` is no class, and its limits on size and depth are its own.
 */
const SAME_IN_GO: ReadonlySet<string> = new Set([
  'invalid character class range',
  'invalid escape sequence',
  'invalid named capture',
  'invalid nested repetition operator',
  'invalid or unsupported Perl syntax',
  'invalid repeat count',
  'missing argument to repetition operator',
  'missing closing )',
  'missing closing ]',
  'trailing backslash at end of expression',
  'unexpected )',
])

/** Compiles a Go regular expression; `matches` finds it anywhere in a text, as `Regexp.MatchString` does. */
export function compileGoRegexp(source: string): GoRegexp {
  const name = NAME.exec(source)?.[1]
  if (name !== undefined) return { kind: 'regexp', matches: (text) => text.includes(name) }
  if (source.length > SOURCE_MAX) return unsupported(`an expression over ${SOURCE_MAX} characters`)
  const script = source.match(ESCAPE)?.find((escape) => /^\\[pP]/.test(escape) && !CATEGORY.test(escape))
  if (script !== undefined) return unsupported(script)
  if (largestSize(source) > COMPILED_MAX) return TOO_LARGE
  try {
    // Half a surrogate pair is U+FFFD in UTF-8, which is what Go reads.
    const program = RE2JS.compile(source.toWellFormed())
    if (program.programSize() > SIZE_MAX) return TOO_LARGE
    return { kind: 'regexp', matches: (text) => program.test(text.toWellFormed()) }
  } catch (error) {
    return failureOf(error)
  }
}

const TOO_LARGE = unsupported('an expression of this size')

function unsupported(construct: string): GoRegexpFailure {
  return { kind: 'unsupported', construct }
}

/** At most how many instructions the expression compiles to, roughly: its length, times its counted repeats. */
function largestSize(source: string): number {
  let copies = 1
  for (const [, least, most] of source.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) {
    const count = Math.max(1, Number(least), Number(most ?? 0))
    // More is refused when it is read.
    if (count <= REPEAT_MAX) copies *= count
  }
  return source.length * Math.min(copies, REPEAT_MAX)
}

function failureOf(error: unknown): GoRegexpFailure {
  // Anything else is a limit of the engine that runs this, e.g. of its stack.
  if (!(error instanceof RE2JSSyntaxException)) return unsupported('an expression that re2js does not read')
  const reason = error.getDescription()
  if (error.getPattern() === '[:]') return unsupported('"[:]" in a class')
  if (!SAME_IN_GO.has(reason)) return unsupported(`an expression with "${reason}"`)
  return { kind: 'invalid', message: error.message }
}
