// Lists whose items are not all parsed: the same values as JSON.parse has, and the same refusals, whatever stands in the text.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dig, isRecord, listAt, own } from '@kleym/shared/core/base/json.ts'
import { runs } from '@kleym/testing/runs.ts'
import { AlikeItems } from '../../src/sources/alike-items.ts'

interface PodWords {
  readonly name: string
  readonly workload: string
  readonly node: string
  readonly volume: string
  readonly restarts: number
}

/** A pod as an API server sends it in a list. */
function pod({ name, workload, node, volume, restarts }: PodWords): object {
  const mounts = [
    { name: 'cache', mountPath: '/cache' },
    { name: volume, mountPath: '/var/run/secrets' },
  ]
  return {
    metadata: {
      name,
      generateName: `${workload}-`,
      uid: `uid-of-${name}`,
      labels: { app: workload, 'pod-template-hash': '6d9c7b5f4' },
      managedFields: [{ manager: 'kubelet', time: `at ${node}`, fieldsV1: { 'f:spec': { '.': {} } } }],
    },
    spec: {
      nodeName: node,
      containers: [{ name: 'vllm', args: ['--model', 'm'], volumeMounts: mounts }],
      volumes: [
        { name: 'cache', emptyDir: {} },
        { name: volume, projected: { defaultMode: 420 } },
      ],
    },
    status: { podIPs: [{ ip: node }], containerStatuses: [{ name: 'vllm', restartCount: restarts }] },
  }
}

function pageOf(items: readonly string[]): string {
  return `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":""},"items":[${items.join(',')}]}\n`
}

/** What a reader makes of texts, one after the other, as JSON; a text that it refuses is `refused`, before anything in it is read. */
function outcomes(texts: readonly string[], parse: (text: string) => unknown): readonly string[] {
  return texts.map((text) => {
    let value: unknown
    try {
      value = parse(text)
    } catch (error) {
      if (error instanceof SyntaxError) return 'refused'
      throw error
    }
    return JSON.stringify(value)
  })
}

function read(texts: readonly string[]): readonly string[] {
  const items = new AlikeItems()
  return outcomes(texts, (text) => items.parse(text))
}

function parsed(texts: readonly string[]): readonly string[] {
  return outcomes(texts, (text) => JSON.parse(text))
}

const WORDS = fc.record({
  name: fc.constantFrom('a-1', 'a-2', 'b-1', 'b"1', 'b\\1', 'ü', '😀', '', 'hole 0', 'x'.repeat(70_000)),
  workload: fc.constantFrom('llama', 'phi', 'hole 1'),
  node: fc.constantFrom('one', 'two', '\u0007', '],"items":[{"metadata":{}}'),
  volume: fc.string(),
  restarts: fc.constantFrom(0, 1, 12),
})
/** Texts that mean something where they come to stand in another. */
const SPLINTER = fc.oneof(
  fc.string({ maxLength: 3 }),
  fc.constantFrom(
    '"',
    '\\',
    '\\"',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    ' ',
    '\n',
    '\u0000',
    '"items":[',
    '\\u0022',
  ),
  fc.constantFrom(
    '"a":"b",',
    '"name":"twice",',
    '"__proto__":{"a":"b"},',
    '"hole 0"',
    '"\\u0068ole 0"',
    '{"metadata":{}},',
  ),
)
const PAGES = fc
  .array(
    fc.array(
      fc.record({
        words: WORDS,
        cut: fc.option(fc.record({ at: fc.nat(1000), of: fc.nat(2), text: SPLINTER })),
      }),
    ),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map((pages) =>
    pages.map((items) =>
      pageOf(
        items.map(({ words, cut }) => {
          const text = JSON.stringify(pod(words))
          return cut === null ? text : text.slice(0, cut.at) + cut.text + text.slice(cut.at + cut.of)
        }),
      ),
    ),
  )

describe('items of lists', () => {
  test('are what JSON.parse has of them, or are refused with it', () => {
    fc.assert(
      fc.property(PAGES, (texts) => {
        expect(read(texts)).toEqual(parsed(texts))
      }),
      { numRuns: runs(500) },
    )
  })

  test('are what JSON.parse has where the text around them is broken or bent', () => {
    const page = pageOf(['one', 'two', 'three', 'four'].map((name) => JSON.stringify(pod(wordsOf(name)))))
    const bent = fc.record({ at: fc.nat(page.length), of: fc.nat(3), text: SPLINTER })
    fc.assert(
      fc.property(fc.array(bent, { maxLength: 3 }), (cuts) => {
        const texts = cuts.map(({ at, of, text }) => page.slice(0, at) + text + page.slice(at + of))
        const all = [page, ...texts, page]
        expect(read(all)).toEqual(parsed(all))
      }),
      { numRuns: runs(500) },
    )
  })

  test.each([
    ['a list of lists', '{"a":{"items":[{"b":"1"},{"b":"2"}]},"items":[]}'],
    ['a list in a list that holds what marks the place', '{"a":{"items":[{"b":"1"},{"b":"2"}]},"items":[0]}'],
    ['two lists', '{"items":[{"b":"1"},{"b":"2"}],"items":[{"b":"3"}]}'],
    ['no list', '{"items":"x","a":["items",1]}'],
    ['an empty one', '{"items":[]}'],
    ['one of other things', '{"items":[1,"a",[{}],{"b":"1"}]}'],
    ['a comma too many', '{"items":[{"b":"1"},{"b":"2"},]}'],
    ['one that ends too late', '{"items":[{"b":"1"},{"b":"2"}}]}'],
    ['the text of a list', '"items":[{"b":"1"},{"b":"2"}]'],
    [
      'a key that comes twice',
      '{"items":[{"b":"1","b":"x"},{"b":"2","b":"x"},{"b":"3","b":"x"},{"b":"4","b":"y"}]}',
    ],
    [
      'keys with space behind them',
      '{"items":[{"b":"hole 0","c" :"q"},{"b":"hole 0","b" :"q"},{"b":"hole 0","d" :"q"}]}',
    ],
    [
      'keys like those of prototypes',
      '{"items":[{"__proto__":{"a":"1"}},{"__proto__":{"a":"2"}},{"__proto__":{"a":"3"}}]}',
    ],
    [
      'an escape that ends a string',
      String.raw`{"items":[{"a":"1","b":"2"},{"a":"3","b":"2"},{"a":"x\","b":"2"}]}`,
    ],
    ['an escape that is none', String.raw`{"items":[{"a":{"b":"1"}},{"a":{"b":"2"}},{"a":{"b":"\u12"}}]}`],
    ['a line break in a string', '{"items":[{"a":{"b":"1"}},{"a":{"b":"2"}},{"a":{"b":"\n"}}]}'],
    ['numbers as keys', '{"items":[{"b":"x","1":"y"},{"b":"x","1":"z"},{"b":"w","1":"y"}]}'],
    [
      'a mark in the text',
      '{"items":[{"a":"1","b":"hole 0"},{"a":"hole 0","b":"hole 0"},{"a":"3","b":"hole 0"}]}',
    ],
    [
      'depth',
      `{"items":[${['1', '2', '3'].map((one) => `${'{"a":'.repeat(80)}"${one}"${'}'.repeat(80)}`).join(',')}]}`,
    ],
  ])('are what JSON.parse has of %s', (_, text) => {
    expect(read([text, text, text])).toEqual(parsed([text, text, text]))
  })

  test('share what does not differ', () => {
    const names = ['one', 'two', 'three', 'four']
    const text = pageOf(names.map((name) => JSON.stringify(pod(wordsOf(name)))))
    const [, , third, fourth] = listAt(new AlikeItems().parse(text), 'items')
    expect(dig(third, 'metadata', 'name')).toBe('three')
    expect(dig(fourth, 'metadata', 'labels')).toBe(dig(third, 'metadata', 'labels'))
    expect(dig(fourth, 'spec', 'containers')).not.toBe(dig(third, 'spec', 'containers'))
    expect(listAt(dig(fourth, 'spec'), 'containers').map((one) => own(one, 'args'))[0]).toBe(
      listAt(dig(third, 'spec'), 'containers').map((one) => own(one, 'args'))[0],
    )
  })

  test('share what one has as the one before, where others differ in it', () => {
    const words = ['a', 'a', 'b', 'b', 'b', 'a'].map((workload, at) => ({
      ...wordsOf(`pod-${at}`),
      workload,
    }))
    const text = pageOf(words.map((one) => JSON.stringify(pod(one))))
    const items = listAt(new AlikeItems().parse(text), 'items')
    expect(items).toEqual(listAt(JSON.parse(text), 'items'))
    const labels = items.map((item) => dig(item, 'metadata', 'labels'))
    expect(labels[4]).toBe(labels[3])
    expect(labels[5]).not.toBe(labels[4])
  })

  test('are their readers’ own: a field that is set in one is in no other', () => {
    const text = pageOf(['one', 'two', 'three', 'four'].map((name) => JSON.stringify(pod(wordsOf(name)))))
    const items = new AlikeItems()
    for (let page = 0; page < 2; page++)
      for (const item of listAt(items.parse(text), 'items'))
        if (isRecord(item)) Object.assign(item, { status: 'set', more: 1 })
    expect(items.parse(text)).toEqual(JSON.parse(text))
  })
})

function wordsOf(name: string): PodWords {
  return { name, workload: 'llama', node: `node-of-${name}`, volume: `kube-api-access-${name}`, restarts: 0 }
}
