// YAML as a report: the same value as the JSON, for eyes. Strings that a terminal, a CI system or a YAML 1.1 reader (as
// kubectl's is) would take for something else are double-quoted, with escapes.
import { escapeYamlText, isUnsafe } from '../io/escape.ts'

/** A value as YAML, with a line break at its end. Lone surrogates, which YAML cannot hold, become U+FFFD. */
export async function toYaml(value: unknown): Promise<string> {
  const { Document, Scalar, visit } = await import('yaml')
  const document = new Document(JSON.parse(JSON.stringify(value)), {
    compat: 'yaml-1.1',
    aliasDuplicateObjects: false,
  })
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value !== 'string') return
      node.value = node.value.toWellFormed()
      if (mustQuote(String(node.value))) node.type = Scalar.QUOTE_DOUBLE
    },
  })
  // A quoted string stays on its line: broken at its line feeds, its next line could begin with `::error`.
  const doubleQuotedMinMultiLineLength = Number.MAX_SAFE_INTEGER
  return escapeYamlText(
    document.toString({ lineWidth: 0, blockQuote: false, doubleQuotedMinMultiLineLength }),
  )
}

function mustQuote(text: string): boolean {
  return isUnsafe(text) || /::|##/.test(text) || text.startsWith('<<')
}
