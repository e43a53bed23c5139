// The built-in functions of text/template, but for `and` and `or`, which do not evaluate all their arguments.
import { length, index, slice } from './collections.ts'
import { equal, less, lessOrEqual } from './comparison.ts'
import { escapeHtml, escapeJs, escapeQuery } from './escaping.ts'
import { STRING } from './go-types.ts'
import { print, printf, println, type Printed } from './printf.ts'
import { checkLength, TemplateFailure, Unknowable } from './signals.ts'
import { indirect, PlaceholderValue, Ref, truth, typeName, type Value } from './values.ts'

/** Calls a built-in with as many arguments as it takes. Throws `TemplateFailure` where Go fails. */
export type Builtin = (args: readonly Value[]) => Value

/** The built-ins by name. */
export const BUILTINS: Readonly<Record<string, Builtin>> = {
  call: ([callee]) => {
    throw new TemplateFailure(
      callee === undefined ? 'call of nil' : `non-function of type ${typeName(callee)}`,
    )
  },
  eq: ([first, ...others]) => equal(first, others),
  ge: ([left, right]) => !less(left, right),
  gt: ([left, right]) => !lessOrEqual(left, right),
  html: (args) => escaped(args, escapeHtml),
  index: ([item, ...keys]) => index(item, keys),
  js: (args) => escaped(args, escapeJs),
  le: ([left, right]) => lessOrEqual(left, right),
  len: ([item]) => length(item),
  lt: ([left, right]) => less(left, right),
  ne: ([left, right]) => !equal(left, [right]),
  not: ([value]) => !truth(value),
  print: (args) => stringOf(print(args)),
  printf: ([format, ...args]) => stringOf(printf(formatText(format), args)),
  println: (args) => stringOf(println(args)),
  slice: ([item, ...places]) => slice(item, places),
  urlquery: (args) => escaped(args, escapeQuery),
}

function stringOf(printed: Printed): Value {
  return printed.whats.length === 0 ? printed.text : new PlaceholderValue(STRING, printed.text, printed.whats)
}

/** The format of printf, which must be of the type string itself; one pointer is followed. */
function formatText(format: Value): string {
  const isPointer =
    format instanceof Ref && format.type.kind === 'pointer' && format.type.elem.name === 'string'
  const text = isPointer ? indirect(format) : format
  if (typeof text === 'string') return text
  if (text instanceof PlaceholderValue)
    throw new Unknowable(`a format that holds the ${text.what}, which is not known yet`)
  throw new TemplateFailure(`wrong type for value; expected string; got ${typeName(format)}`)
}

function escaped(args: readonly Value[], escape: (text: string) => string): Value {
  const { text, whats } = print(args.map(printable))
  if (whats.length > 0) throw new Unknowable(`how the ${whats.join(', ')} is escaped, which is not known yet`)
  const out = escape(text)
  checkLength(out.length)
  return out
}

/** Go's printableValue: pointers are followed, and nothing is `<no value>`. */
export function printable(value: Value): Value {
  if (value === undefined) return '<no value>'
  if (!(value instanceof PlaceholderValue) || value.type.kind !== 'pointer') return indirect(value)
  return new PlaceholderValue(value.type.elem, value.text, value.whats, value.present)
}
