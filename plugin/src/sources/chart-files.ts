// The files of a chart folder that decide what helm makes of it: templates, values, schemas of values, those of its subcharts
// among them. A chart may be a stranger's: everything here is bounded. Links to files are followed. Links to folders are not:
// helm follows them, and a folder that links to itself would go on for ever, so what is behind one is reported as not known.
import { readdirSync, readFileSync, statSync, type Dirent } from 'node:fs'
import { join } from 'node:path'
import type { Budget } from './budget.ts'
import { packedFiles } from './packed-chart.ts'

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
export function chartFiles(folder: string, budget: Budget): Iterable<ChartFile> {
  return bounded(new ChartWalk(budget).chart(folder, 0))
}

/**
 * What else stands in a chart's folder, for the templates that take in files (`.Files.Get`); not what is read as objects anyway. A packed
 * chart has no text here.
 */
export function otherFiles(folder: string, budget: Budget): Iterable<ChartFile> {
  return bounded(new ChartWalk(budget).others(folder))
}

function* bounded(files: Iterable<ChartFile>): Iterable<ChartFile> {
  try {
    yield* files
  } catch (thrown) {
    if (!(thrown instanceof ChartTooLarge)) throw thrown
    yield unread('.')
  }
}

/** A text that can be read, of at most so many bytes; undefined for any other. */
export function textOfFile(path: string, most = BYTES_MAX): string | undefined {
  const bytes = bytesOfFile(path, most)
  return bytes && new TextDecoder().decode(bytes)
}

function bytesOfFile(path: string, most: number): Uint8Array | undefined {
  try {
    const facts = statSync(path)
    return facts.isFile() && facts.size <= most ? readFileSync(path) : undefined
  } catch {
    return undefined
  }
}

/** What a folder holds, in the order of the names; undefined where it cannot be read. */
export function entriesIn(folder: string): readonly Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return undefined
  }
}

/** The same; nothing where it cannot be read. */
export function entriesOf(folder: string): readonly Dirent[] {
  return entriesIn(folder) ?? []
}

/** A packed chart. */
const ARCHIVE = /\.(?:tgz|tar\.gz)$/
/** What of a chart's own folder is looked through. */
const OF_CHART = /^(?:values.*\.ya?ml|values\.schema\.json)$/

/** What no template takes in, and what is read by itself. */
const NOT_TAKEN_IN =
  /\.(?:ya?ml|json|md)$|^(?:.*\/)?templates\/|^(?:.*\/)?(?:LICENSE|\.helmignore|Chart\.lock)$/

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
      if (entry.name === 'templates') yield* this.#files(path, 'templates', entry)
      else if (entry.name === 'charts') yield* this.#subcharts(path, entry, depth)
      else if (OF_CHART.test(entry.name)) yield this.#file(path, entry.name)
    }
  }

  *others(folder: string): Iterable<ChartFile> {
    for (const one of this.#entriesOf(folder))
      yield* this.#files(join(folder, one.name), one.name, one, (name) => !NOT_TAKEN_IN.test(name))
  }

  *#subcharts(folder: string, entry: Dirent, depth: number): Iterable<ChartFile> {
    if (!entry.isDirectory()) {
      yield unread('charts')
      return
    }
    for (const one of this.#entriesOf(folder)) {
      const path = join(folder, one.name)
      if (depth >= DEPTH_MAX) yield unread(`charts/${one.name}`)
      else if (one.isDirectory()) yield* this.chart(path, depth + 1)
      else if (ARCHIVE.test(one.name)) yield* this.#packed(bytesOfFile(path, BYTES_MAX), depth)
      else if (!one.isFile()) yield unread(`charts/${one.name}`)
    }
  }

  /** A file, or a folder of them; one that is too deep has no text, as a packed chart has none. */
  *#files(
    path: string,
    name: string,
    entry: Dirent,
    isWanted: (name: string) => boolean = () => true,
    depth = 0,
  ): Iterable<ChartFile> {
    if (entry.isDirectory() && depth <= DEPTH_MAX)
      for (const one of this.#entriesOf(path))
        yield* this.#files(join(path, one.name), `${name}/${one.name}`, one, isWanted, depth + 1)
    else if (isWanted(name)) yield ARCHIVE.test(name) ? unread(name) : this.#file(path, name)
  }

  /** What a packed chart holds; all of it counts, whatever it is. */
  *#packed(archive: Uint8Array | undefined, depth: number): Iterable<ChartFile> {
    const files = archive && depth < DEPTH_MAX ? packedFiles(archive, BYTES_MAX - this.#bytes) : undefined
    if (files === undefined) {
      yield unread('charts')
      return
    }
    this.#count(files.length)
    for (const { path, bytes } of files) {
      this.#charge(bytes.length)
      // A chart in a chart, as a folder in the archive.
      const own = path.replace(/^(?:\.\/)?[^/]+\//, '').replace(/^(?:charts\/[^/]+\/)+/, '')
      const isTemplate = /^(?:templates|crds)\//.test(own)
      if (own.startsWith('charts/') && ARCHIVE.test(own)) yield* this.#packed(bytes, depth + 1)
      else if (isTemplate || OF_CHART.test(own)) yield { path: own, text: new TextDecoder().decode(bytes) }
    }
  }

  #count(entries: number): void {
    this.#entries += entries
    if (this.#entries > CHART_ENTRIES_MAX) throw new ChartTooLarge()
  }

  #charge(bytes: number): void {
    this.#bytes += bytes
    if (this.#budget.tryCharge('bytes', bytes) !== undefined) throw new ChartTooLarge()
  }

  #entriesOf(folder: string): readonly Dirent[] {
    const entries = entriesOf(folder)
    this.#count(entries.length)
    return entries
  }

  /** A link to a folder is no file, and has no text. */
  #file(path: string, name: string): ChartFile {
    const text = textOfFile(path, BYTES_MAX - this.#bytes)
    if (text === undefined) return unread(name)
    this.#charge(text.length)
    return { path: name, text }
  }
}

function unread(path: string): ChartFile {
  return { path, text: undefined }
}
