// Where a text stops being JSON, and why, by jsonc-parser. Loaded only when `JSON.parse` has refused a text: its own message
// differs between Node and Bun, and on Bun it names no place.
import { printParseErrorCode, visit } from 'jsonc-parser'

/** The first thing that is wrong with a text that should be one JSON value. */
export interface JsonFault {
  /** Where it is, in UTF-16 units from the beginning of the text. */
  readonly offset: number
  readonly why: string
}

/** By the names of jsonc-parser's `ParseErrorCode`, whose numbers are a `const enum` of another project. */
const WORDS: Readonly<Record<string, string>> = {
  InvalidSymbol: 'here stands what is no value, e.g. a word without quotes',
  InvalidNumberFormat: 'a number is malformed',
  PropertyNameExpected: 'a key in double quotes is missing',
  ValueExpected: 'a value is missing',
  ColonExpected: 'a ":" is missing after a key',
  CommaExpected: 'a "," is missing between two values',
  CloseBraceExpected: 'a "}" is missing',
  CloseBracketExpected: 'a "]" is missing',
  EndOfFileExpected: 'something follows the value',
  InvalidCommentToken: 'JSON has no comments',
  UnexpectedEndOfComment: 'JSON has no comments',
  UnexpectedEndOfString: 'a string has no end on its line',
  UnexpectedEndOfNumber: 'a number is malformed',
  InvalidUnicode: 'a string has a malformed \\u escape',
  InvalidEscapeCharacter: 'a string has an unknown escape',
  InvalidCharacter: 'a string has a control character, which must be escaped',
}

/** The first fault of a text; undefined where jsonc-parser finds none. */
export function jsonFault(text: string): JsonFault | undefined {
  let first: JsonFault | undefined
  visit(
    text,
    {
      onError: (code, offset) => {
        const words = wordsOf(printParseErrorCode(code), text[offset])
        first ??= { offset, why: words === undefined ? 'it is no JSON' : `it is no JSON: ${words}` }
      },
    },
    { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false },
  )
  return first === undefined ? undefined : (trailingComma(text, first.offset) ?? first)
}

/** A bracket where a comma would be right is the other one's. */
function wordsOf(code: string, found: string | undefined): string | undefined {
  if (code !== 'CommaExpected' || (found !== '}' && found !== ']')) return WORDS[code]
  return `a "${found === '}' ? ']' : '}'}" is missing before this "${found}"`
}

/** A comma before a closing bracket. The fault is the comma, which may be lines before the bracket. */
function trailingComma(text: string, offset: number): JsonFault | undefined {
  if (!'}]'.includes(text[offset] ?? ' ')) return undefined
  const before = text.slice(0, offset).trimEnd()
  return before.endsWith(',')
    ? { offset: before.length - 1, why: 'it is no JSON: a comma stands before the end of a list or mapping' }
    : undefined
}
