// YAML as kubectl reads it (docs/reading-files.md, "YAML as kubectl reads it"): a document at a time, by the library, with the plain
// scalars of Go's YAML 1.1 reader, because that is what the API server would be sent: `yes` and `on` are booleans, `0o17` and
// `017` octal numbers. A label value `yes` is therefore no string here either, and is refused as the API server refuses it.
// Aliases, merge keys and keys are resolved by us, within a budget: the text is not trusted.
import { INPUT_LIMITS, type Budget } from './budget.ts'
import {
  FIX_DENSE,
  LineIndex,
  splitDocuments,
  type Chunk,
  type DocumentFault,
  type ParsedDocument,
  type ParsedFile,
} from './document.ts'
import type { UnreadType } from './unread.ts'
import type { YamlLines } from './yaml-line.ts'
import type * as Values from './yaml-values.ts'
import { parsePlainYaml } from './yaml-plain.ts'

/** The longest document in UTF-16 units. JSON has no such limit. */
export const YAML_DOCUMENT_MAX = 8 * 1024 * 1024

export interface YamlReading {
  readonly badLines: readonly number[]
  /** May be shared between texts. */
  readonly lines: YamlLines
  readonly budget: Budget
  /** Tells a document that need not be read, by its text. Absent: all are read. */
  readonly unreadType?: (text: string) => UnreadType | undefined
}

/** Reads a YAML text, document by document; one that is the rest of a file begins with these numbers. Rejects with a BudgetSpent. */
export async function parseYaml(
  text: string,
  { badLines, lines, budget, unreadType }: YamlReading,
  begin?: Pick<Chunk, 'document' | 'line'>,
): Promise<ParsedFile> {
  const documents: ParsedDocument[] = []
  const faults: DocumentFault[] = []
  const unread: UnreadType[] = []
  let count = 0
  let library: typeof Values | undefined
  for (const chunk of splitDocuments(text, begin)) {
    count++
    budget.charge('documents', 1)
    if (faults.length > INPUT_LIMITS.problems) break
    const unfit = unreadable(chunk, badLines)
    const type = unfit === undefined ? unreadType?.(chunk.text) : undefined
    if (type !== undefined) {
      unread.push(type)
      continue
    }
    // A plain document is printable ASCII, and needs no library.
    let read = unfit ?? readPlain(chunk, lines, budget) ?? controlFault(chunk)
    if (read === undefined) {
      library ??= await import('./yaml-values.ts')
      read = library.readDocument(chunk, budget)
    }
    if (read === undefined) continue
    if ('why' in read) faults.push({ ...read, text: chunk.text })
    else documents.push(read)
  }
  return { documents, faults, unread, count }
}

/** A document without anything unusual. */
function readPlain(
  { text, document, line }: Chunk,
  lines: YamlLines,
  budget: Budget,
): ParsedDocument | undefined {
  const plain = parsePlainYaml(text, lines)
  if (plain === undefined) return undefined
  budget.charge('values', plain.lines)
  const { value } = plain
  return {
    value,
    text,
    document,
    line: line + plain.line,
    itemLine: (path) => line + (plain.itemLine(path) ?? plain.line),
  }
}

/** What can be said without parsing. */
function unreadable({ text, document, line }: Chunk, badLines: readonly number[]): DocumentFault | undefined {
  const lines = badLines.length === 0 ? 0 : new LineIndex(text).at(text.length).line
  const bad = badLines.find((number) => number >= line && number < line + lines)
  if (bad !== undefined)
    return { document, line: bad, why: 'the text is not UTF-8', fix: 'save the file as UTF-8' }
  if (text.length > YAML_DOCUMENT_MAX) {
    const why = `the document is longer than ${YAML_DOCUMENT_MAX / 1024 / 1024} MiB, too much for YAML`
    return { document, line, why, fix: FIX_DENSE, isLimit: true }
  }
  return undefined
}

/**
 * Characters that go-yaml's reader refuses, and those that are line breaks to it alone: a carriage return that ends no line,
 * U+0085, U+2028, U+2029. A byte-order mark within a text is one that no reader sees, and blanks beyond ASCII before the
 * first word are dropped where a bracket follows.
 */
const UNFIT =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\ufffe\uffff]|\r(?!\n)|(?!^)\ufeff|^\s*?[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/

function controlFault({ text, document, line }: Chunk): DocumentFault | undefined {
  const control = UNFIT.exec(text)
  if (control === null) return undefined
  const found = control[0]
  const at = new LineIndex(text).at(control.index + found.length - 1)
  const point = found
    .charCodeAt(found.length - 1)
    .toString(16)
    .toUpperCase()
    .padStart(4, '0')
  const escape = point.startsWith('00')
    ? String.raw`\x${point.slice(2).toLowerCase()}`
    : String.raw`\u${point.toLowerCase()}`
  return {
    document,
    line: line + at.line - 1,
    column: at.column,
    why: `the character U+${point} is not allowed here in YAML`,
    fix: `remove it, or write it as an escape ("${escape}") in double quotes`,
  }
}
