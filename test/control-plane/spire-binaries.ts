// spire-server and the SPIRE Controller Manager, built when a suite first asks for them and kept beside the programs of
// the control plane: suites without SPIRE do not wait for them.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { cacheFolder, type EnsureOptions, type NoBinaries } from './binaries.ts'
import { buildProgram, goOn, isProgram } from './go-build.ts'
import { withLock } from '@kleym/testing/process-lock.ts'
import { SPIRE_PROGRAMS, SPIRE_SOURCES, spireCacheKey, type SpireProgram } from './tools.ts'

/** Where they are. */
export interface SpireBinaries {
  readonly available: true
  readonly programs: Readonly<Record<SpireProgram, string>>
}

/** Finds or builds the programs. Rejects when a build fails; a machine without Go is a result, not an error. */
export async function ensureSpire(options: EnsureOptions = {}): Promise<SpireBinaries | NoBinaries> {
  const env = options.env ?? process.env
  const say = options.say ?? ((line: string) => void process.stderr.write(`${line}\n`))
  const cache = cacheFolder(env, spireCacheKey())
  const programs = {
    'spire-server': join(cache, 'spire-server'),
    'spire-controller-manager': join(cache, 'spire-controller-manager'),
    'spire-controller-manager-0.6.4': join(cache, 'spire-controller-manager-0.6.4'),
  }
  const missing = SPIRE_PROGRAMS.filter((program) => !isProgram(programs[program]))
  for (const program of missing) {
    const { goVersion } = SPIRE_SOURCES[program]
    const go = goOn(env, SPIRE_SOURCES[program])
    if (go !== 'usable')
      return {
        available: false,
        why: `${program} is to be built, and ${go}`,
        fix: `install Go ${goVersion} or later (https://go.dev/dl)`,
      }
  }
  if (missing.length === 0) return { available: true, programs }
  mkdirSync(cache, { recursive: true })
  await withLock(join(cache, 'lock'), say, async () => {
    for (const program of missing) {
      // Another process may have built it while this one waited for the lock.
      if (!isProgram(programs[program]))
        await buildProgram(SPIRE_SOURCES[program], programs[program], env, say)
    }
  })
  return { available: true, programs }
}
