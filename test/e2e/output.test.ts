// Where the answer goes: files, pipes, readers that leave or are slow, and what cannot be written to.
import { spawn } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { printedBy, runToEnd } from '@kleym/testing/child-process.ts'
import { built, ESTATE, kleym, PLUGIN, ROOT } from './plugin.ts'
import { workspace } from './workspace.ts'

beforeAll(built)

/** More than any pipe holds. */
const LONG = ['who-selects', '-A', ...ESTATE, '-o', 'json']

/** Runs the plugin behind a redirection of the shell. */
function shell(
  redirection: string,
  args: readonly string[],
): { readonly code: number | null; readonly stderr: string } {
  const script = `"$0" "$@" ${redirection}`
  const { status, stderr } = runToEnd('bash', ['-c', script, PLUGIN, ...args], { cwd: ROOT })
  return { code: status, stderr }
}

test('a file gets what a pipe gets', async () => {
  const file = join(workspace({}), 'answer.json')
  shell(`> ${file}`, LONG)
  expect(readFileSync(file, 'utf8')).toBe((await kleym(LONG)).stdout)
})

test('a pipe that does not block gets all of it, however slowly it is read', async () => {
  const fifo = join(workspace({}), 'fifo')
  printedBy('mkfifo', [fifo])
  // Opened for both, it opens at once. By a shell, since Node makes the stdout of its children blocking.
  const pipe = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK)
  const child = spawn('bash', ['-c', 'exec "$0" "$@" >&3', PLUGIN, ...LONG], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'ignore', pipe],
  })
  const parts: Buffer[] = []
  // A few bytes at a time, so that the pipe is full before it is empty.
  for (let more = true; more || child.exitCode === null;) {
    more = readSome(pipe, parts)
    await sleep(2)
  }
  closeSync(pipe)
  const text = Buffer.concat(parts).toString()
  expect(text.length).toBeGreaterThan(70_000)
  expect(text).toBe((await kleym(LONG)).stdout)
})

/** False where nothing is there to be read now. */
function readSome(fd: number, parts: Buffer[]): boolean {
  const part = Buffer.alloc(4096)
  try {
    parts.push(part.subarray(0, readSync(fd, part)))
    return true
  } catch {
    return false
  }
}

describe('what cannot be written to', () => {
  test('a full disk is said on stderr, and the exit code says that the answer is not there', () => {
    expect(shell('> /dev/full', ['--version'])).toEqual({
      code: 4,
      stderr: [
        'error: the answer could not be written',
        '  why:  the system says ENOSPC',
        '  fix:  make room where it is written to',
        '',
      ].join('\n'),
    })
  })

  test.each(['2> /dev/full', '2>&-'])('stderr alone (%s) changes no answer', (redirection) => {
    expect(shell(`> /dev/null ${redirection}`, ['explain', '-A', ...ESTATE]).code).toBe(1)
  })
})
