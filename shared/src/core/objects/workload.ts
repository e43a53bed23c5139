// The pods that a workload's template will make, before they exist: what its controller adds to the template is known
// by name, though often not by value.
// Sources: the controllers of Kubernetes 1.36 (apps, batch) and of LeaderWorkerSet v1.
import { dig, isRecord, own, stringAt, type JsonRecord } from '../json.ts'
import { readMeta, readStringMap, type ObjectMeta } from './meta.ts'
import { NODE_COPIED_LABELS, readContainers, recordAt, serviceAccountOf, type Pod } from './pod.ts'
import type { RawObject } from './raw.ts'

/** The kinds of workload that `readWorkloadPods` knows, with the group that each belongs to. */
export const WORKLOAD_KINDS = [
  { group: 'apps', kind: 'Deployment' },
  { group: 'apps', kind: 'StatefulSet' },
  { group: 'apps', kind: 'DaemonSet' },
  { group: 'apps', kind: 'ReplicaSet' },
  { group: 'batch', kind: 'Job' },
  { group: 'batch', kind: 'CronJob' },
  { group: 'leaderworkerset.x-k8s.io', kind: 'LeaderWorkerSet' },
] as const

type WorkloadKind = (typeof WORKLOAD_KINDS)[number]['kind']

/** What a controller does to the pods of one template. */
interface Making {
  readonly template: unknown
  readonly part: string
  /** Labels that the controller sets to a value that follows from the workload. */
  readonly sets: readonly (readonly [label: string, value: string])[]
  /** Labels that it sets to a value that nobody knows before. */
  readonly opens: readonly string[]
  readonly owner: Pod['owner']
}

const STATEFUL_SET_LABELS = [
  'controller-revision-hash',
  'statefulset.kubernetes.io/pod-name',
  'apps.kubernetes.io/pod-index',
]
const LWS = 'leaderworkerset.sigs.k8s.io'

/** The pods of a workload, one per template; none for any other kind. Never throws. */
export function readWorkloadPods(raw: RawObject): readonly Pod[] {
  const kind = workloadKind(raw.value)
  if (kind === undefined) return []
  const meta = readMeta(raw.value)
  return MAKERS[kind](raw.value, meta).map((making) => podOf(raw, kind, meta, making))
}

/** Whether an object is of a kind whose pods `readWorkloadPods` describes. */
export function isWorkload(object: unknown): boolean {
  return workloadKind(object) !== undefined
}

const BY_KIND: ReadonlyMap<string, (typeof WORKLOAD_KINDS)[number]> = new Map(
  WORKLOAD_KINDS.map((known) => [known.kind, known]),
)

function workloadKind(object: unknown): WorkloadKind | undefined {
  const known = BY_KIND.get(stringAt(object, 'kind') ?? '')
  const isKnown = stringAt(object, 'apiVersion')?.split('/')[0] === known?.group
  return isKnown ? known?.kind : undefined
}

const MAKERS: Readonly<Record<WorkloadKind, (object: JsonRecord, meta: ObjectMeta) => readonly Making[]>> = {
  Deployment: (object) => [
    one(dig(object, 'spec', 'template'), {
      opens: ['pod-template-hash'],
      owner: { kind: 'ReplicaSet', name: undefined },
    }),
  ],
  StatefulSet: (object, meta) => [
    one(dig(object, 'spec', 'template'), {
      opens: STATEFUL_SET_LABELS,
      owner: { kind: 'StatefulSet', name: nameOf(meta) },
    }),
  ],
  DaemonSet: (object, meta) => [
    one(dig(object, 'spec', 'template'), {
      opens: ['controller-revision-hash', 'pod-template-generation'],
      owner: { kind: 'DaemonSet', name: nameOf(meta) },
    }),
  ],
  ReplicaSet: (object, meta) => [
    one(dig(object, 'spec', 'template'), { opens: [], owner: { kind: 'ReplicaSet', name: nameOf(meta) } }),
  ],
  Job: (object, meta) => [jobMaking(own(object, 'spec'), nameOf(meta), meta.uid)],
  // A run is called after the CronJob and the minute of its schedule, which nobody knows beforehand.
  CronJob: (object) => [jobMaking(dig(object, 'spec', 'jobTemplate', 'spec'), undefined, undefined)],
  LeaderWorkerSet: leaderWorkerMakings,
}

function one(template: unknown, rest: Pick<Making, 'opens' | 'owner'>): Making {
  return { template, part: '', sets: [], ...rest }
}

function jobMaking(spec: unknown, name: string | undefined, uid: string | undefined): Making {
  // With a manual selector the API server adds no labels; it puts them into the stored template otherwise.
  const labels = own(spec, 'manualSelector') === true ? [] : jobLabels(name, uid)
  const indexed = own(spec, 'completionMode') === 'Indexed'
  return {
    template: own(spec, 'template'),
    part: '',
    sets: labels.flatMap(([label, value]) => (value === undefined ? [] : [[label, value] as const])),
    opens: [
      ...labels.filter(([, value]) => value === undefined).map(([label]) => label),
      ...(indexed ? ['batch.kubernetes.io/job-completion-index'] : []),
    ],
    owner: { kind: 'Job', name },
  }
}

function jobLabels(
  name: string | undefined,
  uid: string | undefined,
): readonly (readonly [string, string | undefined])[] {
  return [
    ['batch.kubernetes.io/controller-uid', uid],
    ['batch.kubernetes.io/job-name', name],
    ['controller-uid', uid],
    ['job-name', name],
  ]
}

/** A leader per group, owned by a StatefulSet of the same name, and workers owned by a StatefulSet per group. */
function leaderWorkerMakings(object: JsonRecord, meta: ObjectMeta): readonly Making[] {
  const spec = dig(object, 'spec', 'leaderWorkerTemplate')
  const worker = own(spec, 'workerTemplate')
  const leader = own(spec, 'leaderTemplate') ?? worker
  const name = nameOf(meta)
  const subGroups = isRecord(own(spec, 'subGroupPolicy'))
    ? [`${LWS}/subgroup-index`, `${LWS}/subgroup-key`]
    : []
  const opens = [
    ...STATEFUL_SET_LABELS,
    `${LWS}/group-index`,
    `${LWS}/group-key`,
    `${LWS}/template-revision-hash`,
    ...subGroups,
    ...(name === undefined ? [`${LWS}/name`] : []),
  ]
  const named = name === undefined ? [] : [[`${LWS}/name`, name] as const]
  const leaders: Making = {
    template: leader,
    part: 'leader',
    sets: [...named, [`${LWS}/worker-index`, '0']],
    opens,
    owner: { kind: 'StatefulSet', name },
  }
  const size = own(spec, 'size') ?? 1
  if (size === 1) return [leaders]
  return [
    leaders,
    {
      template: worker,
      part: 'worker',
      sets: named,
      opens: [...opens, `${LWS}/worker-index`],
      owner: { kind: 'StatefulSet', name: undefined },
    },
  ]
}

function podOf(raw: RawObject, kind: WorkloadKind, meta: ObjectMeta, making: Making): Pod {
  const spec = recordAt(making.template, 'spec')
  const openLabels = new Set(making.opens)
  const labels = new Map(readStringMap(dig(making.template, 'metadata', 'labels')))
  for (const label of openLabels) labels.delete(label)
  for (const [label, value] of making.sets) labels.set(label, value)
  return {
    ref: { kind, namespace: meta.namespace, name: meta.name },
    part: making.part,
    exists: false,
    namespace: meta.namespace,
    name: undefined,
    uid: undefined,
    labels,
    openLabels,
    possibleLabels: new Set(
      NODE_COPIED_LABELS.filter((label) => !labels.has(label) && !openLabels.has(label)),
    ),
    serviceAccountName: serviceAccountOf(spec, false),
    nodeName: stringAt(spec, 'nodeName') || undefined,
    containers: readContainers(spec),
    metadata: recordAt(making.template, 'metadata'),
    spec,
    status: {},
    owner: making.owner,
    origin: raw.origin,
  }
}

/** The name of a workload; undefined where `generateName` will make one up. */
function nameOf(meta: ObjectMeta): string | undefined {
  return meta.name === '' ? undefined : meta.name
}
