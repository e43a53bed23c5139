// Ports of the loopback interface that no process listens on, below the range out of which systems pick the local ports of
// connections: a server that is killed and started again must find its port free.
import { randomInt } from 'node:crypto'
import { mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

const LOWEST = 18_000
const BEYOND = 30_000
const TRIES = 100
/** One suite keeps a port no longer. */
const RESERVED_MS = 60 * 60 * 1000
/** A file for each port that was given, of all suites that this user runs. */
const RESERVATIONS = join(tmpdir(), `kleym-ports-${userInfo().uid}`)

/** `count` different ports, which no other suite is given for an hour. A process that is none of ours may take one before it is used. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const found = new Set<number>()
  for (let tries = 0; found.size < count; tries++) {
    if (tries > TRIES) throw new Error(`no free ports between ${LOWEST} and ${BEYOND} on 127.0.0.1`)
    const port = randomInt(LOWEST, BEYOND)
    if (reserve(port) && (await isFree(port))) found.add(port)
  }
  return [...found]
}

/** Whether the port is the caller's from now on. */
export function reserve(port: number): boolean {
  const file = join(RESERVATIONS, String(port))
  mkdirSync(RESERVATIONS, { recursive: true })
  try {
    writeFileSync(file, '', { flag: 'wx' })
    return true
  } catch {
    const now = Date.now()
    if (now - statSync(file).mtimeMs < RESERVED_MS) return false
    utimesSync(file, now / 1000, now / 1000)
    return true
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
