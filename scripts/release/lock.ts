// Which packages a workspace rests on, from package-lock.json (version 3):
// https://docs.npmjs.com/cli/v11/configuring-npm/package-lock-json
import { isRecord, own, type JsonRecord } from '../../shared/src/core/base/json.ts'

const MODULES = 'node_modules/'

/** A package that is installed. */
export interface LockedPackage {
  readonly name: string
  readonly version: string
  /** The folder from the project's root, e.g. `node_modules/a/node_modules/b`. */
  readonly path: string
  /** An SPDX expression; empty where the package names none. */
  readonly licence: string
  /** `sha512-` and base64, of the package's archive; empty for a workspace. */
  readonly integrity: string
  /** The paths of what it depends on, sorted. */
  readonly dependencies: readonly string[]
}

/**
 * What a workspace needs when it runs, itself first and the rest by path: no development dependencies, no optional ones.
 * Throws where the lock holds no such workspace, or misses a package.
 */
export function runtimePackages(lock: unknown, workspace: string): readonly LockedPackage[] {
  const packages = isRecord(lock) ? own(lock, 'packages') : undefined
  if (!isRecord(packages)) throw new TypeError('package-lock.json has no packages')
  const found = new Map<string, LockedPackage>()
  const waiting = [workspace]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue
    const one = packageAt(packages, path)
    found.set(path, one)
    waiting.push(...one.dependencies)
  }
  const [first, ...rest] = found.values()
  return first === undefined ? [] : [first, ...rest.toSorted((a, b) => (a.path < b.path ? -1 : 1))]
}

function packageAt(packages: JsonRecord, path: string): LockedPackage {
  const entry = own(packages, path)
  if (!isRecord(entry)) throw new RangeError(`package-lock.json has no ${path}`)
  const text = (key: string): string => {
    const value = own(entry, key)
    return typeof value === 'string' ? value : ''
  }
  const wanted = own(entry, 'dependencies')
  const names = isRecord(wanted) ? Object.keys(wanted) : []
  return {
    name: text('name') === '' ? path.slice(path.lastIndexOf(MODULES) + MODULES.length) : text('name'),
    version: text('version'),
    path,
    licence: text('license'),
    integrity: text('integrity'),
    dependencies: names.map((name) => resolve(packages, path, name)).toSorted(),
  }
}

/** The folder that Node finds for a name: the nearest `node_modules` on the way up; a workspace's link leads to itself. */
function resolve(packages: JsonRecord, from: string, name: string): string {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = folder === '' ? `${MODULES}${name}` : `${folder}/${MODULES}${name}`
    const entry = own(packages, path)
    if (isRecord(entry)) {
      const target = own(entry, 'resolved')
      return own(entry, 'link') === true && typeof target === 'string' ? target : path
    }
    if (folder === '') throw new RangeError(`package-lock.json has no ${name}, which ${from} depends on`)
  }
}
