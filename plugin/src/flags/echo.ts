// The flags that say where an answer comes from, as they were given: a command that kleym tells a person to run must ask the
// same files and the same cluster.
import { clusterFlags } from './cluster-flags.ts'
import { settingsFlags, sourceFlags } from './flags.ts'

/** What is left out: `-n` limits the question, and a token does not belong on a screen. */
const NOT_ECHOED: ReadonlySet<string> = new Set(['namespace', 'token'])

/** ` --offline -R -f pr/`: the flags of source, settings and cluster that were given, with a blank before each. */
export function echoOf(flags: Readonly<Record<string, unknown>>): string {
  const names = [...Object.keys(sourceFlags), ...Object.keys(settingsFlags), ...Object.keys(clusterFlags)]
  return names
    .filter((name) => !NOT_ECHOED.has(name))
    .flatMap((name) => {
      const value = flags[name]
      if (value === true) return [` ${written(name)}`]
      const values = Array.isArray(value) ? value : [value]
      return values.flatMap((one) => (typeof one === 'string' ? [` ${written(name)} ${shellWord(one)}`] : []))
    })
    .join('')
}

const SHORT: Readonly<Record<string, string>> = { filename: '-f', recursive: '-R', kustomize: '-k' }

function written(name: string): string {
  return SHORT[name] ?? `--${name}`
}

/** A word for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
