// How many columns a text takes.
import { describe, expect, test } from 'vitest'
import { displayWidth } from '../../src/text/width.ts'

describe('displayWidth', () => {
  test.each([
    ['ASCII', 'team-a/chat', 11],
    ['our marks', '√ ‼ × ·', 7],
    ['wide characters', '模型', 4],
    ['Hangul and full-width letters', '한Ａ', 4],
    ['an emoji', '🦙✅', 4],
    ['other scripts', 'größe имя', 9],
    ['a combining accent', 'e\u0301', 1],
    ['nothing', '', 0],
  ])('%s', (_, text, columns) => {
    expect(displayWidth(text)).toBe(columns)
  })
})
