// Which files `-f` means, and their bytes. A folder gives its own *.yaml, *.yml and *.json, with -R those of the folders
// below too. Links to files are followed, mounted ConfigMaps are made of them; links to folders are not, as kubectl follows
// none: one to / would make a stranger's folder the whole machine. What is reached twice is read once. The order is that of the names' bytes. They are
// read one after the other, as kubectl does: on a local disk, handing each to a thread and back takes longer.
import {
  createReadStream,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  type Dirent,
  type Stats,
} from 'node:fs'
import { join, resolve, sep } from 'node:path'
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import { codeOf } from '@kleym/shared/kube/failures.ts'
import { entriesIn } from './chart-files.ts'
import { excluding, GIT_FOLDER, TOOL_FOLDERS, type IsExcluded } from './exclude.ts'
import type { InputProblem } from './problem.ts'

/** The largest file that is read, in bytes. */
export const FILE_MAX = 256 * 1024 * 1024
/** How far -R descends. */
const FOLDER_DEPTH_MAX = 64
/** How many files and folders -R looks at. */
const ENTRIES_MAX = 250_000
/** How many of one folder of tools. */
const TOOL_ENTRIES_MAX = 100_000
/** The names of what is read. */
const MANIFEST = /\.(?:ya?ml|json)$/

/** A file to read. */
export interface FoundFile {
  /** The name as the person would write it. */
  readonly name: string
  readonly path: string
  /** The path without links. */
  readonly real: string
  /** The paths at which it was found: its own, and those of links to it. Absent: at `real` alone. */
  readonly places?: readonly string[]
}

/** A folder whose files are no objects by themselves. */
export interface FoundFolder {
  /** The name as the person would write it. */
  readonly name: string
  /** Without links. */
  readonly path: string
}

/** A folder that a tool owns (`TOOL_FOLDERS`), or one of a chart that could not be gone through. */
export interface ToolFolder extends FoundFolder {
  /** What in it has the name of a manifest. */
  readonly files: readonly FoundFile[]
  /** Why some of it was not gone through; undefined: all of it was. */
  readonly unread: string | undefined
}

/** A folder with a kustomization. */
export interface FoundOverlay extends FoundFolder {
  /** The name of the file in it. */
  readonly file: string
}

/** The files to read, and the paths that cannot be used. */
export interface FoundFiles {
  readonly files: readonly FoundFile[]
  readonly problems: readonly InputProblem[]
  /** Helm charts: their templates, values and subcharts are not among `files`. */
  readonly charts: readonly FoundFolder[]
  /** Kustomizations: the files beside them are among `files`, they themselves are not. */
  readonly overlays: readonly FoundOverlay[]
  /** What is called like a manifest and is neither a file nor a folder: pipes, sockets, devices. */
  readonly odd: readonly string[]
  /** Links to folders, which are not followed; `real` is the folder. */
  readonly links: readonly Pick<FoundFile, 'name' | 'real'>[]
  /** Files of other tools that deploy: Terraform, Terragrunt, templates of helmfiles. */
  readonly tools: readonly FoundFile[]
  /** Templates of manifests, by their names: `web.yaml.j2`. */
  readonly templates: readonly FoundFile[]
  /** Folders of tools. */
  readonly toolFolders: readonly ToolFolder[]
  /** Files of charts and kustomizations that are no objects by their names: `Chart.yaml`, `kustomization.yaml`. */
  readonly ownFiles: readonly FoundFile[]
  /** The folders that were gone through, without links. */
  readonly folders: ReadonlySet<string>
}

/** Files with which other tools deploy, or change the files beside them. */
const OF_TOOLS =
  /\.(?:tf|tofu)(?:\.json)?$|(?:^|[/\\])(?:helmfile[^/\\]*\.gotmpl|terragrunt[^/\\]*\.hcl|Kptfile)$/

/** What another tool fills in, with the name of a manifest before its own; and names by which people put a file aside. */
const TEMPLATE = /\.(?:ya?ml|json)\.[a-z0-9]+$|\.j(?:inja)?2$/i
const PUT_ASIDE =
  /\.(?:bak|backup|old|orig|save|swp|rej|off|disabled|examples?|samples?|dist|md|txt|license|lock|map|asc|sig|sha\d+|gz)$/i

/** What says that a folder is a Helm chart. */
const CHART_FILE = 'Chart.yaml'
/** What of a chart's folder is the chart's own: templates, subcharts, and what they are rendered with. */
const OF_CHART =
  /^(?:Chart\.(?:yaml|lock)|requirements\.(?:yaml|lock)|values.*\.(?:ya?ml|json)|templates|charts|ci)$/
/** What of that is looked through with the chart. */
const OF_TEMPLATES = /^(?:values.*\.ya?ml|values\.schema\.json|templates)$/
/** The same in the folder `charts`, from there. */
const OF_SUBCHARTS = /^(?:\/[^/]+\/charts)*\/[^/]+\/(?:values[^/]*\.ya?ml|values\.schema\.json|templates\/)$/
/** The names that kustomize looks for. */
export const KUSTOMIZATION_FILES: ReadonlySet<string> = new Set([
  'kustomization.yaml',
  'kustomization.yml',
  'Kustomization',
])

/** The files that the given paths mean, sorted by name, each once. */
export function findFiles(
  paths: readonly string[],
  options: {
    readonly cwd: string
    readonly recursive: boolean
    readonly exclude?: readonly string[]
    readonly flag?: string
  },
): FoundFiles {
  const found = new Map<string, FoundFile>()
  const places = new Map<string, string[]>()
  const aside = {
    charts: new Array<FoundFolder>(),
    overlays: new Array<FoundOverlay>(),
    odd: new Array<string>(),
    tools: new Array<FoundFile>(),
    templates: new Array<FoundFile>(),
  }
  const links: Pick<FoundFile, 'name' | 'real'>[] = []
  const toolFolders: ToolFolder[] = []
  const ownFiles: FoundFile[] = []
  const isExcluded = excluding(options.exclude ?? [])
  const problems: InputProblem[] = []
  const seenFolders = new Set<string>()
  let entriesSeen = 0

  // `place`: where it was found, without links apart from its own.
  const addFile = (name: string, path: string, real: string, place = real): void => {
    const known = found.get(real)
    const at = getOrCreate(places, real, () => [])
    at.push(place)
    if (known === undefined || compareBytes(name, known.name) < 0)
      found.set(real, { name, path, real, places: at })
  }
  const addFolder = ({ name, path, real, below, depth }: Place): void => {
    if (seenFolders.has(real)) return
    seenFolders.add(real)
    if (depth > FOLDER_DEPTH_MAX) {
      problems.push(unusable(name, `it is nested more than ${FOLDER_DEPTH_MAX} folders deep`))
      return
    }
    const entries = readdirSync(path, { withFileTypes: true })
    const before = entriesSeen
    entriesSeen += entries.length
    if (entriesSeen > ENTRIES_MAX) {
      // Told once: for the folder with which it became too much.
      if (before <= ENTRIES_MAX) problems.push(tooMany(name))
      return
    }
    const isChart = entries.some((entry) => entry.name === CHART_FILE)
    if (isChart) aside.charts.push({ name, path: real })
    for (const entry of entries.toSorted((a, b) => compareBytes(a.name, b.name))) {
      const at = below === '' ? entry.name : `${below}/${entry.name}`
      const isLeftOut = isExcluded(entry.isDirectory() ? `${at}/` : at)
      if (isLeftOut || entry.name === GIT_FOLDER) continue
      const place = {
        name: join(name, entry.name),
        path: join(path, entry.name),
        real: join(real, entry.name),
        below: at,
        depth: depth + 1,
      }
      const isOfChart = isChart && OF_CHART.test(entry.name)
      const isOverlay = !isOfChart && KUSTOMIZATION_FILES.has(entry.name)
      if (isOverlay) aside.overlays.push({ name, path: real, file: entry.name })
      if (isOverlay || isOfChart || TOOL_FOLDERS.has(entry.name)) addAside(entry, place)
      else addEntry(entry, place)
    }
  }
  // What a chart makes shows in its templates and its values, which are looked through with it.
  const addAside = (entry: Dirent, place: Place): void => {
    if (OF_TEMPLATES.test(entry.name)) return
    const isDirectory = entry.isDirectory()
    if (isDirectory && options.recursive) {
      const { length } = place.below
      const isLeftOut = (at: string): boolean => isExcluded(at) || OF_SUBCHARTS.test(at.slice(length))
      const folder = toolFolder(place, entry.name === 'charts' ? isLeftOut : isExcluded)
      const isOfTool = TOOL_FOLDERS.has(entry.name)
      if (isOfTool || folder.unread !== undefined) toolFolders.push(folder)
      else ownFiles.push(...folder.files)
    } else if (!isDirectory && MANIFEST.test(entry.name))
      ownFiles.push({ ...place, real: realOf(place.path) })
  }
  const addEntry = (entry: Dirent, place: Place): void => {
    const { name, path, real } = place
    const wanted = MANIFEST.test(name)
    try {
      // Only a link needs another look: a folder tells the type of all else, and its real path.
      const isLink = entry.isSymbolicLink()
      const facts = isLink ? statSync(path) : entry
      const target = isLink ? realpathSync.native(path) : real
      if (facts.isDirectory()) {
        if (isLink) links.push({ name, real: target })
        else if (options.recursive) addFolder({ ...place, real: target })
      } else if (facts.isFile() && OF_TOOLS.test(name)) aside.tools.push({ name, path, real: target })
      else if (wanted && facts.isFile()) addFile(name, path, target, real)
      else if (facts.isFile() && TEMPLATE.test(name) && !PUT_ASIDE.test(name))
        aside.templates.push({ name, path, real: target })
      else if (wanted) aside.odd.push(name)
    } catch (error) {
      // A dangling link, a folder without permission: only what could be a manifest or a folder of them matters.
      if (wanted || entry.isDirectory()) problems.push(unusable(name, systemReason(error)))
    }
  }

  for (const name of paths) {
    // An empty name, as of a variable that is not set, is no name of this folder.
    const path = name === '' ? '' : resolve(options.cwd, name)
    try {
      const facts = statSync(path)
      const real = realOf(path)
      const count = (): number =>
        found.size + problems.length + Object.values(aside).reduce((sum, { length }) => sum + length, 0)
      const before = count()
      if (facts.isDirectory()) addFolder({ name, path, real, below: '', depth: 0 })
      else addFile(name, path, real)
      const isEmpty = facts.isDirectory() && count() === before
      // Its files may have been found through another path already.
      const isCovered = (): boolean => found.keys().some((one) => one.startsWith(`${real}${sep}`))
      if (isEmpty && !isCovered()) problems.push(empty(name, options))
    } catch (error) {
      problems.push(missing(name, error, options.flag))
    }
  }
  const files = [...found.values()].toSorted((a, b) => compareBytes(a.name, b.name))
  const isNotNamed = ({ real }: FoundFile): boolean => !found.has(real)
  return {
    ...aside,
    files,
    links,
    problems,
    toolFolders: toolFolders.map((one) => ({ ...one, files: one.files.filter(isNotNamed) })),
    ownFiles: ownFiles.filter(isNotNamed),
    folders: seenFolders,
  }
}

/** Goes through a folder of tools. Links to folders are not followed. */
function toolFolder(root: Place, isExcluded: IsExcluded): ToolFolder {
  const files: FoundFile[] = []
  const open = [root]
  let unread: string | undefined
  let seen = 0
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { name, real, below, depth } = at
    const entries = entriesIn(real)
    seen += entries?.length ?? 0
    if (entries === undefined) unread ??= `${name} cannot be read`
    if (seen > TOOL_ENTRIES_MAX) {
      unread = `it has more than ${TOOL_ENTRIES_MAX.toLocaleString('en')} files and folders`
      break
    }
    for (const entry of entries ?? []) {
      const path = join(real, entry.name)
      const place = { name: join(name, entry.name), path, below: `${below}/${entry.name}`, depth }
      if (isExcluded(entry.isDirectory() ? `${place.below}/` : place.below)) continue
      if (entry.isDirectory()) open.push({ ...place, real: path })
      else if (MANIFEST.test(entry.name)) files.push({ ...place, real: realOf(path) })
    }
  }
  files.sort((a, b) => compareBytes(a.name, b.name))
  return { name: root.name, path: root.real, files, unread }
}

/** Where the walk has come to. */
interface Place {
  /** As the person would write it. */
  readonly name: string
  readonly path: string
  /** Without links. */
  readonly real: string
  /** From the folder that was given, with `/` between names. */
  readonly below: string
  readonly depth: number
}

/** What the system or a shell offers as files: `/dev/stdin`, and `/dev/fd/63` for `<(...)`. */
const OF_SYSTEM = /^\/(?:dev|proc)\//

/** Why what is at a path cannot be read to its end. A named pipe may never have a writer; those of the shell have one. */
export function whyNoFile(path: string, facts: Stats): string | undefined {
  if (facts.isDirectory()) return 'it is a folder'
  return facts.isFile() || OF_SYSTEM.test(path) ? undefined : 'it is a pipe or a device, and no file'
}

/** The bytes of a file, or why they cannot be had. */
export async function readBounded(
  file: Pick<FoundFile, 'name' | 'path'>,
): Promise<Uint8Array | InputProblem> {
  try {
    const facts = statSync(file.path)
    const why = whyNoFile(file.path, facts)
    if (why !== undefined) return unusable(file.name, why)
    if (facts.isFile() && facts.size <= FILE_MAX) return readFileSync(file.path)
    return await collect(createReadStream(file.path), file.name)
  } catch (error) {
    return unusable(file.name, systemReason(error))
  }
}

/** Whether a path, links followed, is a folder. */
export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** The path without links; undefined where nothing is there. */
export function realFile(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

/** The same; itself where the system cannot tell. */
export function realOf(path: string): string {
  return realFile(path) ?? path
}

/** The bytes of a stream, or why they cannot be had. */
export async function collect(
  stream: AsyncIterable<unknown>,
  name: string,
): Promise<Uint8Array | InputProblem> {
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for await (const part of stream) {
      const bytes = part instanceof Uint8Array ? part : new TextEncoder().encode(String(part))
      size += bytes.length
      if (size > FILE_MAX) return unusable(name, `it is larger than ${FILE_MAX / 1024 / 1024} MiB`)
      parts.push(bytes)
    }
  } catch (error) {
    return unusable(name, systemReason(error))
  }
  return Buffer.concat(parts)
}

/** Whether a name of kustomize's is an address of a repository, which kubectl fetches itself. */
export function isRemote(name: string): boolean {
  return /\/\/|^git@|\?ref=|^[\w-]+(?:\.[\w-]+)+\//.test(name)
}

/** What is wrong with a folder of `-k`; undefined where it is there, or cannot be looked at as a path. */
export function missingFolder(name: string, cwd: string): InputProblem | undefined {
  if (isRemote(name)) return undefined
  try {
    statSync(resolve(cwd, name))
    return undefined
  } catch (error) {
    return missing(name, error, '-k')
  }
}

function missing(name: string, error: unknown, flag = '-f'): InputProblem {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(name)
  return {
    kind: 'path',
    what: name === '' ? 'a path is empty' : `cannot read ${name}`,
    where: `${flag} ${name}`.trim(),
    why: url ? 'it is a URL, and kleym fetches nothing' : systemReason(error),
    fix: url
      ? `fetch it first: curl -fsSL ${name} | kubectl kleym ... -f -`
      : 'correct the path; it is relative to the current folder',
  }
}

/** A folder without a manifest is a slip, like a path that does not exist: an empty answer would hide it. */
function empty(
  name: string,
  { recursive, flag = '-f' }: Pick<Parameters<typeof findFiles>[1], 'recursive' | 'flag'>,
): InputProblem {
  return {
    kind: 'empty',
    what: `there is nothing to read in ${name}`,
    where: `${flag} ${name}`.trim(),
    why: `the folder has no *.yaml, *.yml or *.json${recursive ? ', nor has any folder below it' : ' of its own'}`,
    fix: recursive
      ? 'name the folder that holds the manifests'
      : 'add -R to read the folders below it too, or name another folder',
  }
}

function tooMany(name: string): InputProblem {
  return {
    kind: 'failed',
    what: `cannot read all folders below ${name}`,
    where: name,
    why: `with it there are more than ${ENTRIES_MAX.toLocaleString('en')} files and folders`,
    fix: 'name the folders that hold the manifests',
  }
}

function unusable(name: string, why: string): InputProblem {
  return {
    kind: 'failed',
    what: `cannot read ${name}`,
    where: name,
    why,
    fix: 'make it readable, or name the other files one by one',
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'you have no permission to read it',
  EPERM: 'you have no permission to read it',
  ELOOP: 'its symbolic links lead in a circle',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EISDIR: 'it is a folder',
  ENAMETOOLONG: 'the name is too long',
}

/** A system error in words; its own text names absolute paths. */
export function systemReason(error: unknown): string {
  const code = codeOf(error)
  return REASONS[code] ?? `the system says ${code === '' ? 'unknown error' : code}`
}
