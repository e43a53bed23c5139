// The first line says what is not known. Its mark comes from frame/outcome.ts.
import { describe, expect, test } from 'vitest'
import { PLAIN } from '../../src/io/palette.ts'
import { viewAnswer, type AnswerDoubts } from '../../src/text/answer.ts'
import { render } from '../../src/text/line.ts'

const SURE: AnswerDoubts = { incomplete: false, unsettled: false, notShown: 0 }

describe('an answer that is good', () => {
  test.each<[string, Partial<AnswerDoubts>, string]>([
    ['says so alone where all is known', {}, '✓ nothing clashes\n'],
    ['says that something could not be read', { incomplete: true }, '✓ nothing clashes (incomplete)\n'],
    ['says that a setting was not given', { unsettled: true }, '✓ nothing clashes (on assumed settings)\n'],
    ['says that findings are not shown', { notShown: 2 }, '✓ nothing clashes; 2 findings are not shown\n'],
  ])('%s', (_, doubts, text) => {
    const block = viewAnswer(
      { mark: 'ok', text: ['nothing clashes'] },
      { ...SURE, ...doubts },
      { width: 80, wide: false },
    )
    expect(render(block, PLAIN)).toBe(text)
  })
})

test('the reasons stand below it', () => {
  const answer = { mark: 'bad', text: ['a is refused'], reasons: [['why'], ['fix: do it']] } as const
  expect(render(viewAnswer(answer, SURE, { width: 80, wide: false }), PLAIN)).toBe(
    '✗ a is refused\n  why\n  fix: do it\n',
  )
})
