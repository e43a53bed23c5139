// How a child process ended, and all that it printed.
import type { ChildProcess } from 'node:child_process'
import { WAIT_MS, within } from '@kleym/testing/wait.ts'

/** A process that has ended. */
export interface Ended {
  /** The exit code; null where a signal ended it. */
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Waits for the end of a child whose output is piped; `input` is all that it gets to read. Rejects when it cannot start,
 * and when it has not ended after `ms` milliseconds: then it is killed, and the error holds what it has printed.
 */
export async function ended(child: ChildProcess, input = '', ms = WAIT_MS): Promise<Ended> {
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk))
  // It may end before it has read its input.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(input)
  const end = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status, signal) =>
      resolve({ status, signal, stdout: textOf(stdout), stderr: textOf(stderr) }),
    )
  })
  try {
    return await within(
      end,
      () => `the end of ${child.spawnargs.join(' ')}, which has printed:\n${textOf(stdout)}${textOf(stderr)}`,
      ms,
    )
  } finally {
    // Of a process that has ended, this does nothing.
    child.kill('SIGKILL')
  }
}

function textOf(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('utf8')
}
