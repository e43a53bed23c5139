// The rows of all namespaces, worked out anew only where something has changed, in slices between which the keyboard is
// heard.
import { analyse } from '@kleym/shared/core/analysis/index.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import type { SettingsReading } from '../../../gather/settings.ts'
import type { Feeds } from './kinds.ts'
import { tableSnapshot } from './namespace-snapshot.ts'
import { rowsOf, type Row } from './rows.ts'

/** Changes come in bursts: how long the first one waits for others. */
export const DEBOUNCE_MS = 100
/** How long the keyboard waits at most while rows are worked out, beside the time of one namespace. */
const SLICE_MS = 25

/** What the table is made from. */
export interface RowTableOptions {
  readonly feeds: Feeds
  readonly clock: Clock
  /** The settings that count now. */
  readonly settings: () => SettingsReading
  /** Whether rows can be worked out yet. */
  readonly isReady: () => boolean
  /** All rows are up to date. */
  readonly onRows: (rows: readonly Row[]) => void
}

/** Keeps the rows. */
export class RowTable {
  readonly #options: RowTableOptions
  readonly #rows = new Map<string, readonly Row[]>()
  readonly #dirty = new Set<string>()
  #cancel: (() => void) | undefined
  /** How long the slowest namespace of the last update took, in milliseconds: the next update waits at least as long. */
  #longest = 0

  constructor(options: RowTableOptions) {
    this.#options = options
  }

  /** Something has changed that may change the rows of a namespace. */
  markChanged(namespace: string): void {
    this.#dirty.add(namespace)
    this.#schedule()
  }

  /** Something has changed that may change every row. */
  markAllChanged(): void {
    for (const namespace of this.#rows.keys()) this.#dirty.add(namespace)
    for (const { meta } of this.#options.feeds.bindings.store.values()) this.#dirty.add(meta.namespace)
    this.#schedule()
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = () => {}
  }

  #schedule(): void {
    this.#cancel ??= this.#options.clock.after(Math.max(DEBOUNCE_MS, this.#longest), () => {
      this.#cancel = undefined
      this.#longest = 0
      if (this.#options.isReady()) this.#work()
    })
  }

  #work(): void {
    const { clock, onRows } = this.#options
    const began = clock.monotonicMs()
    for (const namespace of this.#dirty) {
      const before = clock.monotonicMs()
      this.#dirty.delete(namespace)
      this.#workOut(namespace)
      const now = clock.monotonicMs()
      this.#longest = Math.max(this.#longest, now - before)
      if (now - began >= SLICE_MS) break
    }
    if (this.#dirty.size === 0) {
      onRows(this.#all())
      return
    }
    this.#cancel = clock.after(0, () => {
      this.#cancel = undefined
      this.#work()
    })
  }

  #workOut(namespace: string): void {
    const { feeds, settings } = this.#options
    if (feeds.bindings.state.kind === 'absent' || feeds.byNamespace.bindings.get(namespace).size === 0) {
      this.#rows.delete(namespace)
      return
    }
    const { operator, scm } = settings()
    const analysis = analyse(tableSnapshot(feeds, namespace), operator.config, scm.settings)
    const rows = rowsOf(analysis, (output) => feeds.outputs.store.get(output)?.podsSelected)
    this.#rows.set(namespace, rows)
  }

  #all(): readonly Row[] {
    return [...this.#rows.keys()]
      .toSorted(compareBytes)
      .flatMap((namespace) => this.#rows.get(namespace) ?? [])
  }
}
