// Who imports whom: the core itself alone, nobody a program, the plugin downwards only; no circle of files, and no two
// folders that import each other without a reason that `docs/architecture.md, "Folders that import each other"` gives.
import { describe, expect, test } from 'vitest'
import { SOURCES, textOf } from './files.ts'
import { sectionOf } from './markdown.ts'
import { circlesOf, graphOf, mutualFolders, resolveImport, specifiersOf } from './modules.ts'

const GRAPH = graphOf(SOURCES, textOf)

/** The pure libraries of the core: zod and its small build, SHA-256, Go's regular expressions, punycode as an ES module. */
const CORE_LIBRARIES: ReadonlySet<string> = new Set([
  'zod',
  'zod/mini',
  '@noble/hashes/sha2.js',
  '@noble/hashes/utils.js',
  're2js',
  'punycode/punycode.es6.js',
])

/** The folders of the plugin, the lowest first: a file imports from its own floor and from those below it. */
const FLOORS: readonly (readonly string[])[] = [
  ['io'],
  ['text', 'output', 'sources'],
  ['flags'],
  ['cluster', 'settings'],
  ['gather'],
  ['frame'],
  ['answers'],
  ['completion', 'program'],
]

/** The answers that are made of another one: plans of bindings, and a screen that shows what `explain` says. `mcp` asks commands. */
const BUILT_ON: ReadonlyMap<string, string> = new Map([
  ['migrate', 'suggest'],
  ['rename', 'suggest'],
  ['watch', 'explain'],
])
/** What several answers have. */
const PARTS = 'parts'

/** The imports for which `isMeant` holds, as `file -> file`. */
function importsWhere(isMeant: (importer: string, target: string) => boolean): readonly string[] {
  return [...GRAPH].flatMap(([importer, targets]) =>
    [...targets].filter((target) => isMeant(importer, target)).map((target) => `${importer} -> ${target}`),
  )
}

function isPlugin(path: string): boolean {
  return path.startsWith('plugin/')
}

function isCore(path: string): boolean {
  return path.startsWith('shared/src/core/')
}

/** `shared`, `operator` or `plugin`. */
function workspace(path: string): string {
  return path.split('/')[0] ?? ''
}

/** The answer that a file belongs to; undefined for a file of none. */
function answerOf(path: string): string | undefined {
  return /^plugin\/src\/answers\/([^/]+)\//.exec(path)?.[1]
}

/** The floor of a file of the plugin; -1 for one that stands in no folder. */
function floorOf(path: string): number {
  const [, folder = ''] = /^plugin\/src\/([^/]+)\//.exec(path) ?? []
  return FLOORS.findIndex((folders) => folders.includes(folder))
}

test('there are sources to look at, and what they import is found', () => {
  expect(SOURCES.length).toBeGreaterThan(100)
  expect(GRAPH.get('operator/src/main.ts')).toContain('operator/src/run.ts')
  const known = new Set(SOURCES)
  const astray = SOURCES.flatMap((path) =>
    specifiersOf(textOf(path))
      .filter((specifier) => /^(?:\.|@kleym\/).*\.tsx?$/.test(specifier))
      .filter((specifier) => !known.has(resolveImport(path, specifier, known) ?? ''))
      .map((specifier) => `${path} imports ${specifier}`),
  )
  expect(astray).toEqual([])
})

test('the core imports its pure libraries and itself alone', () => {
  const packages = SOURCES.filter(isCore).flatMap((path) =>
    specifiersOf(textOf(path))
      .filter((specifier) => !specifier.startsWith('.') && !CORE_LIBRARIES.has(specifier))
      .map((specifier) => `${path} imports ${specifier}`),
  )
  expect(packages).toEqual([])
  expect(importsWhere((from, to) => isCore(from) && !isCore(to))).toEqual([])
})

test('nobody imports a program but the program itself', () => {
  expect(importsWhere((from, to) => workspace(to) !== 'shared' && workspace(from) !== workspace(to))).toEqual(
    [],
  )
})

describe('the plugin', () => {
  test('every folder has its floor', () => {
    const inFolders = SOURCES.filter((path) => /^plugin\/src\/[^/]+\//.test(path))
    expect(inFolders.filter((path) => floorOf(path) < 0)).toEqual([])
    const used = new Set(inFolders.map(floorOf))
    expect(FLOORS.filter((_, floor) => !used.has(floor))).toEqual([])
  })

  test('imports downwards only', () => {
    const upwards = importsWhere(
      (from, to) => isPlugin(from) && isPlugin(to) && floorOf(from) >= 0 && floorOf(to) > floorOf(from),
    )
    expect(upwards).toEqual([])
  })

  test('answers take from each other what stands in answers/parts, and from one that they are built on', () => {
    const across = importsWhere((from, to) => {
      const [answer, other] = [answerOf(from), answerOf(to)]
      if (answer === undefined || other === undefined || answer === other || other === PARTS) return false
      return BUILT_ON.get(answer) !== other && !(answer === 'mcp' && to.endsWith('/command.ts'))
    })
    expect(across).toEqual([])
  })
})

test('no circle of files, by whatever kind of import', () => {
  expect(circlesOf(GRAPH)).toEqual([])
})

test('two folders import each other only where the map of the code says why', () => {
  const map = sectionOf(textOf('docs/architecture.md'), 'Folders that import each other')
  const defended = [...map.matchAll(/^\| `([^`]+)` \| `([^`]+)` \| \S.*\|$/gm)].map(
    ([, one = '', other = '']) => [one, other].toSorted().join(' and '),
  )
  const pairs = mutualFolders(GRAPH)
  const undefended = pairs
    .filter(({ folders }) => !defended.includes(folders.join(' and ')))
    .map(({ folders, examples }) => `${folders.join(' and ')}: ${examples.join(', ')}`)
  // A reason for what is no longer so misleads.
  const found = new Set(pairs.map(({ folders }) => folders.join(' and ')))
  const needless = defended.filter((pair) => !found.has(pair))
  expect({ undefended, needless }).toEqual({ undefended: [], needless: [] })
})
