// What of a folder is never read: folders that tools own, and what `--exclude` names.

/** Folders of version control, editors, package managers and CI: what lies in them is no manifest of a cluster. */
export const TOOL_FOLDERS: ReadonlySet<string> = new Set([
  '.circleci',
  '.devcontainer',
  '.git',
  '.github',
  '.gitlab',
  '.hg',
  '.idea',
  '.svn',
  '.terraform',
  '.tox',
  '.venv',
  '.vs',
  '.vscode',
  '__pycache__',
  'node_modules',
])

/** Whether a file or folder is left out; its path counts from the folder of `-f`, with `/` between names. */
export type IsExcluded = (path: string) => boolean

/**
 * Reads globs as git and rsync do: `*` and `?` stay within a name, `**` crosses folders; one without a slash means any file or
 * folder of that name; what it matches is left out with all below it.
 */
export function excluding(globs: readonly string[]): IsExcluded {
  const patterns = globs.map(patternOf)
  return (path) => patterns.some((pattern) => pattern.test(path))
}

function patternOf(glob: string): RegExp {
  const trimmed = glob.replace(/^\.?\/+/, '').replace(/\/+$/, '')
  const anywhere = trimmed.includes('/') ? '' : '(?:.*/)?'
  return new RegExp(`^${anywhere}${translated(trimmed)}$`, 'su')
}

/** `**` with the slashes beside it, the other wildcards, a class of characters, or any other character. */
const PARTS = /\*\*\/|\/\*\*$|\*\*|\*|\?|\[!?[^\]/]+\]|./gsu

function translated(glob: string): string {
  return [...glob.matchAll(PARTS)].map(([part]) => translatedPart(part)).join('')
}

function translatedPart(part: string): string {
  switch (part) {
    case '**/':
      return '(?:.*/)?'
    case '/**':
      return '(?:/.*)?'
    case '**':
      return '.*'
    case '*':
      return '[^/]*'
    case '?':
      return '[^/]'
    default:
      return part.length > 1 && part.startsWith('[') ? classOf(part) : escapedText(part)
  }
}

function classOf(part: string): string {
  const isNegated = part.startsWith('[!')
  const inside = part.slice(isNegated ? 2 : 1, -1).replaceAll(/[\\[\]^]/g, String.raw`\$&`)
  return `[${isNegated ? '^/' : ''}${inside}]`
}

function escapedText(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
}
