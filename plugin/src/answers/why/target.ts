// The argument of `why`: a pod, or a workload whose pods are meant.
import { withArticle } from '@kleym/shared/core/base/text/counted.ts'
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import { wrongUsage } from '../../io/errors.ts'
import {
  kindNamed,
  parseObjectName,
  POD_KINDS,
  withoutGroup,
  type ObjectName,
} from '../../sources/kind-name.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { choosePods, podsMadeBy, type PodQuestion } from '../parts/choose-pods.ts'

/** Parses the arguments: `llama-0`, `team-a/llama-0`, `deployment/llama`, `deployment llama`. Throws a usage error. */
export function parseWhyTarget(words: readonly string[]): ObjectName {
  const [first, second, ...more] = words
  if (first === undefined || more.length > 0)
    throw wrongUsage('why', {
      what: first === undefined ? 'no pod is named' : 'more than one object is named',
      where: words.join(' '),
      why: 'why follows the identity of one pod, or of the pods of one workload',
      fix: 'name it: kubectl kleym why llama-0 -n team-a',
    })
  const text = second === undefined ? first : `${first}/${second}`
  const [head = '', ...path] = text.split('/')
  const isKind = path.length > 0 && kindNamed(withoutGroup(head)) !== undefined
  const target = parseObjectName(isKind ? text : `pod/${text}`, 'the argument')
  if (POD_KINDS.includes(target.kind)) return target
  throw wrongUsage('why', {
    what: `${withArticle(target.kind)} runs no containers`,
    where: text,
    why: 'why follows the identity of one pod, or of the pods of one workload',
    fix: `name one of ${POD_KINDS.join(', ')}`,
  })
}

/** The pods that are meant: of a workload those that it has made, and its template where there are none. */
export function podsOf(
  input: AnswerInput,
  question: PodQuestion & { readonly target: ObjectName },
): readonly Pod[] {
  const { target, allNamespaces } = question
  const namespace = allNamespaces ? undefined : (target.namespace ?? input.namespaceInForce)
  const made = podsMadeBy(input.after, target, namespace)
  return made.length > 0 ? made : choosePods(input, question)
}
