// docs/contract.md §4.3: what a pool selects by, decoded by its group; nothing is guessed, trimmed or repaired.
import { describe, expect, test } from 'vitest'
import { decodePoolSelector } from '../../src/core/model/objects/pool-selector.ts'
import { compareBytes } from '../../src/core/base/text/bytes.ts'
import {
  K8S_GROUP,
  X_GROUP,
  binding,
  judgementOf,
  objective,
  pool,
  settledCluster,
} from '@kleym/testing/manifests.ts'

const decode = (group: 'K' | 'X', selector: unknown) =>
  decodePoolSelector(group === 'K' ? K8S_GROUP : X_GROUP, selector)
const labels = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`label-${at}`, 'x']))
const proto = (json: string): unknown => JSON.parse(json)

describe('is accepted', () => {
  test.each<[string, 'K' | 'X', unknown, Record<string, string>, string]>([
    [
      'matchLabels in the k8s group',
      'K',
      { matchLabels: { app: 'a' } },
      { app: 'a' },
      '.spec.selector.matchLabels',
    ],
    ['a flat map in the x-k8s group', 'X', { app: 'a' }, { app: 'a' }, '.spec.selector'],
    [
      'matchLabels in the x-k8s group',
      'X',
      { matchLabels: { app: 'a' } },
      { app: 'a' },
      '.spec.selector.matchLabels',
    ],
    [
      'a label called matchLabels in a flat map',
      'X',
      { matchLabels: 'a', app: 'b' },
      { app: 'b', matchLabels: 'a' },
      '.spec.selector',
    ],
    [
      'a label called matchExpressions in a flat map',
      'X',
      { matchExpressions: 'a' },
      { matchExpressions: 'a' },
      '.spec.selector',
    ],
    [
      'a label called matchLabels under matchLabels',
      'K',
      { matchLabels: { matchLabels: 'a' } },
      { matchLabels: 'a' },
      '.spec.selector.matchLabels',
    ],
    [
      'a key with a prefix',
      'K',
      { matchLabels: { 'llm-d.ai/role': 'decode' } },
      { 'llm-d.ai/role': 'decode' },
      '.spec.selector.matchLabels',
    ],
    [
      'no expression in a list',
      'K',
      { matchLabels: { app: 'a' }, matchExpressions: [] },
      { app: 'a' },
      '.spec.selector.matchLabels',
    ],
    [
      'null as expressions',
      'K',
      { matchLabels: { app: 'a' }, matchExpressions: null },
      { app: 'a' },
      '.spec.selector.matchLabels',
    ],
    [
      'no expression in a list, beside flat labels',
      'X',
      { app: 'a', matchExpressions: [] },
      { app: 'a' },
      '.spec.selector',
    ],
    ['a value of 63 characters', 'X', { app: 'a'.repeat(63) }, { app: 'a'.repeat(63) }, '.spec.selector'],
    ['the key constructor', 'X', { constructor: 'a' }, { constructor: 'a' }, '.spec.selector'],
    ['64 labels', 'K', { matchLabels: labels(64) }, labels(64), '.spec.selector.matchLabels'],
    ['64 flat labels', 'X', labels(64), labels(64), '.spec.selector'],
  ])('%s', (_name, group, selector, expected, path) => {
    const decoded = decode(group, selector)
    expect(decoded.ok && Object.fromEntries(decoded.labels)).toEqual(expected)
    expect(decoded.ok && decoded.selectors).toEqual(
      Object.entries(expected)
        .map(([key, value]) => ({
          selector: `k8s:pod-label:${key}:${value}`,
          field: `${path}[${JSON.stringify(key)}]`,
        }))
        .toSorted((a, b) => compareBytes(a.selector, b.selector)),
    )
  })

  test('labels come in byte order of their keys', () => {
    const decoded = decode('X', { b: '1', a: '1', 'a.b/c': '1', Z: '1', 'a-b': '1' })
    expect(decoded.ok && [...decoded.labels.keys()]).toEqual(['Z', 'a', 'a-b', 'a.b/c', 'b'])
  })
})

describe('is refused', () => {
  test.each<[string, 'K' | 'X', unknown, readonly string[]]>([
    ['a missing selector', 'K', undefined, ['.spec.selector is missing']],
    ['a null selector', 'X', null, ['.spec.selector is missing']],
    ['a string', 'K', 'app=a', ['.spec.selector is a string, not a mapping']],
    ['a list', 'X', [], ['.spec.selector is a list, not a mapping']],
    ['an empty selector of the k8s group', 'K', {}, ['.spec.selector.matchLabels is missing']],
    [
      'an empty selector of the x-k8s group',
      'X',
      {},
      ['.spec.selector is empty: it would select every pod of the namespace'],
    ],
    [
      'empty matchLabels',
      'K',
      { matchLabels: {} },
      ['.spec.selector.matchLabels is empty: it would select every pod of the namespace'],
    ],
    [
      'empty matchLabels in the x-k8s group',
      'X',
      { matchLabels: {} },
      ['.spec.selector.matchLabels is empty: it would select every pod of the namespace'],
    ],
    ['null matchLabels', 'K', { matchLabels: null }, ['.spec.selector.matchLabels is missing']],
    [
      'matchLabels that is a string',
      'K',
      { matchLabels: 'a' },
      ['.spec.selector.matchLabels is a string, not a mapping'],
    ],
    [
      'matchLabels that is a list',
      'K',
      { matchLabels: ['a'] },
      ['.spec.selector.matchLabels is a list, not a mapping'],
    ],
    ['a flat map in the k8s group', 'K', { app: 'a' }, ['.spec.selector has the unknown key "app"']],
    [
      'stray keys beside matchLabels, sorted',
      'K',
      { z: 1, matchLabels: { app: 'a' }, b: '2' },
      ['.spec.selector has the unknown key "b"', '.spec.selector has the unknown key "z"'],
    ],
    [
      'stray keys beside matchLabels in the x-k8s group',
      'X',
      { matchLabels: { app: 'a' }, app: 'a' },
      ['.spec.selector has the unknown key "app"'],
    ],
    [
      'a number',
      'K',
      { matchLabels: { app: 1 } },
      ['.spec.selector.matchLabels["app"] is a number, not a string'],
    ],
    ['true', 'X', { app: true }, ['.spec.selector["app"] is a boolean, not a string']],
    ['null', 'X', { app: null }, ['.spec.selector["app"] is null, not a string']],
    ['a mapping', 'X', { app: {} }, ['.spec.selector["app"] is a mapping, not a string']],
    ['an empty value', 'K', { matchLabels: { app: '' } }, ['.spec.selector.matchLabels["app"] is empty']],
    [
      'a padded value',
      'K',
      { matchLabels: { app: ' a' } },
      ['.spec.selector.matchLabels["app"] is padded with blanks'],
    ],
    [
      'a value that ends with a line feed',
      'X',
      { app: 'a\n' },
      ['.spec.selector["app"] is padded with blanks'],
    ],
    [
      'a value of 64 characters',
      'X',
      { app: 'a'.repeat(64) },
      ['.spec.selector["app"] is no label value: is over 63 characters'],
    ],
    [
      'a value with a template',
      'X',
      { app: '{{.x}}' },
      [
        '.spec.selector["app"] is no label value: has "{" at character 1; only letters, digits, "-", "_" and "." are allowed there',
      ],
    ],
    [
      'a value with a colon',
      'X',
      { app: 'a:b' },
      [
        '.spec.selector["app"] is no label value: has ":" at character 2; only letters, digits, "-", "_" and "." are allowed there',
      ],
    ],
    ['an empty key', 'X', { '': 'a' }, ['.spec.selector[""] is no label key: has an empty name']],
    [
      'a key with a colon',
      'X',
      { 'a:b': 'c' },
      [
        '.spec.selector["a:b"] is no label key: has ":" at character 2; only letters, digits, "-", "_" and "." are allowed there',
      ],
    ],
    [
      'a padded key',
      'K',
      { matchLabels: { 'app ': 'a' } },
      [
        '.spec.selector.matchLabels["app "] is no label key: has " " at character 4; only letters, digits, "-", "_" and "." are allowed there',
      ],
    ],
    [
      'the key __proto__',
      'X',
      proto('{"__proto__": "a"}'),
      ['.spec.selector["__proto__"] is no label key: does not start with a letter or digit'],
    ],
    [
      'the key __proto__ under matchLabels',
      'K',
      proto('{"matchLabels": {"__proto__": {"app": "a"}}}'),
      ['.spec.selector.matchLabels["__proto__"] is no label key: does not start with a letter or digit'],
    ],
    [
      '__proto__ beside matchLabels',
      'K',
      proto('{"matchLabels": {"app": "a"}, "__proto__": {}}'),
      ['.spec.selector has the unknown key "__proto__"'],
    ],
    [
      'matchLabels behind __proto__',
      'K',
      proto('{"__proto__": {"matchLabels": {"app": "a"}}}'),
      ['.spec.selector has the unknown key "__proto__"'],
    ],
    [
      '65 labels',
      'K',
      { matchLabels: labels(65) },
      ['.spec.selector.matchLabels has 65 labels; 64 is the most'],
    ],
    ['65 flat labels', 'X', labels(65), ['.spec.selector has 65 labels; 64 is the most']],
    [
      'all bad labels, sorted by key',
      'X',
      { z: '', good: 'a', a: 1 },
      ['.spec.selector["a"] is a number, not a string', '.spec.selector["z"] is empty'],
    ],
  ])('%s', (_name, group, selector, problems) => {
    expect(decode(group, selector)).toEqual({ ok: false, reason: 'InvalidPoolSelector', problems })
  })

  test('labels that are only inherited do not count', () => {
    const inherited: unknown = Object.create({ matchLabels: { app: 'a' } })
    expect(decode('K', inherited)).toMatchObject({
      ok: false,
      problems: ['.spec.selector.matchLabels is missing'],
    })
    expect(decode('X', inherited)).toMatchObject({ ok: false, reason: 'InvalidPoolSelector' })
  })

  test.each<[string, 'K' | 'X', unknown, readonly string[]]>([
    [
      'an expression',
      'K',
      { matchLabels: { app: 'a' }, matchExpressions: [{ key: 'tier', operator: 'In', values: ['a', 'b'] }] },
      ['.spec.selector.matchExpressions[0]: tier In (a, b)'],
    ],
    [
      'an expression alone',
      'K',
      { matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
      ['.spec.selector.matchExpressions[0]: tier Exists'],
    ],
    [
      'an expression in the x-k8s group',
      'X',
      { app: 'a', matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
      ['.spec.selector.matchExpressions[0]: tier Exists'],
    ],
    [
      'an expression beside matchLabels in the x-k8s group',
      'X',
      { matchLabels: { app: 'a' }, matchExpressions: 'x' },
      ['.spec.selector.matchExpressions is a string'],
    ],
    [
      'expressions that are a mapping',
      'K',
      { matchLabels: { app: 'a' }, matchExpressions: {} },
      ['.spec.selector.matchExpressions is a mapping'],
    ],
    [
      'an expression that is a number',
      'K',
      { matchExpressions: [7] },
      ['.spec.selector.matchExpressions[0]: a number'],
    ],
  ])('as unsafe: %s', (_name, group, selector, problems) => {
    expect(decode(group, selector)).toEqual({ ok: false, reason: 'UnsafeSelector', problems })
  })
})

test('a pool with no spec is refused by its binding, which names the pool and the field', () => {
  const one = settledCluster([pool({ spec: undefined }), objective(), binding()])
  expect(judgementOf(one)).toMatchObject({
    check: 'pool selector',
    reason: 'InvalidPoolSelector',
    message: `InferencePool/llama (${K8S_GROUP}/v1): .spec.selector is missing`,
  })
})

test('the order in which a file lists bad labels does not matter', () => {
  expect(decode('X', { b: '', a: '' })).toEqual(decode('X', { a: '', b: '' }))
})

/** What a message of a status holds of all problems, had they been written out in order. */
const message = (problems: readonly string[]): string => problems.join('; ').slice(0, 1024)

describe('of hostile size', () => {
  test('over 64 labels is refused without a look at one of them', () => {
    let looks = 0
    const matchLabels = new Proxy(labels(65), {
      get: (target, key) => {
        looks++
        return Reflect.get(target, key)
      },
    })
    expect(decode('K', { matchLabels })).toMatchObject({
      problems: ['.spec.selector.matchLabels has 65 labels; 64 is the most'],
    })
    expect(looks).toBe(0)
  })

  test('64 keys of 20 KB are reported as far as a message goes, and no more of them is kept', () => {
    const keys = Array.from({ length: 64 }, (_, at) => `${'k'.repeat(20_000)}${at}`)
    const decoded = decode('X', Object.fromEntries(keys.map((key) => [key, 'x'])))
    const all = keys.toSorted().map((key) => `.spec.selector[${JSON.stringify(key)}] is no label key`)
    expect(decoded.ok).toBe(false)
    const problems = decoded.ok ? [] : decoded.problems
    expect(message(problems)).toBe(message(all))
    expect(problems.at(-1)).toBe('and more')
    expect(problems.join().length).toBeLessThan(4096)
  })

  test('30,000 unknown keys are reported in sorted order as far as a message goes', () => {
    const keys = Array.from({ length: 30_000 }, (_, at) => `key-${(at * 7919) % 30_000}`)
    const decoded = decode('K', Object.fromEntries(keys.map((key) => [key, 'x'])))
    const problems = decoded.ok ? [] : decoded.problems
    const all = keys.toSorted().map((key) => `.spec.selector has the unknown key "${key}"`)
    expect(message(problems)).toBe(message(all))
    expect(problems.at(-1)).toBe('and more')
    expect(problems.length).toBeLessThanOrEqual(32)
  })

  test('values of an expression are reported as far as a message goes', () => {
    const values = Array.from({ length: 50_000 }, (_, at) => `value-${at}`)
    const decoded = decode('K', { matchExpressions: [{ key: 'app', operator: 'In', values }] })
    const problems = decoded.ok ? [] : decoded.problems
    const all = [`.spec.selector.matchExpressions[0]: app In (${values.join(', ')})`]
    expect(message(problems)).toBe(message(all))
    expect(problems.join().length).toBeLessThan(4096)
  })
})
