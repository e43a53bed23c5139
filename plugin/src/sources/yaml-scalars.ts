// The plain scalars of Go's YAML 1.1 reader, as kubectl has it (sigs.k8s.io/yaml, goyaml.v2/resolve.go).
import type { ScalarTag } from 'yaml'

/** What a plain scalar means: a boolean, a number, null, else the text itself. */
export function resolvePlain(text: string): unknown {
  // A letter that begins no special word: most scalars.
  if (/^[A-Za-z]/.test(text) && !/^[yYnNtTfFoO]/.test(text)) return text
  if (TRUE.test(text) || /^(?:true|True|TRUE)$/.test(text)) return true
  if (FALSE.test(text) || /^(?:false|False|FALSE)$/.test(text)) return false
  if (/^(?:~|null|Null|NULL)?$/.test(text)) return null
  if (GO_INT.test(text)) return goInteger(text)
  if (GO_FLOAT.test(text)) return goFloat(text)
  if (/^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/.test(text)) return Number.NaN
  return text
}

const TRUE = /^(?:y|Y|yes|Yes|YES|on|On|ON)$/
const FALSE = /^(?:n|N|no|No|NO|off|Off|OFF)$/

/** The plain scalars that Go's reader knows beyond the core schema of YAML 1.2, or reads differently. */
export function goScalars(): ScalarTag[] {
  const bool = 'tag:yaml.org,2002:bool'
  return [
    { tag: bool, default: true, test: TRUE, resolve: () => true },
    { tag: bool, default: true, test: FALSE, resolve: () => false },
    { tag: 'tag:yaml.org,2002:int', default: true, test: GO_INT, resolve: goInteger },
    { tag: 'tag:yaml.org,2002:float', default: true, test: GO_FLOAT, resolve: goFloat },
  ]
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
