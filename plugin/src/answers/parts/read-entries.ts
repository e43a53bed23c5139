// Reads `spire-server entry show -output json` as a stream: the entries of a large server are some hundred megabytes. What is
// wrong with a file ends the command: an answer about a part of a server would name entries as missing that are there.
import { shellWord } from '../../flags/echo.ts'
import type { SpireParts } from '@kleym/shared/core/answers/index.ts'
import { createReadStream, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { RACE_SECONDS, readServerEntry, type ServerEntry } from '@kleym/shared/core/predict/index.ts'
import { isRecord } from '@kleym/shared/core/base/json.ts'
import type { CommandContext } from '../../io/context.ts'
import { KleymError } from '../../io/errors.ts'
import { anyProgressLine } from '../../io/progress-line.ts'
import { collect, whyNoFile } from '../../sources/files.ts'
import { JsonElements, JsonElementsError } from '../../sources/json-elements.ts'
import { problemError } from '../../sources/problem.ts'
import { STDIN_ARGUMENT } from '../../sources/stdin.ts'
import { asOfSeconds } from './as-of.ts'
import { UniqueIds } from './unique-ids.ts'

/** The most entries of one file: five times what the largest servers hold. */
export const ENTRIES_MAX = 2_500_000

/**
 * Calls `onEntry` with each entry of the files (`-`: stdin), which are of several servers. Throws a KleymError for a file that is no
 * such dump, for one that is younger than `asOf` says, and for one that holds an entry of another: two dumps of one server would
 * show each of its entries twice.
 */
export async function readEntries(
  files: readonly string[],
  onEntry: (entry: ServerEntry) => void,
  context: CommandContext,
  asOf: string | undefined,
): Promise<void> {
  const asOfTime = asOfSeconds(asOf)
  const ids = new UniqueIds()
  const isTwice = `is there twice${files.length > 1 ? ', in one file or in two: give each server once' : ''}`
  for (const file of files) {
    const before = ids.size
    const count = (): number => ids.size - before
    const fail = (why: string): never => {
      throw wrong(file, why, elements.at)
    }
    const elements = new JsonElements('entries', (value) => {
      if (isRecord(value) && 'x509_svid_key' in value) fail('it holds private keys')
      const reading = readServerEntry(value)
      const where = (): string => `entry ${count() + 1}`
      if (!reading.ok) return fail(`${where()}: ${fieldText(reading.field)}${reading.why}`)
      const { entry } = reading
      if (!ids.add(entry.id)) fail(`${where()}: the ID ${entry.id} ${isTwice}`)
      if (asOfTime !== undefined && (entry.createdAt ?? 0) > asOfTime + RACE_SECONDS)
        throw youngerDump(file, entry.id, asOf ?? '')
      if (count() > ENTRIES_MAX) fail(`it holds more than ${ENTRIES_MAX.toLocaleString('en')} entries`)
      onEntry(entry)
    })
    await feedFile(file, elements, context, {
      progress: () => `${count().toLocaleString('en')} entries`,
      wrong: (why, at) => wrong(file, why, at),
    })
  }
}

function fieldText(field: string): string {
  return field === '' ? '' : `.${field}: `
}

/** How many bytes are read between two collections of what parsing has left behind. */
const WASTE_BYTES = 64 * 1024 * 1024

/** The words about a file that is being read. */
export interface FileWords {
  /** How far it has come. */
  readonly progress: () => string
  /** The error of a file that is not what it should be, at a byte counted from 0. */
  readonly wrong: (why: string, at: number) => KleymError
}

/** Feeds a file to a cutter of elements, with progress on a terminal. */
export async function feedFile(
  file: string,
  elements: JsonElements,
  context: CommandContext,
  { progress, wrong: wrongAt }: FileWords,
): Promise<void> {
  const line = anyProgressLine(context)
  let waste = 0
  try {
    for await (const part of streamOf(file, context)) {
      const bytes = part instanceof Uint8Array ? part : new TextEncoder().encode(String(part))
      elements.feed(bytes)
      waste += bytes.length
      if (waste > WASTE_BYTES) {
        waste = 0
        context.collectGarbage?.('young')
      }
      line.at(() => `reading ${nameOf(file)}: ${progress()}`)
    }
    elements.end()
  } catch (error) {
    if (error instanceof JsonElementsError) throw wrongAt(error.message, error.at)
    if (error instanceof KleymError) throw error
    throw new KleymError('input', {
      what: `cannot read ${nameOf(file)}`,
      why: error instanceof Error ? error.message : String(error),
      fix: 'name a file that can be read',
      cause: error,
    })
  } finally {
    line.end()
  }
}

/** The bytes of a file, or of stdin. */
function streamOf(
  file: string,
  { stdin, cwd }: Pick<CommandContext, 'stdin' | 'cwd'>,
): AsyncIterable<unknown> {
  if (file === STDIN_ARGUMENT) return stdin
  const path = resolve(cwd, file)
  try {
    const why = whyNoFile(path, statSync(path))
    if (why !== undefined)
      throw new KleymError('usage', {
        what: `cannot read ${file}`,
        why,
        fix: 'name a file, or pass - and give it on stdin',
      })
  } catch (error) {
    if (error instanceof KleymError) throw error
    throw new KleymError('usage', {
      what: `cannot read ${file}`,
      why: 'there is no such file',
      fix: 'correct the path; it is relative to the current folder',
      cause: error,
    })
  }
  return createReadStream(path, { highWaterMark: 1024 * 1024 })
}

/** The text of a file, or of stdin. Throws a KleymError. */
export async function textIn(file: string, context: CommandContext): Promise<string> {
  const bytes = await collect(streamOf(file, context), file)
  if (!(bytes instanceof Uint8Array)) throw problemError(bytes)
  return new TextDecoder().decode(bytes)
}

function nameOf(file: string): string {
  return file === STDIN_ARGUMENT ? 'stdin' : file
}

function wrong(file: string, why: string, at: number): KleymError {
  return new KleymError('input', {
    what: 'this is no dump of the entries of a SPIRE server',
    where: `--entries ${file}, byte ${at + 1}`,
    why,
    fix: 'make it again: spire-server entry show -output json > entries.json',
    docs: 'docs/verify.md',
  })
}

/** By a time that is too early, what has expired would count as valid. */
function youngerDump(file: string, id: string, asOf: string): KleymError {
  return new KleymError('input', {
    what: `the entries were dumped after ${asOf}`,
    where: `--entries ${file}`,
    why: `entry ${id} was created later than --as-of says`,
    fix: 'give the time of the dump as --as-of: date -u +%FT%TZ',
    docs: 'docs/verify.md',
  })
}

/** The command that prints the entries of a server. */
export function showEntries(server: SpireParts['server']): string {
  const at =
    server === undefined
      ? '-n SPIRE spire-server-0'
      : `-n ${shellWord(server.namespace)} ${shellWord(server.pod)}`
  return `kubectl exec ${at} -c spire-server -- /opt/spire/bin/spire-server entry show -output json`
}
