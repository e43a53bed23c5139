// How a child process ended, and all that it printed. Every wait for one has a bound: a call that blocks has no other, since the
// runner's own cannot end a test that blocks its worker.
import { spawnSync, type ChildProcess, type StdioOptions } from 'node:child_process'
import { codeOf } from '@kleym/shared/kube/failures.ts'
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
    return await within(end, () => endOf(child.spawnargs, textOf(stdout), textOf(stderr)), ms)
  } finally {
    // Of a process that has ended, this does nothing.
    child.kill('SIGKILL')
  }
}

/** More than any program of the tests prints. */
const MOST_PRINTED_BYTES = 2 ** 28

/** How a program is run to its end. */
export interface RunToEnd {
  readonly cwd?: string
  /** Absent: that of this process. */
  readonly env?: NodeJS.ProcessEnv
  /** All that it gets to read. */
  readonly input?: string
  readonly stdio?: StdioOptions
  /** How long it may take, in milliseconds; absent: a minute. */
  readonly ms?: number
}

/**
 * Runs a program and blocks until it has ended. Throws when it cannot start, and when it has not ended after `ms`
 * milliseconds: then it is killed, and the error holds what it has printed.
 */
export function runToEnd(
  program: string,
  args: readonly string[],
  { ms = WAIT_MS, ...options }: RunToEnd = {},
): Ended {
  const { status, signal, stdout, stderr, error } = spawnSync(program, args, {
    ...options,
    encoding: 'utf8',
    maxBuffer: MOST_PRINTED_BYTES,
    timeout: ms,
    killSignal: 'SIGKILL',
  })
  // A stream that is not piped is null.
  const printed = { stdout: stdout ?? '', stderr: stderr ?? '' }
  if (codeOf(error) === 'ETIMEDOUT')
    throw new Error(`waited ${ms} ms for ${endOf([program, ...args], printed.stdout, printed.stderr)}`)
  if (error !== undefined) throw error
  return { status, signal, ...printed }
}

/** What a program prints on stdout, run to its end. Throws also when it ends with anything but 0, with what it has printed. */
export function printedBy(program: string, args: readonly string[], options?: RunToEnd): string {
  const { status, signal, stdout, stderr } = runToEnd(program, args, options)
  if (status === 0) return stdout
  throw new Error(`${program} ${args.join(' ')} ended with ${String(status ?? signal)}:\n${stdout}${stderr}`)
}

function endOf(command: readonly string[], stdout: string, stderr: string): string {
  return `the end of ${command.join(' ')}, which has printed:\n${stdout}${stderr}`
}

function textOf(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('utf8')
}
