// Which object an object is: two with one key are one object, in files and in a cluster.
import { kindKey } from '@kleym/shared/core/model/kinds.ts'
import { readObjectVersion } from '@kleym/shared/core/model/objects/meta.ts'

/** Group, kind, namespace and name; the version does not count. */
export function objectKey(value: unknown): string {
  const { namespace, name } = readObjectVersion(value)
  return JSON.stringify([kindKey(value), namespace, name])
}
