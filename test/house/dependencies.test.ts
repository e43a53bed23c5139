// Who lists what it imports: each package.json names the packages of its folder, and the programs none beside them.
import { expect, test } from 'vitest'
import { isRecord, own } from '../../shared/src/core/base/json.ts'
import { textOf, TRACKED } from './files.ts'
import { specifiersOf } from './modules.ts'

/** Each package.json with the folders whose imports it lists. */
const LISTS: readonly (readonly [manifest: string, folders: RegExp])[] = [
  ['package.json', /^(?:scripts(?!\/site)|test(?!\/testing)|bench)\//],
  ['test/testing/package.json', /^test\/testing\/src\//],
  ['shared/package.json', /^shared\/src\//],
  ['plugin/package.json', /^plugin\/src\//],
  ['operator/package.json', /^operator\/src\//],
  ['scripts/site/package.json', /^scripts\/site\//],
]

/** The packages that some folders import, each with the first file that does. */
function importedFrom(folders: RegExp): ReadonlyMap<string, string> {
  const packages = new Map<string, string>()
  for (const path of TRACKED.filter((one) => folders.test(one) && /\.(?:tsx?|mjs)$/.test(one)))
    for (const specifier of specifiersOf(textOf(path))) {
      const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0]
      // Neither files, nor modules of Node, nor our own workspaces, which npm links.
      if (name === undefined || /^(?:\.|node:|@kleym\/)/.test(specifier) || packages.has(name)) continue
      packages.set(name, path)
    }
  return packages
}

/** The packages that groups of a package.json list. */
function listedIn(manifest: string, ...groups: readonly string[]): readonly string[] {
  const parsed: unknown = JSON.parse(textOf(manifest))
  return groups.flatMap((group) => {
    const packages = own(parsed, group)
    return isRecord(packages) ? Object.keys(packages) : []
  })
}

test.each(LISTS)('%s lists what its folders import', (manifest, folders) => {
  const listed = new Set(listedIn(manifest, 'dependencies', 'devDependencies'))
  const imported = importedFrom(folders)
  expect(imported.size).toBeGreaterThan(0)
  const missing = [...imported]
    // Where a package has types and nothing else, the name of its types is another.
    .filter(([name]) => !listed.has(name) && !listed.has(`@types/${name}`))
    .map(([name, path]) => `${path} imports ${name}`)
  expect(missing).toEqual([])
})

test.each(LISTS.slice(2))(
  '%s lists nothing for running that its folder does not import',
  (manifest, folders) => {
    const imported = importedFrom(folders)
    const idle = listedIn(manifest, 'dependencies').filter(
      (name) => !imported.has(name) && !name.startsWith('@kleym/'),
    )
    expect(idle).toEqual([])
  },
)

/** Packages with an install script, and why they do without it: what `npm test`, the build and CI install runs none. */
const UNRUN_SCRIPTS: Readonly<Record<string, string>> = {
  esbuild: 'it only puts the native program in the place of a wrapper, which starts the same program',
}

test('no dependency needs its install script, and none is run', () => {
  const withScript = ['package-lock.json', 'scripts/site/package-lock.json'].flatMap((lock) => {
    const packages = own(JSON.parse(textOf(lock)), 'packages')
    return isRecord(packages)
      ? Object.entries(packages)
          .filter(([, entry]) => own(entry, 'hasInstallScript') === true)
          .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))
      : []
  })
  expect([...new Set(withScript)]).toEqual(Object.keys(UNRUN_SCRIPTS))
  expect(textOf('scripts/bootstrap.mjs')).toContain("['ci', '--ignore-scripts',")
  // Everything else that installs goes through bootstrap.mjs.
  const others = TRACKED.filter((path) => /^(?:\.github\/workflows|\.ci)\/|\/Dockerfile$/.test(path))
  expect(others.length).toBeGreaterThan(3)
  expect(others.filter((path) => /^[^#]*\bnpm (?:ci|install|i)\b/m.test(textOf(path)))).toEqual([])
})
