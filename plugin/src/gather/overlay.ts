// Files over what is live: an object in a file shadows the live one of the same group, kind, namespace and name, and
// keeps what only the server gives (docs/cluster.md, "Files over the cluster").
import { isDeepStrictEqual } from 'node:util'
import { compareSubjects, type Subject } from '@kleym/shared/core/model/objects/subject.ts'
import {
  ACCESS_POLICY_KIND,
  BINDING,
  REGISTRATIONS,
  OBJECTIVE_KINDS,
  POLICY_KINDS,
  POOL_KINDS,
  kindOf,
  qualifiedKind,
  kindKey,
} from '@kleym/shared/core/model/kinds.ts'
import { stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { CLUSTER_SPIFFE_ID_KIND, CLUSTER_STATIC_ENTRY_KIND } from '@kleym/shared/core/model/names.ts'
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import { readAccessPolicy } from '@kleym/shared/core/model/objects/access-policy.ts'
import { afterApply, appliedRecord, LAST_APPLIED } from '@kleym/shared/core/model/objects/applied.ts'
import { readBinding } from '@kleym/shared/core/model/objects/binding.ts'
import { readClusterSpiffeIdSpec } from '@kleym/shared/core/model/objects/clusterspiffeid.ts'
import { readObjective, readPool } from '@kleym/shared/core/model/objects/inference.ts'
import { readClusterStaticEntry } from '@kleym/shared/core/model/objects/static-entry.ts'
import { readMeta, readObjectVersion } from '@kleym/shared/core/model/objects/meta.ts'
import {
  readPod,
  recordAt,
  serviceAccountAfterApply,
  type Pod,
} from '@kleym/shared/core/model/objects/pod.ts'
import { workloadsOf } from '@kleym/shared/core/model/objects/pod-workloads.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { isWorkload, readWorkloadPods, WORKLOAD_KINDS } from '@kleym/shared/core/model/objects/workload.ts'
import type { ObjectName } from '../sources/kind-name.ts'
import { objectKey } from '@kleym/shared/core/model/objects/object-key.ts'
import { boundedProblems, placeText, type InputProblem } from '../sources/problem.ts'

const SERVER_METADATA = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'ownerReferences',
]

/** The live objects with the files applied, and a problem for each object that is not known then. */
export function overlay(
  live: readonly RawObject[],
  files: readonly RawObject[],
): { readonly objects: readonly RawObject[]; readonly problems: readonly InputProblem[] } {
  if (live.length === 0) return { objects: files, problems: [] }
  if (files.length === 0) return { objects: live, problems: [] }
  const merged = new Map(live.map((object) => [objectKey(object.value), object]))
  const problems = files.flatMap((file) => openChange(file, merged.get(objectKey(file.value))))
  for (const file of files) {
    const shadowed = merged.get(objectKey(file.value))
    const { object, mayKeep } =
      shadowed === undefined ? { object: file, mayKeep: false } : asUpdate(file, shadowed)
    merged.set(objectKey(file.value), object)
    if (mayKeep) problems.push(mayKeepProblem(file))
  }
  return { objects: [...merged.values()], problems: boundedProblems(problems) }
}

function mayKeepProblem({ value, origin }: RawObject): InputProblem {
  const { namespace, name } = readMeta(value)
  const subject = `${stringAt(value, 'kind') ?? ''} ${namespace === '' ? name : namespacedName(namespace, name)}`
  return {
    kind: 'duplicate',
    subject,
    alike: 'live objects have fields that their manifests lack',
    what: `live ${subject} has fields that its manifest lacks`,
    where: origin === undefined ? subject : placeText(origin),
    why: 'an apply takes those away that an earlier apply gave, and no apply is on record',
    fix: 'set them in the manifest, or give a dump with its record: kubectl get -o yaml --show-managed-fields',
    reach: [{ kind: kindKey(value), namespace: namespace === '' ? undefined : namespace, name }],
  }
}

/** Of desired states, one after the other: a problem for each object that is another one after an apply than after a replacement. */
export function openChanges(
  files: readonly RawObject[],
  before: readonly RawObject[],
): readonly InputProblem[] {
  const earlier = new Map(before.filter(isBuiltInWithPods).map((object) => [objectKey(object.value), object]))
  return earlier.size === 0
    ? []
    : files.flatMap((file) => openChange(file, earlier.get(objectKey(file.value))))
}

/** Of what has pods: why it is another one after an apply than after a replacement. */
function openChange(file: RawObject, former: RawObject | undefined): readonly InputProblem[] {
  if (former === undefined || !isBuiltInWithPods(file)) return []
  const [pod, podBefore] = [podIn(file), podIn(former)]
  if (pod === undefined || podBefore === undefined) return []
  const refused = refusedChange(file, former)
  if (refused !== undefined) return [refusedChangeProblem([former, file], refused)]
  const kept =
    former.isManifest === true ? serviceAccountAfterApply(pod.spec, podBefore.spec) : pod.serviceAccountName
  return kept === pod.serviceAccountName
    ? []
    : [openAccountProblem([former, file], pod.serviceAccountName, kept)]
}

/**
 * Fields of workloads that the API server lets nobody change; in what it has stored it fills in more of some.
 * https://github.com/kubernetes/kubernetes/blob/v1.36.0/pkg/apis/apps/validation/validation.go
 */
const FIXED: ReadonlyMap<string, readonly string[]> = new Map([
  ['Deployment', ['selector']],
  ['DaemonSet', ['selector']],
  ['ReplicaSet', ['selector']],
  ['StatefulSet', ['selector', 'serviceName']],
])
const FIXED_AND_FILLED_IN: ReadonlyMap<string, readonly string[]> = new Map([
  ['StatefulSet', ['volumeClaimTemplates']],
])

/** The field that makes the API server refuse a change of what pods are; undefined: it takes it, or pods stay as they are. */
function refusedChange(file: RawObject, former: RawObject): string | undefined {
  const { kind } = kindOf(file.value)
  if (kind === 'Pod') return isOtherPod(file, former) ? 'spec' : undefined
  if (isDeepStrictEqual(readOf(file), readOf(former))) return undefined
  if (kind === 'Job')
    return hasOtherLabels(file, former) || isOtherPod(file, former) ? 'spec.template' : undefined
  const filledIn = former.isManifest === true ? FIXED_AND_FILLED_IN.get(kind) : undefined
  const [spec, specBefore] = [file, former].map(({ value }) => recordAt(value, 'spec'))
  const field = [...(FIXED.get(kind) ?? []), ...(filledIn ?? [])].find((one) => {
    const [now, then] = [spec?.[one], specBefore?.[one]]
    return now !== undefined && then !== undefined && !isDeepStrictEqual(now, then)
  })
  return field && `spec.${field}`
}

/** Whether pods have other labels: those that the API server has added to a live Job are in no manifest. */
function hasOtherLabels(file: RawObject, former: RawObject): boolean {
  const [now, then] = [file, former].map((one) => podIn(one)?.labels ?? new Map<string, string>())
  if (now === undefined || then === undefined) return false
  const isOther = [...now].some(([key, value]) => then.get(key) !== value)
  return isOther || (former.isManifest === true && now.size < then.size)
}

/** Whether pods have another account or other containers: those that admission has added to a live one are in no manifest. */
function isOtherPod(file: RawObject, former: RawObject): boolean {
  const [now, then] = [file, former].map(podIn)
  if (now === undefined || then === undefined) return false
  const isAsked = stringAt(now.spec, 'serviceAccountName') !== undefined
  if (isAsked && now.serviceAccountName !== then.serviceAccountName) return true
  const [names, namesBefore] = [now, then].map(
    ({ containers }) => new Set(containers.flatMap(({ name, role }) => (role === 'ephemeral' ? [] : name))),
  )
  if (names === undefined || namesBefore === undefined) return false
  return !names.isSubsetOf(namesBefore) || (former.isManifest === true && names.size < namesBefore.size)
}

function refusedChangeProblem(both: readonly [RawObject, RawObject], field: string): InputProblem {
  return openProblem(both, {
    alike: 'objects have changes that the API server refuses',
    what: (subject) => `the API server refuses the change of ${subject}`,
    why: `${field} cannot be changed: an apply leaves the object as it was, and a deletion with a new creation makes the new one`,
    fix: 'give the new one another name, or leave the field as it is',
  })
}

/** Whether it is a Pod, or a workload of Kubernetes itself: these have one template. An object that the API server names is always new. */
function isBuiltInWithPods({ value }: RawObject): boolean {
  const isBuiltIn =
    kindKey(value) === 'Pod' || (isWorkload(value) && kindOf(value).kind !== 'LeaderWorkerSet')
  return isBuiltIn && readMeta(value).name !== ''
}

function podIn(object: RawObject): Pod | undefined {
  return kindKey(object.value) === 'Pod' ? readPod(object) : readWorkloadPods(object)[0]
}

function openAccountProblem(
  both: readonly [RawObject, RawObject],
  replaced: string,
  applied: string,
): InputProblem {
  return openProblem(both, {
    alike: 'service accounts depend on how a change is made',
    what: (subject) => `the service account of ${subject} depends on how the change is made`,
    why: `an apply leaves ${applied}: the API server fills in each of serviceAccountName and serviceAccount, and an apply takes away one; a replacement leaves ${replaced}`,
    fix: 'set serviceAccountName in the manifest',
  })
}

function openProblem(
  [former, { value, origin }]: readonly [RawObject, RawObject],
  {
    what,
    ...rest
  }: Pick<InputProblem, 'alike' | 'why' | 'fix'> & { readonly what: (subject: string) => string },
): InputProblem {
  const { namespace, name } = readMeta(value)
  const subject = `${kindOf(value).kind} ${namespacedName(namespace, name)}`
  const places = [former.origin, origin].flatMap((one) => (one === undefined ? [] : placeText(one)))
  return {
    kind: 'duplicate',
    subject,
    what: what(subject),
    where: places.join(' and ') || subject,
    reach: [{ kind: kindKey(value), namespace: namespace === '' ? undefined : namespace, name }],
    ...rest,
  }
}

/** The live objects that no file shadows, of the kinds that people keep in files; in a total order. */
export function takenToStay(live: readonly RawObject[], files: readonly RawObject[]): readonly Subject[] {
  const given = new Set(files.map(({ value }) => objectKey(value)))
  return live
    .filter((object) => KEPT_IN_FILES.has(kindKey(object.value)) && !given.has(objectKey(object.value)))
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
  if (deleted.length === 0) return objects
  const uids = new Set<string>()
  const namespaces = new Set<string>()
  const workloads = new Set<string>()
  const there = new Set(objects.flatMap(({ value }) => readObjectVersion(value).uid ?? []))
  const goesAlong = (object: RawObject): boolean => {
    const { namespace, ownerReferences } = readMeta(object.value)
    if (namespaces.has(namespace)) return true
    // What is between a workload and its pods may not have been read, as the ReplicaSets of a cluster.
    const isOwned = (owner: unknown): boolean => {
      const uid = stringAt(owner, 'uid') ?? ''
      return uids.has(uid) || (!there.has(uid) && workloads.size > 0 && isOfWorkload(object, workloads))
    }
    return ownerReferences.length > 0 && ownerReferences.every(isOwned)
  }
  let gone = new Set(deleted)
  let kept = objects
  while (gone.size > 0) {
    for (const { value } of gone) {
      const { uid, name, namespace } = readMeta(value)
      if (uid !== undefined) uids.add(uid)
      if (kindKey(value) === 'Namespace') namespaces.add(name)
      if (isWorkload(value)) workloads.add(workloadKey(namespace, kindOf(value).kind, name))
    }
    const stays = kept.filter((one) => !gone.has(one))
    gone = new Set(stays.filter(goesAlong))
    kept = stays
  }
  return kept
}

/** Whether an object is a pod of one of these workloads, as its owner and its labels tell. */
function isOfWorkload(object: RawObject, workloads: ReadonlySet<string>): boolean {
  if (kindKey(object.value) !== 'Pod') return false
  const pod = readPod(object)
  return workloadsOf(pod).some(({ kind, name }) => workloads.has(workloadKey(pod.namespace, kind, name)))
}

function workloadKey(namespace: string, kind: string, name: string): string {
  return `${kind} ${namespace}/${name}`
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

/** A manifest once it is applied: a live object keeps what applies have not given. Without a record it may keep more, or not. */
function asUpdate(file: RawObject, live: RawObject): Updated {
  const before = recordAt(live.value, 'metadata')
  const record = live.applied ?? appliedRecord(before)
  const kept = Object.fromEntries(
    SERVER_METADATA.flatMap((key) => (Object.hasOwn(before, key) ? [[key, before[key]]] : [])),
  )
  const { metadata: given, ...fields } = file.value
  const withFields = (merged: JsonRecord): RawObject => ({
    ...file,
    value: {
      ...merged,
      metadata: { ...recordAt(merged, 'metadata'), ...kept },
      // A Pod keeps its node and its service account, which its manifest leaves out: no apply takes a field of its spec away.
      ...(kindKey(live.value) === 'Pod' && {
        spec: { ...recordAt(live.value, 'spec'), ...recordAt(file.value, 'spec') },
      }),
      ...('status' in live.value ? { status: live.value['status'] } : {}),
    },
  })
  // kubectl puts its own annotation into what it applies.
  const metadata = { ...recordAt(file.value, 'metadata'), annotations: recordAt(given, 'annotations') }
  const all = withFields(afterApply({ ...fields, metadata }, comparable(live.value), record))
  if (record !== undefined) return { object: all, mayKeep: false }
  const object = withFields(file.value)
  // A manifest in place of a live object is all that was applied.
  if (live.isManifest === true) return { object, mayKeep: false }
  if (kindKey(live.value) !== 'Namespace')
    return { object, mayKeep: !isDeepStrictEqual(readOf(object), readOf(all)) }
  const perhaps = MARKS.flatMap((field) => marksBeyond(recordAt(all.value, 'metadata'), given, field))
  return {
    object: { ...object, ...(perhaps.length > 0 && { perhapsKept: new Map(perhaps) }) },
    mayKeep: false,
  }
}

interface Updated {
  readonly object: RawObject
  /** Whether it is not known if the live object keeps fields that decide. */
  readonly mayKeep: boolean
}

const MARKS = ['labels', 'annotations'] as const

/** What of a live object an apply may leave: of its metadata the labels and annotations, without the record of applies. */
function comparable(live: JsonRecord): JsonRecord {
  const { status: _, metadata, ...fields } = live
  const { [LAST_APPLIED]: _record, ...annotations } = recordAt(metadata, 'annotations')
  return { ...fields, metadata: { labels: recordAt(metadata, 'labels'), annotations } }
}

function marksBeyond(
  all: JsonRecord,
  given: unknown,
  field: (typeof MARKS)[number],
): readonly (readonly [string, string])[] {
  const own = recordAt(given, field)
  return Object.entries(recordAt(all, field)).flatMap(([key, value]) =>
    Object.hasOwn(own, key) || typeof value !== 'string' ? [] : [[key, value] as const],
  )
}

/** What answers read of an object: what the API server fills in beside that decides nothing. */
function readOf(raw: RawObject): unknown {
  const { value } = raw
  const labels = recordAt(recordAt(value, 'metadata'), 'labels')
  const { group, kind } = kindOf(value)
  switch (kind) {
    case BINDING.kind: {
      const { meta: _, status: _status, ...spec } = readBinding(raw, 'live')
      return spec
    }
    case CLUSTER_SPIFFE_ID_KIND:
      return [readClusterSpiffeIdSpec(raw), labels]
    case CLUSTER_STATIC_ENTRY_KIND:
      return readClusterStaticEntry(raw).spec
    case 'Pod':
      return labels
  }
  const pool = POOL_KINDS.find((one) => one.kind === kind && one.group === group)
  if (pool !== undefined) return readPool(raw, pool.group).selector
  const objective = OBJECTIVE_KINDS.find((one) => one.kind === kind && one.group === group)
  if (objective !== undefined) {
    const { meta: _, ...read } = readObjective(raw, objective.group)
    return read
  }
  const pods = readWorkloadPods(raw)
  if (pods.length > 0)
    return pods.map((pod) => [
      pod.part,
      pod.labels,
      pod.serviceAccountName,
      pod.nodeName,
      pod.containers.map(({ name, role }) => [name, role]),
    ])
  if (kindKey(value) === qualifiedKind(ACCESS_POLICY_KIND)) {
    const { meta: _, ancestors: _ancestors, ...read } = readAccessPolicy(raw)
    return read
  }
  return POLICY_KINDS.includes(kindKey(value)) ? value['spec'] : undefined
}
