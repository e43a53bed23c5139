// A program in a terminal, driven as a person drives it: keys go in, the screen is read. In a pseudo-terminal of our own,
// which every machine has, and in tmux, which is a real terminal, where it is installed.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { executableName } from '../../scripts/build/bun.ts'
import { printedBy, runToEnd } from '@kleym/testing/child-process.ts'
import { until } from '@kleym/testing/wait.ts'
import type { News, Order } from './pty.ts'
import { TerminalScreen } from './screen.ts'

export interface TerminalOptions {
  readonly columns: number
  readonly rows: number
  readonly env?: Readonly<Record<string, string>>
}

/** A terminal with a program in it. */
export interface Terminal {
  /** Sends text as a keyboard does. */
  readonly press: (text: string) => void
  readonly resize: (columns: number, rows: number) => void
  /** Sends a signal to the program. */
  readonly signal: (signal: NodeJS.Signals) => void
  /** The visible lines, without blanks at their ends. */
  readonly lines: () => readonly string[]
  /** How the program ended, as a shell reports it: its exit code, or 128 and the signal; undefined: it runs. */
  readonly ended: () => number | undefined
  /** Ends it and whatever runs in it. */
  readonly close: () => void
}

/** Starts a program in a terminal, after a line that it must not wipe out. */
export type StartTerminal = (command: readonly string[], options: TerminalOptions) => Terminal

/** What stands on the screen before the program starts, and must be there after it. */
export const BEFORE = 'what was here before'

const ROOT = join(import.meta.dirname, '../..')

/** Waits until the screen holds something; rejects with what it shows. */
export async function untilShown(terminal: Terminal, what: string | RegExp): Promise<readonly string[]> {
  return until(
    () => {
      const lines = terminal.lines()
      const text = lines.join('\n')
      if (typeof what === 'string' ? text.includes(what) : what.test(text)) return lines
      throw new Error(
        `it ${terminal.ended() === undefined ? 'runs' : `has ended (${terminal.ended()})`}, and the screen shows:\n${text}`,
      )
    },
    `the screen to show ${String(what)}`,
  )
}

/** In a pseudo-terminal by Bun, and a screen without a window. */
export const startInPty: StartTerminal = (command, { columns, rows, env = {} }) => {
  const screen = new TerminalScreen(columns, rows)
  const bun = join(ROOT, 'node_modules', '@oven', bunPackage(), 'bin', executableName('bun'))
  const child = spawn(
    bun,
    [
      join(import.meta.dirname, 'pty.ts'),
      String(columns),
      String(rows),
      'sh',
      '-c',
      `echo ${BEFORE}; exec "$@"`,
      'sh',
      ...command,
    ],
    {
      env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  let how: number | undefined
  // It has ended when its last words are on the screen.
  let shown = Promise.resolve()
  const end = (code: number): void => {
    void shown.then(() => (how ??= code))
  }
  createInterface({ input: child.stdout }).on('line', (text) => {
    const news: News = JSON.parse(text)
    if (news.kind === 'end')
      end(news.signal === null ? (news.code ?? -1) : 128 + constants.signals[news.signal])
    else shown = screen.write(Buffer.from(news.base64, 'base64'))
  })
  child.once('close', () => end(-1))
  const order = (one: Order): void => void child.stdin.write(`${JSON.stringify(one)}\n`)
  child.stdin.on('error', () => undefined)
  return {
    press: (text) => order({ kind: 'press', text }),
    resize: (wide, high) => {
      screen.resize(wide, high)
      order({ kind: 'resize', columns: wide, rows: high })
    },
    signal: (signal) => order({ kind: 'signal', signal }),
    lines: () => screen.lines,
    ended: () => how,
    close: () => child.stdin.end(),
  }
}

function bunPackage(): string {
  const arch = process.arch === 'arm64' ? 'aarch64' : 'x64'
  return `bun-${process.platform === 'win32' ? 'windows' : process.platform}-${arch}`
}

/** Whether tmux is installed. */
export function hasTmux(): boolean {
  try {
    return runToEnd('tmux', ['-V']).status === 0
  } catch {
    return false
  }
}

/** In tmux, on a server of its own. */
export const startInTmux: StartTerminal = (command, { columns, rows, env = {} }) => {
  const folder = mkdtempSync(join(tmpdir(), 'kleym-tmux-'))
  const tmux = (...args: readonly string[]): string =>
    printedBy('tmux', ['-S', join(folder, 'socket'), '-f', '/dev/null', ...args], {
      env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color', LC_ALL: 'C.UTF-8' },
    })
  // tmux's own -e leaves PATH as the server has it.
  const set = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const [pid, code] = [join(folder, 'pid'), join(folder, 'code')]
  // tmux 3.3 sometimes forgets how a program has ended, so the shell around it remembers.
  const child = 'echo $$ >"$0"; exec "$@"'
  const around = `read go; echo ${BEFORE}; sh -c '${child}' "$@"; echo $? >"$0"; read stay`
  const program = ['env', ...set, 'sh', '-c', around, code, pid, ...command]
  tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), ...program)
  tmux('send-keys', 'Enter')
  return {
    press: (text) => void tmux('send-keys', '-l', text),
    resize: (wide, high) => void tmux('resize-window', '-x', String(wide), '-y', String(high)),
    signal: (signal) => void process.kill(Number(readFileSync(pid, 'utf8')), signal),
    lines: () =>
      tmux('capture-pane', '-p')
        .split('\n')
        .map((text) => text.trimEnd()),
    ended: () => {
      const text = existsSync(code) ? readFileSync(code, 'utf8').trim() : ''
      return text === '' ? undefined : Number(text)
    },
    close: () => {
      tmux('kill-server')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
