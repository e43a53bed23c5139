// The workloads that made a pod, by its owners and labels.
import { dig, listAt, stringAt } from '../../base/json.ts'
import type { Pod } from './pod.ts'

/** A workload of some namespace. */
export interface WorkloadName {
  readonly kind: string
  readonly name: string
}

const LWS_NAME = 'leaderworkerset.sigs.k8s.io/name'
const LWS_WORKER_INDEX = 'leaderworkerset.sigs.k8s.io/worker-index'

/** Which pods of a LeaderWorkerSet a pod is one of. */
export function partOf(pod: Pod): string | undefined {
  if (pod.part !== '') return pod.part
  const index = pod.labels.get(LWS_WORKER_INDEX)
  if (index === undefined) return undefined
  return index === '0' ? 'leader' : 'worker'
}

/** Whether a pod is of a part: `leader` takes in each number of it. Undefined: the number that is asked for is not known of this pod. */
export function isOfPart(pod: Pod, wanted: string): boolean | undefined {
  const part = partOf(pod)
  if (part === undefined) return false
  if (` ${part} `.includes(` ${wanted} `)) return true
  return wanted.startsWith(`${part} `) ? undefined : false
}

/** The workloads that a pod is of, from the nearest up: its template's, or those that its owner and labels name. */
export function workloadsOf(pod: Pod): readonly WorkloadName[] {
  const { ref } = pod
  if (ref.kind !== 'Pod') return [{ kind: ref.kind, name: ref.name }]
  const workloads: WorkloadName[] = []
  for (const owner of listAt(pod.metadata, 'ownerReferences')) {
    const kind = stringAt(owner, 'kind') ?? ''
    const name = stringAt(owner, 'name') ?? ''
    if (dig(owner, 'controller') !== true) continue
    workloads.push({ kind, name })
    const hash = pod.labels.get('pod-template-hash')
    if (kind === 'ReplicaSet' && hash !== undefined && name.endsWith(`-${hash}`))
      workloads.push({ kind: 'Deployment', name: name.slice(0, -hash.length - 1) })
    // A CronJob names its Jobs after itself and the minute of the run.
    const cron = kind === 'Job' ? /^(.+)-\d+$/.exec(name)?.[1] : undefined
    if (cron !== undefined) workloads.push({ kind: 'CronJob', name: cron })
  }
  const group = pod.labels.get(LWS_NAME)
  if (group !== undefined) workloads.push({ kind: 'LeaderWorkerSet', name: group })
  return workloads
}

/** A name that the API server makes up keeps so much of its beginning, and gets five characters. */
const KEPT_OF_PREFIX = 58

/** Whether what makes this pod may give it, or an object between the two, that name: controllers begin it with the name of the maker. */
export function mayGiveName({ ref, perhaps }: Pod, name: string): boolean {
  const beginning = ref.name.endsWith('*') ? ref.name.slice(0, -1) : `${ref.name}-`
  return perhaps !== undefined || name.startsWith(beginning.slice(0, KEPT_OF_PREFIX))
}
