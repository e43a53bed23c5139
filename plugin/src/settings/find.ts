// Where `.kleym.yaml` is: the nearest one, from a folder up to the root of its repository.
import { lstatSync, type Stats } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { KleymError } from '../io/errors.ts'
import { entriesOf } from '../sources/chart-files.ts'
import { realOf } from '../sources/files.ts'

/** The name of a settings file. */
export const SETTINGS_FILE = '.kleym.yaml'
/** Names that are easily written in its place. */
const MISNAMED = /^\.kleym\.ya?ml$/i

/**
 * The settings file that counts for a folder or a file; undefined: there is none. It is looked for up to the folder that holds
 * `.git`. Outside of a repository only the folder itself counts: a file in `/tmp` or in a home folder may be a stranger's.
 */
export function findSettingsFile(from: string): string | undefined {
  const start = resolve(from)
  const first = statOf(start)?.isDirectory() === true ? start : dirname(start)
  const folders = foldersOf(first)
  for (const folder of folders) {
    const path = join(folder, SETTINGS_FILE)
    if (statOf(path) !== undefined) {
      requireOwnFile(path, folders.at(-1) ?? folder)
      return path
    }
    const other = entriesOf(folder).find(({ name }) => MISNAMED.test(name))
    if (other !== undefined) throw misnamed(join(folder, other.name))
  }
  return undefined
}

/** The folder and those above it, up to the root of the repository. */
function foldersOf(first: string): readonly string[] {
  const folders: string[] = []
  for (let folder = first; ; folder = dirname(folder)) {
    folders.push(folder)
    if (statOf(join(folder, '.git')) !== undefined) return folders
    if (dirname(folder) === folder) return [first]
  }
}

/** What is found may be a stranger's: a pipe never ends, and a link out of the repository would have another file shown in an error. */
function requireOwnFile(path: string, root: string): void {
  const real = realOf(path)
  const why =
    real !== path && !real.startsWith(join(realOf(root), '/'))
      ? 'it leads out of the repository'
      : isOther(real)
        ? 'it is no file'
        : undefined
  if (why === undefined) return
  throw new KleymError('usage', {
    what: 'the settings file cannot be used',
    where: path,
    why,
    fix: 'write a file in its place, or pass --no-config',
    docs: 'docs/settings.md',
  })
}

/** Neither a file nor a folder; of a folder, and of what is not there, the reader says what is wrong. */
function isOther(path: string): boolean {
  const facts = statOf(path)
  return facts !== undefined && !facts.isFile() && !facts.isDirectory()
}

function misnamed(where: string): KleymError {
  return new KleymError('usage', {
    what: 'the settings file has another name',
    where,
    why: `kleym reads ${SETTINGS_FILE}, and this file would be left out in silence`,
    fix: `rename it to ${SETTINGS_FILE}, or pass --no-config`,
  })
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}
