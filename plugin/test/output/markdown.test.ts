// `-o markdown`: what a manifest holds stays text, the whole fits into a comment, and what is left out is counted.
import { describe, expect, test } from 'vitest'
import { escapeMarkdown } from '../../src/io/escape.ts'
import { MARKDOWN_MAX, toMarkdown } from '../../src/output/markdown.ts'
import { COMPLETE_RESULT, HOSTILE_TEXTS, resultWith, UNSAFE_CHARACTERS } from '../support/ci-results.ts'

const PARTS = { view: 'the answer\n', language: 'text' } as const

/** What the page itself writes: all markup that a reader may see. */
const OWN_TAGS = /<\/?(?:details(?: open)?|summary|b)>|<!-- (?:kleym conflicts )?-->/g

describe('what a manifest holds', () => {
  test.each(HOSTILE_TEXTS)('%j is text alone', (text) => {
    const output = toMarkdown(resultWith(text), { ...PARTS, view: '' })
    expect(output).not.toMatch(UNSAFE_CHARACTERS)
    expect(output).not.toMatch(/##(?:\[|vso\[)/)
    const rest = output.replaceAll(OWN_TAGS, '').replaceAll(/`kubectl kleym explain KLM\d+`/g, '')
    expect(rest).not.toMatch(/[<>`*_{}[\]|~$\\]/)
    // One heading, which is the page's own.
    expect(rest.match(/^#/gm)).toEqual(['#'])
    // As many findings as there are, whatever their names hold.
    expect(output.match(/<details>/g)).toHaveLength(2)
    expect(output.match(/<\/details>/g)).toHaveLength(2)
  })

  test.each([
    ['a mention', '@org/team', '@<!-- -->org/team'],
    ['an issue', 'see #12', 'see &#35;<!-- -->12'],
    ['a link', 'https://evil.example', 'https:<!-- -->//evil.example'],
    ['a link without a scheme', 'www.evil.example', 'www<!-- -->.evil.example'],
    ['a SPIFFE ID', 'spiffe://example.org/ns/a', 'spiffe:<!-- -->//example.org/ns/a'],
    ['a link of any scheme', 'smb://evil', 'smb:<!-- -->//evil'],
    ['a merge request, a milestone, an alert', '!12 %12 ^12', '!<!-- -->12 %<!-- -->12 ^<!-- -->12'],
    ['an issue by its old name', 'GH-12', 'GH-<!-- -->12'],
    ['an emoji', ':white_check_mark:', ':<!-- -->white&#95;check&#95;mark:'],
    ['a list', '- item', '&#45; item'],
    ['a numbered list', '1. item', '1&#46; item'],
    ['an entity', '&amp;', '&#38;amp;'],
  ])('%s stays text', (_, text, expected) => {
    expect(escapeMarkdown(text)).toBe(expected)
  })

  test.each([3, 99, 100, 101, 999, 1_000, 1_500, 20_000])(
    'a row of %d backticks does not end its block',
    (ticks) => {
      const view = `a\n${'`'.repeat(ticks)}\n# b\n`
      const rows = toMarkdown(COMPLETE_RESULT, { ...PARTS, view }).split('\n')
      const fence = /^`{3,}/.exec(rows.find((row) => /^`{3,}text$/.test(row)) ?? '')?.[0].length ?? 0
      // As many backticks or more, and nothing else, end the block: https://spec.commonmark.org/0.31.2/#fenced-code-blocks
      const ends = rows.flatMap((row, at) => {
        const [, run = ''] = /^ {0,3}(`{3,})\s*$/.exec(row) ?? []
        return run.length >= fence ? [at] : []
      })
      expect(ends).toHaveLength(1)
      expect(ends[0]).toBeGreaterThan(rows.indexOf('# b'))
    },
  )

  test('backticks in the answer do not end its block', () => {
    const output = toMarkdown(COMPLETE_RESULT, { ...PARTS, view: 'a\n````\n# b\n' })
    const [, inside = ''] = /\n`{5}text\n([^]*?)\n`{5}\n/.exec(output) ?? []
    expect(inside).toBe('a\n````\n# b')
  })

  test('no line of the answer is a command of a CI system', () => {
    expect(toMarkdown(COMPLETE_RESULT, { ...PARTS, view: '::error::x\n' })).not.toMatch(/^::/m)
  })
})

describe('the bound', () => {
  const [one] = resultWith('x').findings
  const many = (count: number, text: string): ReturnType<typeof resultWith> => ({
    ...resultWith(text),
    findings: Array.from({ length: count }, () => resultWith(text).findings[0] ?? one).filter(
      (found) => found !== undefined,
    ),
  })

  test.each([
    ['many findings', many(5_000, 'x'), 'x\n'],
    ['long texts', many(500, 'x'.repeat(100_000)), 'x\n'],
    ['a long answer', COMPLETE_RESULT, 'line\n'.repeat(100_000)],
    ['a long line', COMPLETE_RESULT, 'x'.repeat(200_000)],
    ['many ticks', COMPLETE_RESULT, '`'.repeat(200_000)],
    ['all of it', many(5_000, '`'.repeat(300)), 'y\n'.repeat(100_000)],
  ])('%s: it fits, says how much it leaves out, and ends with what it comes to', (_, result, view) => {
    const output = toMarkdown(result, { view, language: 'text' })
    expect(output.length).toBeLessThanOrEqual(MARKDOWN_MAX)
    expect(output).toMatch(/left out: a comment holds no more/)
    expect(output.trimEnd().split('\n').at(-1)).toMatch(/; exit code \d$/)
    expect(output.match(/<details/g)).toHaveLength(output.match(/<\/details>/g)?.length ?? -1)
  })

  test('what is shown and what is left out are all that there is', () => {
    const output = toMarkdown(many(5_000, 'x'), PARTS)
    const shown = output.match(/<summary>✗/g)?.length ?? 0
    const [, left, all] = /(\d+) of (\d+) findings are left out/.exec(output) ?? []
    expect(shown).toBeGreaterThan(50)
    expect(shown + Number(left)).toBe(5_000)
    expect(all).toBe('5000')
  })
})

test('an answer with nothing to say is its headline, the answer and its last line', () => {
  expect(toMarkdown({ ...COMPLETE_RESULT, passed: [] }, PARTS)).toBe(
    `<!-- kleym conflicts -->
### kleym conflicts: nothing to report

<details open>
<summary>the whole answer</summary>

\`\`\`text
the answer
\`\`\`

</details>

kleym ConflictsReport: 0 errors, 0 warnings, 0 info; 0 suppressed; exit code 0
`,
  )
})

test('a unified diff may be coloured', () => {
  expect(toMarkdown(COMPLETE_RESULT, { view: '-a\n+b\n', language: 'diff' })).toContain(
    '```diff\n-a\n+b\n```',
  )
})
