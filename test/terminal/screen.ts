// What a person sees on a terminal, from the bytes that a program writes to it, by the core of xterm.js.
import xterm from '@xterm/headless'

/** A terminal without a window. Its widths of characters are its own: a line that the plugin measures wrongly shows. */
export class TerminalScreen {
  readonly #terminal: InstanceType<typeof xterm.Terminal>

  constructor(columns: number, rows: number) {
    // Reading the screen is an API that xterm.js may still change.
    this.#terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true })
  }

  /** The visible lines, without blanks at their ends. */
  get lines(): readonly string[] {
    const { active } = this.#terminal.buffer
    return Array.from({ length: this.#terminal.rows }, (_, row) =>
      // xterm.js keeps the cells of a wider screen behind those that are shown.
      (active.getLine(active.baseY + row)?.translateToString(true, 0, this.#terminal.cols) ?? '').trimEnd(),
    )
  }

  /** The column of the cursor, from 0. */
  get column(): number {
    return this.#terminal.buffer.active.cursorX
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows)
  }

  /** Resolves when the bytes, and all before them, are on the screen. */
  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#terminal.write(bytes, resolve)
    })
  }
}
