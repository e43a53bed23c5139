// Which object an object is: two with one key are one object, in files and in a cluster.
import { kindKey } from '../kinds.ts'
import { readObjectVersion } from './meta.ts'

/** Group, kind, namespace and name; the version does not count. */
export function objectKey(value: unknown): string {
  const { namespace, name } = readObjectVersion(value)
  return keyOfNames(kindKey(value), namespace, name)
}

/** The same by the names; `kind` as `kindKey` has it. */
export function keyOfNames(kind: string, namespace: string, name: string): string {
  return JSON.stringify([kind, namespace, name])
}
