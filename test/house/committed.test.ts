// What is committed: the pinned Node, and what never gets in.
import { describe, expect, test } from 'vitest'
import { TRACKED, textOf } from './files.ts'

test('every npm script runs on the Node that the project pins', () => {
  const manifest = textOf('package.json')
  const pinned = [...manifest.matchAll(/"node-(?:bin-)?[a-z]+-[a-z0-9]+": "([^"]+)"/g)].map(
    ([, version]) => version,
  )
  expect(pinned).toEqual(Array.from({ length: 5 }, () => process.version.slice(1)))
})

/** This file tells what it looks for. */
const HERE = 'test/house/committed.test.ts'

describe('what is never committed', () => {
  const texts = TRACKED.filter((path) => !path.endsWith('.png')).map((path) => [path, textOf(path)] as const)

  test('no path of a machine', () => {
    const paths = /(^|[\s'"`(=:])\/(?:work|root|tmp(?!\/spire-server)|home\/[a-z]+)\//
    expect(texts.filter(([path, text]) => path !== HERE && paths.test(text)).map(([path]) => path)).toEqual(
      [],
    )
  })

  test.each(['package-lock.json', 'scripts/site/package-lock.json'])(
    'no download address in %s: it must install from any registry',
    (file) => {
      const lock = texts.find(([path]) => path === file)?.[1] ?? ''
      expect(lock).toContain('"integrity"')
      expect(lock).not.toMatch(/"resolved": "https?:/)
    },
  )

  test('no test that is skipped or run alone', () => {
    const tests = texts.filter(([path]) => path.endsWith('.test.ts') && path !== HERE)
    expect(tests.length).toBeGreaterThan(40)
    expect(
      tests
        .filter(([, text]) => /\b(?:test|describe|it)\.(?:skip|only|todo)\b/.test(text))
        .map(([path]) => path),
    ).toEqual([])
  })
})
