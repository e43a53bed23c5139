// Runs one program to its end, and tells how long that took and how much memory it had at most. Linux only: the peak is
// the kernel's own high-water mark (`VmHWM`), which dies with the process and is therefore read every few milliseconds;
// what a program takes in its very last moment is missed.
import { spawn } from 'node:child_process'
import process from 'node:process'
import { usageOf } from '../operator/usage.ts'

const EVERY_MS = 5

export interface ProgramRun {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly seconds: number
  /** Of all threads, user and system, in seconds. */
  readonly cpu: number
  /** In bytes. */
  readonly peak: number
}

/** What runs, and what it sees of its surroundings: nothing else of this process's environment. */
export interface MeasuredProgram {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** Rejects where the program cannot be started. */
export function run({ command, args, cwd, env }: MeasuredProgram): Promise<ProgramRun> {
  const from = performance.now()
  const child = spawn(command, args, { cwd, env: { PATH: process.env['PATH'] ?? '', ...env } })
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  child.stdin.end()
  let used: Used = { peak: 0, cpu: 0 }
  const look = (): void => {
    used = (child.pid === undefined ? undefined : usedBy(child.pid)) ?? used
  }
  const timer = setInterval(look, EVERY_MS)
  look()
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      clearInterval(timer)
      reject(error)
    })
    child.once('close', (code) => {
      clearInterval(timer)
      resolve({
        code,
        stdout: Buffer.concat(stdout).toString(),
        stderr: Buffer.concat(stderr).toString(),
        seconds: (performance.now() - from) / 1000,
        ...used,
      })
    })
  })
}

type Used = Pick<ProgramRun, 'peak' | 'cpu'>

/** Undefined once the process is gone; what is left of it until it is waited for has no memory. */
function usedBy(pid: number): Used | undefined {
  try {
    const { peak, cpu } = usageOf(pid)
    return Number.isFinite(peak) ? { peak, cpu } : undefined
  } catch {
    return undefined
  }
}
