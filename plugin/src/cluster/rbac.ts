// What a user would need to be allowed, for what the API server forbade: a rule that can be pasted into a Role.
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import type { Resource } from '@kleym/shared/kube/api.ts'
import { RESOURCES, resourceName } from '@kleym/shared/kube/resources.ts'

const BY_NAME: ReadonlyMap<string, Resource> = new Map(
  RESOURCES.map((resource) => [resourceName(resource), resource]),
)

/** The RBAC rules that would allow what the API server forbade, one line each, below the Role or ClusterRole that needs them. */
export function missingRbacRules(unknown: readonly UnknownReason[]): readonly string[] {
  const byPlace = Map.groupBy(
    unknown.filter(({ cause, what }) => cause === 'forbidden' && BY_NAME.has(what)),
    placeOf,
  )
  // Namespaces that need the same rules share them.
  const byRules = Map.groupBy(
    [...byPlace].map(([namespace, reads]) => ({ namespace, rules: rulesOf(reads) })),
    ({ namespace, rules }) => JSON.stringify([namespace === undefined, rules]),
  )
  return [...byRules.values()].flatMap((places) => [
    `${placesText(places.flatMap(({ namespace }) => namespace ?? []))} would need these rules:`,
    ...(places[0]?.rules ?? []),
  ])
}

/** The namespace whose Role could allow a read; undefined: a ClusterRole must. */
function placeOf({ namespace, what }: UnknownReason): string | undefined {
  return BY_NAME.get(what)?.namespaced === false ? undefined : namespace
}

function placesText(namespaces: readonly string[]): string {
  if (namespaces.length === 0) return 'a ClusterRole'
  return namespaces.length === 1
    ? `a Role in namespace ${namespaces[0]}`
    : `a Role in each of the namespaces ${namespaces.join(', ')}`
}

/** One rule for each API group and verb. */
function rulesOf(reads: readonly UnknownReason[]): readonly string[] {
  const asked = reads.flatMap(({ verb, what }) => {
    const resource = BY_NAME.get(what)
    return resource === undefined ? [] : [{ verb, ...resource }]
  })
  const rules = Map.groupBy(
    asked,
    ({ group, verb }) => `apiGroups: [${JSON.stringify(group)}], verbs: [${verb}]`,
  )
  return [...rules].map(([rule, resources]) => {
    const plurals = new Set(resources.map(({ plural }) => plural))
    return `  - {${rule}, resources: [${[...plurals].join(', ')}]}`
  })
}
