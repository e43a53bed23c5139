// What a program of the user's prints: helm and kubectl, which render charts and kustomizations. Run without a shell, within a
// time limit, and never for longer than kleym itself: an interrupt of kleym ends them and whatever they have started.
import { spawn, type ChildProcess } from 'node:child_process'
import process from 'node:process'
import { findProgram } from '@kleym/shared/kube/program-path.ts'
import type { Interrupts, Signal, SourceIo } from '../io/context.ts'
import { collect } from './files.ts'

/** A program to run. */
export interface ProgramRun {
  readonly program: string
  /** The first of them says what the program does: messages call it by that. */
  readonly args: readonly string[]
  readonly env: SourceIo['env']
  readonly timeMs: number
}

/** What it printed, or why there is nothing; `isAbsent`: there is no such program. */
export type ProgramOutput =
  | { readonly state: 'printed'; readonly bytes: Uint8Array }
  | { readonly state: 'failed'; readonly why: string; readonly isAbsent?: true }

/** Runs a program to its end, waiting no longer than its time. Never rejects. */
export async function outputOf(
  { program, args, env, timeMs }: ProgramRun,
  { cwd, env: own, interrupts }: Pick<SourceIo, 'cwd' | 'env' | 'interrupts'>,
): Promise<ProgramOutput> {
  const found = findProgram(program, own)
  if (found === undefined) return { ...failed(`${program} is not on the PATH`), isAbsent: true }
  const name = `${program} ${args[0] ?? ''}`
  let child: ChildProcess | undefined
  let isLate = false
  // Before the program starts: what ends kleym between the two would leave the program running.
  const release = endWithKleym(() => child, interrupts)
  const timer = setTimeout(() => {
    isLate = true
    if (child !== undefined) endAll(child)
  }, timeMs)
  try {
    const started = spawn(found, args, {
      cwd,
      env: { ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // The program may be a script that starts another: a process group of their own ends them together.
      detached: HAS_GROUPS,
    })
    child = started
    const ended = new Promise<number | 'ended by a signal' | Error>((settle) => {
      started.once('error', settle)
      started.once('close', (code) => settle(code ?? 'ended by a signal'))
    })
    const reading = collect(started.stdout, name).then((read) => {
      // More than is taken in: what else it has to say is not waited for.
      if (!(read instanceof Uint8Array)) endAll(started)
      return read
    })
    const [output, complaint, result] = await Promise.all([reading, collect(started.stderr, name), ended])
    if (isLate) return failed(`${name} took longer than ${timeMs / 1000} s`)
    if (result instanceof Error) return failed(`${program} cannot be started: see what ${found} is`)
    if (!(output instanceof Uint8Array)) return failed(output.why)
    if (result === 0) return { state: 'printed', bytes: output }
    const said = lastWords(complaint instanceof Uint8Array ? complaint : undefined)
    return failed(said === '' ? `${name} failed and said nothing` : `${name} says: ${said}`)
  } finally {
    clearTimeout(timer)
    release()
  }
}

function failed(why: string): { readonly state: 'failed'; readonly why: string } {
  return { state: 'failed', why }
}

/** Windows has no groups of processes that a signal reaches. */
const HAS_GROUPS = process.platform !== 'win32'

/** Ends a program with all that it has started, and waits for none of them to close what it prints to. */
function endAll(child: ChildProcess): void {
  try {
    if (HAS_GROUPS && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    else child.kill('SIGKILL')
  } catch {
    // It has ended by itself.
  }
  child.stdout?.destroy()
  child.stderr?.destroy()
}

const SIGNALS: readonly Signal[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Ends the program, once there is one, when kleym is ended, which then dies of the same signal as without it; the result ends that. */
function endWithKleym(
  program: () => ChildProcess | undefined,
  interrupts: Interrupts | undefined,
): () => void {
  const offs = SIGNALS.map((signal) =>
    interrupts?.on(signal, () => {
      const child = program()
      if (child !== undefined) endAll(child)
      release()
      interrupts.raise(signal)
    }),
  )
  const release = (): void => {
    for (const off of offs) off?.()
  }
  return release
}

/** How much of a complaint is shown: lines, and characters of them. */
const LINES_SHOWN = 3
const COMPLAINT_MAX = 600

/** The end of what a program complained about; its beginning is often a list of warnings. */
function lastWords(complaint: Uint8Array | undefined): string {
  const lines = new TextDecoder()
    .decode(complaint)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return lines.slice(-LINES_SHOWN).join('; ').slice(-COMPLAINT_MAX)
}
