// What a person sees on a terminal, from the bytes that a program writes to it: enough of a VT100 with an alternate screen
// for what ink writes. A sequence that it does not know is an error: guessing would show what nobody sees.
// https://invisible-island.net/xterm/ctlseqs/ctlseqs.html
import { displayWidth } from '../../plugin/src/text/width.ts'

interface Buffer {
  cells: string[][]
  row: number
  column: number
}

const SEQUENCE = /^\u001b\[([?>=]?)([\d;]*)([A-Za-z])/
/** Longer than any sequence: what begins like one and is shorter may go on in the next bytes. */
const SEQUENCE_MAX = 32

export class TerminalScreen {
  #columns: number
  #rows: number
  #main: Buffer = { cells: [], row: 0, column: 0 }
  #alternate: Buffer | undefined
  #pending = ''
  #decoder = new TextDecoder()
  cursorIsHidden = false

  constructor(columns: number, rows: number) {
    this.#columns = columns
    this.#rows = rows
  }

  /** Whether the alternate screen is shown. */
  get isAlternate(): boolean {
    return this.#alternate !== undefined
  }

  /** The visible lines, without blanks at their ends. */
  get lines(): readonly string[] {
    const { cells } = this.#shown
    return Array.from({ length: this.#rows }, (_, row) =>
      (cells[row] ?? [])
        .map((cell) => cell ?? ' ')
        .join('')
        .trimEnd(),
    )
  }

  resize(columns: number, rows: number): void {
    this.#columns = columns
    this.#rows = rows
    for (const buffer of [this.#main, ...(this.#alternate === undefined ? [] : [this.#alternate])]) {
      const gone = Math.max(0, buffer.row - rows + 1)
      buffer.cells.splice(0, gone)
      buffer.row -= gone
      for (const row of buffer.cells) row?.splice(columns)
      buffer.column = Math.min(buffer.column, columns - 1)
    }
  }

  write(bytes: Uint8Array): void {
    let text = this.#pending + this.#decoder.decode(bytes, { stream: true })
    this.#pending = ''
    while (text !== '') {
      const taken = text.startsWith('\u001b') ? this.#escape(text) : this.#character(text)
      if (taken === 0) {
        this.#pending = text
        return
      }
      text = text.slice(taken)
    }
  }

  get #shown(): Buffer {
    return this.#alternate ?? this.#main
  }

  #escape(text: string): number {
    const found = SEQUENCE.exec(text)
    if (found !== null) {
      const [whole, mark = '', parameters = '', final = ''] = found
      this.#obey(mark, parameters.split(';').map(Number), final)
      return whole.length
    }
    if (text.length < SEQUENCE_MAX) return 0
    throw new Error(`the test's terminal does not know ${JSON.stringify(text.slice(0, SEQUENCE_MAX))}`)
  }

  #obey(mark: string, parameters: readonly number[], final: string): void {
    const shown = this.#shown
    const count = Math.max(1, parameters[0] ?? 1)
    switch (`${mark}${final}`) {
      case 'm':
        return
      case 'A':
        shown.row = clamp(shown.row - count, this.#rows)
        return
      case 'B':
      case 'E':
        shown.row = clamp(shown.row + count, this.#rows)
        if (final === 'E') shown.column = 0
        return
      case 'C':
        shown.column = clamp(shown.column + count, this.#columns)
        return
      case 'D':
        shown.column = clamp(shown.column - count, this.#columns)
        return
      case 'G':
        shown.column = clamp(count - 1, this.#columns)
        return
      case 'H':
        shown.row = clamp(count - 1, this.#rows)
        shown.column = clamp(Math.max(1, parameters[1] ?? 1) - 1, this.#columns)
        return
      case 'J':
        this.#eraseDisplay(parameters[0] ?? 0)
        return
      case 'K':
        this.#eraseLine(parameters[0] ?? 0)
        return
      case '?h':
      case '?l':
        this.#mode(parameters[0] ?? 0, final === 'h')
        return
      default:
        throw new Error(`the test's terminal does not know CSI ${mark}${parameters.join(';')}${final}`)
    }
  }

  #mode(mode: number, isOn: boolean): void {
    if (mode === 25) this.cursorIsHidden = !isOn
    else if (mode === 1049) this.#alternate = isOn ? { cells: [], row: 0, column: 0 } : undefined
    // Synchronised output and bracketed paste change nothing that can be seen.
    else if (mode !== 2026 && mode !== 2004) throw new Error(`the test's terminal does not know mode ${mode}`)
  }

  #eraseDisplay(how: number): void {
    const shown = this.#shown
    if (how === 0) {
      this.#eraseLine(0)
      shown.cells.splice(shown.row + 1)
    } else shown.cells = []
  }

  #eraseLine(how: number): void {
    const row = this.#rowAt(this.#shown.row)
    if (how === 0) row.splice(this.#shown.column)
    else if (how === 1) row.fill(' ', 0, this.#shown.column + 1)
    else row.splice(0)
  }

  #character(text: string): number {
    const shown = this.#shown
    const [character = ''] = text
    switch (character) {
      case '\r':
        shown.column = 0
        return 1
      case '\n':
        this.#lineFeed()
        return 1
      case '\u0007':
        return 1
      case '\b':
        shown.column = Math.max(0, shown.column - 1)
        return 1
      default: {
        if (shown.column >= this.#columns) {
          shown.column = 0
          this.#lineFeed()
        }
        const row = this.#rowAt(shown.row)
        while (row.length < shown.column) row.push(' ')
        row[shown.column] = character
        shown.column += displayWidth(character)
        return character.length
      }
    }
  }

  #lineFeed(): void {
    const shown = this.#shown
    if (shown.row < this.#rows - 1) shown.row += 1
    else shown.cells.splice(0, 1)
  }

  #rowAt(row: number): string[] {
    const { cells } = this.#shown
    while (cells.length <= row) cells.push([])
    return cells[row] ?? []
  }
}

function clamp(value: number, end: number): number {
  return Math.max(0, Math.min(value, end - 1))
}
