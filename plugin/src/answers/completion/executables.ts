// Where executables are: the folders of PATH.
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** The folders of PATH, in its order, as absolute paths. */
export function foldersOfPath(env: Environment, cwd: string): readonly string[] {
  return (env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => resolve(cwd, folder))
}

/** The first folder that holds an executable file of one of the names, and its path. */
export async function findExecutable(
  names: readonly string[],
  folders: readonly string[],
): Promise<{ readonly folder: string; readonly path: string } | undefined> {
  for (const folder of folders)
    for (const name of names) {
      const path = join(folder, name)
      if (await isExecutable(path)) return { folder, path }
    }
  return undefined
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}
