// Namespaces by name: made once for a snapshot, since rules ask for that of each of a hundred thousand pods.
import type { Namespace } from '../model/objects/pod.ts'

const BY_NAME = new WeakMap<readonly Namespace[], ReadonlyMap<string, Namespace>>()

/** Those that were given. Of one that was not, labels are not known: that it is missing says nothing else. */
export function namespacesByName({
  namespaces,
}: {
  readonly namespaces: readonly Namespace[]
}): ReadonlyMap<string, Namespace> {
  const known = BY_NAME.get(namespaces)
  if (known !== undefined) return known
  const byName = new Map(namespaces.map((one) => [one.name, one]))
  BY_NAME.set(namespaces, byName)
  return byName
}
