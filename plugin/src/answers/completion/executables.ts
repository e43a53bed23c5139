// Where executables are: the folders of PATH.
import { delimiter, join, resolve } from 'node:path'
import { thisSystem } from '@kleym/shared/kube/program-path.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The folders of PATH, in its order, as absolute paths. */
export function foldersOfPath(env: Environment, cwd: string): readonly string[] {
  return (env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => resolve(cwd, folder))
}

/** The first folder that holds an executable file of one of the names, and its path. */
export function findExecutable(
  names: readonly string[],
  folders: readonly string[],
): { readonly folder: string; readonly path: string } | undefined {
  for (const folder of folders)
    for (const name of names) {
      const path = join(folder, name)
      if (thisSystem.isProgram(path)) return { folder, path }
    }
  return undefined
}
