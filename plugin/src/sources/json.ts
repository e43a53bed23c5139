// JSON, one value or several one after another, as `kubectl get -o json` and API dumps have it. One pass over the text
// finds where each value ends, how deep it goes and whether a key stands twice; `JSON.parse` does the rest.
import { CONTAINER_VALUES, INPUT_LIMITS, type Budget } from './budget.ts'
import { LineIndex, MAX_DEPTH, shownKey, type ParsedDocument, type ParsedFile } from './document.ts'

/** True when a text can only be JSON or YAML's flow style; `{{` and `{%` begin a template. */
export function looksLikeJson(text: string): boolean {
  return /^\s*(?:\[|\{(?![{%]))/.test(text)
}

/**
 * Reads a stream of JSON values. A fault ends the reading, because it is not known where the next value begins. Rejects with a
 * BudgetSpent.
 */
export async function parseJson(text: string, budget: Budget): Promise<ParsedFile> {
  const documents: ParsedDocument[] = []
  const lines = new LineIndex(text)
  let at = skipBlanks(text, 0)
  for (let document = 1; at < text.length; document++) {
    const start = at
    const { line } = lines.at(start)
    const scan = scanValue(text, start)
    budget.charge('documents', 1)
    budget.charge('values', scan.values)
    const fault = (offset: number, why: string): ParsedFile => {
      const place = { document, ...lines.at(offset), text: text.slice(start) }
      return { documents, faults: [{ ...place, why, fix: 'correct the JSON' }], count: document }
    }
    if (scan.problem !== undefined) return fault(scan.end, scan.problem)
    try {
      const own = text.slice(start, scan.end)
      documents.push({ value: JSON.parse(own), text: own, document, line, itemLine: () => line })
    } catch {
      // Bun's message does not say where, and Node's says it in words that may change.
      const { jsonFault } = await import('./json-fault.ts')
      const found = jsonFault(text.slice(start, scan.end))
      const place = start + (found?.offset ?? scan.end - start)
      return fault(place, place >= text.length ? 'the JSON ends too early' : (found?.why ?? 'it is no JSON'))
    }
    at = skipBlanks(text, scan.end)
  }
  return { documents, faults: [], count: documents.length }
}

function skipBlanks(text: string, from: number): number {
  let at = from
  while (at < text.length && ' \t\r\n\ufeff'.includes(text[at] ?? '')) at++
  return at
}

interface Scan {
  /** Where the value ends, or where the problem is. */
  readonly end: number
  readonly problem: string | undefined
  /** How much the value is to take in, as the budget counts. */
  readonly values: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Walks over one value. Keys are those strings that a colon follows. */
function scanValue(text: string, start: number): Scan {
  const keys: (Set<string> | undefined)[] = []
  let at = start
  let values = 1
  const problem = (why: string): Scan => ({ end: at, problem: why, values })
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = stringEnd(text, at)
      const known = keys.at(-1)
      if (known !== undefined && text.charCodeAt(skipBlanks(text, end)) === 0x3a) {
        const key = keyOf(text.slice(at, end))
        if (known.has(key)) return problem(`the key ${shownKey(key)} is defined twice`)
        known.add(key)
        if (known.size > INPUT_LIMITS.keys)
          return problem(`a mapping has more than ${INPUT_LIMITS.keys.toLocaleString('en')} keys`)
      }
      at = end
    } else {
      if (code === 0x7b) keys.push(new Set())
      else if (code === 0x5b) keys.push(undefined)
      else if (code === 0x7d || code === 0x5d) keys.pop()
      else if (code === 0x2c) values++
      if (code === 0x7b || code === 0x5b) values += CONTAINER_VALUES
      if (keys.length > MAX_DEPTH) return problem(`it is nested more than ${MAX_DEPTH} levels deep`)
      at++
    }
    if (keys.length === 0) break
  }
  // A bare word or number: to its end.
  if (!'{["'.includes(text[start] ?? '')) while (at < text.length && /[^\s{}[\],"]/.test(text[at] ?? '')) at++
  return { end: at, problem: undefined, values }
}

function stringEnd(text: string, start: number): number {
  let at = start + 1
  for (;;) {
    const quote = text.indexOf('"', at)
    if (quote === -1) return text.length
    let slashes = 0
    while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes++
    at = quote + 1
    if (slashes % 2 === 0) return at
  }
}

function keyOf(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1)
  try {
    return String(JSON.parse(literal))
  } catch {
    return literal
  }
}
