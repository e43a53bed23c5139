// stdout and stderr. What is no terminal is written at once, by descriptor: the streams of the process do the same, but what
// they stand on (sockets, terminals) takes Bun longer to load than `--help` takes without them.
import { fstatSync, statSync, writeSync } from 'node:fs'
import { codeOf } from '@kleym/shared/kube/failures.ts'
import type { OutputStream } from './context.ts'

/** A stream of the process. */
export interface ProcessStream {
  readonly fd: number
  /** The stream itself, for what takes one: a terminal, or a pipe that another process has made non-blocking. */
  readonly open: () => NodeJS.WriteStream
  /** Told once of an error, by the system's code, that is not its reader's leaving. */
  readonly onError: (code: string) => void
}

/** A reader may leave at any time (`| head`): that is no error of ours, and nothing is written any more. */
export class FileOutput implements OutputStream {
  readonly #of: ProcessStream
  readonly #onReaderLeft: (() => void)[] = []
  #stream: NodeJS.WriteStream | undefined
  #mayBeTerminal: boolean | undefined
  #readerLeft = false

  constructor(of: ProcessStream) {
    this.#of = of
  }

  get isTerminal(): boolean {
    return this.#terminal()?.isTTY === true
  }

  get columns(): number | undefined {
    const terminal = this.#terminal()
    return terminal?.isTTY === true ? terminal.columns : undefined
  }

  write(text: string): void {
    if (this.#readerLeft) return
    const stream = this.#stream ?? this.#terminal()
    if (stream === undefined) this.#writeAll(new TextEncoder().encode(text))
    else stream.write(text)
  }

  onReaderLeft(run: () => void): void {
    this.#onReaderLeft.push(run)
  }

  #terminal(): NodeJS.WriteStream | undefined {
    this.#mayBeTerminal ??= mayBeTerminal(this.#of.fd)
    return this.#mayBeTerminal ? this.#opened() : undefined
  }

  #opened(): NodeJS.WriteStream {
    if (this.#stream === undefined) {
      this.#stream = this.#of.open()
      this.#stream.on('error', (error) => this.#fail(codeOf(error)))
    }
    return this.#stream
  }

  #writeAll(bytes: Uint8Array): void {
    let rest = bytes
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(this.#of.fd, rest))
    } catch (error) {
      const code = codeOf(error)
      // The pipe is full, and does not block: the stream waits for its reader, and takes whatever follows.
      if (code === 'EAGAIN') this.#opened().write(rest)
      else this.#fail(code)
    }
  }

  #fail(code: string): void {
    if (this.#readerLeft) return
    this.#readerLeft = true
    for (const run of this.#onReaderLeft) run()
    if (code !== 'EPIPE') this.#of.onError(code === '' ? 'nothing about it' : code)
  }
}

/** Pipes, files and the null device are none; of all else the stream knows. */
function mayBeTerminal(fd: number): boolean {
  try {
    const facts = fstatSync(fd)
    return facts.isCharacterDevice() && facts.rdev !== nullDevice()
  } catch {
    // The descriptor is closed.
    return false
  }
}

/** Undefined where there is none, as on Windows. */
function nullDevice(): number | undefined {
  return statSync('/dev/null', { throwIfNoEntry: false })?.rdev
}
