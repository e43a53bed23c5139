// Files as what feeds a watch: when one has changed, everything is read and answered again, as `explain --offline` answers it.
import { distinct } from '@kleym/shared/core/base/text/bytes.ts'
import { bindingsIn } from '@kleym/shared/core/snapshot/index.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import type { OutputOptions } from '../../../flags/options.ts'
import { viewText } from '../../../frame/finish.ts'
import { framedUnderPremises } from '../../../frame/premises.ts'
import type { GatheredInput } from '../../../gather/gather.ts'
import { KleymError } from '../../../io/errors.ts'
import { problemText, toldProblems } from '../../../sources/problem.ts'
import type { Block } from '../../../text/line.ts'
import { explainFrame } from '../../explain/frame.ts'
import type { DetailView } from '../live/detail.ts'
import { disagreementLines, type Knowledge } from '../live/knowledge.ts'
import type { Picture } from '../live/live-state.ts'
import { RowTimes, rowsOf, type Row } from '../live/rows.ts'
import type { KnownNamespaces, Live, OnBug, SessionSource } from '../live/session.ts'

/** What was read, and which state of the files that is. */
export interface FilesRead {
  readonly input: GatheredInput
  readonly version: number
}

/** Files that change. */
export interface Files {
  readonly clock: Clock
  readonly output: OutputOptions
  /** The state of the files now: another number after each change. */
  readonly version: () => number
  /** Calls `run` after each change; the result ends that. */
  readonly onChange: (run: () => void) => () => void
  /** Rejects with a KleymError where a path is not there. */
  readonly gather: () => Promise<GatheredInput>
}

/** Files as what a session shows. `first` is what was read before it began. */
export function fileSource(files: Files, first: FilesRead, onBug: OnBug): SessionSource {
  let last = first
  return {
    begin: (namespace, onPicture) =>
      new FileState(files, {
        namespace,
        first: last,
        onBug,
        onPicture,
        onRead: (read) => {
          last = read
        },
      }),
    namespaces: async (seen) => namespacesOf(last.input, seen),
  }
}

function namespacesOf({ after }: GatheredInput, seen: readonly Row[]): KnownNamespaces {
  const names = [
    ...after.snapshot.namespaces.read.map(({ name }) => name),
    ...seen.map((one) => one.namespace),
  ]
  return { names: distinct(names), note: undefined }
}

/** What is followed, and whom it tells. */
export interface FileStateOptions {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined
  readonly first: FilesRead
  /** Called with what was read anew. */
  readonly onRead?: (read: FilesRead) => void
  readonly onPicture: (picture: Picture) => void
  readonly onBug: OnBug
}

/** Follows the bindings of files. */
export class FileState implements Live {
  readonly #files: Files
  readonly #options: FileStateOptions
  readonly #times = new RowTimes()
  #read: FilesRead
  #rows: readonly Row[] = []
  /** Why the files cannot be read just now: what is shown is as they were. */
  #trouble: string | undefined
  #detail: DetailView = { state: 'closed' }
  #key: string | undefined
  #isReading = false
  #stop: (() => void) | undefined

  constructor(files: Files, options: FileStateOptions) {
    this.#files = files
    this.#options = options
    this.#read = options.first
    this.#take(options.first)
  }

  readonly start = (): void => {
    this.#stop = this.#files.onChange(() => void this.#readAgain())
    this.#show()
    void this.#readAgain()
  }

  readonly stop = (): void => {
    this.#stop?.()
    this.#stop = undefined
  }

  readonly choose = (key: string | undefined): void => {
    this.#key = key
    this.#detail = this.#detailNow()
    this.#show()
  }

  get picture(): Picture {
    return { rows: this.#rows, knowledge: this.#knowledge(), detail: this.#detail }
  }

  /** One reading at a time; what changes meanwhile is read after it. */
  async #readAgain(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    try {
      while (this.#stop !== undefined && this.#read.version !== this.#files.version()) await this.#readOnce()
    } catch (error) {
      this.#options.onBug(error)
    } finally {
      this.#isReading = false
    }
  }

  async #readOnce(): Promise<void> {
    const version = this.#files.version()
    try {
      const read = { input: await this.#files.gather(), version }
      this.#trouble = undefined
      this.#take(read)
      this.#options.onRead?.(read)
    } catch (error) {
      if (!(error instanceof KleymError)) throw error
      this.#trouble = `${problemText(error)}; shown as before`
      this.#read = { ...this.#read, version }
    }
    this.#show()
  }

  #take(read: FilesRead): void {
    this.#read = read
    const { namespace } = this.#options
    const rows = rowsOf(read.input.after, () => undefined, true)
    this.#rows = this.#times.next(
      namespace === undefined ? rows : rows.filter((row) => row.namespace === namespace),
      this.#files.clock.now(),
    )
    this.#detail = this.#detailNow()
  }

  #show(): void {
    if (this.#stop !== undefined) this.#options.onPicture(this.picture)
  }

  #knowledge(): Knowledge {
    const { after, operator, problems } = this.#read.input
    return {
      lostSince: undefined,
      missing: [],
      operator: undefined,
      operatorDown: undefined,
      disagreements: disagreementLines(operator.disagreements),
      problems: [
        ...(this.#trouble === undefined ? [] : [this.#trouble]),
        ...toldProblems(problems).map(problemText),
      ],
      bindingsKnown: after.snapshot.bindings.more() === undefined,
      settled: true,
    }
  }

  #detailNow(): DetailView {
    const key = this.#key
    if (key === undefined) return { state: 'closed' }
    const { input } = this.#read
    const found = bindingsIn(input.after.snapshot)(key)
    if (found.state === 'unknown') return { state: 'unread', key, why: found.why }
    if (found.state !== 'found') return { state: 'deleted', key }
    const binding = found.object
    const { output } = this.#files
    const { frame, input: framed } = framedUnderPremises(input, output, (one) => ({
      frame: explainFrame(one, [binding], { named: true }),
      input: one,
    }))
    let drawn: { readonly columns: number; readonly block: Block } | undefined
    // The screen is drawn every second, and with each key.
    const view = (columns: number): Block => {
      if (drawn?.columns !== columns) drawn = { columns, block: viewText(frame, framed, output, columns) }
      return drawn.block
    }
    return { state: 'whole', key, view }
  }
}
