// The name of an exported type means one thing: it stands once in what is shipped, so that nobody reads `Verdict` and has
// to ask which.
import { expect, test } from 'vitest'
import { SOURCES, textOf } from './files.ts'
import { exportedTypesOf } from './modules.ts'

test('an exported type name stands once', () => {
  const places = new Map<string, string[]>()
  for (const path of SOURCES) {
    for (const name of exportedTypesOf(textOf(path))) places.set(name, [...(places.get(name) ?? []), path])
  }
  expect(places.size).toBeGreaterThan(300)
  const twice = [...places].filter(([, paths]) => paths.length > 1)
  expect(twice.map(([name, paths]) => `${name}: ${paths.join(', ')}`).toSorted()).toEqual([])
})
