// Kubeconfig files as entries, merged as kubectl merges them: the first file that names a thing wins, and a path in a
// file is relative to that file. https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
import { readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { parse } from 'yaml'
import { isRecord, listAt, own, stringAt, type JsonRecord } from '../core/base/json.ts'
import { ClusterConfigError } from './cluster.ts'
import { codeOf } from './failures.ts'

/** A named cluster, user or context, and the file that it is from. */
export interface Entry {
  readonly file: string
  readonly body: JsonRecord
}

export interface Kubeconfig {
  readonly clusters: ReadonlyMap<string, Entry>
  readonly users: ReadonlyMap<string, Entry>
  readonly contexts: ReadonlyMap<string, Entry>
  /** Empty where no file names one. */
  readonly currentContext: string
  /** Those that were there. */
  readonly files: readonly string[]
}

export interface KubeconfigFiles {
  readonly paths: readonly string[]
  /** True where a missing file is an error: it was asked for by name. */
  readonly demanded: boolean
}

/** The fields of a cluster and a user that hold a path. */
const PATHS = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'] as const

/** Reads and merges; undefined where no file is there. Rejects with a ClusterConfigError. */
export async function readKubeconfigs({ paths, demanded }: KubeconfigFiles): Promise<Kubeconfig | undefined> {
  const clusters = new Map<string, Entry>()
  const users = new Map<string, Entry>()
  const contexts = new Map<string, Entry>()
  const files: string[] = []
  let currentContext = ''
  for (const path of paths) {
    const text = await readText(path, demanded)
    if (text === undefined) continue
    const config = parseConfig(text, path)
    files.push(path)
    currentContext ||= stringAt(config, 'current-context') ?? ''
    gather(config, { list: 'clusters', field: 'cluster', path }, clusters)
    gather(config, { list: 'users', field: 'user', path }, users)
    gather(config, { list: 'contexts', field: 'context', path }, contexts)
  }
  return files.length === 0 ? undefined : { clusters, users, contexts, currentContext, files }
}

async function readText(path: string, demanded: boolean): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && !demanded) return undefined
    throw new ClusterConfigError(
      {
        what: 'cannot read the kubeconfig',
        where: path,
        why: codeOf(error) === 'ENOENT' ? 'there is no such file' : `the system says ${codeOf(error)}`,
        fix: 'check the path and the permissions',
      },
      { cause: error },
    )
  }
}

function parseConfig(text: string, path: string): JsonRecord {
  const broken = (why: string, cause?: unknown): ClusterConfigError =>
    new ClusterConfigError(
      {
        what: 'cannot understand the kubeconfig',
        where: path,
        why,
        fix: 'compare it with `kubectl config view`',
      },
      { cause },
    )
  let config: unknown
  try {
    // The excerpt that the parser would add to its messages can hold a secret.
    config = parse(text, { prettyErrors: false, logLevel: 'error' })
  } catch (error) {
    throw broken('it is no valid YAML', error)
  }
  if (config === null) return {}
  if (!isRecord(config)) throw broken('it is no mapping')
  return config
}

function gather(
  config: JsonRecord,
  { list, field, path }: { readonly list: string; readonly field: string; readonly path: string },
  into: Map<string, Entry>,
): void {
  for (const row of listAt(config, list)) {
    const name = stringAt(row, 'name')
    const body = own(row, field)
    if (name === undefined || into.has(name)) continue
    into.set(name, { file: path, body: isRecord(body) ? absolute(body, dirname(path)) : {} })
  }
}

function absolute(body: JsonRecord, folder: string): JsonRecord {
  const moved: Record<string, unknown> = { ...body }
  for (const field of PATHS) {
    const path = stringAt(body, field)
    if (path !== undefined && path !== '') moved[field] = within(folder, path)
  }
  const exec = own(body, 'exec')
  const command = stringAt(exec, 'command')
  // A bare command is looked up in PATH.
  if (isRecord(exec) && command !== undefined && /[/\\]/.test(command))
    moved['exec'] = { ...exec, command: within(folder, command) }
  return moved
}

function within(folder: string, path: string): string {
  return isAbsolute(path) ? path : join(folder, path)
}
