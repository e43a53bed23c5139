// Where a completion says what went wrong: nowhere, or the file that programs of cobra use for it. Whatever is printed
// while a shell completes would end up in the middle of what a person types.
import { appendFileSync } from 'node:fs'

/** Appends lines to the file that BASH_COMP_DEBUG_FILE names; does nothing without it, or where that cannot be. */
export function debugTo(env: Readonly<Record<string, string | undefined>>): (line: string) => void {
  const file = env['BASH_COMP_DEBUG_FILE'] ?? ''
  if (file === '') return () => undefined
  return (line) => {
    try {
      appendFileSync(file, `kubectl-kleym: ${line}\n`)
    } catch {
      // A debug file that cannot be written is no reason to print into a person's command line.
    }
  }
}
