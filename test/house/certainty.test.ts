// An author cannot forget what is not known: a truth is no boolean, and a list of the snapshot says by itself nothing about what was not
// read (docs/contributing/evidence.md, "What is not known").
import { expect, test } from 'vitest'
import { SOURCES, textOf } from './files.ts'

const CORE = /^shared\/src\/core\/(?:snapshot|model\/truth)\//

/** So many places outside core/snapshot and core/truth read a list of the snapshot as it is. It may only fall. */
const RAW_READS = 115

/** The fields of a snapshot that are lists. */
function listsOfSnapshot(): readonly string[] {
  const [, body = ''] =
    /export interface Snapshot \{\n(.*?)\n\}/s.exec(textOf('shared/src/core/snapshot/snapshot.ts')) ?? []
  return [...body.matchAll(/^ {2}readonly (\w+): readonly \w+\[\]/gm)].map(([, name = '']) => name)
}

/** Each place of a text that takes a list from a snapshot: `snapshot.pods`, `{ pods } = snapshot`, `({ pods }: Snapshot)`. */
function rawReads(text: string, lists: readonly string[]): readonly string[] {
  const code = text.replaceAll(/\/\*.*?\*\/|\/\/[^\n]*/gs, '')
  const ofSnapshot = new RegExp(`\\bsnapshot\\??\\.(${lists.join('|')})\\b`, 'g')
  const taken = [
    ...code.matchAll(/\bsnapshot: \{([^{}]*)\}/g),
    ...code.matchAll(/\{([^{}]*)\}\s*=\s*[\w.]*\bsnapshot\b(?!\s*[.(])/g),
    ...code.matchAll(/\{([^{}]*)\}: Snapshot\b/g),
  ].flatMap(([, names = '']) => names.split(',').map((one) => one.trim().split(/[ :]/)[0] ?? ''))
  return [
    ...[...code.matchAll(ofSnapshot)].map(([, name = '']) => name),
    ...taken.filter((name) => lists.includes(name)),
  ]
}

test('raw reads are seen in each form', () => {
  const lists = ['pods', 'bindings']
  const seen = (text: string): number => rawReads(text, lists).length
  expect(seen('analysis.snapshot.pods.map(f)')).toBe(1)
  expect(seen('const { pods, bindings } = after.snapshot')).toBe(2)
  expect(seen('function f({ pods }: Snapshot): void {}')).toBe(1)
  expect(seen('({ snapshot: { bindings } }) => bindings')).toBe(1)
  expect(seen('// snapshot.pods\nanalysis.pods()')).toBe(0)
})

test('no more places than before read a list of the snapshot as it is', () => {
  const lists = listsOfSnapshot()
  expect(lists).toEqual(expect.arrayContaining(['bindings', 'pods', 'nodes', 'podMakers']))
  const found = SOURCES.filter((path) => !CORE.test(path)).flatMap((path) =>
    rawReads(textOf(path), lists).map((name) => `${path}: ${name}`),
  )
  expect(found.slice(RAW_READS)).toEqual([])
  // Where there are fewer by now, the number above falls with them.
  expect(found.length).toBeGreaterThan(RAW_READS - 10)
})

test('a truth is always there: one that may be absent would pass for a boolean', () => {
  const absent = /\?: Truth\b|\bTruth \| (?:undefined|null)|(?:undefined|null) \| Truth\b/
  expect(SOURCES.filter((path) => absent.test(textOf(path)))).toEqual([])
})

test('the linter refuses an object where a condition is asked for', () => {
  const rules = textOf('.oxlintrc.json')
  expect(rules).toContain('"typescript/strict-boolean-expressions": [\n      "error"')
})
