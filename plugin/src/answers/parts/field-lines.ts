// Which line of a file a field stands on: the text is parsed once more, since values have no place.
import type { FieldPath } from '@kleym/shared/core/answers/index.ts'
import { isNode, LineCounter, parseDocument, type Document } from 'yaml'
import { splitDocuments, type ParsedDocument } from '../../sources/document.ts'

/** The line of each field of a document, or of what is nearest above it. */
export function fieldLines(
  text: string,
  { document, line }: ParsedDocument,
): { readonly lineOf: (path: FieldPath) => number } {
  const chunk = [...splitDocuments(text)].find((one) => one.document === document)
  if (chunk === undefined) return { lineOf: () => line }
  const counter = new LineCounter()
  const parsed = parseDocument(chunk.text, { lineCounter: counter, logLevel: 'silent', uniqueKeys: false })
  return {
    lineOf: (path) => {
      for (let length = path.length; length > 0; length--) {
        const offset = offsetAt(parsed, path.slice(0, length))
        if (offset !== undefined) return chunk.line + counter.linePos(offset).line - 1
      }
      return line
    },
  }
}

function offsetAt(parsed: Document.Parsed, path: FieldPath): number | undefined {
  const node: unknown = parsed.getIn(path, true)
  return isNode(node) ? node.range?.[0] : undefined
}
