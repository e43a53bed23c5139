// spire-server and the SPIRE Controller Manager, built when a suite first asks for them and kept beside the programs of
// the control plane: suites without SPIRE do not wait for them.
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { cacheFolder, type EnsureOptions, type NoBinaries } from './binaries.ts'
import { buildProgram, goOn, isProgram, type GoProgram } from './go-build.ts'
import { chosenRelease } from './other-releases.ts'
import { withLock } from '@kleym/testing/process-lock.ts'
import { chosenServer, SPIRE_SOURCES, spireCacheKey, type SpireProgram } from './tools.ts'

/** Where they are; of the releases that the environment asks for, under the names of the usual ones. */
export interface SpireBinaries {
  readonly available: true
  readonly programs: Readonly<Record<SpireProgram, string>>
}

/** Finds or builds the programs. Rejects when a build fails; a machine without Go is a result, not an error. */
export async function ensureSpire(options: EnsureOptions = {}): Promise<SpireBinaries | NoBinaries> {
  const env = options.env ?? process.env
  const say = options.say ?? ((line: string) => void process.stderr.write(`${line}\n`))
  const builds = buildsFor(env)
  const programs = {
    'spire-server': builds['spire-server'].path,
    'spire-controller-manager': builds['spire-controller-manager'].path,
    'spire-controller-manager-0.6.4': builds['spire-controller-manager-0.6.4'].path,
  }
  const missing = Object.values(builds).filter(({ path }) => !isProgram(path))
  for (const { program } of missing) {
    const go = goOn(env, program)
    if (go !== 'usable')
      return {
        available: false,
        why: `${program.name} is to be built, and ${go}`,
        fix: `install Go ${program.goVersion} or later (https://go.dev/dl)`,
      }
  }
  for (const { program, path } of missing) {
    mkdirSync(dirname(path), { recursive: true })
    await withLock(join(dirname(path), 'lock'), say, async () => {
      // Another process may have built it while this one waited for the lock.
      if (!isProgram(path)) await buildProgram(program, path, env, say)
    })
  }
  return { available: true, programs }
}

/** How a program is built, and where it is kept. */
interface Build {
  readonly program: GoProgram
  readonly path: string
}

/** The builds of the releases that the environment asks for (other-releases.ts). */
function buildsFor(env: Readonly<Record<string, string | undefined>>): Readonly<Record<SpireProgram, Build>> {
  const usual = (name: SpireProgram): Build => ({
    program: SPIRE_SOURCES[name],
    path: join(cacheFolder(env, spireCacheKey()), name),
  })
  const server = chosenServer(env)
  return {
    'spire-server':
      server === undefined
        ? usual('spire-server')
        : { program: server.program, path: join(cacheFolder(env, server.cacheKey), 'spire-server') },
    'spire-controller-manager': usual(
      chosenRelease('scm', env) === undefined ? 'spire-controller-manager' : 'spire-controller-manager-0.6.4',
    ),
    'spire-controller-manager-0.6.4': usual('spire-controller-manager-0.6.4'),
  }
}
