// How many columns a text takes.
import * as fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { displayWidth } from '../../src/text/width.ts'

describe('displayWidth', () => {
  test.each([
    ['ASCII', 'team-a/chat', 11],
    ['our marks', '✓ ! ✗ ·', 7],
    ['wide characters', '模型', 4],
    ['Hangul and full-width letters', '한Ａ', 4],
    ['an emoji', '🦙✅', 4],
    ['other scripts', 'größe имя', 9],
    ['a combining accent', 'e\u0301', 1],
    ['a family, which is one emoji', '👩‍👩‍👧', 2],
    ['a flag', '🇩🇪', 2],
    ['half-width letters with a sign', 'ｶﾞ', 2],
    ['nothing', '', 0],
  ])('%s', (_, text, columns) => {
    expect(displayWidth(text)).toBe(columns)
  })

  test('what is counted without the library is what the library says', () => {
    const ascii = Array.from({ length: 0x5f }, (_, at) => String.fromCharCode(0x20 + at))
    const unit = fc.constantFrom(...ascii, ...ascii, '·', '✗', '→', '✓', '!', '…', 'é', '模')
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
        expect(displayWidth(text)).toBe(stringWidth(text))
      }),
      { numRuns: runs(2000) },
    )
  })
})
