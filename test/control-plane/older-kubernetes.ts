// The API server and the controller manager of older Kubernetes minors: each minor is a folder `go/kubernetes-1.NN`, built
// when it is first asked for and kept beside the other programs. etcd and kubectl are those of the newest minor.
import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { withLock } from '@kleym/testing/process-lock.ts'
import { cacheFolder, type EnsureOptions, type NoBinaries } from './binaries.ts'
import { buildProgram, goOn, isProgram } from './go-build.ts'
import { BUILD, goModule, kubernetesBuild, SOURCES } from './tools.ts'

/**
 * The minors that the suites can run on beside the newest one, oldest first. 1.31 and 1.32 are not the last patch releases of
 * theirs, but the last that the module proxy serves with all modules that they are split into (docs/compatibility.md).
 */
export const OLDER_MINORS = ['1.30', '1.31', '1.32', '1.33', '1.34', '1.35'] as const
export type OlderMinor = (typeof OLDER_MINORS)[number]

/** The minor that all suites run on, e.g. `1.36`. */
export const NEWEST_MINOR = minorOf(BUILD.version)

/** What differs from minor to minor. The API server first: the other shares most of its packages. */
const SERVERS = ['kube-apiserver', 'kube-controller-manager'] as const
/** As many times longer an older minor takes to build: it shares nothing with what is built already. */
const FROM_NOTHING = 2

/** The servers of a minor. */
export interface MinorServers {
  readonly available: true
  /** The folder of the two, for KUBEBUILDER_ASSETS. */
  readonly folder: string
  /** e.g. `v1.30.14`. */
  readonly version: string
}

/** Finds or builds the servers of a minor. Rejects when a build fails; a machine without Go is a result, not an error. */
export async function ensureMinor(
  minor: OlderMinor,
  options: EnsureOptions = {},
): Promise<MinorServers | NoBinaries> {
  const env = options.env ?? process.env
  const say = options.say ?? ((line: string) => void process.stderr.write(`${line}\n`))
  const build = kubernetesBuild(moduleOf(minor))
  const folder = cacheFolder(env, cacheKeyOf(minor))
  const missing = SERVERS.filter((name) => !isProgram(join(folder, name)))
  if (missing.length === 0) return { available: true, folder, version: build.version }
  const go = goOn(env, build)
  if (go !== 'usable')
    return {
      available: false,
      why: `${missing.join(' and ')} of Kubernetes ${build.version} are to be built, and ${go}`,
      fix: `install Go ${build.goVersion} or later (https://go.dev/dl)`,
    }
  mkdirSync(folder, { recursive: true })
  await withLock(join(folder, 'lock'), say, async () => {
    for (const name of missing) {
      const source = SOURCES[name]
      const program = { ...build, ...source, name, minutes: source.minutes * FROM_NOTHING }
      // Another process may have built it while this one waited for the lock.
      if (!isProgram(join(folder, name))) await buildProgram(program, join(folder, name), env, say)
    }
  })
  return { available: true, folder, version: build.version }
}

/** `1.30` of `v1.30.14`. */
export function minorOf(version: string): string {
  return /^v(\d+\.\d+)\./.exec(version)?.[1] ?? ''
}

/** The version of a minor that is built, e.g. `v1.30.14`. */
export function versionOf(minor: OlderMinor): string {
  return kubernetesBuild(moduleOf(minor)).version
}

function moduleOf(minor: OlderMinor): ReturnType<typeof goModule> {
  return goModule(`kubernetes-${minor}`)
}

function cacheKeyOf(minor: OlderMinor): string {
  const { mod, sum } = moduleOf(minor)
  const { args } = kubernetesBuild({ mod, sum, folder: '' })
  const packages = SERVERS.map((name) => SOURCES[name].package)
  const hash = createHash('sha256').update(
    JSON.stringify([process.platform, process.arch, args, packages, mod, sum]),
  )
  return `kubernetes-${minor}-${hash.digest('hex').slice(0, 20)}`
}
