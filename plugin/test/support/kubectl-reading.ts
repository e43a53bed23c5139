// What kubectl reads of a text, by the oracle in Go, beside what kleym reads of it (test/go-oracle/formats/yaml.go). The differences
// that are meant are named here, and in docs/reading-files.md.
import { isRecord } from '@kleym/shared/core/base/json.ts'
import { parse } from '../../src/sources/load.ts'

/** What kubectl takes, and kleym refuses: by what kleym says of it. */
const REFUSED_BY_KLEYM: readonly RegExp[] = [
  // Outside brackets kubectl takes the bracket for a part of the tag, and drops both.
  /^a tag needs a blank behind it/,
  /^the key .* is defined twice$/,
  /^something stands behind the end of its first mapping/,
  /^the character U\+(?:FEFF|0085|2028|2029|000D|00A0|3000)/,
  /^an explicit key/,
  /^a directive/,
  /^something stands right behind the ---/,
  /^the text below is blank/,
  /^a key (?:is a fraction|and its colon stand|is longer|is missing)/,
  /^an infinite number/,
  /^the tag .* means nothing|^could not resolve tag|^the !! tag has no suffix/,
  /^a node can have at most one anchor/i,
  /^tags and anchors must be separated/,
  /^the name of an anchor/,
  /^(?:a colon|a question mark|an anchor or a tag) in brackets/,
  /^plain value cannot start with/,
  /^a key (?:goes on|or an item stands)|^the line is not indented|^a \{ or \[ is not closed/,
  /^unexpected (?:flow|scalar|double|single|seq|map|alias|anchor|tag)/,
  /^missing , or :/,
  /^comments must be separated/,
  /^a tab stands where/,
  /^unknown escape sequence/,
  // `|#comment`.
  /^a line break is expected/,
  /^the closing quote is missing$/,
  /^it is no JSON/,
  /^block (?:collection|scalar)/,
  /^an empty line stands behind a backslash/,
]

/** What is read of a text. */
export interface Reading {
  /** As JSON with sorted keys. */
  readonly documents: readonly string[]
  /** Why reading ended before the end of the text; undefined: it did not. */
  readonly refusal: string | undefined
}

const NO_OBJECT = 'it is no object'

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => sorted(one))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one)]),
  )
}

/** The documents up to the first that is refused, or that is no object: kubectl takes no such. */
function readingOf(values: readonly unknown[], refusal: string | undefined): Reading {
  const end = values.findIndex((value) => !isRecord(value))
  const documents = (end === -1 ? values : values.slice(0, end)).map((value) => JSON.stringify(sorted(value)))
  return { documents, refusal: end === -1 ? refusal : NO_OBJECT }
}

/** What kubectl reads, by a row of the oracle. */
export function kubectls(row: readonly unknown[]): Reading {
  const [, documents, isRefused] = row
  const texts: readonly unknown[] = Array.isArray(documents) ? documents : []
  const values = texts.map((text): unknown => JSON.parse(String(text)))
  return readingOf(values, isRefused === true ? 'kubectl refuses it' : undefined)
}

/** What kleym reads of a text. */
export async function kleyms(text: string): Promise<Reading> {
  const { documents, faults } = await parse('f.yaml', new TextEncoder().encode(text))
  const fault = faults[0]
  const before = documents.filter((one) => fault === undefined || one.document < fault.document)
  return readingOf(
    before.filter(({ value }) => value !== null).map(({ value }) => value),
    fault?.why,
  )
}

/** Why the two readings may be as they are; undefined: they may not. */
export function agreement(kubectl: Reading, kleym: Reading): string | undefined {
  const [theirs, ours] = [kubectl.documents, kleym.documents]
  const isSame = JSON.stringify(theirs) === JSON.stringify(ours)
  // Where kubectl refuses and kleym does not, nothing stood there: blanks, comments, the end of a document.
  if (kleym.refusal === undefined) return isSame ? 'the same documents' : undefined
  const { refusal } = kleym
  if (isSame && kubectl.refusal !== undefined) return 'both refuse'
  // Both refuse: kubectl gives up the document before such a mark too.
  if (refusal.startsWith('something stands right behind') && kubectl.refusal !== undefined)
    if (isPrefix(theirs, ours)) return 'both refuse'
  if (!isPrefix(ours, theirs)) return undefined
  return REFUSED_BY_KLEYM.some((pattern) => pattern.test(refusal)) ? 'refused by kleym alone' : undefined
}

function isPrefix(start: readonly string[], whole: readonly string[]): boolean {
  return start.every((one, at) => one === whole[at])
}
