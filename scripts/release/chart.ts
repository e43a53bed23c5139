// The chart as `helm package` packs it, but with the same bytes every day; a test compares the two.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join, matchesGlob, relative, sep } from 'node:path'
import { parse } from 'yaml'
import { stringAt } from '../../shared/src/core/json.ts'
import { BuildError } from '../build/build-error.ts'
import { tarGz, type TarFile } from './tar.ts'

/** A chart's archive. */
export interface ChartArchive {
  /** `kleym-0.1.0.tgz`. */
  readonly name: string
  readonly bytes: Buffer
}

/** Packs the chart in a folder; throws a BuildError where its version is not that of the release. */
export async function packChart(
  folder: string,
  { version, made }: { readonly version: string; readonly made: number },
): Promise<ChartArchive> {
  const manifest: unknown = parse(readFileSync(join(folder, 'Chart.yaml'), 'utf8'))
  const [name = '', chartVersion, appVersion] = ['name', 'version', 'appVersion'].map((key) =>
    stringAt(manifest, key),
  )
  if (chartVersion !== version || appVersion !== version)
    throw new BuildError('the chart is not of this release', {
      why: `Chart.yaml says version ${chartVersion} and appVersion ${appVersion}, package.json says ${version}`,
      fix: 'give all of them the same version',
    })
  return { name: `${name}-${version}.tgz`, bytes: await tarGz(chartFiles(folder, name), made) }
}

function chartFiles(folder: string, name: string): readonly TarFile[] {
  const ignored = ignorePatterns(folder)
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name: file }) => relative(folder, join(parentPath, file)).replaceAll(sep, '/'))
    .filter((path) => !isIgnored(path, ignored))
    .toSorted()
    .map((path) => ({ name: `${name}/${path}`, bytes: readFileSync(join(folder, path)) }))
}

/** The lines of .helmignore, of which only names and folders are used: no paths, no negation. */
function ignorePatterns(folder: string): readonly string[] {
  const file = join(folder, '.helmignore')
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}

function isIgnored(path: string, patterns: readonly string[]): boolean {
  const folders = path.split('/').slice(0, -1)
  return patterns.some((pattern) =>
    pattern.endsWith('/')
      ? folders.some((one) => matchesGlob(one, pattern.slice(0, -1)))
      : matchesGlob(basename(path), pattern),
  )
}
