// The core keeps to its wings, as `docs/architecture.md, "Wings"` lists them.
import { describe, expect, test } from 'vitest'
import { SOURCES, textOf } from './files.ts'
import { sectionOf } from './markdown.ts'
import { graphOf } from './modules.ts'
import { doorOf, listedBy, takenByDoor, trespasses, wingOf, wingsOf } from './wings.ts'

const GRAPH = graphOf(SOURCES, textOf)
const WINGS = wingsOf(sectionOf(textOf('docs/architecture.md'), 'Wings'))

test('the map names each wing, and each wing has files', () => {
  const wings = new Set(SOURCES.flatMap((path) => wingOf(path) ?? []))
  expect([...wings].toSorted()).toEqual([...WINGS.keys()].toSorted())
})

test('a wing imports from those that it knows, and by their doors', () => {
  expect(trespasses(GRAPH, WINGS)).toEqual([])
})

test('the operator knows the model and the decisions alone', () => {
  const wings = [...GRAPH]
    .filter(([path]) => path.startsWith('operator/'))
    .flatMap(([, targets]) => [...targets].flatMap((target) => wingOf(target) ?? []))
  expect([...new Set(wings)].toSorted()).toEqual(['base', 'decide', 'model'])
})

const DOORS = [...WINGS].flatMap(([wing, { hasDoor }]) => (hasDoor ? [doorOf(wing)] : []))

test.each(DOORS)('%s lists names of its wing alone, and those that somebody takes', (door) => {
  const takers = [...GRAPH].filter(([, targets]) => targets.has(door))
  const taken = new Set(takers.flatMap(([importer]) => takenByDoor(textOf(importer))))
  const listed = listedBy(textOf(door)) ?? new Map<string, string>()
  expect(listed.size).toBeGreaterThan(0)
  expect([...listed.keys()].filter((name) => !taken.has(name))).toEqual([])
})

describe('what is not allowed is found', () => {
  const CORE = 'shared/src/core'
  const wings = wingsOf('| `a` | low | | open |\n| `b` | middle | a | door |\n| `c` | high | a, b | door |\n')

  test.each([
    ['a wing above', `${CORE}/b/x.ts`, `${CORE}/c/index.ts`],
    ['an open wing above', `${CORE}/a/x.ts`, `${CORE}/b/index.ts`],
    ['a file behind a door', `${CORE}/c/x.ts`, `${CORE}/b/y.ts`],
    ['a file behind a door, by a program', 'plugin/src/x.ts', `${CORE}/b/y.ts`],
    ['the door of its own wing', `${CORE}/b/x.ts`, `${CORE}/b/index.ts`],
    ['a wing that the map lacks', `${CORE}/a/x.ts`, `${CORE}/d/x.ts`],
  ])('%s', (_, importer, target) => {
    expect(trespasses(new Map([[importer, new Set([target])]]), wings)).toEqual([`${importer} -> ${target}`])
  })

  test.each([
    ['its own file', `${CORE}/b/x.ts`, `${CORE}/b/y.ts`],
    ['a door below', `${CORE}/c/x.ts`, `${CORE}/b/index.ts`],
    ['an open wing below', `${CORE}/c/x.ts`, `${CORE}/a/y.ts`],
    ['a door, by a program', 'plugin/src/x.ts', `${CORE}/c/index.ts`],
  ])('and not %s', (_, importer, target) => {
    expect(trespasses(new Map([[importer, new Set([target])]]), wings)).toEqual([])
  })

  test.each([
    ['everything of a file', "export * from './x.ts'\n"],
    ['a name of another wing', "export { a } from '../b/x.ts'\n"],
    ['code', 'export const a = 1\n'],
  ])('a door that offers %s', (_, text) => {
    expect(listedBy(`// A door.\n${text}`)).toBe(undefined)
  })
})
