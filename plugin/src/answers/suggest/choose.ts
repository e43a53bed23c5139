// Which pools, objectives and pods a command line means.
import type { Each } from '@kleym/shared/core/base/each.ts'
import { objectivePool } from '@kleym/shared/core/decide/index.ts'
import { OBJECTIVE_KIND, POOL_KIND } from '@kleym/shared/core/model/kinds.ts'
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import type { Objective, Pool } from '@kleym/shared/core/model/objects/inference.ts'
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import { unknownReasonText } from '@kleym/shared/core/model/unknown-reason.ts'
import type { Snapshot } from '@kleym/shared/core/snapshot/index.ts'
import type { SuggestQuestion } from '@kleym/shared/core/answers/index.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { KleymError } from '../../io/errors.ts'
import { noSuchObject, notFoundOnlyIfRead } from '../../frame/not-found.ts'
import { kindsOfName, type ObjectName } from '../../sources/kind-name.ts'

/** What is meant by the arguments; everything in scope where there are none. Throws where a named object is not there. */
export function chooseTargets(
  input: AnswerInput,
  targets: readonly ObjectName[],
  echo: string,
): SuggestQuestion {
  const {
    after: { snapshot },
    namespaceInForce,
    isLive,
  } = input
  if (targets.length === 0) {
    const isPool = ({ meta }: Pool): boolean =>
      namespaceInForce === undefined || meta.namespace === namespaceInForce
    return { isPool, isObjective: undefined, isPod: undefined }
  }
  const named = <T>(all: Each<T>, target: ObjectName, nameOf: (one: T) => NameOfObject): readonly T[] => {
    const namespace = target.namespace ?? namespaceInForce
    const found = all.filter((one) => {
      const { namespace: place, name, group } = nameOf(one)
      return (
        name === target.name &&
        (namespace === undefined || place === namespace) &&
        (target.group === undefined || group === undefined || group === target.group)
      )
    })
    if (found.length > 0) return found
    const where = namespace === undefined ? target.name : namespacedName(namespace, target.name)
    const there = all.map(nameOf).map((one) => namespacedName(one.namespace, one.name))
    throw noSuchObject(target.kind, where, {
      isLive,
      there,
      list: `see what there is: kubectl kleym suggest -A${echo}`,
    })
  }
  const pools = new Set<Pool>()
  const objectives = new Set<Objective>()
  const pods = new Set<Pod>()
  const choose = (target: ObjectName): void => {
    if (target.kind === POOL_KIND)
      for (const one of named(snapshot.pools.read, target, ({ meta, group }) => ({ ...meta, group })))
        pools.add(one)
    else if (target.kind === OBJECTIVE_KIND) {
      for (const one of named(snapshot.objectives.read, target, ({ meta, group }) => ({ ...meta, group }))) {
        objectives.add(one)
        for (const pool of poolsOf(one, snapshot)) pools.add(pool)
      }
    } else {
      const all = [...snapshot.pods.read, ...snapshot.templates.read].filter(
        ({ ref }) => ref.kind === target.kind,
      )
      for (const one of named(all, target, ({ ref }) => ({ ...ref, group: undefined }))) pods.add(one)
    }
  }
  for (const target of targets) notFoundOnlyIfRead(input, kindsOfName(target), () => choose(target))
  const isOfPods = pods.size > 0
  return {
    isPool: (pool) => isOfPods || pools.has(pool),
    isObjective: objectives.size === 0 ? undefined : (one) => objectives.has(one),
    isPod: isOfPods && pools.size === 0 ? (pod) => pods.has(pod) || isLike(pod, pods) : undefined,
  }
}

interface NameOfObject {
  readonly namespace: string
  readonly name: string
  readonly group: string | undefined
}

/** The pools that an objective targets. Throws where there is none, or where a controller may make it. */
function poolsOf(objective: Objective, snapshot: Snapshot): readonly Pool[] {
  const { namespace, name } = objective.meta
  const near = snapshot.pools.read.filter(({ meta }) => meta.namespace === namespace)
  const found = near.filter((pool) => objectivePool(objective, pool).state === 'leads there')
  if (found.length > 0) return found
  const [first] = near
  const leads = first === undefined ? undefined : objectivePool(objective, first)
  const unread = snapshot.pools.more({ namespace })
  if (unread !== undefined)
    throw new KleymError('input', {
      what: 'cannot tell which pool the objective targets',
      where: namespacedName(namespace, name),
      why: `its pool was not read: ${unknownReasonText(unread)}`,
      fix: 'give the pool too: kubectl get inferencepools -o yaml',
    })
  throw new KleymError('not-found', {
    what: 'the objective targets no pool',
    where: namespacedName(namespace, name),
    why:
      leads?.state === 'leads elsewhere'
        ? leads.why
        : `there is no InferencePool in namespace ${namespace} that its .spec.poolRef names`,
    fix: 'correct its .spec.poolRef: a binding names a pool and an objective that belong together',
  })
}

/** A template stands for the pods that exist of it, which are asked about in its place. */
function isLike(pod: Pod, meant: ReadonlySet<Pod>): boolean {
  return [...meant].some(
    (template) =>
      template.ref.kind !== 'Pod' &&
      template.namespace === pod.namespace &&
      template.serviceAccountName === pod.serviceAccountName &&
      template.labels.size > 0 &&
      [...template.labels].every(([key, value]) => pod.labels.get(key) === value),
  )
}
