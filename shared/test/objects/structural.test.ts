// Values read by a structural schema.
import { expect, test } from 'vitest'
import { readBy, type Schema } from '../../src/core/base/structural.ts'
import { DNS1123_SUBDOMAIN_PATTERN } from '../../src/core/base/text/kubernetes.ts'

const SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string', pattern: DNS1123_SUBDOMAIN_PATTERN, minLength: 1, maxLength: 5 },
    kind: { type: 'string', enum: ['A', 'B', 'C'] },
    count: { type: 'integer', format: 'int64', minimum: 0 },
    at: { type: 'string', format: 'date-time' },
    code: { type: 'string', pattern: '^x$' },
    items: {
      type: 'array',
      items: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      maxItems: 2,
    },
  },
  required: ['name'],
} as const satisfies Schema

test('a value keeps what the schema knows', () => {
  const items = [{ id: 'one', stray: 1 }]
  expect(readBy(SCHEMA, { items, stray: true, name: 'a.b' })).toEqual({
    ok: true,
    value: { name: 'a.b', items: [{ id: 'one' }] },
  })
})

test.each<[unknown, string, string]>([
  ['text', '', 'must be a mapping'],
  [[], '', 'must be a mapping'],
  [{}, 'name', 'must be a string'],
  [{ name: '' }, 'name', 'must not be empty'],
  [{ name: 'abcdef' }, 'name', 'must be no more than 5 characters'],
  [{ name: 'A' }, 'name', 'must be a DNS-1123 subdomain'],
  [{ name: 'a', kind: 'D' }, 'kind', 'must be A, B or C'],
  [{ name: 'a', kind: 1 }, 'kind', 'must be A, B or C'],
  [{ name: 'a', count: -1 }, 'count', 'must be an integer from 0'],
  [{ name: 'a', count: 1.5 }, 'count', 'must be an integer from 0'],
  [{ name: 'a', count: 2 ** 53 }, 'count', 'must be an integer from 0'],
  [{ name: 'a', at: '2026-02-30T10:00:00Z' }, 'at', 'must be a time such as 2026-11-21T10:00:00Z'],
  [{ name: 'a', at: '2026-02-20T25:00:00Z' }, 'at', 'must be a time such as 2026-11-21T10:00:00Z'],
  [{ name: 'a', at: '2026-02-20T10:00Z' }, 'at', 'must be a time such as 2026-11-21T10:00:00Z'],
  [{ name: 'a', code: 'y' }, 'code', 'must be text that matches ^x$'],
  [{ name: 'a', items: {} }, 'items', 'must be a list'],
  [{ name: 'a', items: [{ id: '1' }, { id: '2' }, { id: '3' }] }, 'items', 'must have no more than 2 items'],
  [{ name: 'a', items: [{ id: '1' }, {}] }, 'items.1.id', 'must be a string'],
])('%j: the first place that is wrong is %s', (value, path, why) => {
  const read = readBy(SCHEMA, value)
  expect(read.ok ? undefined : [read.path.join('.'), read.why]).toEqual([path, why])
})

test('times are read with and without fractions of a second', () => {
  for (const at of ['2024-02-29T10:00:00Z', '2026-11-21T23:59:59.123Z'])
    expect(readBy(SCHEMA, { name: 'a', at }).ok).toBe(true)
})
