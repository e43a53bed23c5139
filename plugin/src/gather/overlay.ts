// Files over what is live: an object in a file shadows the live one of the same group, kind, namespace and name, and
// keeps what only the server gives (docs/cluster.md, "Files over the cluster").
import { compareSubjects, type Subject } from '@kleym/shared/core/model/objects/subject.ts'
import {
  ACCESS_POLICY_KIND,
  BINDING,
  REGISTRATIONS,
  OBJECTIVE_KINDS,
  POOL_KINDS,
  kindOf,
  qualifiedKind,
  kindKey,
} from '@kleym/shared/core/model/kinds.ts'
import { isRecord, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { appliedKeys } from '@kleym/shared/core/model/objects/applied.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import { recordAt } from '@kleym/shared/core/model/objects/pod.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { WORKLOAD_KINDS } from '@kleym/shared/core/model/objects/workload.ts'
import type { ObjectName } from '../sources/kind-name.ts'

const SERVER_METADATA = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'ownerReferences',
]

/** The live objects with the files applied. */
export function overlay(live: readonly RawObject[], files: readonly RawObject[]): readonly RawObject[] {
  if (live.length === 0) return files
  if (files.length === 0) return live
  const merged = new Map(live.map((object) => [identityOf(object), object]))
  for (const file of files) {
    const shadowed = merged.get(identityOf(file))
    merged.set(identityOf(file), shadowed === undefined ? file : asUpdate(file, shadowed.value))
  }
  return [...merged.values()]
}

/** The live objects that no file shadows, of the kinds that people keep in files; in a total order. */
export function takenToStay(live: readonly RawObject[], files: readonly RawObject[]): readonly Subject[] {
  const given = new Set(files.map(identityOf))
  return live
    .filter((object) => KEPT_IN_FILES.has(kindKey(object.value)) && !given.has(identityOf(object)))
    .map(({ value }) => {
      const { namespace, name } = readMeta(value)
      return { kind: stringAt(value, 'kind') ?? '', namespace, name }
    })
    .toSorted(compareSubjects)
}

/** What a pull request may delete. Pods and nodes are not kept in files, and SCM's settings are told apart from objects. */
const KEPT_IN_FILES: ReadonlySet<string> = new Set(
  [BINDING, ...POOL_KINDS, ...OBJECTIVE_KINDS, ...REGISTRATIONS, ...WORKLOAD_KINDS, ACCESS_POLICY_KIND].map(
    qualifiedKind,
  ),
)

/** What is left once the API server has deleted some objects, all that is in them, and all that they own. */
export function afterDeletionOf(
  deleted: readonly RawObject[],
  objects: readonly RawObject[],
): readonly RawObject[] {
  const uids = new Set<string>()
  const namespaces = new Set<string>()
  let gone = new Set(deleted)
  let kept = objects
  while (gone.size > 0) {
    for (const { value } of gone) {
      const { uid, name } = readMeta(value)
      if (uid !== undefined) uids.add(uid)
      if (kindKey(value) === 'Namespace') namespaces.add(name)
    }
    const stays = kept.filter((one) => !gone.has(one))
    gone = new Set(stays.filter(({ value }) => goesAlong(value, uids, namespaces)))
    kept = stays
  }
  return kept
}

function goesAlong(value: JsonRecord, uids: ReadonlySet<string>, namespaces: ReadonlySet<string>): boolean {
  const { namespace, ownerReferences } = readMeta(value)
  const isOwned = (owner: unknown): boolean => uids.has(stringAt(owner, 'uid') ?? '')
  return namespaces.has(namespace) || (ownerReferences.length > 0 && ownerReferences.every(isOwned))
}

/** Whether an object is the one that a command line names; a cluster-scoped one has no namespace to compare. */
export function isNamed(value: JsonRecord, named: ObjectName, namespace: string): boolean {
  const meta = readMeta(value)
  const { group } = kindOf(value)
  return (
    value['kind'] === named.kind &&
    (named.group === undefined || named.group === group) &&
    meta.name === named.name &&
    (meta.namespace === '' || meta.namespace === (named.namespace ?? namespace))
  )
}

function identityOf({ value }: RawObject): string {
  const { namespace, name } = readMeta(value)
  return JSON.stringify([kindOf(value).group, value['kind'], namespace, name])
}

/** A Pod keeps its node and its service account, which its manifest leaves out: no apply takes a field of its spec away. */
function asUpdate(file: RawObject, live: JsonRecord): RawObject {
  const before = isRecord(live['metadata']) ? live['metadata'] : {}
  const kept = Object.fromEntries(
    SERVER_METADATA.flatMap((key) => (key in before ? [[key, before[key]]] : [])),
  )
  const given = isRecord(file.value['metadata']) ? file.value['metadata'] : {}
  const fields = kindKey(live) === 'Namespace' ? MARKS.map((field) => marksAfter(field, given, before)) : []
  const metadata = Object.assign({ ...given, ...kept }, ...fields.map(({ certain }) => certain))
  const perhaps = fields.flatMap((one) => one.perhaps)
  return {
    ...file,
    value: {
      ...file.value,
      metadata,
      ...(kindKey(live) === 'Pod' && {
        spec: { ...recordAt(live, 'spec'), ...recordAt(file.value, 'spec') },
      }),
      ...('status' in live ? { status: live['status'] } : {}),
    },
    ...(perhaps.length > 0 && { perhapsKept: new Map(perhaps) }),
  }
}

const MARKS = ['labels', 'annotations'] as const

interface MarksAfter {
  readonly certain: JsonRecord
  readonly perhaps: readonly (readonly [string, string])[]
}

/** The labels or annotations of a live object after an apply. Those that no earlier apply gave stay: others have set them. */
function marksAfter(field: (typeof MARKS)[number], given: JsonRecord, live: JsonRecord): MarksAfter {
  const own = recordAt(given, field)
  const applied = appliedKeys(live, field)
  const others = Object.entries(recordAt(live, field)).filter(([key]) => !Object.hasOwn(own, key))
  if (applied === undefined)
    return {
      certain: {},
      perhaps: others.flatMap(([key, value]) => (typeof value === 'string' ? [[key, value] as const] : [])),
    }
  const stay = Object.fromEntries(others.filter(([key]) => !applied.has(key)))
  return { certain: { [field]: { ...stay, ...own } }, perhaps: [] }
}
