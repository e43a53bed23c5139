// An author cannot forget what is not known: a truth is no boolean, and a list of the snapshot says by itself nothing about what was not
// read (docs/contributing/evidence.md, "What is not known").
import { expect, test } from 'vitest'
import { SOURCES, textOf } from './files.ts'

const CORE = /^shared\/src\/core\/(?:snapshot|model\/truth)\//

/** So many take what was read from a listing of the snapshot. It may only fall. */
const READ_FROM_LISTINGS = 74

/** The names of the fields of a snapshot whose types begin so. */
function fieldsOfSnapshot(type: string): readonly string[] {
  const [, body = ''] =
    /export interface Snapshot \{\n(.*?)\n\}/s.exec(textOf('shared/src/core/snapshot/snapshot.ts')) ?? []
  return [...body.matchAll(new RegExp(`^ {2}readonly (\\w+): ${type}`, 'gm'))].map(([, name = '']) => name)
}

/** Each place that takes what was read from a listing, and, of those, each that asks it whether something is there. */
function readsOfListings(
  text: string,
  listings: readonly string[],
): { all: number; asked: readonly string[] } {
  const code = text.replaceAll(/\/\*.*?\*\/|\/\/[^\n]*/gs, '')
  const read = String.raw`\b(?:${listings.join('|')})\.read\b`
  const asks = String.raw`\s*(?:\[|\.(?:some|every|find\w*|includes|at|indexOf)\(|\.length\s*(?:[=!]==|[<>]))`
  return {
    all: [...code.matchAll(new RegExp(read, 'g'))].length,
    asked: [...code.matchAll(new RegExp(read + asks, 'g'))].map(([found]) => found),
  }
}

test('a snapshot has listings, lists that are not there unless they are whole, and lists of what leaves something open', () => {
  const lists = String.raw`readonly \w+\[\]`
  const whole = fieldsOfSnapshot(`${lists} \\| undefined\\n`)
  expect(whole).toEqual(['nodes', 'poolImports', 'endpoints'])
  // What is over comes with its reason. A maker of pods is a cause by itself. A configured right and a fault are findings.
  expect(fieldsOfSnapshot(lists)).toEqual(expect.arrayContaining([...whole]))
  expect(fieldsOfSnapshot(`${lists}\\n`)).toEqual(['over', 'podMakers', 'configuredRights', 'manifestFaults'])
})

test('a question to what was read of a listing is seen in each form', () => {
  const [told, asking] = [
    ['counted(pools.read.length, "pool")', 'for (const one of pools.read)'],
    ['pools.read.length === 0', 'pools.read[0]', 'snapshot.pools.read\n  .find(f)', 'pools.read.some(g)'],
  ]
  const asked = [...told, ...asking].filter((text) => readsOfListings(text, ['pools']).asked.length === 1)
  expect(asked).toEqual(asking)
})

test('whether something is there is asked of the listing, never of what was read of it', () => {
  const listings = fieldsOfSnapshot('KindListing<')
  expect(listings).toEqual(expect.arrayContaining(['bindings', 'pools', 'clusterSpiffeIds', 'pods']))
  const found = SOURCES.map((path) => ({ path, ...readsOfListings(textOf(path), listings) }))
  expect(found.flatMap(({ path, asked }) => asked.map((one) => `${path}: ${one}`))).toEqual([])
  const outside = found.filter(({ path }) => !CORE.test(path)).reduce((sum, { all }) => sum + all, 0)
  expect(outside).toBeLessThanOrEqual(READ_FROM_LISTINGS)
  expect(outside).toBeGreaterThan(READ_FROM_LISTINGS - 10)
})

test('what was read of a listing has no index, and no question whether one fits', () => {
  // What it has is what functions that take it may do with it: types are checked.
  expect(textOf('shared/src/core/snapshot/listing.ts')).toContain('readonly read: Each<T>')
  expect(textOf('shared/src/core/base/each.ts')).toContain(
    "Iterable<T> & Pick<readonly T[], 'map' | 'flatMap' | 'filter' | 'length'>",
  )
})

test('a truth is always there: one that may be absent would pass for a boolean', () => {
  const absent = /\?: Truth\b|\bTruth \| (?:undefined|null)|(?:undefined|null) \| Truth\b/
  expect(SOURCES.filter((path) => absent.test(textOf(path)))).toEqual([])
})

test('the linter refuses an object where a condition is asked for', () => {
  const rules = textOf('.oxlintrc.json')
  expect(rules).toContain('"typescript/strict-boolean-expressions": [\n      "error"')
})
