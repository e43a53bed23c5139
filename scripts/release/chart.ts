// The chart as `helm package` packs it, but with the same bytes every day; a test compares the two.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join, matchesGlob, relative, sep } from 'node:path'
import { parse } from 'yaml'
import { stringAt } from '../../shared/src/core/base/json.ts'
import { BuildError } from '../build/build-error.ts'
import { UNSET_REGISTRY } from '../chart/values-pod.ts'
import { tarGz, type TarFile } from './tar.ts'

/** A chart's archive. */
export interface ChartArchive {
  /** `kleym-0.1.0.tgz`. */
  readonly name: string
  readonly bytes: Buffer
}

/** Where an image is served, and which one it is. */
export interface ReleasedImage {
  /** e.g. `ghcr.io/example`. */
  readonly registry: string
  /** `sha256:` and 64 hex digits. */
  readonly digest: string
}

/** What a chart is packed for. */
export interface ChartRelease {
  readonly version: string
  /** Seconds since 1970. */
  readonly made: number
  /** The image that the chart installs; absent: the chart asks for one, as that in the repository does. */
  readonly image?: ReleasedImage | undefined
}

/** `ghcr.io/example/kleym-operator@sha256:...` in its parts; undefined for anything else. */
export function parseImage(reference: string): ReleasedImage | undefined {
  const [, registry, digest] =
    /^([a-z0-9.-]+(?::\d+)?(?:\/[a-z0-9._-]+)*)\/kleym-operator@(sha256:[0-9a-f]{64})$/.exec(reference) ?? []
  return registry === undefined || digest === undefined ? undefined : { registry, digest }
}

/** Packs the chart in a folder; throws a BuildError where its version is not that of the release. */
export async function packChart(
  folder: string,
  { version, made, image }: ChartRelease,
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
  return {
    name: `${name}-${version}.tgz`,
    bytes: await tarGz(withImage(chartFiles(folder, name), image), made),
  }
}

/** The chart's values with the image in the place of what stands for it. */
function withImage(files: readonly TarFile[], image: ReleasedImage | undefined): readonly TarFile[] {
  if (image === undefined) return files
  return files.map((file) => {
    if (!/^[^/]+\/values\.yaml$/.test(file.name)) return file
    const before = file.bytes.toString('utf8')
    const after = replaceOnce(
      replaceOnce(before, `  registry: ${UNSET_REGISTRY}\n`, `  registry: ${image.registry}\n`),
      '  digest: ""\n',
      `  digest: ${image.digest}\n`,
    )
    return { ...file, bytes: Buffer.from(after) }
  })
}

/** Throws a BuildError unless a text stands there once. */
function replaceOnce(text: string, what: string, by: string): string {
  const parts = text.split(what)
  if (parts.length === 2) return parts.join(by)
  throw new BuildError('the chart cannot be given its image', {
    why: `values.yaml holds ${JSON.stringify(what)} ${parts.length - 1} times`,
    fix: 'npm run generate',
  })
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

/** The lines of .helmignore. Only names and folders are used: no paths, no negation. */
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
