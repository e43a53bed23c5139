// The pods that a workload's controller will make of its template, before they exist: the keys of the labels that it adds
// are known, though often not their values.
// Sources: the controllers of Kubernetes 1.36 (apps, batch) and of LeaderWorkerSet v1.
import { dig, isRecord, listAt, own, stringAt, type JsonRecord } from '../../base/json.ts'
import { qualifiedKind } from '../kinds.ts'
import { calledName, readMeta, readStringMap, type ObjectMeta } from './meta.ts'
import {
  podOfTemplate,
  readContainers,
  recordAt,
  selectorLabelsOf,
  serviceAccountOf,
  type Pod,
} from './pod.ts'
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

/** The kinds that are read and have pods, qualified. */
export const KINDS_WITH_PODS: ReadonlySet<string> = new Set(['Pod', ...WORKLOAD_KINDS.map(qualifiedKind)])

type WorkloadKind = (typeof WORKLOAD_KINDS)[number]['kind']

/** A template of a workload, and what its controller does to the pods that it makes of it. */
interface PodTemplate {
  readonly template: unknown
  readonly part: string
  /** The part without the numbers of its pods; absent: it has none. */
  readonly unnumbered?: string
  /** Labels that the controller sets to a value that follows from the workload. */
  readonly knownLabels: readonly (readonly [label: string, value: string])[]
  /** Labels that the controller sets to a value that is known only when it makes the pod. */
  readonly unknownLabels: readonly string[]
  readonly owner: Pod['owner']
  /** The name of the pod, if it follows from the workload. */
  readonly name?: string | undefined
}

const STATEFUL_SET_LABELS = [
  'controller-revision-hash',
  'statefulset.kubernetes.io/pod-name',
  'apps.kubernetes.io/pod-index',
]
const LWS = 'leaderworkerset.sigs.k8s.io'
const WORKER_INDEX = `${LWS}/worker-index`
const GROUP_INDEX = `${LWS}/group-index`
const SUBGROUP_INDEX = `${LWS}/subgroup-index`

/**
 * The pods of a workload, one per template; none for any other kind. If a label that numbers pods is among `asked`, one per number: the
 * name of a pod of a StatefulSet is such a label too. Never throws.
 */
export function readWorkloadPods(raw: RawObject, asked: ReadonlySet<string> = NOTHING_ASKED): readonly Pod[] {
  const kind = workloadKind(raw.value)
  if (kind === undefined) return []
  const meta = readMeta(raw.value)
  // The numbers of pods that something else scales are not known.
  const numbers = raw.made?.isScaled === true ? NOTHING_ASKED : asked
  return TEMPLATES_OF[kind](raw.value, meta, numbers).map((made) => podOf(raw, kind, meta, made))
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
  Record<
    WorkloadKind,
    (object: JsonRecord, meta: ObjectMeta, asked: ReadonlySet<string>) => readonly PodTemplate[]
  >
> = {
  Deployment: (object) => [
    one(dig(object, 'spec', 'template'), {
      unknownLabels: ['pod-template-hash'],
      owner: { kind: 'ReplicaSet', name: undefined },
    }),
  ],
  StatefulSet: statefulSetTemplates,
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

/** More pods than these are not told apart by their numbers. */
const NUMBERED_MAX = 64
const NOTHING_ASKED: ReadonlySet<string> = new Set()

/** The number of a pod; `70 pods`, if they are too many to be told apart; undefined: it is not known, or not asked for. */
type PodNumber = number | string | undefined

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

/** The numbers of so many pods. */
function numbersOf(count: unknown, start: unknown): readonly PodNumber[] {
  if (!isNumber(count) || count === 0 || !isNumber(start)) return [undefined]
  if (count > NUMBERED_MAX) return [`${count} pods`]
  return Array.from({ length: count }, (_, at) => start + at)
}

/** The pod numbers, if one of these labels is asked for; else one template represents all pods. */
function numbersIfAsked(
  labels: readonly string[],
  asked: ReadonlySet<string>,
  numbers: readonly PodNumber[],
): readonly PodNumber[] {
  return labels.some((label) => asked.has(label)) ? numbers : [undefined]
}

const POD_INDEX = 'apps.kubernetes.io/pod-index'
/** The label of a pod of a StatefulSet that holds its name. */
export const POD_NAME_LABEL = 'statefulset.kubernetes.io/pod-name'

const ORDINAL_LABELS = [POD_INDEX, POD_NAME_LABEL]

/** The labels that number pods. */
export const NUMBER_LABELS: readonly string[] = [...ORDINAL_LABELS, GROUP_INDEX, WORKER_INDEX]

function statefulSetTemplates(
  object: JsonRecord,
  meta: ObjectMeta,
  asked: ReadonlySet<string>,
): readonly PodTemplate[] {
  const name = nameOf(meta)
  const start = dig(object, 'spec', 'ordinals', 'start') ?? 0
  const numbers = numbersOf(dig(object, 'spec', 'replicas') ?? 1, start)
  const template = one(dig(object, 'spec', 'template'), {
    unknownLabels: STATEFUL_SET_LABELS,
    owner: { kind: 'StatefulSet', name },
  })
  return numbersIfAsked(ORDINAL_LABELS, asked, numbers).map((number) =>
    numbered(ofOrdinal(template, name, number), number, []),
  )
}

/** The pod of a StatefulSet with a number, which its name and two labels follow from. */
function ofOrdinal(template: PodTemplate, statefulSet: string | undefined, ordinal: PodNumber): PodTemplate {
  if (typeof ordinal !== 'number') return template
  const name = statefulSet === undefined ? undefined : `${statefulSet}-${ordinal}`
  const labels = [
    [POD_INDEX, String(ordinal)] as const,
    ...(name === undefined ? [] : [[POD_NAME_LABEL, name] as const]),
  ]
  return { ...withKnown(template, labels), name }
}

/** A template for the pod of one number, whose labels are then known; the template itself where there is no number. */
function numbered(template: PodTemplate, number: PodNumber, labels: PodTemplate['knownLabels']): PodTemplate {
  if (number === undefined) return template
  return {
    ...(typeof number === 'number' ? withKnown(template, labels) : template),
    part: joined(template.part, String(number)),
    unnumbered: template.unnumbered ?? template.part,
  }
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ')
}

function withKnown(template: PodTemplate, labels: PodTemplate['knownLabels']): PodTemplate {
  const known = new Set(labels.map(([label]) => label))
  return {
    ...template,
    knownLabels: [...template.knownLabels, ...labels],
    unknownLabels: template.unknownLabels.filter((label) => !known.has(label)),
  }
}

/** While it rolls out a change, it has groups beyond its replicas. */
function surges(object: JsonRecord): boolean {
  const surge = dig(object, 'spec', 'rolloutStrategy', 'rollingUpdateConfiguration', 'maxSurge') ?? 0
  return surge !== 0 && surge !== '0%'
}

/** A template that names its subgroup keeps it, and gets no key. */
function subGroupLabels(policy: unknown, template: unknown, isLeader: boolean): readonly string[] {
  const isWithout = isLeader && own(policy, 'subGroupPolicyType') === 'LeaderExcluded'
  const given = stringAt(template, 'metadata', 'labels', SUBGROUP_INDEX) || undefined
  return isRecord(policy) && !isWithout && given === undefined ? [SUBGROUP_INDEX, `${LWS}/subgroup-key`] : []
}

/** A leader per group, owned by a StatefulSet of the same name, and workers owned by a StatefulSet per group. */
function leaderWorkerTemplates(
  object: JsonRecord,
  meta: ObjectMeta,
  asked: ReadonlySet<string>,
): readonly PodTemplate[] {
  const spec = dig(object, 'spec', 'leaderWorkerTemplate')
  const worker = own(spec, 'workerTemplate')
  const leader = own(spec, 'leaderTemplate') ?? worker
  const name = nameOf(meta)
  const unknownLabels = [
    ...STATEFUL_SET_LABELS,
    GROUP_INDEX,
    `${LWS}/group-key`,
    `${LWS}/template-revision-hash`,
    ...(name === undefined ? [`${LWS}/name`] : []),
  ]
  const named = name === undefined ? [] : [[`${LWS}/name`, name] as const]
  const leaders: PodTemplate = {
    template: leader,
    part: 'leader',
    knownLabels: [...named, [WORKER_INDEX, '0']],
    unknownLabels: [...unknownLabels, ...subGroupLabels(own(spec, 'subGroupPolicy'), leader, true)],
    owner: { kind: 'StatefulSet', name },
  }
  // A leader keeps the number of its template, and its workers take it over.
  const kept = stringAt(leader, 'metadata', 'labels', GROUP_INDEX)
  const isOfGroup = (template: PodTemplate, group: PodNumber): PodTemplate =>
    kept === undefined
      ? numbered(template, group, [[GROUP_INDEX, String(group)]])
      : withKnown(template, [[GROUP_INDEX, kept]])
  const count = surges(object) ? undefined : (dig(object, 'spec', 'replicas') ?? 1)
  const groups = numbersIfAsked(
    kept === undefined ? [GROUP_INDEX, ...ORDINAL_LABELS] : [],
    asked,
    numbersOf(count, 0),
  )
  const leadersOf = groups.map((group) => ofOrdinal(isOfGroup(leaders, group), name, group))
  const size = own(spec, 'size') ?? 1
  if (size === 1) return leadersOf
  // The leader has the index 0, so workers count from 1.
  const workers: PodTemplate = {
    template: worker,
    part: 'worker',
    knownLabels: named,
    unknownLabels: [
      ...unknownLabels,
      WORKER_INDEX,
      ...subGroupLabels(own(spec, 'subGroupPolicy'), worker, false),
    ],
    owner: { kind: 'StatefulSet', name: undefined },
  }
  const indexes = numbersOf(typeof size === 'number' ? size - 1 : undefined, 1)
  return [
    ...leadersOf,
    ...groups.flatMap((group) => {
      const set = name === undefined || typeof group !== 'number' ? undefined : `${name}-${group}`
      const ofGroup = isOfGroup({ ...workers, owner: { kind: 'StatefulSet', name: set } }, group)
      return numbersIfAsked([WORKER_INDEX, ...ORDINAL_LABELS], asked, indexes).map((index) =>
        ofOrdinal(numbered(ofGroup, index, [[WORKER_INDEX, String(index)]]), set, index),
      )
    }),
  ]
}

function podOf(raw: RawObject, kind: WorkloadKind, meta: ObjectMeta, made: PodTemplate): Pod {
  const spec = recordAt(made.template, 'spec')
  const role = raw.made?.part ?? ''
  const labels = new Map(readStringMap(dig(made.template, 'metadata', 'labels')))
  const possible = raw.made?.possibleLabels ?? []
  const unknownLabels = new Set([
    ...made.unknownLabels,
    ...(raw.made?.unknownLabels ?? []),
    // The controller may set another value than the template's.
    ...possible.filter((label) => labels.has(label)),
  ])
  for (const label of unknownLabels) labels.delete(label)
  for (const [label, value] of made.knownLabels) labels.set(label, value)
  const pod = podOfTemplate({
    ref: raw.made?.by ?? { kind, namespace: meta.namespace, name: calledName(own(raw.value, 'metadata')) },
    part: joined(role, made.part),
    ...(made.unnumbered !== undefined && { unnumbered: joined(role, made.unnumbered) }),
    namespace: meta.namespace,
    name: made.name,
    labels,
    unknownLabels,
    serviceAccountName: serviceAccountOf(spec, false),
    nodeName: stringAt(spec, 'nodeName') || undefined,
    containers: readContainers(spec),
    metadata: recordAt(made.template, 'metadata'),
    spec,
    owner: raw.made?.owner ?? made.owner,
    selectorLabels: selectorLabelsOf(raw.value),
    origin: raw.origin,
    over: whyOver(kind, raw.value, meta),
    asked: { count: countAsked(kind, own(raw.value, 'spec')), isManifest: raw.isManifest === true },
  })
  return possible.length === 0
    ? pod
    : {
        ...pod,
        possibleLabels: new Set([...pod.possibleLabels, ...possible])
          .difference(unknownLabels)
          .difference(new Set(labels.keys())),
      }
}

/** How many pods a workload asks for, where it says that; one that is suspended asks for none. */
function countAsked(kind: WorkloadKind, spec: unknown): number | undefined {
  if (own(spec, 'suspend') === true) return 0
  const count = own(spec, kind === 'Job' ? 'parallelism' : 'replicas')
  return isNumber(count) ? count : undefined
}

/**
 * Why a workload that is in a cluster will make no pods any more: it is a ReplicaSet of an earlier template of a Deployment, which keeps
 * ten of them, or a Job that has ended. Undefined: it may make some.
 */
function whyOver(
  kind: WorkloadKind,
  object: JsonRecord,
  { uid, ownerReferences }: ObjectMeta,
): string | undefined {
  if (uid === undefined) return undefined
  if (kind === 'Job') return isFinishedJob(object) ? 'the Job has ended, and makes no new pods' : undefined
  const deployment = ownerReferences.find(
    (owner) => stringAt(owner, 'kind') === 'Deployment' && dig(owner, 'controller') === true,
  )
  return kind === 'ReplicaSet' && deployment !== undefined && dig(object, 'spec', 'replicas') === 0
    ? `the ReplicaSet is of an earlier template of Deployment ${stringAt(deployment, 'name') ?? ''}`
    : undefined
}

/** Whether a Job has run to its end. */
export function isFinishedJob({ kind, status }: JsonRecord): boolean {
  return (
    kind === 'Job' &&
    listAt(status, 'conditions').some(
      (condition) =>
        ['Complete', 'Failed'].includes(stringAt(condition, 'type') ?? '') &&
        stringAt(condition, 'status') === 'True',
    )
  )
}

/** The name of a workload; undefined where `generateName` will make one up. */
function nameOf(meta: ObjectMeta): string | undefined {
  return meta.name === '' ? undefined : meta.name
}
