// Helm and its like, built when a suite first asks for one and kept beside the programs of the control plane.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { cacheFolder, type EnsureOptions } from './binaries.ts'
import { buildProgram, goOn, isProgram, LONGEST_BUILD_MS } from './go-build.ts'
import { withLock } from '@kleym/testing/process-lock.ts'
import { chosenHelm, clientCacheKey, clientSource, type ClientProgram } from './tools.ts'

/**
 * The runner's bound for a hook in which a tool is built first, on a machine that has never built it: longer than the build
 * or the wait for another process's build may take, so that either ends with a reason.
 */
export const FIRST_BUILD_MS = LONGEST_BUILD_MS + 10 * 60_000

/** Finds or builds a tool; its path. Rejects when the build fails, or when this machine has no Go for it. */
export async function ensureClient(name: ClientProgram, options: EnsureOptions = {}): Promise<string> {
  const env = options.env ?? process.env
  const say = options.say ?? ((line: string) => void process.stderr.write(`${line}\n`))
  const chosen = name === 'helm' ? chosenHelm(env) : undefined
  const source = chosen?.program ?? clientSource(name)
  const cache = cacheFolder(env, chosen?.cacheKey ?? clientCacheKey(name))
  const path = join(cache, name)
  if (isProgram(path)) return path
  const go = goOn(env, source)
  if (go !== 'usable')
    throw new Error(
      `${name} is to be built, and ${go}\n  fix:  install Go ${source.goVersion} or later (https://go.dev/dl)`,
    )
  mkdirSync(cache, { recursive: true })
  await withLock(join(cache, 'lock'), say, async () => {
    // Another process may have built it while this one waited for the lock.
    if (!isProgram(path)) await buildProgram(source, path, env, say)
  })
  return path
}
