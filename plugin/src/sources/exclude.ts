// What of a folder is not read: folders that tools own, and what `--exclude` names.
import ignore from 'ignore'

/** What Git knows of a repository: no commit can bring a file into it. */
export const GIT_FOLDER = '.git'

/** Folders of version control, editors, package managers and CI: what lies in them is hardly a manifest of a cluster (`lookThrough`). */
export const TOOL_FOLDERS: ReadonlySet<string> = new Set([
  '.circleci',
  '.devcontainer',
  '.github',
  '.gitlab',
  '.hg',
  '.idea',
  '.svn',
  '.tekton',
  '.terraform',
  '.tox',
  '.venv',
  '.vs',
  '.vscode',
  '__pycache__',
  'node_modules',
])

/** Whether a file or folder is left out; the path of a folder ends with a slash. It counts from the folder of `-f`. */
export type IsExcluded = (path: string) => boolean

/**
 * Reads globs as git reads the lines of a .gitignore (https://git-scm.com/docs/gitignore). What one matches is left out with
 * all below it.
 */
export function excluding(globs: readonly string[]): IsExcluded {
  // The library makes patterns before it has any glob.
  if (globs.length === 0) return () => false
  const rules = ignore({ ignorecase: false }).add(globs.map((glob) => glob.replace(/^\.\//, '/')))
  return (path) => rules.ignores(path)
}
