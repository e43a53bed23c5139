import { describe, expect, test } from 'vitest'
import {
  asIssued,
  entryIdProblem,
  parseFederatedTrustDomain,
  parseSpiffeId,
  trustDomainProblem,
} from '../../src/core/model/spiffe-id.ts'
import { disagreements, textAt } from '../go/vectors.ts'

test('SPIFFE IDs are read as go-spiffe reads them, and judged for entries as spire-server does', () => {
  const differing = disagreements('spiffe-ids.jsonl', (row) => {
    const text = textAt(row, 0)
    const id = parseSpiffeId(text)
    return id.ok ? [text, id.trustDomain, id.path, entryIdProblem(text) === undefined] : [text]
  })
  expect(differing).toEqual([])
})

test('no ID that go-spiffe refuses may be an entry’s', () => {
  const differing = disagreements('spiffe-ids.jsonl', (row) => {
    const refused = row.length === 1
    return refused && entryIdProblem(textAt(row, 0)) === undefined ? [] : row
  })
  expect(differing).toEqual([])
})

test('federatesWith is read as go-spiffe reads a trust domain', () => {
  const differing = disagreements('trust-domains.jsonl', (row) => {
    const domain = parseFederatedTrustDomain(textAt(row, 0))
    return domain.ok ? [row[0], domain.trustDomain] : [row[0]]
  })
  expect(differing).toEqual([])
})

describe('a refused SPIFFE ID says what and where', () => {
  test.each([
    ['', 'is empty'],
    ['http://a/b', 'does not start with "spiffe://"'],
    ['spiffe:///b', 'has no trust domain'],
    ['spiffe://eXample/b', 'has "X" at character 11; a trust domain holds a-z, 0-9, ".", "_" and "-"'],
    [
      'spiffe://a/b/<no value>',
      'has "<" at character 14; a path holds letters, digits, ".", "_", "-" and "/"',
    ],
    ['spiffe://a/b/', 'ends with a slash'],
    ['spiffe://a/b//c', 'has an empty path segment at character 14'],
    ['spiffe://a/b/../c', 'has the path segment ".." at character 14'],
    ['spiffe://a', 'has no path, which an entry needs'],
    ['spiffe://a/spire/agent/x', 'lies in the path /spire, which SPIRE keeps for itself'],
  ])('%j %s', (text, problem) => {
    expect(entryIdProblem(text)).toBe(problem)
  })
})

describe('our own trust domain follows the standard, with its length', () => {
  test.each([
    ['a..b', undefined],
    ['a'.repeat(255), undefined],
    ['a'.repeat(256), 'is over 255 characters'],
    ['', 'is empty'],
    [' a', 'has " " at character 1; a trust domain holds a-z, 0-9, ".", "_" and "-"'],
    ['spiffe://a', 'has ":" at character 7; a trust domain holds a-z, 0-9, ".", "_" and "-"'],
    ['a\n', 'has "\\n" at character 2; a trust domain holds a-z, 0-9, ".", "_" and "-"'],
  ])('%j: %s', (text, problem) => {
    expect(trustDomainProblem(text)).toBe(problem)
  })
})

test.each([
  ['SPIFFE://Example.ORG/ns/A', 'spiffe://example.org/ns/A'],
  ['spiffe://example.org/ns/A', 'spiffe://example.org/ns/A'],
  ['Spiffe://Example.org', 'spiffe://example.org'],
  ['spiffe://A\nB/C', 'spiffe://a\nb/C'],
  ['HTTPS://A/B', 'HTTPS://A/B'],
  ['A', 'A'],
  ['', ''],
])('%j is issued as %j', (written, issued) => {
  expect(asIssued(written)).toBe(issued)
})
