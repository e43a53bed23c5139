// Escaping for every destination: nothing that acts survives, and safe text stays as it is.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import {
  escapeGithubMessage,
  escapeGithubProperty,
  escapeMermaid,
  escapeTerminal,
  escapeXml,
  isUnsafe,
  neutraliseCommands,
} from '../../src/io/escape.ts'
import { DANGEROUS_CHARACTERS, hostileText } from '../support/hostile-text.ts'

describe('escapeTerminal', () => {
  test.each([
    ['a plain name', 'team-a/chat', 'team-a/chat'],
    ['letters of other scripts', 'größe 模型 имя', 'größe 模型 имя'],
    ['our own marks', '✓ ! ✗ · … →', '✓ ! ✗ · … →'],
    ['an ANSI sequence', '\u001b[31mred', String.raw`\x1b[31mred`],
    ['an 8-bit control sequence', '\u009b2J', String.raw`\x9b2J`],
    ['line breaks and tabs', 'a\r\n\tb', String.raw`a\r\n\tb`],
    ['a right-to-left override', 'a\u202eb', String.raw`a\u202eb`],
    ['directional isolates and marks', '\u2066\u200e\u061c', String.raw`\u2066\u200e\u061c`],
    ['zero-width characters', 'a\u200b\u200d\ufeffb', String.raw`a\u200b\u200d\ufeffb`],
    ['line and paragraph separators', '\u2028\u2029', String.raw`\u2028\u2029`],
    ['a lone surrogate', 'a\ud800b', String.raw`a\ud800b`],
    ['tag characters', '\u{e0041}', String.raw`\u{e0041}`],
    ['fillers and variation selectors', 'a\u3164\ufe0fb', String.raw`a\u3164\ufe0fb`],
    ['DEL and NUL', '\u007f\u0000', String.raw`\x7f\x00`],
    ['a paired surrogate', '🦙', '🦙'],
  ])('%s', (_, text, expected) => {
    expect(escapeTerminal(text)).toBe(expected)
    expect(isUnsafe(text)).toBe(text !== expected)
  })

  test('nothing dangerous is left, and escaping twice changes nothing', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const once = escapeTerminal(text)
        expect(once).not.toMatch(DANGEROUS_CHARACTERS)
        expect(once).not.toContain('\n')
        expect(escapeTerminal(once)).toBe(once)
      }),
      { numRuns: runs(100) },
    )
  })
})

describe('neutraliseCommands', () => {
  test.each([
    ['a GitHub command', '::error::x', String.raw`\x3a:error::x`],
    ['a GitHub command behind blanks', '  ::error::x', String.raw`  \x3a:error::x`],
    ['an old GitHub command anywhere', 'a ##[error]x', String.raw`a #\x23[error]x`],
    ['an Azure command', '##vso[x]', String.raw`#\x23vso[x]`],
    ['a selector', 'k8s:pod-label:app:llama', 'k8s:pod-label:app:llama'],
    ['colons that begin no line', 'a::b', 'a::b'],
    ['a heading', '## title', '## title'],
  ])('%s', (_, text, expected) => {
    expect(neutraliseCommands(text)).toBe(expected)
  })
})

describe('the other destinations', () => {
  test.each([
    ['a GitHub message', escapeGithubMessage, '50%\n::error::', String.raw`50%25\n::error::`],
    ['a GitHub property', escapeGithubProperty, 'a,b:c%', 'a%2Cb%3Ac%25'],
    ['XML', escapeXml, `<a b="c">&'\u0000`, String.raw`&lt;a b=&quot;c&quot;&gt;&amp;&apos;\x00`],
    ['mermaid', escapeMermaid, 'a"]; b --> <script>', 'a#34;#93;#59; b --#62; #60;script#62;'],
  ])('%s', (_, escape, text, expected) => {
    expect(escape(text)).toBe(expected)
  })

  test('no XML character that XML forbids, and no markup, survives', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(escapeXml(text)).not.toMatch(
          /[<>"']|&(?!(?:amp|lt|gt|quot|apos);)|\p{Surrogate}|[\u0000-\u001f]/u,
        )
      }),
      { numRuns: runs(100) },
    )
  })
})
