// The real kubectl, as a person would run it.
import { spawn } from 'node:child_process'
import process from 'node:process'

const KUBECTL_MS = 60_000

export interface KubectlOptions {
  readonly input?: string
  /** `admin` when absent. */
  readonly user?: string
}

export interface KubectlResult {
  /** null when it was killed after a minute. */
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs kubectl with a home and a cache of its own folder. Rejects when it cannot be started. */
export function runKubectl(
  command: string,
  args: readonly string[],
  input: string | undefined,
  home: string,
): Promise<KubectlResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: home,
      env: { PATH: process.env['PATH'] ?? '', HOME: home },
      timeout: KUBECTL_MS,
      killSignal: 'SIGKILL',
    })
    const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
    child.once('error', reject)
    child.once('close', (status) =>
      resolve({ status, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }),
    )
    // kubectl may end before it has read its input.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input ?? '')
  })
}
