// What holds for the house as a whole: the pinned Node, who may import whom, and what never gets committed.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isRecord, own } from '../shared/src/core/json.ts'

const ROOT = join(import.meta.dirname, '..')
const TRACKED = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' })
  .split('\0')
  .filter((path) => path !== '')
const SOURCES = TRACKED.filter((path) => /^(shared|plugin|operator)\/src\/.*\.tsx?$/.test(path))

/** The modules that a source file imports, relative ones as paths from the root. */
function importsOf(path: string): readonly string[] {
  const text = readFileSync(join(ROOT, path), 'utf8')
  return [...text.matchAll(/\b(?:from\s+|import\s*(?:\(\s*)?)'([^'\s]+)'/g)].map(([, module = '']) =>
    module.startsWith('.') ? relative(ROOT, join(ROOT, dirname(path), module)) : module,
  )
}

test('every npm script runs on the Node that the project pins', () => {
  const manifest = readFileSync(join(ROOT, 'package.json'), 'utf8')
  const pinned = [...manifest.matchAll(/"node-(?:bin-)?[a-z]+-[a-z0-9]+": "([^"]+)"/g)].map(
    ([, version]) => version,
  )
  expect(pinned).toEqual(Array.from({ length: 5 }, () => process.version.slice(1)))
})

/** 0 for views, 1 for reports, 2 for commands, -1 for anything else. */
function floor(path: string): number {
  return ['plugin/src/view/', 'plugin/src/report/', 'plugin/src/commands/'].findIndex((folder) =>
    path.startsWith(folder),
  )
}

/** The pure libraries of the core: zod and its small build, SHA-256, Go's regular expressions, punycode as an ES module. */
const CORE_LIBRARIES: ReadonlySet<string> = new Set([
  'zod',
  'zod/mini',
  '@noble/hashes/sha2.js',
  '@noble/hashes/utils.js',
  're2js',
  'punycode/punycode.es6.js',
])

describe('who imports whom', () => {
  test('there are sources to look at', () => {
    expect(SOURCES.length).toBeGreaterThan(100)
    expect(SOURCES.flatMap(importsOf)).toContain('zod')
  })

  test.each(SOURCES.filter((path) => path.startsWith('shared/src/core/')))(
    '%s imports the libraries of the core and the core alone',
    (path) => {
      const foreign = importsOf(path).filter(
        (module) => !CORE_LIBRARIES.has(module) && !module.startsWith('shared/src/core/'),
      )
      expect(foreign).toEqual([])
    },
  )

  test('nobody imports a shell but the shell itself', () => {
    const crossing = SOURCES.flatMap((path) =>
      importsOf(path)
        .filter(
          (module) => /^(plugin|operator)\//.test(module) && !module.startsWith(path.split('/')[0] ?? ''),
        )
        .map((module) => `${path} imports ${module}`),
    )
    expect(crossing).toEqual([])
  })

  test('the plugin goes commands -> report -> view, never back', () => {
    const upward = SOURCES.filter((path) => floor(path) >= 0).flatMap((path) =>
      importsOf(path)
        .filter((module) => floor(module) > floor(path) && module !== 'plugin/src/report/model.ts')
        .map((module) => `${path} imports ${module}`),
    )
    expect(upward).toEqual([])
  })
})

/** The package of an import, e.g. `@oclif/core` of `@oclif/core/command`; undefined for a file and for a module of Node. */
function packageOf(module: string): string | undefined {
  if (
    module.startsWith('node:') ||
    /^(?:(?:shared|plugin|operator|scripts|test|bench)\/|package\.json$)/.test(module)
  )
    return undefined
  return /^(?:@[^/]+\/)?[^/]+/.exec(module)?.[0]
}

/** The packages that groups of a package.json list. */
function listed(manifest: string, ...groups: readonly string[]): readonly string[] {
  const parsed: unknown = JSON.parse(readFileSync(join(ROOT, manifest), 'utf8'))
  return groups.flatMap((group) => {
    const packages = own(parsed, group)
    return isRecord(packages) ? Object.keys(packages) : []
  })
}

describe('who lists what it imports', () => {
  /** The folders, and the package.json that lists what they import. */
  const lists: readonly (readonly [folders: RegExp, manifest: string])[] = [
    [/^(?:scripts|test|bench)\/.*\.tsx?$/, 'package.json'],
    [/^shared\/src\/.*\.tsx?$/, 'shared/package.json'],
    [/^plugin\/src\/.*\.tsx?$/, 'plugin/package.json'],
    [/^operator\/src\/.*\.tsx?$/, 'operator/package.json'],
  ]

  test.each(lists)('what %s imports stands in %s', (folders, manifest) => {
    const known = new Set(listed(manifest, 'dependencies', 'devDependencies'))
    const missing = TRACKED.filter((path) => folders.test(path)).flatMap((path) =>
      importsOf(path)
        .map(packageOf)
        // Workspaces are linked.
        .filter((name) => name !== undefined && !name.startsWith('@kleym/'))
        // Types come from a package of their own.
        .filter((name) => !known.has(name ?? '') && !known.has(`@types/${name}`))
        .map((name) => `${path} imports ${name}`),
    )
    expect(missing).toEqual([])
  })

  test.each(lists.slice(1))('what runs and %s does not import does not stand in %s', (folders, manifest) => {
    const imported = new Set(
      TRACKED.filter((path) => folders.test(path))
        .flatMap(importsOf)
        .map(packageOf),
    )
    expect(listed(manifest, 'dependencies').filter((name) => !imported.has(name))).toEqual([])
  })
})

describe('what is never committed', () => {
  const texts = TRACKED.filter((path) => !path.endsWith('.png')).map(
    (path) => [path, readFileSync(join(ROOT, path), 'utf8')] as const,
  )

  test('no path of a machine', () => {
    const paths = /(^|[\s'"`(=:])\/(?:work|root|tmp(?!\/spire-server)|home\/[a-z]+)\//
    expect(
      texts.filter(([path, text]) => path !== 'test/house.test.ts' && paths.test(text)).map(([path]) => path),
    ).toEqual([])
  })

  test('no download address in the lock file: it must install from any registry', () => {
    const lock = texts.find(([path]) => path === 'package-lock.json')?.[1] ?? ''
    expect(lock).toContain('"integrity"')
    expect(lock).not.toMatch(/"resolved": "https?:/)
  })

  test('no test that is skipped or run alone', () => {
    const tests = texts.filter(([path]) => path.endsWith('.test.ts') && path !== 'test/house.test.ts')
    expect(tests.length).toBeGreaterThan(40)
    expect(
      tests
        .filter(([, text]) => /\b(?:test|describe|it)\.(?:skip|only|todo)\b/.test(text))
        .map(([path]) => path),
    ).toEqual([])
  })
})
