// The namespaces of objects that name none. What deploys a folder of the tree may give one (`destination.namespace` of Argo CD): then they
// are in that, and in several if several deploy the folder.
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { eachOf, type Deploying, type OwnTree } from './deployers.ts'

/** By folder: the namespaces that its deployers give; undefined among them: one that is filled in later. */
type Given = ReadonlyMap<string, ReadonlySet<string | undefined>>

interface Placing {
  readonly all: Given
  /** Of those that deploy all folders below as well. */
  readonly whole: Given
}

/** What deployers give to the folders of the tree that they deploy. */
export function placingBy(all: readonly Deploying[], tree: OwnTree): Placing {
  const here = { ...tree, isOwn: tree.mayBeOwn }
  const placing = {
    all: new Map<string, Set<string | undefined>>(),
    whole: new Map<string, Set<string | undefined>>(),
  }
  for (const { deployed } of all)
    for (const one of deployed.flatMap((each) => eachOf(each, here))) {
      const { folder, namespace, openNamespace = false, isWhole } = one
      if (namespace === undefined && openNamespace === false) continue
      for (const given of isWhole === true ? [placing.all, placing.whole] : [placing.all])
        getOrCreate(given, folder, () => new Set()).add(namespace)
    }
  return placing
}

/** Whether all namespaces that are given to folders were known. */
export function isPlacedBy(placing: Placing, all: ReturnType<typeof eachOf>): boolean {
  return all.every(
    ({ folder, namespace, openNamespace = false }) =>
      (namespace === undefined && openNamespace === false) ||
      placing.all.get(folder)?.has(namespace) === true,
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

/** What the nearest folders to which anything is given have, and what is deployed whole with any of the others. */
function givenTo({ all, whole }: Placing, folders: Nearest): readonly (string | undefined)[] {
  const givenIn = (given: Given): readonly (readonly (string | undefined)[])[] =>
    folders.map((near) => near.flatMap((folder) => [...(given.get(folder) ?? [])]))
  return [...(givenIn(all).find(({ length }) => length > 0) ?? []), ...givenIn(whole).flat()]
}
