import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { parse } from '../../src/sources/load.ts'
import { Budget, BudgetSpent, INPUT_LIMITS } from '../../src/sources/budget.ts'
import { YAML_DOCUMENT_MAX } from '../../src/sources/yaml.ts'
import { ALIAS_NODES_MAX } from '../../src/sources/yaml-values.ts'
import { load } from '../support/load-files.ts'
import { workspace } from '../support/workspace.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const values = async (text: string, name = 'f.yaml'): Promise<readonly unknown[]> => {
  const parsed = await parse(name, bytes(text))
  expect(parsed.faults).toEqual([])
  return parsed.documents.map(({ value }) => value)
}

describe('YAML scalars are read as kubectl reads them', () => {
  test.each<[string, string, unknown]>([
    [
      'the booleans of YAML 1.1',
      '[yes, Y, on, No, n, OFF, true, False]',
      [true, true, true, false, false, false, true, false],
    ],
    ['the same words in quotes', '["yes", \'on\', "1"]', ['yes', 'on', '1']],
    [
      'octal, hexadecimal, binary and grouped numbers',
      '[017, 0o17, 0x1F, 0b11, 1_000, -0x10, +5]',
      [15, 15, 31, 3, 1000, -16, 5],
    ],
    [
      'what is no number',
      '[1.2.3, 0x, 1e, 12:30, 2026-01-01, 1-2]',
      ['1.2.3', '0x', '1e', '12:30', '2026-01-01', '1-2'],
    ],
    ['floats, and one that no double holds', '[1.5, .5, 1e3, 1e400, 08]', [1.5, 0.5, 1000, '1e400', 8]],
    ['nothing', '[~, null, Null, ]', [null, null, null]],
    ['keys that are no strings', '{1: a, yes: b, 0x1F: c}', { 1: 'a', true: 'b', 31: 'c' }],
    ['an explicit string', '!!str 1', '1'],
    [
      'long keys, as kubectl prints them',
      `a:\n  ? ${'k'.repeat(200)}\n  : 1\n  ? "${'q '.repeat(100)}"\n  : x\n  b: [yes]`,
      { a: { ['k'.repeat(200)]: 1, ['q '.repeat(100)]: 'x', b: [true] } },
    ],
  ])('%s', async (_, text, expected) => {
    expect(await values(text)).toEqual([expected])
  })
})

describe('aliases and merge keys', () => {
  test.each<[string, string, unknown]>([
    ['an alias', 'a: &x [1]\nb: *x', { a: [1], b: [1] }],
    ['an anchor that is set again', 'a: &x 1\nb: *x\nc: &x 2\nd: *x', { a: 1, b: 1, c: 2, d: 2 }],
    [
      'a merge beats what stands before it, and not what stands behind it',
      'a: &x {p: 1, q: 1}\nb: {q: 2, <<: *x}\nc: {<<: *x, q: 2}',
      { a: { p: 1, q: 1 }, b: { q: 1, p: 1 }, c: { q: 2, p: 1 } },
    ],
    ['the first of several merges wins', '<<: [{p: 1}, {p: 2, q: 2}]', { p: 1, q: 2 }],
    ['a quoted << is a key', '"<<": {p: 1}', { '<<': { p: 1 } }],
  ])('%s', async (_, text, expected) => {
    expect(await values(text)).toEqual([expected])
  })
})

test.each(['f.yaml', 'f.json'])('__proto__ and constructor are data in %s', async (name) => {
  const [value] = await values(
    '{"__proto__": {"polluted": true}, "constructor": 1, "a": {"__proto__": 2}}',
    name,
  )
  expect(Object.keys(value ?? {})).toEqual(['__proto__', 'constructor', 'a'])
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})

test('__proto__ survives the way to an object', async () => {
  const text =
    'apiVersion: v1\nkind: PodList\n__proto__: {x: 1}\nitems:\n- metadata: {name: a, __proto__: {uid: u}}\n  __proto__: {status: 1}\n'
  const loaded = await load(await workspace({ 'f.yaml': text }))
  const value = loaded.objects[0]?.value ?? {}
  expect(Object.hasOwn(value, '__proto__')).toBe(true)
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  expect(Object.getPrototypeOf(value['metadata'])).toBe(Object.prototype)
})

const bomb = (levels: number): string =>
  [
    'a0: &a0 x',
    ...Array.from(
      { length: levels },
      (_, i) => `a${i + 1}: &a${i + 1} [${Array.from({ length: 9 }, () => `*a${i}`).join(', ')}]`,
    ),
  ].join('\n')

describe('a document that cannot be read says where and why, and the others are read', () => {
  test.each<[string, string, string, number, number | undefined]>([
    ['an unclosed bracket', 'a: [1', 'a { or [ is not closed', 3, undefined],
    [
      'an unclosed brace before another key',
      'a: { b: c\n  d: e',
      'a { or [ is not closed, or a comma is missing in it',
      4,
      4,
    ],
    ['a line that is indented too far', 'a: b\n  c: d', 'not indented as it should be', 3, undefined],
    ['a text with a colon', 'a: b: c', 'has no quotes', 3, undefined],
    ['a tab for indentation', 'a:\n\t- b', 'a tab stands where only blanks may indent', 4, 1],
    ['a key twice', 'a: 1\nb: 2\na: 3', 'the key "a" is defined twice', 5, 1],
    ['a key twice after it has become a string', '1: x\n"1": y', 'the key "1" is defined twice', 4, 1],
    ['a list for a key', '[a]: b', 'a key is a list or a mapping', 3, 1],
    ['an explicit key of several lines', '? a\n  b\n: c', 'an explicit key', 3, 3],
    ['an explicit key with more behind it', "? ''one\n: b", 'not indented as it should be', 3, 5],
    ['an explicit mapping as a key', '? a: b\n: c', 'an explicit key', 3, 3],
    ['a tag right before a quote', 'a: !"x"', 'a tag needs a blank', 3, 8],
    ['an explicit list as a key', '? - a\n: b', 'an explicit key', 3, 3],
    ['an explicit key in brackets', 'a: {? b: c}', 'an explicit key', 3, 7],
    ['a directive', '%YAML 1.1', 'directive', 3, 1],
    ['no key', ': b', 'a key is missing', 3, undefined],
    ['an unknown tag', 'kind: Pod\na: !x y', 'the tag !x means nothing', 4, undefined],
    ['binary data', 'kind: Pod\na: !!binary aGk=', 'the tag !!binary means nothing', 4, undefined],
    ['an infinite number', 'a: .inf', 'has no place in JSON', 3, 4],
    ['an alias without anchor', 'a: *x', 'the alias *x has no anchor', 3, 4],
    ['an alias to itself', 'a: &x [*x]', 'the alias *x stands within itself', 3, undefined],
    ['a merge of a text', '<<: x', 'a merge key (<<) needs a mapping', 3, 5],
    ['an alias bomb', bomb(12), `expand to more than ${ALIAS_NODES_MAX} values`, 4, undefined],
    ['NUL', 'a: "x\u0000"', 'U+0000', 3, 6],
    ['an escape character', 'a: x\u001b[31m', 'U+001B', 3, 5],
    ['an 8-bit control character', 'a: x\u009b', 'U+009B', 3, 5],
    ['a byte-order mark in the middle', 'a: x\ufeff', 'U+FEFF', 3, 5],
    [
      'flow style that is nested too deeply',
      `a: ${'['.repeat(9000)}${']'.repeat(9000)}`,
      'nested',
      3,
      undefined,
    ],
    ['block style that is nested too deeply', '- '.repeat(9000), 'nested', 3, undefined],
    ['nested just too deeply', `${'- '.repeat(300)}x`, 'nested more than 256 levels deep', 3, undefined],
  ])('%s', async (_, text, why, line, column) => {
    const { documents, faults, count } = await parse('f.yaml', bytes(`ok: 1\n---\n${text}\n---\nok: 2\n`))
    expect(documents.map(({ value }) => value)).toEqual([{ ok: 1 }, { ok: 2 }])
    expect(count).toBe(3)
    expect(faults).toHaveLength(1)
    expect(faults[0]?.why.toLowerCase()).toContain(why.toLowerCase())
    expect(faults[0]?.document).toBe(2)
    expect(faults[0]?.line).toBeGreaterThanOrEqual(3)
    // Where the parser's own idea of the place is not worth holding, the table has no column.
    const place = column === undefined ? [line, column] : [faults[0]?.line, faults[0]?.column]
    expect(place).toEqual([line, column])
  })

  test('text that is not UTF-8 spoils its document only', async () => {
    const text = new Uint8Array([...bytes('ok: 1\n---\na: 1\nb: "'), 0xc3, 0x28, ...bytes('"\n---\nok: 2\n')])
    const { documents, faults } = await parse('f.yaml', text)
    expect(documents.map(({ value }) => value)).toEqual([{ ok: 1 }, { ok: 2 }])
    expect(faults).toMatchObject([{ document: 2, line: 4, why: 'the text is not UTF-8' }])
  })

  test('UTF-16 is named', async () => {
    const { faults } = await parse('f.yaml', new Uint8Array([0xff, 0xfe, 0x61, 0]))
    expect(faults).toMatchObject([{ why: 'the file is UTF-16', fix: 'save the file as UTF-8' }])
  })

  test('a document that is too long for YAML says to use JSON', async () => {
    const { faults, documents } = await parse(
      'f.yaml',
      bytes(`a: "${'x'.repeat(YAML_DOCUMENT_MAX)}"\n---\nok: 2\n`),
    )
    expect(faults).toMatchObject([
      { document: 1, line: 1, fix: expect.stringContaining('kubectl get -o json') },
    ])
    expect(documents.map(({ value }) => value)).toEqual([{ ok: 2 }])
  })
})

describe('JSON', () => {
  test.each<[string, string, readonly unknown[]]>([
    ['one value', '{"a": [1, {"b": "}"}]}', [{ a: [1, { b: '}' }] }]],
    ['values one after another', '{"a": 1}{"b": 2}\n[3]', [{ a: 1 }, { b: 2 }, [3]]],
    [
      'quotes and backslashes in strings',
      String.raw`{"a": "\\\"}", "\u0061b": "{"}`,
      [{ a: '\\"}', ab: '{' }],
    ],
    ['a byte-order mark before it', '\ufeff{"a": 1}', [{ a: 1 }]],
    ['the same key in two objects', '[{"a": 1}, {"a": {"a": 1}}]', [[{ a: 1 }, { a: { a: 1 } }]]],
  ])('%s', async (_, text, expected) => {
    expect(await values(text, 'f.json')).toEqual(expected)
  })

  test.each<[string, string, string, number, number]>([
    ['a trailing comma', '{\n"a": 1,\n\n}', 'it is no JSON: a comma stands before the end', 2, 7],
    ['a trailing comma in a list', '[1,\n]', 'it is no JSON: a comma stands before the end', 1, 3],
    ['a key that is missing', '{\n"a": 1, 2}', 'it is no JSON: a key in double quotes is missing', 2, 9],
    [
      'a list that ends as a mapping',
      '{\n"a": [1, 2}',
      'it is no JSON: a "]" is missing before this "}"',
      2,
      11,
    ],
    ['a mapping that ends as a list', '[{"a": 1]', 'it is no JSON: a "}" is missing before this "]"', 1, 9],
    ['a missing comma', '{\n"a": 1\n"b": 2}', 'it is no JSON: a "," is missing', 3, 1],
    ['a missing colon', '{\n  "a" 1}', 'it is no JSON: a ":" is missing after a key', 2, 7],
    ['a missing value', '{"a":\n}', 'it is no JSON: a value is missing', 2, 1],
    ['a word that JSON does not know', '{\n"a": True}', 'it is no JSON: here stands what is no value', 2, 6],
    ['a comment', '{\n"a": 1 // one\n}', 'it is no JSON: JSON has no comments', 2, 8],
    ['a line break in a string', '{"a":\n"b\n"}', 'it is no JSON: a string has no end on its line', 2, 1],
    ['an unknown escape', '["\\q"]', 'it is no JSON: a string has an unknown escape', 1, 2],
    [
      'a control character in a string',
      '["\u0001"]',
      'it is no JSON: a string has a control character',
      1,
      2,
    ],
    ['half a number', '[1.]', 'it is no JSON: a number is malformed', 1, 2],
    ['an end too early', '{"a": 1', 'the JSON ends too early', 1, 8],
    ['a key twice', '{"a": 1,\n "a": 2}', 'the key "a" is defined twice', 2, 2],
    [
      'a key twice, once written with an escape',
      String.raw`{"a": 1, "\u0061": 2}`,
      'the key "a" is defined twice',
      1,
      10,
    ],
    ['too deep', '['.repeat(100_000), 'nested more than 256 levels deep', 1, 257],
  ])('%s', async (_, text, why, line, column) => {
    const { documents, faults } = await parse('f.json', bytes(`{"ok": 1}${text}`.replace('{"ok": 1}', '')))
    expect(documents).toEqual([])
    expect(faults).toMatchObject([{ document: 1, why: expect.stringContaining(why), line, column }])
  })

  test('what comes before a fault is kept', async () => {
    const { documents, faults } = await parse('f.json', bytes('{"ok": 1}\n{"a" 1}'))
    expect(documents).toMatchObject([{ value: { ok: 1 }, document: 1, line: 1 }])
    expect(faults).toMatchObject([{ document: 2, line: 2 }])
  })
})

test('strings of a megabyte are read in every style', async () => {
  const big = 'x'.repeat(1 << 20)
  expect(await values(`"${big}"`)).toEqual([big])
  expect(await values(`a: ${big}`)).toEqual([{ a: big }])
  expect(await values(`{"a": "${big}"}`, 'f.json')).toEqual([{ a: big }])
})

test('no bytes make the reading throw', async () => {
  const piece = fc.constantFrom(
    'a: ',
    '- ',
    '? ',
    ': ',
    '{',
    '}',
    '[',
    ']',
    ',',
    '"',
    "'",
    '|',
    '>',
    '&a ',
    '*a',
    '!!str ',
    '!x ',
    '<<: ',
    '---\n',
    '...\n',
    '\n',
    '  ',
    '\t',
    '#',
    '%YAML 1.1\n',
    'kind: List\n',
    'items: ',
    'apiVersion: v1\n',
    '\ufeff',
    '\u0000',
    '\ud800',
    '1e999',
    '__proto__: ',
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 30 }),
      fc.constantFrom('f.yaml', 'f.json'),
      async (pieces, name) => {
        const parsed = await parse(name, bytes(pieces.join('')))
        expect(parsed.documents.length + parsed.faults.length).toBeGreaterThanOrEqual(0)
        // What was read is plain data that can be written as JSON.
        for (const { value } of parsed.documents) expect(JSON.stringify(value)).toBeTypeOf('string')
      },
    ),
    { numRuns: runs(300) },
  )
})

describe('what costs too much is refused with a line that says what, where, why and how to go on', () => {
  const MIB = 1024 * 1024
  const filled = (head: string, unit: string, tail = ''): string =>
    head + unit.repeat(Math.floor((2 * MIB - head.length - tail.length) / unit.length)) + tail

  test.each<[string, string]>([
    ['commas', filled('a: [', 'b,', 'b]\n')],
    ['brackets', filled('a: [', '[],', '[]]\n')],
    ['line breaks', filled('a: &x {b: c}\n', '\n')],
    ['comments', filled('a: &x {b: c}\n', '#\n')],
    ['dashes', filled('x: {a: b}\ny:\n', '-\n')],
  ])('2 MiB of %s', async (_, text) => {
    const { documents, faults } = await parse('f.yaml', bytes(text))
    expect(documents).toEqual([])
    expect(faults).toEqual([
      {
        document: 1,
        line: 1,
        text,
        why: 'it has more than 1,000,000 tokens, too much for YAML that is not plain',
        fix: 'give it as JSON (kubectl get -o json), or split it',
        isLimit: true,
      },
    ])
  })

  test.each<[string, string, string, string]>([
    ['brackets', 'f.yaml', `a: ${'['.repeat(MIB / 2)}`, 'it is nested more than 256 levels deep'],
    ['braces', 'f.yaml', `a: ${'{b: '.repeat(MIB / 2)}`, 'it is nested more than 256 levels deep'],
    ['brackets of JSON', 'f.json', filled('', '['), 'it is nested more than 256 levels deep'],
  ])('depth of %s', async (_, name, text, why) => {
    expect((await parse(name, bytes(text))).faults).toMatchObject([
      { document: 1, why: expect.stringContaining(why) },
    ])
  })

  test('a mapping of JSON with too many keys', async () => {
    const keys = Array.from({ length: INPUT_LIMITS.keys + 1 }, (__, at) => `"${at}":0`)
    expect((await parse('f.json', bytes(`{${keys.join(',')}}`))).faults).toMatchObject([
      { document: 1, why: 'a mapping has more than 100,000 keys' },
    ])
  })

  test.each<[string, string, string, string]>([
    ['aliases in many documents', 'f.yaml', filled('', `---\n${bomb(5)}\n`), 'values'],
    ['small documents', 'f.yaml', filled('', '--- #\n-\n'), 'documents'],
    ['documents of JSON', 'f.json', filled('', '{}\n'), 'documents'],
    ['values of JSON', 'f.json', `[${'{},'.repeat(5_000_000)}{}]`, 'values'],
  ])('the sum of %s', async (_, name, text, what) => {
    await expect(parse(name, bytes(text), { budget: new Budget() })).rejects.toThrow(
      new RegExp(`^more than [\\d,]+ ${what}$`),
    )
    await expect(parse(name, bytes(text))).rejects.toBeInstanceOf(BudgetSpent)
  })

  test('the sum of several files, and what comes after them is not read', async () => {
    const half = `[${'{},'.repeat(2_600_000)}{}]`
    const loaded = await load(
      await workspace({ 'a.json': half, 'b.json': half, 'c.yaml': 'kind: Pod\napiVersion: v1' }),
    )
    expect(loaded.problems).toEqual([
      {
        kind: 'failed',
        what: 'cannot read all that was given',
        where: 'b.json',
        why: 'up to there it is more than 20,000,000 values, more than kleym takes in',
        fix: 'give fewer files, or only those of the namespaces that the question is about',
      },
    ])
  })

  test('a file of a thousand faults is cut off, and one that counts the rest says so', async () => {
    const loaded = await load(await workspace({ 'f.yaml': '---\nkind: [\n'.repeat(5_000) }))
    expect(loaded.problems.length).toBe(INPUT_LIMITS.problems + 1)
    expect(loaded.problems.at(-1)).toMatchObject({
      kind: 'failed',
      what: expect.stringMatching(/^cannot read \d+ more documents or objects$/),
      where: expect.stringContaining('f.yaml, document 1001'),
    })
  })

  test('the lines of many places are reported without counting anew', async () => {
    const pods = Array.from(
      { length: 5_000 },
      (__, at) => `{kind: Pod, apiVersion: v1, metadata: {name: p${at}}}`,
    )
    const text = `apiVersion: v1\nkind: List\n${Array.from({ length: 20_000 }, (__, at) => `x${at}: 1`).join('\n')}\nitems:\n- ${pods.join('\n- ')}\n`
    const { documents } = await parse('f.yaml', bytes(text))
    expect(documents[0]?.itemLine([4_999])).toBe(2 + 20_000 + 1 + 5_000)
    const many = await parse('f.json', bytes('{}\n'.repeat(100_000)))
    expect(many.documents.at(-1)?.line).toBe(100_000)
  })
})

test('a dump of live objects: its items are placed, and its strings have escapes', async () => {
  const text = [
    'apiVersion: v1',
    'items:',
    '- apiVersion: v1',
    '  kind: Pod',
    '  metadata:',
    '    annotations:',
    '      note: "{\\"a\\": \\"b\\\\n\\"}"',
    '    name: a',
    '- kind: Pod',
    '  apiVersion: v1',
    'kind: List',
    '',
  ].join('\n')
  const { documents } = await parse('f.yaml', bytes(text))
  expect(documents[0]?.value).toMatchObject({
    items: [{ metadata: { annotations: { note: '{"a": "b\\n"}' } } }, { kind: 'Pod' }],
  })
  expect([[0], [1], [2], [0, 0]].map((path) => documents[0]?.itemLine(path))).toEqual([3, 9, 1, 1])
})
