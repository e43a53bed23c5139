// Text in columns: what breaks, what is shortened, and what never is.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { lineWidth, render, span } from '../../src/text/line.ts'
import { COLOURED, PLAIN } from '../../src/io/palette.ts'
import { displayWidth } from '../../src/text/width.ts'
import { shorten, wrap } from '../../src/text/wrap.ts'

const plain = (block: Parameters<typeof render>[0]): string => render(block, PLAIN)

describe('wrap', () => {
  test('breaks between words and hangs what follows', () => {
    expect(plain(wrap('fix: give one of them its own containerName', 20, 5))).toBe(
      'fix: give one of\n     them its own\n     containerName\n',
    )
  })

  test('never breaks an ID', () => {
    const id = `spiffe://example.org/ns/${'a'.repeat(60)}`
    expect(plain(wrap(`gets ${id} now`, 20))).toBe(`gets\n${id}\nnow\n`)
  })

  test('keeps leading blanks, inner gaps and roles', () => {
    const wrapped = wrap([span('  '), span('one', 'bold'), '  two ', span('three', 'bad')], 11, 4)
    expect(render(wrapped, COLOURED)).toBe('  \u001b[1mone\u001b[22m  two\n    \u001b[31mthree\u001b[39m\n')
  })

  test('loses no word, and exceeds the width only for a word that is too long', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1 }),
        fc.integer({ min: 8, max: 40 }),
        (words, width) => {
          const wrapped = wrap(words.join(' '), width, 2)
          expect(plain(wrapped).split(/\s+/).filter(Boolean)).toEqual(words)
          const tooWide = wrapped.filter((row) => lineWidth(row) > width)
          for (const row of tooWide) expect(plain([row]).trim()).not.toContain(' ')
        },
      ),
      { numRuns: runs(100) },
    )
  })
})

describe('shorten', () => {
  test.each([
    ['what fits stays', 'llama', 5, 'middle', 'llama'],
    ['the middle gives way', 'kleym-team-a-chat-objective-5f0c9d', 20, 'middle', 'kleym-team-a-…5f0c9d'],
    ['the end gives way', 'kleym-team-a-chat-objective-5f0c9d', 20, 'end', 'kleym-team-a-chat-o…'],
    ['wide characters count twice', '模型模型', 5, 'end', '模型…'],
    ['one column holds the sign', 'llama', 1, 'middle', '…'],
  ] as const)('%s', (_, name, width, where, expected) => {
    expect(shorten(name, width, where)).toBe(expected)
    expect(displayWidth(expected)).toBeLessThanOrEqual(width)
  })
})
