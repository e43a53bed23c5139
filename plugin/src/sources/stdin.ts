// How stdin is called, apart from what reads it: the flags need the word, and not the readers.
import { wrongUsage } from '../io/errors.ts'

/** How a command line calls stdin. */
export const STDIN_ARGUMENT = '-'

/** Throws a usage error where more than one of the paths that a command reads is stdin. */
export function requireStdinOnce(
  command: string,
  paths: readonly (string | undefined)[],
  fix: string,
  where?: string,
): void {
  if (paths.filter((path) => path === STDIN_ARGUMENT).length > 1)
    throw wrongUsage(command, { what: 'stdin is given twice', where, why: 'it can be read only once', fix })
}
