// The platforms that the plugin ships for, by the names that Go, krew and most downloads use, and what Bun and npm call them.
import process from 'node:process'
import type { BunTarget } from '../build/bun.ts'

/** One platform. */
export interface Platform {
  /** As krew's selector wants them, which is as Go does. */
  readonly os: 'linux' | 'darwin' | 'windows'
  readonly arch: 'amd64' | 'arm64'
  /** Bun's package in scripts/release/bun, without its scope. */
  readonly bunPackage: string
  readonly bunTarget: BunTarget['name']
  /** What npm filters packages by. */
  readonly npm: { readonly os: NodeJS.Platform; readonly cpu: NodeJS.Architecture }
}

export const PLATFORMS: readonly Platform[] = [
  platform('linux', 'amd64', 'bun-linux-x64', { os: 'linux', cpu: 'x64' }),
  platform('linux', 'arm64', 'bun-linux-aarch64', { os: 'linux', cpu: 'arm64' }),
  platform('darwin', 'amd64', 'bun-darwin-x64', { os: 'darwin', cpu: 'x64' }),
  platform('darwin', 'arm64', 'bun-darwin-aarch64', { os: 'darwin', cpu: 'arm64' }),
  platform('windows', 'amd64', 'bun-windows-x64', { os: 'win32', cpu: 'x64' }),
  platform('windows', 'arm64', 'bun-windows-aarch64', { os: 'win32', cpu: 'arm64' }),
]

/** `linux-amd64`. */
export function platformName({ os, arch }: Pick<Platform, 'os' | 'arch'>): string {
  return `${os}-${arch}`
}

/** The plugin's file on a platform. */
export function pluginFile({ os }: Pick<Platform, 'os'>): string {
  return os === 'windows' ? 'kubectl-kleym.exe' : 'kubectl-kleym'
}

/** Whether this process runs on it. */
export function isThisPlatform({ npm }: Platform): boolean {
  return npm.os === process.platform && npm.cpu === process.arch
}

function platform(
  os: Platform['os'],
  arch: Platform['arch'],
  bunPackage: string,
  npm: Platform['npm'],
): Platform {
  const cpu = arch === 'amd64' ? 'x64' : 'arm64'
  return { os, arch, bunPackage, bunTarget: `bun-${os}-${cpu}`, npm }
}
