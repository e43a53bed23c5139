// How long each suite took when it ran last on this machine, kept in the user's cache folder. It decides the order of suites alone.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { userCache } from './user-cache.ts'

/** Where they are kept. */
export const SUITE_SECONDS_FILE = join(userCache(process.env), 'suite-seconds.json')

/** Seconds by the path of a suite, from the root of the project. */
type SuiteSeconds = Readonly<Record<string, number>>

/** What the file holds; nothing if it cannot be read: then no suite is known. */
export function readSuiteSeconds(file: string): SuiteSeconds {
  try {
    const seconds: unknown = JSON.parse(readFileSync(file, 'utf8'))
    const known = Object.entries(seconds ?? {}).filter(([, each]) => Number.isFinite(each))
    return Object.fromEntries(known)
  } catch {
    return {}
  }
}

/** Keeps what suites took; what the file knows of others stays. */
export function keepSuiteSeconds(
  file: string,
  took: readonly { readonly name: string; readonly seconds: number }[],
): void {
  const now = Object.fromEntries(took.map(({ name, seconds }) => [name, Math.round(seconds)]))
  mkdirSync(dirname(file), { recursive: true })
  const unfinished = `${file}.${process.pid}`
  writeFileSync(unfinished, JSON.stringify({ ...readSuiteSeconds(file), ...now }, undefined, 1))
  renameSync(unfinished, file)
}

/** Suites in an order in which the longest comes first; before all, in the order given, those that nobody knows. */
export function longestFirst<T>(
  suites: readonly T[],
  pathOf: (suite: T) => string,
  seconds: SuiteSeconds,
): readonly T[] {
  const of = (suite: T): number => seconds[pathOf(suite)] ?? Number.MAX_SAFE_INTEGER
  return suites.toSorted((a, b) => of(b) - of(a))
}
