// The files of a chart folder that decide what helm makes of it: templates, values, schemas of values, those of its subcharts
// among them. A chart may be a stranger's: everything here is bounded. Links to files are followed. Links to folders are not:
// helm follows them, and a folder that links to itself would go on for ever, so what is behind one is told as not known.
import { readdirSync, readFileSync, statSync, type Dirent } from 'node:fs'
import { join } from 'node:path'
import type { Budget } from './budget.ts'

/** A file of a chart or of one of its subcharts. */
export interface ChartFile {
  /** From the folder of the chart that it belongs to: `templates/x.yaml`. */
  readonly path: string
  /** Undefined: it is there, and it cannot be read whole. */
  readonly text: string | undefined
}

/** The most files and folders, and the most bytes, of one chart that are looked through. */
export const CHART_ENTRIES_MAX = 5_000
const BYTES_MAX = 32 * 1024 * 1024
/** How far charts are nested in charts, and folders in `templates`. */
const DEPTH_MAX = 16

/** Goes through a chart. Where a limit ends it, the last file has no text. */
export function* chartFiles(folder: string, budget: Budget): Iterable<ChartFile> {
  try {
    yield* new ChartWalk(budget).chart(folder, 0)
  } catch (thrown) {
    if (!(thrown instanceof ChartTooLarge)) throw thrown
    yield unread('.')
  }
}

/** A text that can be read, of at most so many bytes; undefined for any other. */
export function textOfFile(path: string, most = BYTES_MAX): string | undefined {
  try {
    const facts = statSync(path)
    return facts.isFile() && facts.size <= most ? readFileSync(path, 'utf8') : undefined
  } catch {
    return undefined
  }
}

/** What a folder holds, in the order of the names; nothing where it cannot be read. */
export function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}

/** What of a chart's own folder is looked through. */
const OF_CHART = /^(?:values.*\.ya?ml|values\.schema\.json)$/

/** The rest of a chart is not looked at. */
class ChartTooLarge extends Error {
  override readonly name = 'ChartTooLarge'
}

class ChartWalk {
  readonly #budget: Budget
  #entries = 0
  #bytes = 0

  constructor(budget: Budget) {
    this.#budget = budget
  }

  *chart(folder: string, depth: number): Iterable<ChartFile> {
    for (const entry of this.#entriesOf(folder)) {
      const path = join(folder, entry.name)
      if (entry.name === 'templates') yield* this.#template(path, 'templates', entry, 0)
      else if (entry.name === 'charts') yield* this.#subcharts(path, entry, depth)
      else if (OF_CHART.test(entry.name)) yield this.#file(path, entry.name)
    }
  }

  *#subcharts(folder: string, entry: Dirent, depth: number): Iterable<ChartFile> {
    if (!entry.isDirectory()) {
      yield unread('charts')
      return
    }
    for (const one of this.#entriesOf(folder)) {
      if (one.isDirectory() && depth < DEPTH_MAX) yield* this.chart(join(folder, one.name), depth + 1)
      // A chart too deep, a link, or an archive, which is not looked into.
      else if (!one.isFile() || /\.(?:tgz|tar\.gz)$/.test(one.name)) yield unread(`charts/${one.name}`)
    }
  }

  /** A file, or a folder of them. */
  *#template(path: string, name: string, entry: Dirent, depth: number): Iterable<ChartFile> {
    if (!entry.isDirectory()) yield this.#file(path, name)
    else if (depth > DEPTH_MAX) yield unread(name)
    else
      for (const one of this.#entriesOf(path))
        yield* this.#template(join(path, one.name), `${name}/${one.name}`, one, depth + 1)
  }

  #entriesOf(folder: string): readonly Dirent[] {
    const entries = entriesOf(folder)
    this.#entries += entries.length
    if (this.#entries > CHART_ENTRIES_MAX) throw new ChartTooLarge()
    return entries
  }

  /** A link to a folder is no file, and has no text. */
  #file(path: string, name: string): ChartFile {
    const text = textOfFile(path, BYTES_MAX - this.#bytes)
    if (text === undefined) return unread(name)
    this.#bytes += text.length
    if (this.#budget.tryCharge('bytes', text.length) !== undefined) throw new ChartTooLarge()
    return { path: name, text }
  }
}

function unread(path: string): ChartFile {
  return { path, text: undefined }
}
