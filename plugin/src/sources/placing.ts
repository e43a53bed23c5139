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

/** Whether all namespaces that are given to folders were known. */
export function isPlacedBy(placing: Placing, all: ReturnType<typeof eachOf>): boolean {
  return all.every(
    ({ folder, namespace, openNamespace = false }) =>
      (namespace === undefined && openNamespace === false) || placing.get(folder)?.has(namespace) === true,
  )
}

/** Folders from which something may be deployed, the nearest first. */
export type Nearest = readonly (readonly string[])[]

/**
 * The namespaces of objects that name none, by the folders from which each of their places may be deployed; empty: they are not known.
 * Undefined: nothing gives any.
 */
export function namespacesIn(placing: Placing, places: readonly Nearest[]): readonly string[] | undefined {
  const given = new Set(places.flatMap((folders) => givenTo(placing, folders)))
  if (given.size === 0) return undefined
  return given.has(undefined) ? [] : [...given].flatMap((one) => one ?? []).toSorted()
}

/** What the nearest folders to which anything is given have. */
function givenTo(placing: Placing, folders: Nearest): readonly (string | undefined)[] {
  const given = folders.map((near) => near.flatMap((folder) => [...(placing.get(folder) ?? [])]))
  return given.find(({ length }) => length > 0) ?? []
}
