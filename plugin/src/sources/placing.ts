// The namespaces of objects that name none. What deploys a folder of the tree may give one (`destination.namespace` of Argo CD): then they
// are in that, and in several if several deploy the folder.
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { eachOf, type Deploying, type OwnTree } from './deployers.ts'

/** By folder: the namespaces that its deployers give; undefined among them: one that is filled in later. */
type Placing = ReadonlyMap<string, ReadonlySet<string | undefined>>

/** What deployers give to the folders of the tree that they deploy. */
export function placingBy(all: readonly Deploying[], tree: OwnTree): Placing {
  const here = { ...tree, isOwn: tree.mayBeOwn }
  const placing = new Map<string, Set<string | undefined>>()
  for (const { deployed } of all)
    for (const { folder, namespace, openNamespace = false } of deployed.flatMap((one) => eachOf(one, here)))
      if (namespace !== undefined || openNamespace !== false)
        getOrCreate(placing, folder, () => new Set()).add(namespace)
  return placing
}

/**
 * The namespaces of objects that name none, by the folders from which they may be deployed, the nearest first; empty: they are not known.
 * Undefined: nothing gives any.
 */
export function namespacesIn(
  placing: Placing,
  folders: readonly (readonly string[])[],
): readonly string[] | undefined {
  for (const near of folders) {
    const given = new Set(near.flatMap((folder) => [...(placing.get(folder) ?? [])]))
    if (given.size > 0) return given.has(undefined) ? [] : [...given].flatMap((one) => one ?? []).toSorted()
  }
  return undefined
}
