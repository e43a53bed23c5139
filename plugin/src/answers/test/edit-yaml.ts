// Puts values into YAML text where others stand, and leaves every other byte as it is: comments, quotes, indentation.
import type { FieldPath } from '@kleym/shared/core/answers/index.ts'
import { isCollection, isNode, parseDocument, stringify } from 'yaml'
import { splitDocuments, type Chunk } from '../../sources/document.ts'

/** A value in place of the one at a path of the document that holds a line. */
export interface FieldEdit {
  readonly path: FieldPath
  readonly value: unknown
  /** A line of the document, from 1. */
  readonly line: number
}

/** The text with all edits made. A path that is not there is left out. */
export function editText(text: string, edits: readonly FieldEdit[]): string {
  if (edits.length === 0) return text
  const chunks = [...splitDocuments(text)]
  let after = text
  // From the last to the first, so that what stands before stays where it is.
  const replacements = edits
    .flatMap((edit) => {
      const chunk = chunks.findLast(({ line }) => line <= edit.line)
      return chunk === undefined ? [] : (replacementOf(text, chunk, edit) ?? [])
    })
    .toSorted((a, b) => b.start - a.start)
  for (const { start, end, value } of replacements) after = after.slice(0, start) + value + after.slice(end)
  return after
}

interface Replacement {
  readonly start: number
  readonly end: number
  readonly value: string
}

function replacementOf(text: string, chunk: Chunk, { path, value }: FieldEdit): Replacement | undefined {
  const node: unknown = parseDocument(chunk.text, { logLevel: 'silent' }).getIn(path, true)
  if (!isNode(node) || node.range === null || node.range === undefined) return undefined
  const offset = offsetOfLine(text, chunk.line)
  const [start, valueEnd] = node.range
  const isBlock = isCollection(node) && node.flow !== true
  const body = chunk.text.slice(start, valueEnd)
  // A block collection ends with its last line break, which stays.
  const end = start + (isBlock ? body.trimEnd().length : body.length)
  const column = start - (chunk.text.lastIndexOf('\n', start - 1) + 1)
  return {
    start: offset + start,
    end: offset + end,
    value: isBlock ? blockText(value, column) : flowText(value),
  }
}

function offsetOfLine(text: string, line: number): number {
  let offset = 0
  for (let at = 1; at < line; at++) offset = text.indexOf('\n', offset) + 1
  return offset
}

/** As a block at a column; the first line begins there already. */
function blockText(value: unknown, column: number): string {
  const rows = stringify(value, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd().split('\n')
  return rows.join(`\n${' '.repeat(column)}`)
}

function flowText(value: unknown): string {
  const options = {
    lineWidth: 0,
    collectionStyle: 'flow',
    flowCollectionPadding: true,
    aliasDuplicateObjects: false,
  } as const
  return stringify(value, options).trimEnd()
}
