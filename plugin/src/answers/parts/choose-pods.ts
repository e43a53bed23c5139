// Which pods a command line means: those of a named object, or those in scope.
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import type { Analysis } from '@kleym/shared/core/analysis/index.ts'
import { workloadsOf } from '@kleym/shared/core/model/objects/pod-workloads.ts'
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import { labelsOfPod, matchSelector } from '@kleym/shared/core/model/objects/label-match.ts'
import { NO } from '@kleym/shared/core/model/truth/truth.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { parseLabelQuery } from '../../gather/label-query.ts'
import type { OutputOptions } from '../../flags/options.ts'
import { KleymError } from '../../io/errors.ts'
import { podsMeant, standsForMany } from './pods-meant.ts'
import { noSuchObject } from '../../frame/not-found.ts'
import type { ObjectName } from '../../sources/kind-name.ts'

/** What limits the pods of an answer. */
export interface PodQuestion {
  /** The object whose pods are meant; undefined: those in scope. */
  readonly target: ObjectName | undefined
  /** A label selector as written. */
  readonly selector: string | undefined
  readonly allNamespaces: boolean
  /** Its flags, for the fix of an error. */
  readonly output: Pick<OutputOptions, 'echo'>
}

/** The pods of the named object, else those in scope. A workload is asked about by its template, unless it makes no pods any more. */
export function choosePods(
  { after, isLive, namespaceInForce }: AnswerInput,
  { target, selector, allNamespaces, output }: PodQuestion,
): readonly Pod[] {
  const namespace = allNamespaces ? undefined : (target?.namespace ?? namespaceInForce)
  const query = selector === undefined ? undefined : parseLabelQuery(selector)
  const candidates =
    target === undefined || standsForMany(target)
      ? after.podsInQuestion
      : [...after.snapshot.pods.read, ...after.snapshot.templates.read]
  const isTarget = target === undefined ? () => true : podsMeant(after, target, namespace, output.echo ?? '')
  const isChosen = (pod: Pod): boolean =>
    (namespace === undefined || pod.namespace === namespace) &&
    isTarget(pod) &&
    (query === undefined || matchSelector(query, labelsOfPod(pod)) !== NO)
  const chosen = candidates.filter(isChosen)
  // What stands for many pods may stand for none; a pod or a workload that is named exists or does not.
  if (target === undefined || chosen.length > 0 || standsForMany(target)) return chosen
  const where = namespace === undefined ? target.name : namespacedName(namespace, target.name)
  const list = `list what is there with: kubectl kleym who-selects -A${output.echo ?? ''} -o name`
  const over = after.snapshot.over.find(isChosen)?.over
  if (over === undefined) throw noSuchObject(target.kind, where, { isLive, list })
  const made = podsMadeBy(after, target, namespace)
  if (made.length > 0) return made
  throw new KleymError('not-found', {
    what: `this ${target.kind} makes no pods any more`,
    where,
    why: over,
    fix: list,
  })
}

/** The pods that a workload has made, in a namespace or in any. */
export function podsMadeBy(
  { snapshot }: Analysis,
  target: ObjectName,
  namespace: string | undefined,
): readonly Pod[] {
  return snapshot.pods.read.filter(
    (pod) =>
      pod.exists &&
      (namespace === undefined || pod.namespace === namespace) &&
      workloadsOf(pod).some(({ kind, name }) => kind === target.kind && name === target.name),
  )
}
