// A pseudo-terminal, for Bun to run: `bun pty.ts COLUMNS ROWS PROGRAM ARGS...` runs a program in one, and obeys lines of
// JSON on stdin. Node has no pseudo-terminals; Bun has, and every machine that builds the plugin has Bun.
// https://bun.com/docs/runtime/child-process#terminal-pty-support
import process from 'node:process'
import { createInterface } from 'node:readline'

interface Pty {
  write(data: string): void
  resize(columns: number, rows: number): void
}

interface Child {
  readonly pid: number
  readonly terminal: Pty
  readonly exited: Promise<number>
  readonly exitCode: number | null
  readonly signalCode: NodeJS.Signals | null
  kill(signal: string): void
}

/** As much of Bun as this needs: its types are no part of the project. */
declare const Bun: {
  spawn(
    command: readonly string[],
    options: {
      readonly terminal: {
        readonly cols: number
        readonly rows: number
        readonly data: (pty: Pty, data: Uint8Array) => void
      }
    },
  ): Child
}

/** What the driver may ask. */
export type Order =
  | { readonly kind: 'press'; readonly text: string }
  | { readonly kind: 'resize'; readonly columns: number; readonly rows: number }
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals }

/** What it hears. */
export type News =
  | { readonly kind: 'output'; readonly base64: string }
  | { readonly kind: 'end'; readonly code: number | null; readonly signal: NodeJS.Signals | null }

const [columns = '80', rows = '24', ...command] = process.argv.slice(2)

function tell(news: News): void {
  process.stdout.write(`${JSON.stringify(news)}\n`)
}

const child = Bun.spawn(command, {
  terminal: {
    cols: Number(columns),
    rows: Number(rows),
    data: (_, data) => tell({ kind: 'output', base64: Buffer.from(data).toString('base64') }),
  },
})

const orders = createInterface({ input: process.stdin })
orders.on('line', (text) => {
  const order: Order = JSON.parse(text)
  if (order.kind === 'press') child.terminal.write(order.text)
  else if (order.kind === 'resize') child.terminal.resize(order.columns, order.rows)
  else child.kill(order.signal)
})
// The process that drives it has ended.
orders.on('close', () => child.kill('SIGKILL'))

await child.exited
tell({ kind: 'end', code: child.exitCode, signal: child.signalCode })
process.exit()
