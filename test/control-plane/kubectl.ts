// The real kubectl, as a person would run it.
import { spawn } from 'node:child_process'
import process from 'node:process'
import { ended } from '@kleym/testing/child-process.ts'

export interface KubectlOptions {
  readonly input?: string
  /** `admin` when absent. */
  readonly user?: string
}

export interface KubectlResult {
  /** null where a signal ended it. */
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs kubectl with a home and a cache of its own folder. Rejects when it cannot be started, or does not end. */
export function runKubectl(
  command: string,
  args: readonly string[],
  input: string | undefined,
  home: string,
): Promise<KubectlResult> {
  return ended(
    spawn(command, args, {
      cwd: home,
      env: { PATH: process.env['PATH'] ?? '', HOME: home },
    }),
    input,
  )
}
