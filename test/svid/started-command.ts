// `npm run control-plane -- --spire` in a process of its own, and what it has printed.
import { spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { CannotHold, until } from '@kleym/testing/wait.ts'
import { ROOT } from '../house/files.ts'

/** The script behind the command. */
export const CONTROL_PLANE_SCRIPT = join(ROOT, 'scripts', 'control-plane.ts')
/** How long it may take: its programs may be read from a cold disk; they are built before. */
export const COMMAND_START_MS = 180_000

/** The command, once it says that it runs. */
export interface StartedCommand {
  readonly process: ChildProcess
  readonly printed: string
  /** The lines that set variables. */
  readonly exported: readonly string[]
  /** The other commands that it tells a person to type. */
  readonly toType: readonly string[]
  /** The folder that goes with it. */
  readonly files: string
  /** Sends a signal, and resolves with the exit code. */
  readonly end: (signal: NodeJS.Signals) => Promise<number | null>
}

/** Starts it and waits until all runs; rejects with what it has said. `started` gets the process at once, to end it in any case. */
export async function startCommand(
  env: Readonly<Record<string, string>>,
  started: (command: ChildProcess) => void,
): Promise<StartedCommand> {
  const command = spawn(process.execPath, [CONTROL_PLANE_SCRIPT, '--spire'], {
    cwd: ROOT,
    env: { ...process.env, ...env },
  })
  started(command)
  let printed = ''
  for (const stream of [command.stdout, command.stderr])
    stream.on('data', (chunk: Buffer) => {
      printed += chunk.toString('utf8')
    })
  await until(
    () => {
      if (command.exitCode !== null) throw new CannotHold(`it has ended: ${printed}`)
      if (!printed.includes('It runs until Ctrl-C.')) throw new Error(`so far it has said: ${printed}`)
      return true
    },
    'the command to say that it runs',
    COMMAND_START_MS,
  )
  const lines = [...printed.matchAll(/^ {2}\$ (.*)$/gm)].map(([, line = '']) => line)
  return {
    process: command,
    printed,
    exported: lines.filter((line) => line.startsWith('export ')),
    toType: lines.filter((line) => !line.startsWith('export ')),
    files: /export FILES=(\S+)/.exec(printed)?.[1] ?? '',
    end: async (signal) => {
      command.kill(signal)
      await until(() => command.exitCode !== null || command.signalCode !== null, 'the command to end')
      return command.exitCode
    },
  }
}
