import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import {
  escapeGithubMessage,
  escapeGithubProperty,
  escapeMermaid,
  escapeTerminal,
  escapeXml,
  isUnsafe,
  neutraliseCommands,
} from '../../src/io/escape.ts'
import { report, toJson } from '../../src/output/json.ts'
import { toNames } from '../../src/output/name.ts'
import { toYaml } from '../../src/output/yaml.ts'

/** What nothing that kleym prints may hold, a line break aside. */
const DANGEROUS =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]|\p{Surrogate}/u

const HOSTILE = [
  '\u001b[31mred\u001b[0m',
  '\u001b]8;;http://evil\u0007link\u001b]8;;\u0007',
  '\u009b2J',
  'a\nb\r\nc',
  '::error::x',
  'x\n::add-mask::y',
  '##[error]x',
  '##vso[task.complete]x',
  'abc\u202edef\u2066ghi',
  'zero\u200bwidth\u200d\ufeff',
  '\ud800 lone',
  '\u{e0041}\u{e0042}',
  '\u2028\u2029',
  '<a href="x">&\'</a>',
  '`graph` -->|x| ["y"]',
  'yes',
  '<<',
  '0x1f',
  '- a: b',
  '\u0000',
]
const hostile = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
)

describe('escapeTerminal', () => {
  test.each([
    ['a plain name', 'team-a/chat', 'team-a/chat'],
    ['letters of other scripts', 'größe 模型 имя', 'größe 模型 имя'],
    ['our own marks', '√ ‼ × · … →', '√ ‼ × · … →'],
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
      fc.property(hostile, (text) => {
        const once = escapeTerminal(text)
        expect(once).not.toMatch(DANGEROUS)
        expect(once).not.toContain('\n')
        expect(escapeTerminal(once)).toBe(once)
      }),
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
      fc.property(hostile, (text) => {
        expect(escapeXml(text)).not.toMatch(
          /[<>"']|&(?!(?:amp|lt|gt|quot|apos);)|\p{Surrogate}|[\u0000-\u001f]/u,
        )
      }),
    )
  })
})

describe('JSON', () => {
  test('begins with apiVersion and kind, and keeps the order of keys', () => {
    expect(toJson(report('Explanation', { z: 1, a: [] }))).toBe(
      '{\n  "apiVersion": "kleym.sonda.red/report/v1alpha1",\n  "kind": "Explanation",\n  "z": 1,\n  "a": []\n}\n',
    )
  })

  test('is safe to look at and means the same', () => {
    fc.assert(
      fc.property(hostile, hostile, (key, text) => {
        const value = Object.fromEntries([[key, [text]]])
        const json = toJson(value)
        expect(json).not.toMatch(DANGEROUS)
        expect(json).not.toMatch(/^\s*::/m)
        expect(json).not.toMatch(/##\[|##vso\[/)
        expect(JSON.parse(json)).toEqual(value)
      }),
    )
  })
})

describe('YAML', () => {
  test('is safe to look at and means the same', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, hostile, async (key, text) => {
        const yaml = await toYaml(Object.fromEntries([[key, [text]]]))
        expect(yaml).not.toMatch(DANGEROUS)
        expect(yaml).not.toMatch(/^\s*(?:[-?] )*::/m)
        expect(yaml).not.toMatch(/##\[|##vso\[/)
        expect(parseYaml(yaml, { uniqueKeys: false })).toEqual(
          Object.fromEntries([[key.toWellFormed(), [text.toWellFormed()]]]),
        )
      }),
    )
  })

  test('quotes what a YAML 1.1 reader would take for a boolean or a number', async () => {
    expect(await toYaml({ a: 'yes', b: 'on', c: '017', d: 'text' })).toBe(
      'a: "yes"\nb: "on"\nc: "017"\nd: text\n',
    )
  })

  test('repeats an object that stands twice instead of pointing to it', async () => {
    const one = { x: 1 }
    expect(await toYaml([one, one])).toBe('- x: 1\n- x: 1\n')
  })
})

describe('names', () => {
  test('come as --without takes them, each once', () => {
    const pool = {
      kind: 'InferencePool',
      group: 'inference.networking.k8s.io',
      namespace: 'a',
      name: 'llama',
    }
    const output = {
      kind: 'ClusterSPIFFEID',
      group: 'spire.spiffe.io',
      namespace: '',
      name: 'x\u001b[0m\n::y',
    }
    expect(toNames([pool, output, pool, { kind: 'Pod', group: '', namespace: 'a', name: 'p' }])).toBe(
      String.raw`inferencepool.inference.networking.k8s.io/a/llama
clusterspiffeid.spire.spiffe.io/x\x1b[0m\n::y
pod/a/p
`,
    )
  })
})
