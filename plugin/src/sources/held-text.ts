// What may stand in a text that an object or a file holds: other objects, as they are or encoded.
import { unzipped } from './packed-chart.ts'
import type { WantedKind } from './wanted-kind.ts'

/** The beginning of a value that is filled in later, by whatever tool. */
const OPEN = String.raw`["']?(?:\{\{|\$|<)`
const OPEN_VERSION = new RegExp(String.raw`\bapiVersion["']?[ \t]*:[ \t]*${OPEN}`)

/**
 * Whether a text has the kind of an object, or of a list of them, with its group, in YAML or JSON, or may have it once it is filled in; a mere
 * mention is none.
 */
export function holdsKind(text: string, { group, kind }: WantedKind): boolean {
  return (
    (group === '' || text.includes(`${group}/`) || OPEN_VERSION.test(text)) &&
    new RegExp(String.raw`\bkind["']?[ \t]*:[ \t]*(?:["']?${kind}(?:List)?\b|${OPEN})`).test(text)
  )
}

/** How often one encoding stands in another. */
const LAYERS_MAX = 4
/** The most bytes that come out of a packed text. */
const UNPACKED_MAX = 8 * 1024 * 1024
/** So many digits of base64 stand for 48 bytes: what is shorter is no object with a name, packed or not. */
const ENCODED_MIN = 64

/** A text, and what it stands for where it is encoded: in base64, by gzip, in a URL, in a string of JSON. */
export function textsIn(text: string, layers = 0): readonly string[] {
  if (layers > LAYERS_MAX) return []
  const encoded = base64In(text)
  if (encoded !== undefined) {
    const bytes = Buffer.from(encoded, 'base64')
    return textsIn((unzipped(bytes, UNPACKED_MAX) ?? bytes).toString('utf8'), layers + 1)
  }
  if (!text.includes('apiVersion')) return []
  const plain = text.replaceAll(/%(?:3[aA]|0[aA]|20|2[fF]|22)/g, decodeURIComponent)
  return [plain.replaceAll(/\\{1,8}n/g, '\n').replaceAll(/\\{1,8}"/g, '"')]
}

/**
 * The base64 that a text is, perhaps in a URL (https://www.rfc-editor.org/rfc/rfc2397); undefined if it is none. No pattern goes over the
 * whole text in one match: in a text of megabytes that would take more stack than there is.
 */
function base64In(text: string): string | undefined {
  if (text.length < ENCODED_MIN) return undefined
  const encoded = text.replace(/^data:[^,]{0,256};base64,/, '').trimEnd()
  const digits = encoded.replace(/={1,2}$/, '')
  return digits.length >= ENCODED_MIN && !/[^A-Za-z0-9+/\s]/.test(digits) ? encoded : undefined
}

/** Whether a text may hold something in base64 that is as long as an object: the pieces of a digest are shorter. */
export function mayHoldEncoded(text: string): boolean {
  return /[A-Za-z0-9+/=]{65}|data:[^,\s]{0,64},/.test(text)
}

/**
 * How each placeholder of `placeholders.ts` begins; the programs of `commands.ts` and `changing-commands.ts`, and a variable that may stand
 * for a part of their names; and what may write any character.
 */
const MARK = /\{[{%]|<[A-Za-z]|ENC\[|kubectl|helm|spire-server|\boc\b|[$\\]/
/** The field that every object has, for the second time; as much as `textsIn` takes for something encoded; an anchor; an escape. */
const OBJECT = new RegExp(
  String.raw`apiVersion[^]*apiVersion|(?:^|[^A-Za-z0-9+/\s])\s*(?:[A-Za-z0-9+/]\s*){${ENCODED_MIN}}|[&\\]`,
)

/**
 * Whether the objects of a document are to be searched for placeholders and commands, by its text. If a word is not in the text, it is in no
 * value: apart from escapes, a value is verbatim in the text, and an anchor (`&`) can only repeat it.
 */
export function isMarked(text: string): boolean {
  return MARK.test(text)
}

/** Whether they are to be searched for objects in their fields. */
export function mayHoldObjects(text: string): boolean {
  return OBJECT.test(text)
}
