// The plugin for every platform, each as the archive that krew installs: the executable, our licence, and those of what is
// inside.
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { BuildError } from '../build/build-error.ts'
import { compile, executableName, orderOf } from '../build/bun.ts'
import { archiveProblems, LICENCE_FILE, MAN_PAGE } from './archive-check.ts'
import { bunFor } from './bun-for.ts'
import { signAdHoc, wrongPage } from './mac-signature.ts'
import type { Environment } from './npm.ts'
import { isThisPlatform, platformName, pluginFile, type Platform } from './platforms.ts'
import { membersOf, tarGz } from './tar.ts'

/** What the archives are made from. */
export interface PluginSource {
  /** The project's folder, in which `npm run build` has been run. */
  readonly root: string
  /** The first ES module, in a folder that holds nothing but the bundle. */
  readonly bundle: string
  readonly notices: string
  /** Seconds since 1970, for the times of files. */
  readonly made: number
  readonly env: Environment
}

/** `kubectl-kleym-v0.1.0-linux-amd64.tar.gz`, as krew/kleym.yaml has it. */
export function archiveName(version: string, platform: Platform): string {
  return `kubectl-kleym-v${version}-${platformName(platform)}.tar.gz`
}

/** Compiles and packs for one platform; throws a BuildError rather than return what krew would refuse. */
export async function pluginArchive(source: PluginSource, platform: Platform): Promise<Buffer> {
  const bin = pluginFile(platform)
  const archive = await tarGz(
    [
      { name: LICENCE_FILE, bytes: readFileSync(join(source.root, 'LICENSE')) },
      { name: 'NOTICES', bytes: Buffer.from(source.notices) },
      { name: basename(MAN_PAGE), bytes: readFileSync(join(source.root, MAN_PAGE)) },
      { name: bin, bytes: executableFor(source, platform), executable: true },
    ],
    source.made,
  )
  const problems = archiveProblems(await membersOf(archive), bin)
  if (problems.length === 0) return archive
  throw new BuildError(`the archive for ${platformName(platform)} cannot be published`, {
    why: problems.join('; '),
    fix: 'this is a bug of scripts/release',
  })
}

/** The plugin's executable for a platform; for this one it is the very file that `npm run build` left and the tests ran. */
export function executableFor({ root, bundle, env }: PluginSource, platform: Platform): Buffer {
  const outfile = pluginFile(platform)
  if (isThisPlatform(platform)) return readFileSync(join(root, 'dist', outfile))
  const target = { name: platform.bunTarget, executable: bunFor(platform, env) }
  const folder = mkdtempSync(join(tmpdir(), 'kleym-release-'))
  try {
    cpSync(dirname(bundle), folder, { recursive: true })
    const built = join(root, 'dist', executableName('kubectl-kleym'))
    compile(root, { folder, bundle: basename(bundle), outfile, target, order: orderOf(root, built, folder) })
    const made = readFileSync(join(folder, outfile))
    return platform.os === 'darwin' ? signed(made) : made
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** macOS starts nothing whose signature is wrong: Bun's is right on arm64, and left over from Bun itself on x64. */
function signed(executable: Buffer): Buffer {
  return wrongPage(executable) === undefined ? executable : signAdHoc(executable)
}
