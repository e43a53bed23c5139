// The harness's side of `supervisor.ts`: programs that cannot outlive the process that wanted them.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { SupervisorOrder, SupervisorReport } from './supervisor.ts'
import { until, within } from '@kleym/testing/wait.ts'

const SUPERVISOR = join(import.meta.dirname, 'supervisor.ts')
const LOG_LINES_SHOWN = 15
/** Programs of Go collect garbage a quarter as often: the start of an API server costs a third less, and memory is there. */
const SELDOM = { GOGC: '400' }

export interface ProgramStart {
  /** For messages and the name of the log file. */
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** A program that runs under the supervisor. */
export interface Program {
  readonly name: string
  readonly pid: number
  /** The log file of both its output streams; runs of one name share it. */
  readonly log: string
  /** How it ended; undefined while it runs. */
  ended(): string | undefined
  /** Resolves when it has ended; rejects when it has not after a minute. */
  end(): Promise<void>
  /** Resolves when the signal is sent; of SIGSTOP, when every thread has stopped. It may have ended before. */
  signal(signal: NodeJS.Signals): Promise<void>
  /** The last lines of its log, for messages. */
  lastWords(): string
}

export interface Processes {
  /** The supervisor's process, which ends by itself with the one that started it. */
  readonly supervisorPid: number
  /** A folder of its own, removed when all is over. */
  readonly folder: string
  start(program: ProgramStart): Promise<Program>
  /** Kills everything, removes the folder and resolves when both are done. */
  stop(): Promise<void>
}

interface Run {
  pid?: number
  how?: string
  /** How many signals were sent. */
  signals: number
  readonly waiting: Set<() => void>
}

/** Starts the supervisor. Rejects when it does not come up. */
export async function startProcesses(): Promise<Processes> {
  const supervisor = spawn(process.execPath, [SUPERVISOR], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // A group of its own: a Ctrl-C or a kill of the harness's group must not end it before it has cleaned up.
    detached: true,
  })
  const runs = new Map<number, Run>()
  const ready = new Promise<string>((resolve, reject) => {
    supervisor.once('error', reject)
    supervisor.once('exit', (code) => reject(new Error(`the supervisor ended with ${String(code)}`)))
    supervisor.on('message', (message: SupervisorReport) => {
      if (message.report === 'ready') resolve(message.folder)
      else note(runs, message)
    })
  })
  const folder = await within(ready, 'the supervisor of a control plane to start').catch((error: unknown) => {
    if (supervisor.connected) supervisor.disconnect()
    throw error
  })
  supervisor.once('exit', () => endAll(runs, folder))
  // A suite that forgets `stop()` can still end, and the closing channel does the rest.
  supervisor.unref()
  supervisor.channel?.unref()
  return {
    supervisorPid: supervisor.pid ?? 0,
    folder,
    start: (program) => startProgram(supervisor, runs, folder, program),
    stop: async () => {
      if (supervisor.exitCode !== null || supervisor.signalCode !== null) return
      const ended = once(supervisor, 'exit')
      supervisor.ref()
      if (supervisor.connected) supervisor.disconnect()
      await within(ended, 'the supervisor of a control plane to end everything')
    },
  }
}

function note(runs: Map<number, Run>, message: Exclude<SupervisorReport, { report: 'ready' }>): void {
  const run = runs.get(message.id)
  if (run === undefined) return
  if (message.report === 'started') run.pid = message.pid
  else if (message.report === 'signalled') run.signals++
  else run.how = message.how
  for (const look of run.waiting) look()
}

/** Cleans up after a supervisor that was killed itself: otherwise everything has ended before it does. */
function endAll(runs: ReadonlyMap<number, Run>, folder: string): void {
  for (const run of runs.values()) {
    if (run.how !== undefined) continue
    run.how = 'the end of its supervisor'
    try {
      if (run.pid !== undefined) process.kill(run.pid, 'SIGKILL')
    } catch {
      // It ended in the meantime.
    }
    for (const look of run.waiting) look()
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

async function startProgram(
  supervisor: ChildProcess,
  runs: Map<number, Run>,
  folder: string,
  { name, command, args, env = {} }: ProgramStart,
): Promise<Program> {
  const id = runs.size + 1
  const log = join(folder, `${name}.log`)
  const run: Run = { signals: 0, waiting: new Set() }
  runs.set(id, run)
  const when = async (happened: () => boolean, what: string): Promise<void> => {
    const report = Promise.withResolvers<void>()
    const look = (): void => {
      if (happened()) report.resolve()
    }
    run.waiting.add(look)
    look()
    try {
      // Its timer keeps this process alive, which the supervisor's channel does not.
      await within(report.promise, () => {
        const state = run.pid === undefined ? 'not started' : stateOf(run.pid)
        return `${name} to ${what}; its process is ${state}\n${lastLines(log)}`
      })
    } finally {
      run.waiting.delete(look)
    }
  }
  const send = (order: SupervisorOrder): void => {
    if (supervisor.connected) supervisor.send(order)
  }
  send({
    order: 'start',
    id,
    command,
    args,
    log,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...SELDOM, ...env },
  })
  await when(() => run.pid !== undefined || run.how !== undefined, 'start')
  if (run.pid === undefined) throw new Error(`${command} cannot be started: ${String(run.how)}`)
  const { pid } = run
  let ordered = 0
  return {
    name,
    pid,
    log,
    ended: () => run.how,
    end: () => when(() => run.how !== undefined, 'end'),
    signal: async (signal) => {
      const nth = ++ordered
      send({ order: 'signal', id, signal })
      await when(() => run.signals >= nth || run.how !== undefined, `get ${signal}`)
      if (signal === 'SIGSTOP')
        await until(() => run.how !== undefined || isStopped(pid), `${name} (${pid}) to be stopped`)
    },
    lastWords: () => lastLines(log),
  }
}

/** What /proc says of a process, e.g. `4711 in state S`; see proc_pid_stat(5). */
function stateOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return `${pid} in state ${stat.slice(stat.lastIndexOf(')') + 2).charAt(0)}`
  } catch {
    return `${pid}, of which /proc says nothing`
  }
}

/** Whether no thread of a process runs: a signal reaches them one by one. See proc_pid_stat(5). */
function isStopped(pid: number): boolean {
  const tasks = `/proc/${pid}/task`
  // Elsewhere than on Linux nothing tells; there the signal has been sent, at least.
  if (!existsSync(tasks)) return true
  return readdirSync(tasks).every((task) => {
    const stat = readFileSync(join(tasks, task, 'stat'), 'utf8')
    // The second field is the name, in parentheses; it may hold some itself.
    return stat.slice(stat.lastIndexOf(')')).startsWith(') T')
  })
}

function lastLines(file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-LOG_LINES_SHOWN).join('\n')
  } catch {
    return ''
  }
}
