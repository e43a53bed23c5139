// Patterns of SPIFFE IDs: what fits, what may fit once the pod runs, and what is no pattern.
import { describe, expect, test } from 'vitest'
import {
  globPattern,
  idProblem,
  patternOfHoles,
  prefixPattern,
} from '../../src/core/answers/identity-tests/id-pattern.ts'

const ID = 'spiffe://example.org'

describe('a pattern', () => {
  test.each<readonly [pattern: string, id: string, fits: 'yes' | 'open' | 'no']>([
    ['/a', '/a', 'yes'],
    ['/a', '/ab', 'no'],
    ['/*', '/a', 'yes'],
    ['/*', '/a/b', 'no'],
    ['/**', '/a/b', 'yes'],
    ['/**/x', '/a/b/x', 'yes'],
    ['/**/x', '/a/b/xy', 'no'],
    ['/a*c', '/abbc', 'yes'],
    ['/a*c', '/ab', 'no'],
    ['/*/b', '/a/b', 'yes'],
    ['/*/b', '/a/a/b', 'no'],
    // Dots and other signs of regular expressions are themselves.
    ['/a.c', '/abc', 'no'],
    // A part that only the running pod shows.
    ['/pod/a', '/pod/<pod name>', 'open'],
    ['/pod/a', '/pods/<pod name>', 'no'],
    ['/pod/*', '/pod/<pod name>', 'yes'],
    ['/*/a', '/pod/<pod name>', 'open'],
    ['/ci/**', '/<label team>/x', 'open'],
    ['/ci/**', '/<label app.kubernetes.io/name>/x', 'open'],
    ['/ci/**', '/c<label team>/x', 'open'],
    ['/ci/**', '/d<label team>/x', 'no'],
    ['/**', '/<anything else>', 'yes'],
    ['/*', '/<anything else>', 'open'],
    ['/a', '/<label x><label y>', 'open'],
  ])('%s, %s: %s', (pattern, id, fits) => {
    expect(globPattern(ID + pattern).match(ID + id).fits.value).toBe(fits)
  })

  test('an unknown trust domain may be the one that is meant', () => {
    expect(globPattern(`${ID}/ci/**`).match('spiffe://<trust-domain>/ci/x').fits.value).toBe('open')
    expect(globPattern(`${ID}/ci/x`).match('spiffe://<trust-domain>/ci/x').fits.value).toBe('open')
    expect(prefixPattern(`${ID}/ns/{namespace}/`).match('spiffe://<trust-domain>/ns/a/x').fits.value).toBe(
      'open',
    )
  })

  test('a hostile pattern takes no time', () => {
    const pattern = globPattern(`${ID}/${'a*'.repeat(8)}b`)
    const started = performance.now()
    expect(pattern.match(`${ID}/${'a'.repeat(2_000)}`).fits.value).toBe('no')
    expect(pattern.match(`${ID}/${'a'.repeat(1_000)}<pod name>`).fits.value).toBe('open')
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})

describe('a prefix', () => {
  test.each<readonly [prefix: string, id: string, fits: 'yes' | 'open' | 'no', captured?: string]>([
    ['/ns/{namespace}/', '/ns/team-a/x', 'yes', 'team-a'],
    ['/ns/{namespace}', '/ns/team-a', 'yes', 'team-a'],
    ['/ns/{namespace}/', '/ns/team-a', 'no'],
    ['/ns/{namespace}/', '/ns//x', 'no'],
    ['/ns/a', '/ns/ab', 'no'],
    ['/ns/a', '/ns/a/b', 'yes'],
    ['/ns/a/', '/ns/a/b', 'yes'],
    ['/ns/{namespace}/sa/', '/ns/team-a/sa/x', 'yes', 'team-a'],
    ['/ns/{namespace}/sa/', '/ns/team-a/objective/x', 'no'],
    ['/ns/{namespace}/', '/ns/<label team>/x', 'open'],
    ['/ns/{namespace}/', '/ns/team-a/<pod name>', 'yes', 'team-a'],
    ['/ns/a', '/ns/<label team>', 'open'],
    ['/ns/a', '/other/<label team>', 'no'],
  ])('%s, %s: %s', (prefix, id, fits, captured) => {
    const match = prefixPattern(ID + prefix).match(ID + id)
    expect([match.fits.value, match.captured]).toEqual([fits, captured])
  })
})

test('what only the running pod shows is a pattern', () => {
  expect(patternOfHoles(`${ID}/<pod name>/<label app.kubernetes.io/name>/<anything>`)).toBe(`${ID}/*/*/**`)
})

test.each<readonly [text: string, form: 'id' | 'pattern' | 'prefix', problem: RegExp]>([
  [`${ID}/a`, 'id', /^none$/],
  [`${ID}/a/**`, 'pattern', /^none$/],
  [`${ID}/ns/{namespace}/`, 'prefix', /^none$/],
  [ID, 'prefix', /^none$/],
  ['https://example.org/a', 'id', /does not begin with spiffe/],
  ['spiffe:///a', 'id', /no trust domain/],
  [`${ID}/a/`, 'id', /path|slash/],
  [`${ID}/a b`, 'id', /path/],
  [`${ID}/<pod name>`, 'pattern', /path/],
  [`${ID}/a*`, 'id', /whole ID/],
  [`${ID}/a*`, 'prefix', /no star/],
  ['spiffe://*/a', 'pattern', /trust domain cannot be a pattern/],
  ['spiffe://{namespace}/a', 'prefix', /trust domain cannot be a pattern/],
  [`${ID}/{namespace}`, 'pattern', /identitiesBelow alone/],
  [`${ID}/{namespace}/{namespace}`, 'prefix', /is used twice/],
  [`${ID}/${'*'.repeat(9)}`, 'pattern', /more than 8/],
])('%s as %s: %s', (text, form, problem) => {
  expect(idProblem(text, form) ?? 'none').toMatch(problem)
})
