// Namespaces by name, made once for a snapshot, since rules ask for that of each of a hundred thousand pods; and whether anything has a
// class, by which an SCM takes what it handles.
import { getOrCreate } from '../base/get-or-create.ts'
import type { Namespace } from '../model/objects/pod.ts'
import type { KindListing } from './listing.ts'
import type { Snapshot } from './snapshot.ts'

const BY_NAME = new WeakMap<KindListing<Namespace>, ReadonlyMap<string, Namespace>>()

/** Those that were given. Of one that was not, labels are not known: that it is missing says nothing else. */
export function namespacesByName({
  namespaces,
}: Pick<Snapshot, 'namespaces'>): ReadonlyMap<string, Namespace> {
  return getOrCreate(BY_NAME, namespaces, () => new Map(namespaces.read.map((one) => [one.name, one])))
}

/** The names of all namespaces that anything here is in, or will be in; undefined: they are not all known. */
export function allNamespaces({ namespaces, podMakers, rest }: Snapshot): readonly string[] | undefined {
  const isKnown = podMakers.length === 0 && rest.isEmpty
  return isKnown ? namespaces.read.map(({ name }) => name) : undefined
}

/** Whether anything has a class. */
export function isAnyClassed({ clusterSpiffeIds, staticEntries, federatedTrustDomains }: Snapshot): boolean {
  return clusterSpiffeIds.isAnyRead || staticEntries.isAnyRead || federatedTrustDomains.isAnyRead
}
