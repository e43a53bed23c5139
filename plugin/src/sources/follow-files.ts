// Tells when files have changed that an answer was made of. Folders are followed, not files: editors write a new file and rename it. Each
// folder has a watch of its own, since a recursive one misses what is made later on some systems (https://nodejs.org/api/fs.html#caveats).
import { watch, type FSWatcher } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { codeOf } from '@kleym/shared/kube/failures.ts'
import { KleymError } from '../io/errors.ts'
import { entriesOf } from './chart-files.ts'
import { isFolder } from './files.ts'
import { GIT_FOLDER } from './exclude.ts'
import type { FileArguments } from './load.ts'

/** What one save makes comes in a burst: how long the first event waits for others, in milliseconds. */
const SETTLE_MS = 100
/** More folders than these are not followed: a system has some thousands of watches. */
const FOLDERS_MAX = 10_000

/** Follows all that file arguments mean. */
export class FileFollower {
  readonly #args: Pick<FileArguments, 'files' | 'recursive' | 'kustomize'>
  readonly #cwd: string
  readonly #clock: Clock
  readonly #watched = new Map<string, FSWatcher>()
  readonly #listeners = new Set<() => void>()
  #version = 0
  #cancel: (() => void) | undefined

  /** Throws a KleymError where the system watches no more folders. */
  constructor(
    args: Pick<FileArguments, 'files' | 'recursive' | 'kustomize'>,
    { cwd, clock }: { readonly cwd: string; readonly clock: Clock },
  ) {
    this.#args = args
    this.#cwd = cwd
    this.#clock = clock
    this.#follow()
  }

  /** Another number after each change. */
  get version(): number {
    return this.#version
  }

  /** Calls `run` after each change; the result ends that. */
  onChange(run: () => void): () => void {
    this.#listeners.add(run)
    return () => void this.#listeners.delete(run)
  }

  stop(): void {
    this.#cancel?.()
    for (const one of this.#watched.values()) one.close()
    this.#watched.clear()
  }

  #follow(): void {
    const folders = this.#folders()
    for (const [folder, one] of this.#watched)
      if (!folders.has(folder)) {
        one.close()
        this.#watched.delete(folder)
      }
    for (const folder of folders) if (!this.#watched.has(folder)) this.#watch(folder)
  }

  #watch(folder: string): void {
    try {
      const one = watch(folder, () => this.#changed())
      // A folder that goes away ends its watch; the one above it tells of that.
      one.on('error', () => {
        one.close()
        this.#watched.delete(folder)
        this.#changed()
      })
      this.#watched.set(folder, one)
    } catch (error) {
      // It may have gone since it was listed.
      if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') throw tooMany(folder, codeOf(error))
    }
  }

  #changed(): void {
    this.#cancel ??= this.#clock.after(SETTLE_MS, () => {
      this.#cancel = undefined
      this.#version += 1
      this.#follow()
      for (const run of this.#listeners) run()
    })
  }

  /** Each path with the folder that it is in: a file may be replaced, and a folder may come back. */
  #folders(): ReadonlySet<string> {
    const { files, recursive, kustomize } = this.#args
    const folders = new Set<string>()
    const add = (name: string, isDeep: boolean): void => {
      const path = resolve(this.#cwd, name)
      folders.add(dirname(path))
      if (isFolder(path)) addFolder(path, isDeep, folders)
    }
    for (const name of files) add(name, recursive)
    for (const name of kustomize) add(name, true)
    if (folders.size > FOLDERS_MAX) throw tooMany(files[0] ?? '', `there are ${folders.size} folders`)
    return folders
  }
}

/** Links to folders are not followed, as the reader follows none. */
function addFolder(path: string, isDeep: boolean, folders: Set<string>): void {
  folders.add(path)
  if (!isDeep || folders.size > FOLDERS_MAX) return
  for (const entry of entriesOf(path))
    if (entry.isDirectory() && entry.name !== GIT_FOLDER) addFolder(join(path, entry.name), isDeep, folders)
}

function tooMany(folder: string, why: string | undefined): KleymError {
  return new KleymError('input', {
    what: 'cannot follow all folders',
    where: folder,
    why: `the system says ${why ?? 'nothing more'}`,
    fix: 'name fewer folders, or let the system watch more (Linux: fs.inotify.max_user_watches)',
  })
}
