// The files as a part of a repository: which folder a path means, and which addresses are those of the repository itself. A path
// of another repository may equal one of this tree, and shows nothing.
import { dirname, join, resolve } from 'node:path'
import { lazy } from '@kleym/shared/core/base/lazy.ts'
import { textOfFile } from './chart-files.ts'
import { realFile } from './files.ts'
import type { OwnTree } from './deployers.ts'

/** How Flux calls the source from which a cluster is bootstrapped: https://fluxcd.io/flux/installation/bootstrap/ */
const BOOTSTRAP = /^GitRepository [^/]*\/flux-system$/

/**
 * `folders`: those that were gone through; `files`: those that are read; both without links. `sources`: addresses of sources, by how
 * others refer to them.
 */
export function ownTree(
  { folders, files }: { readonly folders: ReadonlySet<string>; readonly files: readonly string[] },
  sources: ReadonlyMap<string, string>,
): OwnTree {
  const clone = lazy(() => cloneOf(folders))
  const remotes = lazy(() => new Set(clone().remotes.map(plainAddress)))
  const inFolder = lazy(() => Map.groupBy(folders, (one) => dirname(one)))
  const own = new Set<string>()
  for (const [source, address] of sources) if (BOOTSTRAP.test(source)) own.add(plainAddress(address))
  const isOurs = (address: string): boolean => own.has(address) || remotes().has(address)
  const isOwn = (repository: string | undefined): boolean =>
    repository === undefined ||
    BOOTSTRAP.test(repository) ||
    isOurs(plainAddress(sources.get(repository) ?? repository))
  return {
    folderAt: (path) => {
      const names = path.split('/').filter((name) => name !== '' && name !== '.' && name !== '..')
      if (names.length === 0 && path.startsWith('.')) return topmost(folders, '')
      if (names.length === 0 || path.includes('://')) return undefined
      // One name is the end of many paths. What is relative to a file begins with a dot.
      const { top } = clone()
      const exact = path.includes('/') || top === undefined ? undefined : realFile(join(top, path))
      if (exact !== undefined) return folders.has(exact) || files.includes(exact) ? exact : undefined
      const end = `/${names.join('/')}`
      return topmost(files, end) ?? topmost(folders, end)
    },
    foldersIn: (folder) => inFolder().get(folder) ?? [],
    isOwn,
    mayBeOwn: (repository) => isOwn(repository) || remotes().size === 0,
  }
}

/** `git@github.com:x/y.git` and `https://github.com/x/y` are the same repository. */
function plainAddress(address: string): string {
  return address
    .trim()
    .toLowerCase()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//, '')
    .replace(/^[^@/]*@/, '')
    .replace(/^([^/:]+):(?:\d+\/)?/, '$1/')
    .replace(/(?:\.git)?\/*$/, '')
}

/** The shortest of the paths with an end: a path from the top of a repository may end another one too. */
function topmost(paths: Iterable<string>, end: string): string | undefined {
  let top: string | undefined
  for (const path of paths)
    if (path.endsWith(end) && (top === undefined || path.length < top.length)) top = path
  return top
}

/** The configuration of the repository whose working tree begins in a folder. A worktree and a submodule name another folder that has it. */
function configOfGit(folder: string): string | undefined {
  const [, named] = /^gitdir: (.+)$/m.exec(textOfFile(join(folder, '.git')) ?? '') ?? []
  const at = resolve(folder, named ?? '.git')
  return textOfFile(join(at, textOfFile(join(at, 'commondir'))?.trim() ?? '', 'config'))
}

/** The topmost folder of the repository that holds the topmost folder, if there is one, and its addresses as git has them. */
function cloneOf(folders: ReadonlySet<string>): {
  readonly top: string | undefined
  readonly remotes: readonly string[]
} {
  for (let top = topmost(folders, ''); top !== undefined;) {
    const config = configOfGit(top)
    if (config !== undefined)
      return {
        top,
        remotes: [...config.matchAll(/^\s*url\s*=\s*(\S+)\s*$/gm)].map(([, url = '']) => url),
      }
    const above = dirname(top)
    top = above === top ? undefined : above
  }
  return { top: undefined, remotes: [] }
}
