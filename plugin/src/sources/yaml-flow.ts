// A list or a mapping in brackets that stands on one line: `verbs: ["get", "list"]`, `labels: {app: llama}`. Half of the documents
// that charts render have some. It is written as JSON, which `JSON.parse` reads. Whatever is beyond the plainest is left to the library
// by giving `undefined`.
import { isRecord, walk, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { resolvePlain } from './yaml-scalars.ts'

/** How deep brackets may stand in brackets; real manifests have few. */
const DEPTH_MAX = 16

/** A longer key is refused by the library. */
const KEY_MAX = 1000

/** Blanks, then a bracket or a comma; or a scalar, with its colon if it is a key. */
const TOKEN =
  / *(?:([[\]{},])|(?:"([^"\\]*)"|'([^']*)'|([A-Za-z0-9_./+][A-Za-z0-9_./+@%=~^*$-]*|-[A-Za-z0-9_./+-][A-Za-z0-9_./+@%=~^*$-]*))(?: *(:)(?= )|(?=[,\]} ]|$)))/y

/** What the text is, with nothing but a comment behind it; undefined where this reader does not take it. New objects each time. */
export function readFlow(text: string): readonly unknown[] | JsonRecord | undefined {
  let [json, depth, keys] = ['', 0, 0]
  TOKEN.lastIndex = 0
  do {
    const token = TOKEN.exec(text)
    if (token === null || depth > DEPTH_MAX) return undefined
    const [, mark, double, single, plain, colon = ''] = token
    if (mark === '[' || mark === '{') depth++
    else if (mark === ']' || mark === '}') depth--
    const scalar = plain === undefined ? (double ?? single) : resolvePlain(plain)
    // The library knows which numbers are refused, and where they stand.
    if (typeof scalar === 'number' && String(scalar) !== plain) return undefined
    if (colon !== '') {
      if (typeof scalar !== 'string' || scalar === '' || scalar.length > KEY_MAX) return undefined
      keys++
    }
    json += (mark ?? JSON.stringify(scalar)) + colon
  } while (depth > 0)
  const isWhole = /^ *(?: #.*)?$/.test(text.slice(TOKEN.lastIndex))
  const value = isWhole ? jsonOf(json) : undefined
  // The library says where a key is defined twice.
  return (Array.isArray(value) || isRecord(value)) && (keys < 2 || keysIn(value) === keys) ? value : undefined
}

/** Undefined for what is no JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function keysIn(value: unknown): number {
  let keys = 0
  walk(value, (part) => {
    if (isRecord(part)) keys += Object.keys(part).length
    return true
  })
  return keys
}
