// The programs of a control plane and the CRD files that it serves, made once and kept in the user's cache folder:
// built with Go, or taken from KUBEBUILDER_ASSETS. Two processes that want them at the same time build them once.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { ensureCrdFiles } from './crd-files.ts'
import { buildProgram, goOn, isProgram } from './go-build.ts'
import { withLock } from '@kleym/testing/process-lock.ts'
import { userCache } from '@kleym/testing/user-cache.ts'
import {
  BUILD,
  cacheKey,
  crdFolder,
  crdSources,
  PROGRAMS,
  SOURCES,
  type ControlPlaneProgram,
} from './tools.ts'

const MINIMAL_GO_MESSAGE = `Go ${BUILD.goVersion} or later (https://go.dev/dl)`

/** Where everything is. */
export interface Binaries {
  readonly available: true
  readonly programs: Readonly<Record<ControlPlaneProgram, string>>
  /** The folder of the CRD files that come from modules, by their base names. */
  readonly crds: string
}

/** There is no control plane on this machine, and why. */
export interface NoBinaries {
  readonly available: false
  readonly why: string
  readonly fix: string
}

export interface EnsureOptions {
  /** Lines about what is going on; nothing is said when all is there. */
  readonly say?: (line: string) => void
  readonly env?: Readonly<Record<string, string | undefined>>
}

/**
 * Finds or makes the programs and CRD files. Says what it builds and for how long. Rejects when a build or a download
 * fails; a machine that has neither Go nor KUBEBUILDER_ASSETS is a result, not an error.
 */
export async function ensureBinaries(options: EnsureOptions = {}): Promise<Binaries | NoBinaries> {
  const env = options.env ?? process.env
  const say = options.say ?? ((line: string) => void process.stderr.write(`${line}\n`))
  if (process.platform === 'win32')
    return {
      available: false,
      why: 'kube-apiserver does not run on Windows',
      fix: 'run the tests on Linux or macOS, e.g. in WSL',
    }
  const cache = cacheFolder(env, cacheKey())
  const assets = env['KUBEBUILDER_ASSETS'] ?? ''
  const programs = programsIn(cache, assets)
  const missing = PROGRAMS.filter((program) => !isProgram(programs[program]))
  const crds = join(cache, crdFolder(env))
  if (missing.length === 0 && existsSync(crds)) return { available: true, programs, crds }
  const go = goOn(env, BUILD)
  if (missing.length > 0 && go !== 'usable') return unavailable(assets, missing, go)
  mkdirSync(cache, { recursive: true })
  await withLock(join(cache, 'lock'), say, async () => {
    await ensureCrdFiles(crds, { go: go === 'usable', env, say }, crdSources(env))
    for (const program of missing) {
      // Another process may have built it while this one waited for the lock.
      if (!isProgram(programs[program]))
        await buildProgram({ name: program, ...BUILD, ...SOURCES[program] }, programs[program], env, say)
    }
  })
  return { available: true, programs, crds }
}

/** Where what these sources lead to is kept, on this platform. */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>, key: string): string {
  return join(userCache(env), 'control-plane', key)
}

/** A program of KUBEBUILDER_ASSETS wins; one that is not there (envtest has no controller manager) is built. */
function programsIn(cache: string, assets: string): Record<ControlPlaneProgram, string> {
  const at = (program: ControlPlaneProgram): string => {
    const given = join(assets, program)
    return assets !== '' && isProgram(given) ? given : join(cache, program)
  }
  return {
    etcd: at('etcd'),
    'kube-apiserver': at('kube-apiserver'),
    kubectl: at('kubectl'),
    'kube-controller-manager': at('kube-controller-manager'),
  }
}

function unavailable(assets: string, missing: readonly ControlPlaneProgram[], go: string): NoBinaries {
  if (assets === '')
    return {
      available: false,
      why: `${go}, and KUBEBUILDER_ASSETS is not set`,
      fix: `install ${MINIMAL_GO_MESSAGE}, or set KUBEBUILDER_ASSETS to a folder with ${PROGRAMS.join(', ')}`,
    }
  return {
    available: false,
    why: `KUBEBUILDER_ASSETS (${assets}) holds no ${missing.join(', no ')}, and ${go}`,
    fix: `put ${missing.join(', ')} there, or install ${MINIMAL_GO_MESSAGE} to have what is missing built`,
  }
}
