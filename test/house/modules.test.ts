// The tests of the house see what they look for: each form of an import, of an exported type and of a circle.
import { describe, expect, test } from 'vitest'
import { circlesOf, exportedTypesOf, graphOf, mutualFolders, specifiersOf, type Graph } from './modules.ts'

describe('imports', () => {
  test.each([
    ['a value', "import { a } from './a.ts'"],
    ['a type', "import type { A } from './a.ts'"],
    ['a type among values', "import { b, type A } from './a.ts'"],
    ['a namespace', "import * as a from './a.ts'"],
    ['a default', "import a from './a.ts'"],
    ['an effect alone', "import './a.ts'"],
    ['over several lines', "import {\n  a,\n  b,\n} from './a.ts'"],
    ['when it is needed', "const { a } = await import('./a.ts')"],
    ['broken over lines', "const a = await import(\n  './a.ts'\n)"],
    ['the type of a module', "type A = typeof import('./a.ts')"],
    ['a type in place', "let a: import('./a.ts').A"],
    ['passed on', "export { a } from './a.ts'"],
    ['a type passed on', "export type { A } from './a.ts'"],
    ['all passed on', "export * from './a.ts'"],
    ['JSON', "import a from './a.ts' with { type: 'json' }"],
  ])('%s', (_, text) => {
    expect(specifiersOf(text)).toEqual(['./a.ts'])
  })

  test.each(["// import { a } from './a.ts'", "/**\n * import './a.ts'\n */", 'const from = 1'])(
    'none: %s',
    (text) => {
      expect(specifiersOf(text)).toEqual([])
    },
  )
})

describe('exported types', () => {
  test.each<[string, readonly string[]]>([
    ['export interface A {}', ['A']],
    ['export type A = string', ['A']],
    ['export class A {}', ['A']],
    ['export abstract class A {}', ['A']],
    ['export default class A {}', ['A']],
    ['export enum A {}', ['A']],
    ['export const enum A {}', ['A']],
    ['export type A<T> =\n  | T', ['A']],
    ['interface A {}\nexport type { A }', ['A']],
    ['class A {}\nexport { A }', ['A']],
    ["export type { B as A } from './b.ts'", ['A']],
    ["export { type B as A, c } from './b.ts'", ['A']],
    ["export type { A } from './a.ts'", []],
    ['interface A {}', []],
    ['export const a = 1', []],
    ['export function type(): void {}', []],
    ['// export interface A {}', []],
  ])('%s', (text, names) => {
    expect(exportedTypesOf(text)).toEqual(names)
  })
})

function graph(files: Readonly<Record<string, string>>): Graph {
  return graphOf(Object.keys(files), (path) => files[path] ?? '')
}

describe('circles', () => {
  test('of types alone, with the way round', () => {
    const found = graph({
      'shared/src/core/a.ts': "import type { B } from './b.ts'",
      'shared/src/core/b.ts': "export type { C } from './deep/c.ts'",
      'shared/src/core/deep/c.ts': "const a = await import('../a.ts')",
      'shared/src/core/d.ts': "import './a.ts'",
    })
    expect(circlesOf(found)).toEqual([
      'shared/src/core/a.ts -> shared/src/core/b.ts -> shared/src/core/deep/c.ts -> shared/src/core/a.ts',
    ])
    expect(mutualFolders(found).map(({ folders }) => folders)).toEqual([
      ['shared/src/core', 'shared/src/core/deep'],
    ])
  })

  test('of a file with itself', () => {
    expect(circlesOf(graph({ 'a/a.ts': "import './a.ts'" }))).toEqual(['a/a.ts -> a/a.ts'])
  })

  test('by the name of a workspace', () => {
    const found = graph({
      'shared/src/core/a.ts': "import '@kleym/plugin/main.ts'",
      'plugin/src/main.ts': "import '@kleym/shared/core/a.ts'",
    })
    expect(circlesOf(found)).toHaveLength(1)
  })

  test('none where all goes one way', () => {
    const found = graph({
      'a/a.ts': "import '../b/b.ts'; import '../c/c.ts'",
      'b/b.ts': "import '../c/c.ts'",
      'c/c.ts': '',
    })
    expect(circlesOf(found)).toEqual([])
    expect(mutualFolders(found)).toEqual([])
  })
})
