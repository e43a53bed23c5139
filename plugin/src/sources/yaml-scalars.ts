// The plain scalars of Go's YAML 1.1 reader, as kubectl has it (sigs.k8s.io/yaml, goyaml.v2/resolve.go).
import type { ScalarTag } from 'yaml'

/** What Go's reader takes for booleans beyond the core schema of YAML 1.2. */
const TRUE = ['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON']
const FALSE = ['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF']

const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ...[...TRUE, 'true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...[...FALSE, 'false', 'False', 'FALSE'].map((word) => [word, false] as const),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
])

/** What a plain scalar means: a boolean, a number, null, else the text itself. */
export function resolvePlain(text: string): unknown {
  const word = WORDS.get(text)
  if (word !== undefined) return word
  // Most scalars begin like no number.
  if (!/^[-+.0-9]/.test(text)) return text
  if (GO_INT.test(text)) return goInteger(text)
  if (GO_FLOAT.test(text)) return goFloat(text)
  return /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/.test(text) ? Number.NaN : text
}

/** The plain scalars that Go's reader knows beyond the core schema of YAML 1.2, or reads differently. */
export function goScalars(): ScalarTag[] {
  const bool = 'tag:yaml.org,2002:bool'
  return [
    { tag: bool, default: true, test: oneOf(TRUE), resolve: () => true },
    { tag: bool, default: true, test: oneOf(FALSE), resolve: () => false },
    { tag: 'tag:yaml.org,2002:int', default: true, test: GO_INT, resolve: goInteger },
    { tag: 'tag:yaml.org,2002:float', default: true, test: GO_FLOAT, resolve: goFloat },
  ]
}

function oneOf(words: readonly string[]): RegExp {
  return new RegExp(`^(?:${words.join('|')})$`)
}

/** `strconv.ParseInt(text, 0, 64)` after dropping underscores. A leading zero is octal. */
const GO_INT = /^[-+]?(?:0_*(?:[xX][0-9a-fA-F_]+|[bB][01_]+|[oO]?[0-7_]+)|[1-9][0-9_]*|0_*)$/
const GO_FLOAT = /^[-+]?(?:\.[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9_]+)?$/

function goInteger(text: string): unknown {
  const plain = text.replaceAll('_', '')
  const sign = plain.startsWith('-') ? -1 : 1
  const digits = plain.replace(/^[-+]/, '')
  const octal = /^0[oO]?([0-7]+)$/.exec(digits)
  const value = octal === null ? Number(digits) : Number.parseInt(octal[1] ?? '', 8)
  return Number.isNaN(value) ? text : sign * value
}

/** A number that no double holds stays the text that it is, as in Go. */
function goFloat(text: string): unknown {
  const value = Number(text.replaceAll('_', ''))
  return Number.isFinite(value) ? value : text
}
