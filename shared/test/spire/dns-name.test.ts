import { domainToASCII } from 'node:url'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '@kleym/testing/runs.ts'
import { dnsNameVerdict } from '../../src/core/predict/spire/dns-name.ts'
import { disagreements, readVectors, textAt } from '../go/vectors.ts'

test('DNS names are judged as spire-server judges them, wherever there is a judgement', () => {
  const differing = disagreements('dns-names.jsonl', (row) => {
    const verdict = dnsNameVerdict(textAt(row, 0))
    return verdict.kind === 'unknown' ? row : [row[0], verdict.kind === 'accepted']
  })
  expect(differing).toEqual([])
})

test('only names with an international label are left open', () => {
  const open = readVectors('dns-names.jsonl')
    .map((row) => textAt(row, 0))
    .filter((name) => dnsNameVerdict(name).kind === 'unknown')
  expect(open).not.toEqual([])
  expect(open.filter((name) => !/(?:^|[.\s])xn--/.test(name))).toEqual([])
})

describe('names measured against spire-server 1.15.3', () => {
  test.each(
    [
      'A.example',
      '_a',
      'a_b',
      '<no value>',
      'ex ample',
      ' a.example',
      'a/b',
      'a:80',
      '::1',
      'a\n',
      '1',
      '*.com',
    ].concat(['xn--9ca', 'xn--bcher-kva.example', 'xn--fiqs8s', `*.${'a'.repeat(63)}`]),
  )('%j is accepted', (name) => {
    expect(dnsNameVerdict(name)).toEqual({ kind: 'accepted' })
  })

  test.each([
    ['', 'is empty or blank'],
    [' \n', 'is empty or blank'],
    ['a.', 'ends with a dot'],
    ['a..b', 'has an empty label'],
    ['-a.b', 'has the label "-a", which starts with "-"'],
    ['a-.b', 'has the label "a-", which ends with "-"'],
    ['ab--c', 'has the label "ab--c", which has "-" at places 3 and 4'],
    ['XN--9CA', 'has the label "XN--9CA", which has "-" at places 3 and 4'],
    ['xn--9CA', 'has the label "xn--9CA", which is no valid punycode: it may hold only a-z, 0-9 and "-"'],
    [
      'xn--a',
      'has the label "xn--a", which is no valid punycode: it stands for a character that no name may hold',
    ],
    [
      'xn--e-xbb',
      'has the label "xn--e-xbb", which is no valid punycode: what it stands for is not in normal form',
    ],
    ['xn--99zzzzzzz', 'has the label "xn--99zzzzzzz", which is no valid punycode: it cannot be decoded'],
    ['xn--a-8f4g', 'has the label "xn--a-8f4g", which is no valid punycode: it stands for half a character'],
    // Both halves of U+1F600, which is written "xn--e28h".
    [
      'xn--8c9bk9h',
      'has the label "xn--8c9bk9h", which is no valid punycode: it stands for half a character',
    ],
    ['xn---', 'has the label "xn---", which is no valid punycode: it cannot be decoded'],
    ['xn--', 'has the label "xn--", which is no valid punycode: it stands for plain ASCII'],
    ['a'.repeat(64), 'has a label over 63 characters'],
    ['a.'.repeat(126) + 'ab', 'is over 253 characters'],
    ['*', 'has a "*" that is not alone at the start, as in "*.example.org"'],
    ['a.*', 'has a "*" that is not alone at the start, as in "*.example.org"'],
    ['*.', 'has nothing after "*."'],
    ['é.b', 'has "é" at character 1, which is not ASCII'],
  ])('%j %s', (name, why) => {
    expect(dnsNameVerdict(name)).toEqual({ kind: 'refused', why })
  })

  test('an Arabic label is left open, as the rule for writing directions is not followed', () => {
    expect(dnsNameVerdict('a.xn--wgbl6a')).toEqual({
      kind: 'unknown',
      why: 'has the international label "xn--wgbl6a", whose Unicode rules kleym does not follow',
    })
  })

  test('a refused label beside an open one refuses the name', () => {
    expect(dnsNameVerdict('xn--wgbl6a.-a').kind).toBe('refused')
    expect(dnsNameVerdict('-a.xn--wgbl6a').kind).toBe('refused')
  })
})

test('what the platform encodes is accepted, in letters that no later Unicode changes', () => {
  const letter = fc.oneof(
    fc.constantFrom('a', 'z', '0'),
    fc.integer({ min: 0x4e00, max: 0x9fff }).map(String.fromCodePoint),
  )
  fc.assert(
    fc.property(fc.array(letter, { maxLength: 12 }), (letters) => {
      const encoded = domainToASCII(`${letters.join('')}\u5b57`)
      expect(encoded.startsWith('xn--')).toBe(true)
      expect(dnsNameVerdict(encoded).kind).toBe(encoded.length > 63 ? 'refused' : 'accepted')
    }),
    { numRuns: runs(500) },
  )
})
