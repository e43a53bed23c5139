import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import { parseDocument } from 'yaml'
import { splitDocuments } from '../../src/sources/document.ts'
import { parse } from '../../src/sources/load.ts'
import type { YamlLines } from '../../src/sources/yaml-line.ts'
import { parsePlainYaml } from '../../src/sources/yaml-plain.ts'

/** The library's reading of the same text: a comment beyond ASCII keeps the plain reader away. */
async function byLibrary(text: string): Promise<unknown> {
  const { documents, faults } = await parse(
    'f.yaml',
    new TextEncoder().encode(`${text}${text.endsWith('\n') ? '' : '\n'}# é\n`),
  )
  expect(faults).toEqual([])
  expect(documents).toHaveLength(1)
  return documents[0]?.value
}

/** What the texts of this file have taught the plain reader: that must change nothing. */
const LINES: YamlLines = new Map()

/** That both readers agree, where the plain one takes the text at all. */
async function expectAgreement(text: string): Promise<boolean> {
  const plain = parsePlainYaml(text, LINES)
  expect(plain?.value).toEqual(parsePlainYaml(text)?.value)
  if (plain === undefined) return false
  expect(plain.value).toEqual(await byLibrary(text))
  return true
}

/** How many of these texts the plain reader takes; each must be as the library reads it. */
async function countAgreements(text: fc.Arbitrary<string>, count: number): Promise<number> {
  let taken = 0
  await fc.assert(
    fc.asyncProperty(text, async (one) => {
      taken += Number(await expectAgreement(one))
    }),
    { numRuns: runs(count) },
  )
  return taken
}

describe('the plain reader', () => {
  test.each<[string, string, unknown]>([
    ['nested mappings', 'a:\n  b:\n    c: d\n  e: f', { a: { b: { c: 'd' }, e: 'f' } }],
    ['a list beside its key', 'a:\n- x\n- w\nb: z', { a: ['x', 'w'], b: 'z' }],
    ['a list below its key', 'a:\n  - x: 1\n    w: 2\n  -\n    z: 3', { a: [{ x: 1, w: 2 }, { z: 3 }] }],
    ['lists in lists', 'a:\n- - x\n  - w\n- []', { a: [['x', 'w'], []] }],
    ['nothing', 'a:\nb: ~\nc:\n  d:\ne:\n-\n- x', { a: null, b: null, c: { d: null }, e: [null, 'x'] }],
    ['quotes', `a: "x: #y"\nb: 'it, is'\nc: ""  # why`, { a: 'x: #y', b: 'it, is', c: '' }],
    ['comments', '---\n# one\na: b # two\n  # three\nc: d#e', { a: 'b', c: 'd#e' }],
    [
      "kubectl's scalars",
      'a: yes\nb: 017\nc: 1.5\nd: v1.2.3\ne: off\nf: 1e400',
      { a: true, b: 15, c: 1.5, d: 'v1.2.3', e: false, f: '1e400' },
    ],
    [
      'block scalars',
      'a: |\n  x: y\n    # z\n\n  w\nb: >-\n  x\n  y\nc:\n  - |-\n    x \n\nd: |+\n  x\n\n',
      { a: 'x: y\n  # z\n\nw\n', b: 'x y', c: ['x '], d: 'x\n\n' },
    ],
    [
      'brackets on one line',
      `a: [get, "list", 'x: y', 1, off]\nb: {c: {d: []}, "e f": yes} # why\nz:\n- {k: [-1]}\n- []`,
      { a: ['get', 'list', 'x: y', 1, false], b: { c: { d: [] }, 'e f': true }, z: [{ k: [-1] }, []] },
    ],
    ['colons within values', 'a: nginx:1.2\nb: http://x:80/y', { a: 'nginx:1.2', b: 'http://x:80/y' }],
  ])('reads %s', async (_, text, expected) => {
    expect(parsePlainYaml(text)?.value).toEqual(expected)
    expect(await expectAgreement(text)).toBe(true)
  })

  test.each([
    ['a block scalar that may lack its last line break', 'a: |\n  x'],
    ['a block scalar that begins with a blank line', 'a: |\n\n  x\n'],
    ['a block scalar that says how far it is indented', 'a: |2\n   x\n'],
    ['a block scalar less indented than its first line', 'a: |\n    x\n  y\n'],
    ['a folded one with a blank line', 'a: >\n  x\n\n  y\n'],
    ['a folded one with a deeper line', 'a: >\n  x\n   y\n'],
    ['an empty block scalar', 'a: |\nb: c\n'],
    ['brackets over several lines', 'a: [b,\n  c]'],
    ['brackets that the library refuses', 'a: [b'],
    ['brackets with a colon or a question mark in a word', 'a: [b:c, d?e]'],
    ['a comma behind the last item', 'a: [b, ]'],
    ['a key in brackets twice', 'a: {b: 1, b: 2}'],
    ['a key in brackets that is no text', 'a: {yes: 1}'],
    ['anchors and aliases', 'a: &x b'],
    ['tags', 'a: !!str 1'],
    ['escapes', String.raw`a: "\x1b"`],
    ['a text over several lines', 'a: b\n  c'],
    ['a key twice', 'a: b\na: c'],
    ['keys that are no strings', 'yes: b'],
    ['__proto__', '__proto__: b'],
    ['a merge key', '<<: b'],
    ['a wrong indentation', 'a:\n    b: c\n  d: e'],
    ['a mapping within a value', 'a: b: c'],
    ['tabs', 'a:\tb'],
    ['other scripts', 'a: größe'],
    ['an infinite number', 'a: .inf'],
    ['a list', '- a'],
    ['a text', 'a'],
    ['a second document', 'a: b\n---\nc: d'],
    ['the end of a document', 'a: b\n...'],
    ['a list that becomes a mapping', 'a:\n  - b\n  c: d'],
    ['a comment behind a dash', 'a:\n- # b\n  c: d'],
    ['the mark of a document that is indented', ' ---\na: b'],
    ['a document that begins on the line of its mark', '--- # b\na: b'],
    ['a directive', '%YAML 1.2\n---\na: b'],
    ['a key that every object has', 'toString: b'],
    ['a text that goes on after a long word', 'a: longword\n   b'],
    ['a line of more than 64 KiB', `a: ${'x'.repeat(65_536)}`],
    ['dashes without end', `a:\n${'- '.repeat(9000)}x`],
    ['great depth', Array.from({ length: 50 }, (_, at) => `${' '.repeat(at)}a:`).join('\n')],
  ])('leaves %s to the library', (_, text) => {
    expect(parsePlainYaml(text)).toBeUndefined()
  })

  test('an empty mapping and an empty list are new ones each time', () => {
    const [one, other] = ['first', 'second'].map(() => parsePlainYaml('a: {}\nb: []\n', LINES)?.value)
    expect(one).toEqual({ a: {}, b: [] })
    expect(one?.['a']).not.toBe(other?.['a'])
    expect(one?.['b']).not.toBe(other?.['b'])
  })

  test.each([
    ['a key as long as YAML takes it', `${'k'.repeat(1024)}: 1\n`, true],
    ['a longer one, which is malformed', `${'k'.repeat(1025)}: 1\n`, false],
    ['a longer one below another', `a:\n  ${'k'.repeat(1025)}: 1\n`, false],
    ['a longer one behind a dash', `a:\n- ${'k'.repeat(1025)}: 1\n`, false],
  ])('%s', async (_, text, taken) => {
    expect(parsePlainYaml(text) !== undefined).toBe(taken)
    const library = parseDocument(text)
    expect(library.errors.map(({ code }) => code)).toEqual(taken ? [] : ['KEY_OVER_1024_CHARS'])
  })

  test('agrees with the library on every text that it takes', async () => {
    const content = fc.constantFrom(
      'a: b',
      'a:',
      'b:',
      'c: 1',
      'd: yes',
      'e: "x"',
      "f: 'y'",
      'g: {}',
      'h: []',
      'a: b c',
      'a: b # c',
      'a: b: c',
      'a: -1',
      'a: - b',
      '- x',
      '-',
      '- a: b',
      '- a:',
      '- - x',
      '- - a: b',
      '-  b: c',
      '- "q"',
      'x',
      '# c',
      '',
      'k: "a" b',
      'k: a:',
      'a.b/c-d: e',
      'n: 0x1F',
      'n: ~',
      'n: null',
      'n: .5',
      'n: +1',
      'n: 1_0',
      'n: =',
      'n: <x',
      'n: $(y)',
      'y: z',
      'null: z',
      'a:  b',
      'm: a#b',
      'm: x-',
      'm: -x',
      'm: --',
      'k: [',
      'k: *',
      'k: @x',
      'k: a, b',
      "k: it's",
      'k: a"b',
      'k: 2026-01-01',
      'k: 12:30',
      '---',
      'k: "a" # c',
      "k: 'a''b'",
      'k: ?',
      'k: ? x',
      'k: .',
      'k: ...',
      '- # c',
      '-   ',
      '- ---',
      '-  - a: b',
      '- b: "q" # c',
      '- {}',
      '- []',
      '- yes',
      '- -1',
      '- a: b: c',
      'a: b  ',
      'b:   ',
      'b: # c',
      'b:# c',
      'c: longword',
      'c: longword # c',
      'c: longword: x',
      'c: longword:',
      'c: long:word#',
      'c: https://x.y/z?a=[1]&b={2}',
      'c: .INF',
      'c: -.inf',
      'd: Off',
      'd: TRUE',
      'd: Null',
      'd: -0',
      'd: 1e3',
      'd: 0b1_1',
      'Off: z',
      'toString: z',
      'constructor: z',
      '__proto__: z',
      '<<: z',
      '1: z',
      '"a": z',
      'e: "" # c',
      'e: "a"# c',
      "f: '#'",
      'g: {} # c',
      '--- # c',
      '...',
      '%a b',
      'a: |',
      'b: >-',
      '- |+',
      'a: |2',
      'a: | # c',
      'a\tb: c',
    )
    const line = fc
      .tuple(fc.constantFrom(0, 0, 0, 0, 1, 2, 2, 2, 3, 4, 4, 5, 6, 8), content)
      .map(([indent, text]) => ' '.repeat(indent) + text)
    const end = fc.constantFrom('', '\n', '\n\n')
    const text = fc
      .tuple(fc.array(line, { minLength: 1, maxLength: 9 }), end)
      .map(([lines, last]) => lines.join('\n') + last)
    expect(await countAgreements(text, 8000)).toBeGreaterThan(leastSeen(200))
  })

  test('agrees with the library on every pair of brackets that it takes', async () => {
    const part = fc.constantFrom(
      '[',
      ']',
      '{',
      '}',
      ', ',
      ',',
      ': ',
      ':',
      'a',
      'b: ',
      '"c"',
      "'d'",
      '1',
      '~',
      '-',
      ' ',
      ' # x',
      '?',
      '&x ',
      '!!str ',
      'yes',
      '""',
      '"x: y"',
      '.inf',
      '0x1F',
      'a b',
      ', b: ',
      '"e": ',
    )
    const text = fc
      .tuple(
        fc.constantFrom('[', '{', '{a: ', '[b, '),
        fc.array(part, { maxLength: 8 }),
        fc.constantFrom(']', '}', ''),
      )
      .map(([head, parts, tail]) => `k: ${head}${parts.join('')}${tail}\n`)
    expect(await countAgreements(text, 5000)).toBeGreaterThan(leastSeen(80))
  })

  test('agrees with the library on every block scalar that it takes', async () => {
    const head = fc
      .tuple(fc.constantFrom('a: ', 'b: ', '- ', '- a: '), fc.constantFrom('|', '|-', '|+', '>', '>-', '>+'))
      .map((parts) => parts.join(''))
    const line = fc
      .tuple(
        fc.constantFrom(0, 0, 1, 2, 2, 2, 3, 4),
        fc.oneof(head, fc.constantFrom('', 'x', 'x ', 'c: d', '# e', 'a:')),
      )
      .map(([indent, text]) => ' '.repeat(indent) + text)
    const text = fc
      .tuple(head, fc.array(line, { minLength: 1, maxLength: 7 }), fc.constantFrom('', '\n'))
      .map(([first, lines, end]) => [first, ...lines].join('\n') + end)
    expect(await countAgreements(text, 10_000)).toBeGreaterThan(leastSeen(100))
  })

  // Most texts of lines at random are taken by no reader: these are made to be YAML, and then spoilt a little.
  test('agrees with the library on documents that are nearly right', async () => {
    const scalar = fc.constantFrom(
      'x',
      'a longer text',
      '"q: #"',
      "'s'",
      'yes',
      '017',
      '1.5',
      '~',
      '{}',
      'a:b',
      'x # c',
    )
    const block = fc.constantFrom(['|', 'x', '  y'], ['|-', '# x', ''], ['>', 'x', 'y'], ['|+', 'x', '', ''])
    const key = fc.constantFrom('a', 'b', 'c', 'kind', 'x-y/z', 'd')
    const { mapping } = fc.letrec<Record<'value' | 'mapping' | 'list', readonly string[]>>((tie) => ({
      value: fc.oneof(
        { weight: 4, arbitrary: scalar.map((text) => [text]) },
        {
          weight: 1,
          arbitrary: block.map(([head = '', ...lines]) => [head, ...lines.map((text) => `  ${text}`)]),
        },
        { weight: 3, arbitrary: tie('mapping').map((lines) => ['', ...lines.map((text) => `  ${text}`)]) },
        { weight: 1, arbitrary: tie('list').map((lines) => ['', ...lines]) },
        { weight: 1, arbitrary: tie('list').map((lines) => ['', ...lines.map((text) => `    ${text}`)]) },
      ),
      mapping: fc
        .uniqueArray(fc.tuple(key, tie('value')), { selector: ([name]) => name, minLength: 1, maxLength: 4 })
        .map((entries) => entries.flatMap(([name, [head = '', ...rest]]) => [`${name}: ${head}`, ...rest])),
      list: fc
        .array(
          fc.oneof(
            tie('mapping'),
            scalar.map((text) => [text]),
            tie('list'),
          ),
          { minLength: 1, maxLength: 3 },
        )
        .map((items) =>
          items.flatMap(([head = '', ...rest]) => [`- ${head}`, ...rest.map((text) => `  ${text}`)]),
        ),
    }))
    const spoil = fc.tuple(fc.nat(), fc.constantFrom('', '#', ' ', '  x', '- ', '---', 'a: b', ':', 'a'))
    const text = fc.tuple(mapping, fc.array(spoil, { maxLength: 1 })).map(([lines, spoilt]) => {
      const all = [...lines]
      for (const [at, by] of spoilt)
        all.splice(at % (all.length + 1), at % 2, by + (all[at % all.length] ?? ''))
      return `${all.join('\n')}\n`
    })
    expect(await countAgreements(text, 2000)).toBeGreaterThan(leastSeen(500))
  })

  test('agrees with the library on the examples, and takes all objects of a cluster', async () => {
    const root = join(import.meta.dirname, '../../../examples')
    // Tests of identities are written in flow style, and are no manifests.
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.yaml') && !name.startsWith('identity-tests'),
    )
    // Identity tests are files of the plugin's own; a person writes them in flow style too.
    const chunks = files
      .flatMap((name) => [...splitDocuments(readFileSync(join(root, name), 'utf8'))])
      .filter(({ text }) => !text.includes('kind: IdentityTest'))
    let taken = 0
    for (const { text } of chunks) taken += Number(await expectAgreement(text))
    expect(taken).toBe(chunks.length)
  })
})
