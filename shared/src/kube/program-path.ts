// Where a program is that is named without a path: kubectl, an exec plugin, a diff tool. Windows looks into the current
// folder first, and so does PATH on Linux where it has an empty entry or a dot; a folder of manifests comes from a stranger,
// who may have put a kubectl.exe into it. As Go's os/exec, kubectl's own way to find programs, nothing is taken from there.
// https://pkg.go.dev/os/exec#hdr-Executables_in_the_current_directory
import { accessSync, constants, statSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import process from 'node:process'

type Env = Readonly<Record<string, string | undefined>>

/** What finding a program asks of the system. */
export interface ProgramSystem {
  readonly platform: NodeJS.Platform
  /** Whether there is a file that may be run. */
  readonly isProgram: (path: string) => boolean
}

/** This machine. */
export const thisSystem: ProgramSystem = {
  platform: process.platform,
  isProgram: (path) => {
    try {
      accessSync(path, constants.X_OK)
      return statSync(path).isFile()
    } catch {
      return false
    }
  },
}

/** What Windows starts without a shell. */
const WINDOWS_SUFFIXES = ['.exe', '.com']

/** With its drive or its server: `\\tools` is of whatever drive is the current one. */
const WINDOWS_ROOT = /^(?:[A-Za-z]:[/\\]|\\\\)/

/**
 * The absolute path of a program on the PATH; undefined where it is on none of its absolute folders. A name that holds a
 * path already is given back as it is.
 */
export function findProgram(
  name: string,
  env: Env,
  { platform, isProgram }: ProgramSystem = thisSystem,
): string | undefined {
  const isWindows = platform === 'win32'
  if (isWindows ? /[/\\:]/.test(name) : name.includes('/')) return name
  const path = isWindows ? win32 : posix
  const hasSuffix = WINDOWS_SUFFIXES.some((suffix) => name.toLowerCase().endsWith(suffix))
  const names = !isWindows || hasSuffix ? [name] : WINDOWS_SUFFIXES.map((suffix) => name + suffix)
  return pathIn(env, isWindows)
    .split(path.delimiter)
    .filter((folder) => (isWindows ? WINDOWS_ROOT.test(folder) : path.isAbsolute(folder)))
    .flatMap((folder) => names.map((each) => path.join(folder, each)))
    .find((candidate) => isProgram(candidate))
}

/** On Windows the names of variables have no case: it is `Path` there. */
function pathIn(env: Env, isWindows: boolean): string {
  if (!isWindows) return env['PATH'] ?? ''
  return Object.entries(env).find(([name]) => name.toUpperCase() === 'PATH')?.[1] ?? ''
}
