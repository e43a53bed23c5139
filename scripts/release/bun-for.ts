// Bun's own executables for other platforms, from the npm registry: each is installed once, by the lock beside it, into
// the user's cache folder.
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { BuildError } from '../build/build-error.ts'
import { readRuntime } from '../runtimes/recorded.ts'
import { npm as runNpm, type Environment } from './npm.ts'
import { platformName, type Platform } from './platforms.ts'

const LOCKED = join(import.meta.dirname, 'bun')
const FILES = ['package.json', 'package-lock.json'] as const
const FLAGS = ['--include=optional', '--no-audit', '--no-fund']

/**
 * The path of Bun for a platform; installs it first where it is not there. Throws a BuildError where npm fails, or where the
 * file is not the recorded one.
 */
export function bunFor(platform: Platform, env: Environment): string {
  const xdg = env['XDG_CACHE_HOME'] ?? ''
  const cache = join(xdg === '' ? join(homedir(), '.cache') : xdg, 'kleym', 'release', cacheKey())
  const file = platform.os === 'windows' ? 'bun.exe' : 'bun'
  const inside = join('node_modules', '@oven', platform.bunPackage, 'bin', file)
  const folder = join(cache, platformName(platform))
  const executable = join(folder, inside)
  const recorded = (path: string): string => {
    readRuntime(`@oven/${platform.bunPackage}`, path)
    return path
  }
  if (existsSync(executable)) return recorded(executable)
  mkdirSync(cache, { recursive: true })
  const unfinished = mkdtempSync(join(cache, '.unfinished-'))
  try {
    install(unfinished, platform, env)
    if (!existsSync(join(unfinished, inside)))
      throw new BuildError(`there is no Bun for ${platformName(platform)}`, {
        why: `npm did not install @oven/${platform.bunPackage}`,
        fix: 'see whether the registry has it',
      })
    // Renamed when complete; who comes second finds the first one's and leaves it.
    if (!existsSync(folder)) renameSync(unfinished, folder)
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  return recorded(executable)
}

function install(folder: string, { npm }: Platform, env: Environment): void {
  for (const file of FILES) copyFileSync(join(LOCKED, file), join(folder, file))
  const target = [`--os=${npm.os}`, `--cpu=${npm.cpu}`, ...(npm.os === 'linux' ? ['--libc=glibc'] : [])]
  const what = `Bun for ${npm.os}-${npm.cpu} cannot be installed`
  runNpm(['ci', ...target, ...FLAGS], { folder, env, what })
}

/** Other versions are kept beside each other. */
function cacheKey(): string {
  const hash = createHash('sha256')
  for (const file of FILES) hash.update(readFileSync(join(LOCKED, file)))
  return hash.digest('hex').slice(0, 20)
}
