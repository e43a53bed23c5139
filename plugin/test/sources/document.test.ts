import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { splitDocuments } from '../../src/sources/document.ts'

const at = (text: string): readonly (readonly [document: number, line: number])[] =>
  Array.from(splitDocuments(text), ({ document, line }) => [document, line])

test.each<[string, string, ReturnType<typeof at>]>([
  ['nothing', '', []],
  ['one document', 'a: b', [[1, 1]]],
  ['a mark before the first one', '---\na: b', [[1, 1]]],
  [
    'comments before the first one',
    '# c\n\n---\na: b\n---\nc: d',
    [
      [1, 3],
      [2, 5],
    ],
  ],
  [
    'a directive from its document, as kubectl does',
    '%YAML 1.2\n---\na: b',
    [
      [1, 1],
      [2, 2],
    ],
  ],
  [
    'a text before the first mark',
    'a: b\n---\nc: d\n',
    [
      [1, 1],
      [2, 2],
    ],
  ],
  [
    'documents that hold nothing count',
    'a: b\n---\n# c\n---\n---\nc: d',
    [
      [1, 1],
      [4, 5],
    ],
  ],
  [
    'a mark with a blank, a tab, a carriage return or a text behind it',
    '--- \n1\n---\t\n2\n---\r\n3\n--- 4',
    [
      [1, 1],
      [2, 3],
      [3, 5],
      [4, 7],
    ],
  ],
  ['not at what only looks like a mark', 'a:\n ---\n--\n- --- b\n', [[1, 1]]],
  [
    'at a mark with anything behind it, as kubectl does',
    'a:\n----\n---b\n---# c\nd:',
    [
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
    ],
  ],
])('splits %s', (_, text, expected) => {
  expect(at(text)).toEqual(expected)
})

/** The lines that are no mark, no comment and not blank. */
function holding(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => !/^(?:---[ \t]*|#.*|[ \t\r]*)$/.test(line))
}

test('every document is where it says, and no line that holds something is lost', () => {
  const line = fc.constantFrom(
    '---',
    '---',
    '--- ',
    '--- x',
    '---x',
    ' ---',
    '',
    '# c',
    '%YAML 1.1',
    'a: b',
    '- |',
    '\r',
  )
  const text = fc
    .tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom('', '\n'))
    .map(([lines, end]) => lines.join('\n') + end)
  fc.assert(
    fc.property(text, (one) => {
      const chunks = [...splitDocuments(one)]
      const lines = one.split('\n')
      for (const chunk of chunks)
        expect(
          lines
            .slice(chunk.line - 1)
            .join('\n')
            .startsWith(chunk.text),
        ).toBe(true)
      for (const [index, chunk] of chunks.entries())
        expect(chunk.document).toBeGreaterThan(chunks[index - 1]?.document ?? 0)
      expect(holding(chunks.flatMap((chunk) => chunk.text.split('\n')))).toEqual(holding(lines))
      // A second mark within a document would be a second document.
      for (const chunk of chunks) expect(chunk.text.split('\n').slice(1).join('\n')).not.toMatch(/^---/m)
    }),
    { numRuns: runs(3000) },
  )
})
