// The process that owns a control plane's processes and its folder. A harness talks to it over an IPC channel; when that
// channel closes, because the harness is done, crashed or was killed with SIGKILL, it kills what it started, removes the
// folder and ends. It is the parent of all of them, so there is no moment in which one could be left without an owner.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, openSync, closeSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

/** What the harness asks for. `id` numbers a start, so that a restarted program is distinguished from its former run. */
export type SupervisorOrder =
  | {
      readonly order: 'start'
      readonly id: number
      readonly command: string
      readonly args: readonly string[]
      /** File that both output streams are appended to. */
      readonly log: string
      readonly env: Readonly<Record<string, string>>
    }
  | { readonly order: 'signal'; readonly id: number; readonly signal: NodeJS.Signals }

/** What the supervisor reports. */
export type SupervisorReport =
  | { readonly report: 'ready'; readonly folder: string }
  | { readonly report: 'started'; readonly id: number; readonly pid: number }
  /** The signal is on its way, or the process has ended. */
  | { readonly report: 'signalled'; readonly id: number }
  | { readonly report: 'ended'; readonly id: number; readonly how: string }

const running = new Map<number, ChildProcess>()
const folder = mkdtempSync(join(tmpdir(), 'kleym-control-plane-'))

function report(message: SupervisorReport): void {
  // The harness may be gone before the event 'disconnect': that is no error here, and must not end this process.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}

function start({ id, command, args, log, env }: Extract<SupervisorOrder, { order: 'start' }>): void {
  const output = openSync(log, 'a')
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', output, output] })
  closeSync(output)
  running.set(id, child)
  child.once('error', (error) => {
    running.delete(id)
    report({ report: 'ended', id, how: error.message })
  })
  child.once('exit', (code, signal) => {
    running.delete(id)
    report({ report: 'ended', id, how: signal ?? `exit code ${String(code)}` })
  })
  if (child.pid !== undefined) report({ report: 'started', id, pid: child.pid })
}

process.on('message', (order: SupervisorOrder) => {
  if (order.order === 'start') return start(order)
  running.get(order.id)?.kill(order.signal)
  report({ report: 'signalled', id: order.id })
})

/** Kills everything and removes the folder; with nothing left to wait for, the process ends. */
function cleanUp(): void {
  const ends = [...running.values()].map(
    (child) =>
      new Promise((resolve) => {
        child.once('exit', resolve)
        // Works on a stopped process too, and nothing in there is worth an orderly end.
        child.kill('SIGKILL')
      }),
  )
  void Promise.all(ends).then(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
}

process.once('disconnect', cleanUp)
process.once('uncaughtException', (error) => {
  process.stderr.write(`the supervisor of a control plane failed: ${error.stack ?? error.message}\n`)
  process.exitCode = 1
  cleanUp()
})

// Ctrl-C reaches every process of a terminal: the harness decides when this one ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)

report({ report: 'ready', folder })
