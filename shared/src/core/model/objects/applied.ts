// What applies have recorded in a live object. An apply removes the fields that an earlier apply gave and that it lacks itself. Fields that
// others have set stay, such as labels by `kubectl label` or by a controller.
import { isRecord, listAt, own, stringAt, type JsonRecord } from '../../base/json.ts'
import { groupOfApiVersion } from '../kinds.ts'

/** The annotation in which `kubectl apply` keeps the manifest. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** The manifest in that annotation; undefined: there is none, or it is not by kubectl. */
export function lastApplied(annotation: string | undefined): JsonRecord | undefined {
  try {
    const manifest: unknown = JSON.parse(annotation ?? 'null')
    return isRecord(manifest) ? manifest : undefined
  } catch {
    return undefined
  }
}

/** What applies have given, by the field at which one is: of client-side applies its value, of server-side ones their `fieldsV1`. */
interface Applied {
  readonly client: unknown
  readonly server: readonly unknown[]
}

/** What of an object's metadata tells of its applies. */
export type AppliedRecord = Pick<JsonRecord, 'annotations' | 'managedFields'>

/** That no apply has given anything. */
const NOTHING: Applied = { client: undefined, server: [] }

/** The record of applies in metadata; undefined: there is none. */
export function appliedRecord(metadata: unknown): AppliedRecord | undefined {
  const annotation = stringAt(metadata, 'annotations', LAST_APPLIED)
  const managedFields = listAt(metadata, 'managedFields').filter((one) => own(one, 'operation') === 'Apply')
  if (lastApplied(annotation) === undefined && managedFields.length === 0) return undefined
  return { annotations: annotation === undefined ? {} : { [LAST_APPLIED]: annotation }, managedFields }
}

/** A live object once a manifest is applied over it; without a record, as if no apply had given any of its fields. */
export function afterApply(
  given: JsonRecord,
  live: JsonRecord,
  record: AppliedRecord | undefined,
): JsonRecord {
  const applied =
    record === undefined
      ? NOTHING
      : {
          client: lastApplied(stringAt(record, 'annotations', LAST_APPLIED)),
          server: listAt(record, 'managedFields').map((one) => own(one, 'fieldsV1')),
        }
  const keys = BUILT_IN.has(groupOfApiVersion(stringAt(live, 'apiVersion') ?? '')) ? ITEM_KEYS : NO_KEYS
  return mergedRecord(given, live, applied, keys)
}

/** The groups of pods and of Kubernetes' own workloads, whose lists are merged by a key. In custom resources a list is replaced. */
const BUILT_IN: ReadonlySet<string> = new Set(['', 'apps', 'batch'])
/** `patchMergeKey` of the lists in a pod's spec that are read: k8s.io/api v1.36, core/v1/types.go. */
const ITEM_KEYS: ReadonlyMap<string, string> = new Map([
  ['containers', 'name'],
  ['initContainers', 'name'],
  ['volumes', 'name'],
  ['env', 'name'],
  ['volumeMounts', 'mountPath'],
])
const NO_KEYS: ItemKeys = new Map()

type ItemKeys = typeof ITEM_KEYS

function mergedRecord(given: JsonRecord, live: JsonRecord, applied: Applied, keys: ItemKeys): JsonRecord {
  // An assignment to `__proto__` would make no field of it.
  const merged = new Map(Object.entries(given))
  for (const [field, value] of Object.entries(live)) {
    const below = belowField(applied, field)
    const merging = { itemKey: keys.get(field), keys }
    const after = Object.hasOwn(given, field)
      ? mergedValue(given[field], value, below, merging)
      : staying(value, below, merging)
    if (after !== undefined) merged.set(field, after)
  }
  return Object.fromEntries(merged)
}

/** How a value is merged: a list by this key of its items; undefined: it is replaced. */
interface Merging {
  readonly itemKey: string | undefined
  readonly keys: ItemKeys
}

function mergedValue(given: unknown, live: unknown, applied: Applied, { itemKey, keys }: Merging): unknown {
  if (isRecord(given) && isRecord(live)) return mergedRecord(given, live, applied, keys)
  return itemKey !== undefined && Array.isArray(given) && Array.isArray(live)
    ? mergedList(given, live, applied, { itemKey, keys })
    : given
}

/** What stays of a live field that the manifest leaves out: all of it, what no apply has given of it, or nothing. */
function staying(value: unknown, applied: Applied, merging: Merging): unknown {
  if (!isApplied(applied)) return value
  // A client-side apply takes the field away with all that is in it; a server-side one what is its own.
  if (applied.client !== undefined || applied.server.some(isWhole)) return undefined
  const rest = mergedValue(Array.isArray(value) ? [] : {}, value, applied, merging)
  return isRecord(rest) && Object.keys(rest).length === 0 ? undefined : rest
}

function isApplied({ client, server }: Applied): boolean {
  return client !== undefined || server.length > 0
}

function mergedList(
  given: readonly unknown[],
  live: readonly unknown[],
  applied: Applied,
  { itemKey, keys }: { readonly itemKey: string; readonly keys: ItemKeys },
): readonly unknown[] {
  const byKey = (list: readonly unknown[]): ReadonlyMap<unknown, unknown> =>
    new Map(list.map((one) => [own(one, itemKey), one]))
  const [givenItems, liveItems] = [byKey(given), byKey(live)]
  const clientItems = byKey(Array.isArray(applied.client) ? applied.client : [])
  const below = (name: unknown): Applied => ({
    client: clientItems.get(name),
    server: fieldsBelow(applied.server, `k:${JSON.stringify({ [itemKey]: name })}`),
  })
  const merged = given.map((one) => {
    const name = own(one, itemKey)
    return mergedValue(one, liveItems.get(name), below(name), { itemKey: undefined, keys })
  })
  // An item that an apply gave goes with all that is in it.
  const others = [...liveItems].flatMap(([name, one]) =>
    givenItems.has(name) || isApplied(below(name)) ? [] : [one],
  )
  return [...merged, ...others]
}

function belowField({ client, server }: Applied, key: string): Applied {
  return { client: own(client, key), server: fieldsBelow(server, `f:${key}`) }
}

/** Who owns a whole value owns what is in it. */
function fieldsBelow(server: readonly unknown[], name: string): readonly unknown[] {
  return server.flatMap((one) => (isWhole(one) ? [one] : (own(one, name) ?? [])))
}

function isWhole(fields: unknown): boolean {
  return isRecord(fields) && Object.keys(fields).length === 0
}
