// What files leave unread, as a snapshot has it; and of a desired state each part with what it was made from, so that two states
// can be told to leave the same unread.
import { dirname, join, relative, resolve } from 'node:path'
import process from 'node:process'
import { Rest, type Gaps, type UnreadObjects } from '@kleym/shared/core/snapshot/index.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import type { InputProblem } from '../sources/problem.ts'

/** A document whose kind nothing shows may have held anything, so nothing counts as missing. */
export function gapsOf(problems: readonly InputProblem[]): Gaps {
  const first = problems.find(({ reach }) => reach === undefined)
  return new Map(first === undefined ? [] : [['*', unreadReason(first)]])
}

/** What a problem leaves open of the kinds that it shows. */
export function unreadObjects(problem: InputProblem): readonly UnreadObjects[] {
  const why = unreadReason(problem)
  return (problem.reach ?? []).map((reach) => ({ ...reach, why }))
}

function unreadReason({ kind, where }: InputProblem): UnknownReason {
  return { verb: 'read', what: where, cause: CAUSES[kind] }
}

const CAUSES: Readonly<Record<InputProblem['kind'], UnknownReason['cause']>> = {
  path: 'unreachable',
  malformed: 'malformed',
  incomplete: 'malformed',
  template: 'a template',
  'not rendered': 'not rendered',
  'left out': 'not given',
  duplicate: 'ambiguous',
  'taken away': 'taken away',
  empty: 'not given',
  failed: 'unreachable',
}

/** What is unread, by its reach and by the content of the file or the folder where it stands. */
export async function unreadParts(
  problems: readonly InputProblem[],
  cwd: string,
): Promise<ReadonlyMap<string, Rest>> {
  const parts = new Map<string, Rest>()
  const contents = new Map<string, string>()
  for (const one of problems) {
    const { where } = one
    const path = resolve(cwd, pathOf(where))
    const content = contents.get(path) ?? (await contentOf(path)) ?? where
    contents.set(path, content)
    const part = new Rest(gapsOf([one]), unreadObjects(one))
    const reach = part.parts.map(({ kind, namespace, name }) => [kind, namespace, name])
    parts.set(JSON.stringify([content, [...part.gaps.keys()], reach]), part)
  }
  return parts
}

/** What one state leaves unread and another does not. */
export function partsOnlyIn(one: AnyParts = new Map(), other: AnyParts = new Map()): Rest {
  return Rest.of([...one].flatMap(([key, part]) => (other.has(key) ? [] : [part])))
}

type AnyParts = ReadonlyMap<string, Rest>

/** The file or the folder of a place: `pools.yaml, document 3, line 12` (`placeText`). What a file stands for is in its folder. */
function pathOf(where: string): string {
  const path = where.replace(/, (?:document|line|column) \d+.*$/, '')
  return OF_FOLDER.test(path) ? dirname(path) : path
}

const OF_FOLDER = /(?:^|\/)(?:Chart|kustomization|fleet|skaffold|helmfile)(?:\.\w+)*$/i

/** More files or bytes are not compared: the part then counts as one that the other state has not. */
const FILES_MAX = 1_000
const BYTES_MAX = 16 * 1024 * 1024

/** A digest of a file, or of all files of a folder with their names; undefined: there is none that can be told. */
async function contentOf(path: string): Promise<string | undefined> {
  // Loaded here, like what hashes: it costs every other start some milliseconds.
  const { readdir, readFile, stat } = process.getBuiltinModule('node:fs/promises')
  try {
    const isFolder = (await stat(path)).isDirectory()
    const files = isFolder
      ? (await readdir(path, { recursive: true, withFileTypes: true }))
          .filter((one) => one.isFile())
          .map((one) => join(one.parentPath, one.name))
          .toSorted(compareBytes)
      : [path]
    if (files.length > FILES_MAX) return undefined
    const hash = process.getBuiltinModule('node:crypto').createHash('sha256')
    let bytes = 0
    for (const file of files) {
      const content = await readFile(file)
      bytes += content.length
      if (bytes > BYTES_MAX) return undefined
      hash.update(JSON.stringify([relative(path, file), content.length]))
      hash.update(content)
    }
    return hash.digest('hex')
  } catch {
    return undefined
  }
}
