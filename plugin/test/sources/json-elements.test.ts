// The cutter of JSON lists: the same elements wherever the stream is cut, and a place for whatever is wrong.
import { describe, expect, test } from 'vitest'
import { ELEMENT_MAX, JsonElements, JsonElementsError } from '../../src/sources/json-elements.ts'

function elementsOf(chunks: readonly Uint8Array[]): readonly unknown[] {
  const found: unknown[] = []
  const elements = new JsonElements('entries', (value) => void found.push(value))
  for (const chunk of chunks) elements.feed(chunk)
  elements.end()
  return found
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

function problemOf(text: string | Uint8Array): unknown {
  try {
    return elementsOf([typeof text === 'string' ? bytes(text) : text])
  } catch (error) {
    if (error instanceof JsonElementsError) return [error.message, error.at]
    throw error
  }
}

/** The elements with their places, and what ends them. */
function outcomeOf(chunks: readonly Uint8Array[]): unknown {
  const found: unknown[] = []
  const elements = new JsonElements('entries', (value) => {
    found.push([elements.at, value])
    if (JSON.stringify(value).includes('refused')) throw new RangeError('refused')
  })
  try {
    for (const chunk of chunks) elements.feed(chunk)
    elements.end()
    return { found }
  } catch (error) {
    if (error instanceof JsonElementsError) return { found, message: error.message, at: error.at }
    return { found, message: String(error) }
  }
}

function listOf(nested: string): string[] {
  return Array.from({ length: 9 }, (_, at) => `{"id": ${at}, "é": "},{\\"id", "list": ${nested}}`)
}

const ONE_PAGE = 'it is one page of a longer list (next_page_token)'
const ENTRIES = [{ id: 'a"]},{[\\' }, { id: 'é', deep: { list: [[{}], '}'] } }, {}]

describe('elements of a list', () => {
  test.each([
    ['of a document', JSON.stringify({ next: '"]}', other: { entries: [1] }, entries: ENTRIES, end: 3 })],
    ['written with indents', JSON.stringify({ entries: ENTRIES, next_page_token: '' }, null, 2)],
    ['behind the token of no page', JSON.stringify({ next_page_token: null, entries: ENTRIES })],
    ['that is the document', JSON.stringify(ENTRIES)],
    ['behind a byte order mark', `\uFEFF${JSON.stringify({ entries: ENTRIES })}`],
  ])('%s are the same wherever the stream is cut', (_, text) => {
    const whole = bytes(text)
    for (let cut = 3; cut <= whole.length; cut++)
      expect(elementsOf([whole.subarray(0, cut), whole.subarray(cut)])).toEqual(ENTRIES)
    const first = whole.subarray(0, 3)
    expect(elementsOf([first, ...[...whole.subarray(3)].map((byte) => Uint8Array.of(byte))])).toEqual(ENTRIES)
  })

  test.each([
    ['', ['it is empty', 0]],
    ['Found 3 entries', ['it is no JSON', 0]],
    ['{"entries":[{}', ['it ends in the middle', 14]],
    ['{"entries":[{"id":"', ['it ends in the middle', 19]],
    ['{"entries":[]', ['it ends in the middle', 13]],
    ['{"entries":[]} {}', ['there is more after its end', 15]],
    ['{"entries":{}}', ['entries is no list', 11]],
    ['{"entries":[1]}', ['an element is no mapping', 12]],
    ['{"entries":[{}{}]}', ['an element is no mapping', 14]],
    ['{"entries":[{},]}', ['it is no JSON', 15]],
    ['{"entries":[{a}]}', ['it is no JSON', 12]],
    ['{"entries":[],"entries":[]}', ['it has two lists entries', 23]],
    ['{"other":[{}]}', ['it has no list entries', 14]],
    ['{"entries":[{}],"next_page_token":"a,}b"}', [ONE_PAGE, 40]],
    ['{"next_page_token": "c" , "entries":[{}]}', [ONE_PAGE, 24]],
    [`{"next_page_token":"${'c'.repeat(5_000)}`, [ONE_PAGE, 5_020]],
  ])('%j is refused with its place', (text, problem) => {
    expect(problemOf(text)).toEqual(problem)
  })

  test.each([
    ['an element that is no JSON', '{"entries":[{"a":1},{"b":2},{c},{"d":4}]}', 'it is no JSON', '{c}'],
    ['brackets of two kinds', '{"entries":[{"a":1},{"b":2},{"c":[3},{"d":4]}]}', 'it is no JSON', '{"c"'],
    ['no element', '{"entries":[{"a":1},{"b":2},3,{"d":4}]}', 'an element is no mapping', '3,'],
    ['no comma', '{"entries":[{"a":1},{"b":2}{"d":4}]}', 'an element is no mapping', '{"d"'],
    ['the end of another document', '{"entries":[{"a":1},{"b":2}]},{}', 'there is more after its end', ',{}'],
  ])(
    'after %s nothing is handed over, before it everything, wherever the stream is cut',
    (_, text, why, at) => {
      const whole = bytes(text)
      for (let cut = 1; cut <= whole.length; cut++) {
        const found: unknown[] = []
        const elements = new JsonElements('entries', (value) => void found.push(value))
        const feed = (): void => {
          for (const chunk of [whole.subarray(0, cut), whole.subarray(cut)]) elements.feed(chunk)
        }
        expect(feed).toThrow(expect.objectContaining({ message: why, at: text.indexOf(at) }))
        expect(found).toEqual([{ a: 1 }, { b: 2 }])
      }
    },
  )

  test('of two faults the first is reported: what the reader of an element throws comes before what stands behind it', () => {
    const elements = new JsonElements('entries', (value) => {
      if (JSON.stringify(value) === '{"b":2}') throw new RangeError(`refused at ${elements.at}`)
    })
    const feed = (): void => elements.feed(bytes('{"entries":[{"a":1},{"b":2},{c},3'))
    expect(feed).toThrow(new RangeError('refused at 20'))
  })

  describe('elements that begin alike are the same, and what is wrong has the same place, as if each byte came by itself', () => {
    const flat = listOf('[]')
    const deep = listOf('[{"id": 1},\n {"id": 2}]')
    test.each<[string, readonly string[]]>([
      ['of one depth', flat],
      ['that hold such elements', deep],
      ['with one that is no JSON', flat.with(6, '{"id": x}')],
      ['with one that is no mapping', flat.with(6, '["id"]')],
      ['with one that is cut off', deep.with(6, '{"id": [}')],
      ['with one that its reader refuses', flat.with(6, '{"id": "refused"}')],
    ])('%s', (_, all) => {
      for (const space of ['', ' ', '\n  ']) {
        const text = bytes(`{"entries":[${space}${all.join(`,${space}`)}${space}]}`)
        const expected = outcomeOf([...text].map((byte) => Uint8Array.of(byte)))
        for (let cut = 1; cut <= text.length; cut += 7)
          expect(outcomeOf([text.subarray(0, cut), text.subarray(cut)])).toEqual(expected)
      }
    })
  })

  test('a file that people take for JSON is called what it is', () => {
    expect(problemOf(Uint8Array.of(0xff, 0xfe, 0x7b, 0))).toEqual([expect.stringContaining('PowerShell'), 0])
    expect(problemOf(Uint8Array.of(0xfe, 0xff, 0, 0x7b))).toEqual([expect.stringContaining('UTF-16'), 0])
    expect(problemOf(Uint8Array.of(0x1f, 0x8b, 8))).toEqual([expect.stringContaining('compressed'), 0])
  })

  test('text that is not UTF-8 is refused', () => {
    const text = [...bytes('{"entries":[{"id":"'), 0xff, ...bytes('"}]}')]
    expect(problemOf(Uint8Array.from(text))).toEqual(['it is not UTF-8', 12])
    const second = [...bytes('{"entries":[{"id":"é"}, {"id":"'), 0xff, ...bytes('"}]}')]
    expect(problemOf(Uint8Array.from(second))).toEqual(['it is not UTF-8', 25])
  })

  test('an element without an end is refused before it fills the memory', () => {
    const elements = new JsonElements('entries', () => {})
    elements.feed(bytes('{"entries":[{"id":"'))
    const chunk = new Uint8Array(1024 * 1024).fill(0x61)
    let fed = 0
    const feed = (): void => {
      for (; fed < 64; fed++) elements.feed(chunk)
    }
    expect(feed).toThrow(`an element is longer than ${ELEMENT_MAX} bytes`)
    expect(fed).toBeLessThanOrEqual(ELEMENT_MAX / chunk.length)
  })
})
