// Everything that a release consists of, as files in one folder.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { arch, tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundle } from '../build/bundle.ts'
import { rootFs } from '../image/root-fs.ts'
import { packChart, type ReleasedImage } from './chart.ts'
import { krewManifest, sha256 } from './krew-manifest.ts'
import { runtimePackages } from './lock.ts'
import { notices } from './notices.ts'
import type { Environment } from './npm.ts'
import { packNpm } from './npm-package.ts'
import { PLATFORMS, type Platform } from './platforms.ts'
import { archiveName, pluginArchive, type PluginSource } from './plugin-archives.ts'
import { cycloneDx, npmPurl } from './sbom.ts'
import { tarGz } from './tar.ts'
import { downloadsOf } from './terms.ts'

/** The file of all checksums, as `sha256sum --check` reads it. */
export const CHECKSUMS = 'SHA256SUMS'
export const NOTES = 'RELEASE_NOTES.md'
const BUN = 'scripts/release/bun/package.json'

/** What is released. */
export interface Release {
  /** The project's folder, in which `npm run build` has been run. */
  readonly root: string
  readonly version: string
  /** Markdown. */
  readonly notes: string
  /** The project's page. */
  readonly repository: string
  /** Seconds since 1970: the time of all that has one. */
  readonly made: number
  /** The image that the chart installs; absent in a dry run. */
  readonly image?: ReleasedImage | undefined
  readonly env: Environment
  /** Called with each file when it is written. */
  readonly say: (name: string, bytes: number) => void
}

/** Makes all files of a release in an empty folder. */
export async function makeRelease(release: Release, folder: string): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'kleym-release-'))
  const sums: string[] = []
  const keep = (name: string, content: Buffer | string): void => {
    const bytes = Buffer.from(content)
    writeFileSync(join(folder, name), bytes)
    sums.push(`${sha256(bytes)}  ${name}`)
    release.say(name, bytes.length)
  }
  try {
    await makePlugin(release, scratch, keep)
    await makeOperator(release, keep)
    keep(NOTES, `${release.notes}\n`)
    writeFileSync(join(folder, CHECKSUMS), `${sums.toSorted(byName).join('\n')}\n`)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

type Keep = (name: string, content: Buffer | string) => void

async function makePlugin(release: Release, scratch: string, keep: Keep): Promise<void> {
  const { root, version, repository, made, env } = release
  const packages = packagesOf(root, 'plugin')
  const npmNotices = notices(root, packages)
  const module = join(scratch, 'kubectl-kleym.mjs')
  const entry = join(root, 'plugin/src/main.ts')
  await bundle(root, { entry, outfile: module })
  const modules = join(scratch, 'modules', 'kubectl-kleym.mjs')
  await bundle(root, { entry, outfile: modules, split: true })
  const source: PluginSource = { root, bundle: modules, notices: `${BUN_NOTICE}${npmNotices}`, made, env }
  // Compiled one after the other, packed beside that.
  const archives = new Map<Platform, Buffer>()
  await Promise.all(
    PLATFORMS.map(async (platform) => {
      const archive = await pluginArchive(source, platform)
      archives.set(platform, archive)
      keep(archiveName(version, platform), archive)
    }),
  )
  const values = { version, homepage: repository, releases: downloadsOf(repository, version), archives }
  keep('kleym.yaml', krewManifest(readFileSync(join(root, 'krew/kleym.yaml'), 'utf8'), values))
  mkdirSync(join(scratch, 'packed'))
  const packed = packNpm(
    root,
    { version, bundle: module, notices: npmNotices, repository },
    { folder: join(scratch, 'packed'), scratch: join(scratch, 'npm'), env },
  )
  keep(packed, readFileSync(join(scratch, 'packed', packed)))
  keep(
    'kubectl-kleym.cdx.json',
    cycloneDx({ name: 'kubectl-kleym', packages, ingredients: [bun(root)], made }),
  )
}

async function makeOperator({ root, version, made, image }: Release, keep: Keep): Promise<void> {
  const chart = await packChart(join(root, 'charts/kleym'), { version, made, image })
  keep(chart.name, chart.bytes)
  const platform = `linux-${arch() === 'x64' ? 'amd64' : arch()}`
  const { files, sbom } = rootFs(root, made)
  keep(`kleym-operator-v${version}-${platform}-rootfs.tar.gz`, await tarGz(files, made))
  keep(`kleym-operator-${platform}.cdx.json`, sbom)
}

function packagesOf(root: string, workspace: string): ReturnType<typeof runtimePackages> {
  return runtimePackages(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')), workspace)
}

/** Bun's package brings no licence file: https://bun.com/docs/project/license */
const BUN_NOTICE = `This program contains Bun (https://bun.com), which is under the MIT licence, and which links JavaScriptCore of WebKit
(https://github.com/oven-sh/WebKit), which is under the LGPL-2.

`

function bun(root: string): Parameters<typeof cycloneDx>[0]['ingredients'][number] {
  const version = /"@oven\/bun-linux-x64": "([^"]+)"/.exec(readFileSync(join(root, BUN), 'utf8'))?.[1] ?? ''
  return {
    type: 'platform',
    name: 'bun',
    version,
    purl: npmPurl('bun', version),
    licence: 'MIT AND LGPL-2.0-only',
  }
}

/** By the file's name, which begins at the 67th character of a line. */
function byName(a: string, b: string): number {
  return a.slice(66) < b.slice(66) ? -1 : 1
}
