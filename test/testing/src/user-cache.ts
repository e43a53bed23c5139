// Where this project keeps on a machine what takes long to make or to learn.
import { homedir } from 'node:os'
import { join } from 'node:path'

/** `~/.cache/kleym`, or what `XDG_CACHE_HOME` says instead of `~/.cache`. */
export function userCache(env: Readonly<Record<string, string | undefined>>): string {
  const xdg = env['XDG_CACHE_HOME'] ?? ''
  return join(xdg === '' ? join(homedir(), '.cache') : xdg, 'kleym')
}
