// A lock between processes: a folder that can be made only once, with the holder's process id in it. The lock of a
// process that is gone is taken over.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { pauseFor } from '@kleym/testing/wait.ts'

const LOOK_EVERY_MS = 200
/** A lock without a readable holder is one that is being made or removed; after this many looks it is a leftover. */
const LOOKS_AT_NO_HOLDER = 25
/** What the work of another process may take: building a program of a control plane with an empty Go build cache. */
const LONGEST_WORK_MS = 45 * 60_000

/**
 * Runs `work` while no other process runs its own under the same path. Rejects when another process has held the lock for
 * `ms` milliseconds.
 */
export async function withLock<T>(
  path: string,
  say: (line: string) => void,
  work: () => Promise<T>,
  ms = LONGEST_WORK_MS,
): Promise<T> {
  const deadline = performance.now() + ms
  let announced = false
  let looksAtNoHolder = 0
  while (!take(path)) {
    const holder = holderOf(path)
    looksAtNoHolder = holder === undefined ? looksAtNoHolder + 1 : 0
    if ((holder !== undefined && !isAlive(holder)) || looksAtNoHolder > LOOKS_AT_NO_HOLDER)
      rmSync(path, { recursive: true, force: true })
    else if (performance.now() >= deadline)
      throw new Error(`waited ${ms} ms for the lock ${path}, which process ${String(holder)} holds`)
    else if (!announced && holder !== undefined) {
      announced = true
      say(`waiting for process ${holder}, which is building`)
    }
    await pauseFor(LOOK_EVERY_MS)
  }
  try {
    return await work()
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
}

function take(path: string): boolean {
  try {
    mkdirSync(path)
  } catch {
    return false
  }
  writeFileSync(join(path, 'pid'), String(process.pid))
  return true
}

function holderOf(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(path, 'pid'), 'utf8'))
    return Number.isInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
