// A lock between processes: a folder that can be made only once, with the holder's process id in it. The lock of a
// process that is gone is taken over.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { pauseFor } from './wait.ts'

const LOOK_EVERY_MS = 200
/** A lock without a readable holder is one that is being made or removed; after this many looks it is a leftover. */
const LOOKS_AT_NOBODY = 25

/** Runs `work` while no other process runs its own under the same path. Waits as long as the other one lives. */
export async function withLock<T>(
  path: string,
  say: (line: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  let waits = 0
  let looksAtNobody = 0
  while (!take(path)) {
    const holder = holderOf(path)
    looksAtNobody = holder === undefined ? looksAtNobody + 1 : 0
    if ((holder !== undefined && !isAlive(holder)) || looksAtNobody > LOOKS_AT_NOBODY)
      rmSync(path, { recursive: true, force: true })
    else if (waits++ === 0 && holder !== undefined) say(`waiting for process ${holder}, which is building`)
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
