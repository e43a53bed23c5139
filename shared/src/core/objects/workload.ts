// The pods that a workload's controller will make of its template, before they exist: the keys of the labels that it adds
// are known, though often not their values.
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

/** A template of a workload, and what its controller does to the pods that it makes of it. */
interface PodTemplate {
  readonly template: unknown
  readonly part: string
  /** Labels that the controller sets to a value that follows from the workload. */
  readonly knownLabels: readonly (readonly [label: string, value: string])[]
  /** Labels that the controller sets to a value that is known only when it makes the pod. */
  readonly unknownLabels: readonly string[]
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
  return TEMPLATES_OF[kind](raw.value, meta).map((made) => podOf(raw, kind, meta, made))
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

const TEMPLATES_OF: Readonly<
  Record<WorkloadKind, (object: JsonRecord, meta: ObjectMeta) => readonly PodTemplate[]>
> = {
  Deployment: (object) => [
    one(dig(object, 'spec', 'template'), {
      unknownLabels: ['pod-template-hash'],
      owner: { kind: 'ReplicaSet', name: undefined },
    }),
  ],
  StatefulSet: (object, meta) => [
    one(dig(object, 'spec', 'template'), {
      unknownLabels: STATEFUL_SET_LABELS,
      owner: { kind: 'StatefulSet', name: nameOf(meta) },
    }),
  ],
  DaemonSet: (object, meta) => [
    one(dig(object, 'spec', 'template'), {
      unknownLabels: ['controller-revision-hash', 'pod-template-generation'],
      owner: { kind: 'DaemonSet', name: nameOf(meta) },
    }),
  ],
  ReplicaSet: (object, meta) => [
    one(dig(object, 'spec', 'template'), {
      unknownLabels: [],
      owner: { kind: 'ReplicaSet', name: nameOf(meta) },
    }),
  ],
  Job: (object, meta) => [jobTemplate(own(object, 'spec'), nameOf(meta), meta.uid)],
  // The Job of a run is named after the CronJob and the minute of its schedule, which is not known beforehand.
  CronJob: (object) => [jobTemplate(dig(object, 'spec', 'jobTemplate', 'spec'), undefined, undefined)],
  LeaderWorkerSet: leaderWorkerTemplates,
}

function one(template: unknown, rest: Pick<PodTemplate, 'unknownLabels' | 'owner'>): PodTemplate {
  return { template, part: '', knownLabels: [], ...rest }
}

function jobTemplate(spec: unknown, name: string | undefined, uid: string | undefined): PodTemplate {
  // With a manual selector the API server adds no labels; it puts them into the stored template otherwise.
  const labels = own(spec, 'manualSelector') === true ? [] : jobLabels(name, uid)
  const indexed = own(spec, 'completionMode') === 'Indexed'
  return {
    template: own(spec, 'template'),
    part: '',
    knownLabels: labels.flatMap(([label, value]) => (value === undefined ? [] : [[label, value] as const])),
    unknownLabels: [
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
function leaderWorkerTemplates(object: JsonRecord, meta: ObjectMeta): readonly PodTemplate[] {
  const spec = dig(object, 'spec', 'leaderWorkerTemplate')
  const worker = own(spec, 'workerTemplate')
  const leader = own(spec, 'leaderTemplate') ?? worker
  const name = nameOf(meta)
  const subGroups = isRecord(own(spec, 'subGroupPolicy'))
    ? [`${LWS}/subgroup-index`, `${LWS}/subgroup-key`]
    : []
  const unknownLabels = [
    ...STATEFUL_SET_LABELS,
    `${LWS}/group-index`,
    `${LWS}/group-key`,
    `${LWS}/template-revision-hash`,
    ...subGroups,
    ...(name === undefined ? [`${LWS}/name`] : []),
  ]
  const named = name === undefined ? [] : [[`${LWS}/name`, name] as const]
  const leaders: PodTemplate = {
    template: leader,
    part: 'leader',
    knownLabels: [...named, [`${LWS}/worker-index`, '0']],
    unknownLabels,
    owner: { kind: 'StatefulSet', name },
  }
  const size = own(spec, 'size') ?? 1
  if (size === 1) return [leaders]
  return [
    leaders,
    {
      template: worker,
      part: 'worker',
      knownLabels: named,
      unknownLabels: [...unknownLabels, `${LWS}/worker-index`],
      owner: { kind: 'StatefulSet', name: undefined },
    },
  ]
}

function podOf(raw: RawObject, kind: WorkloadKind, meta: ObjectMeta, made: PodTemplate): Pod {
  const spec = recordAt(made.template, 'spec')
  const unknownLabels = new Set(made.unknownLabels)
  const labels = new Map(readStringMap(dig(made.template, 'metadata', 'labels')))
  for (const label of unknownLabels) labels.delete(label)
  for (const [label, value] of made.knownLabels) labels.set(label, value)
  return {
    ref: { kind, namespace: meta.namespace, name: meta.name },
    part: made.part,
    exists: false,
    namespace: meta.namespace,
    name: undefined,
    uid: undefined,
    labels,
    unknownLabels,
    possibleLabels: new Set(
      NODE_COPIED_LABELS.filter((label) => !labels.has(label) && !unknownLabels.has(label)),
    ),
    serviceAccountName: serviceAccountOf(spec, false),
    nodeName: stringAt(spec, 'nodeName') || undefined,
    containers: readContainers(spec),
    metadata: recordAt(made.template, 'metadata'),
    spec,
    status: {},
    owner: made.owner,
    origin: raw.origin,
  }
}

/** The name of a workload; undefined where `generateName` will make one up. */
function nameOf(meta: ObjectMeta): string | undefined {
  return meta.name === '' ? undefined : meta.name
}
