// What was named and is not there: where not everything is known, that is not known.
import { didYouMean } from '@kleym/shared/core/base/text/suggest.ts'
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import { podText } from '@kleym/shared/core/model/objects/pod-index.ts'
import { unknownReasonText } from '@kleym/shared/core/model/unknown-reason.ts'
import { whyMoreOf } from '@kleym/shared/core/snapshot/index.ts'
import { missingRbacRules } from '../cluster/rbac.ts'
import type { AnswerInput } from '../gather/gather.ts'
import { KleymError } from '../io/errors.ts'
import { problemText } from '../sources/problem.ts'

/** The error of an object that is named and is none of those `there`; `list` says how to see which there are. */
export function noSuchObject(
  kind: string,
  where: string,
  {
    isLive,
    there = [],
    list,
  }: Pick<AnswerInput, 'isLive'> & { readonly there?: readonly string[]; readonly list: string },
): KleymError {
  return new KleymError('not-found', {
    what: `there is no such ${kind}`,
    where,
    why: isLive ? 'the API server has none of that name' : 'none of that name is among the files',
    fix: didYouMean(where, there) ?? list,
  })
}

/** The error of a container that is named and that a pod has not; `fix` is what to do, by the first that it has. */
export function noSuchContainer(
  name: string,
  pod: Pod,
  fix: (first: string) => string = () => 'name one of them',
): KleymError {
  const names = pod.containers.map((one) => one.name)
  return new KleymError('not-found', {
    what: 'there is no such container',
    where: `${podText(pod)} -c ${name}`,
    why: `the containers are ${names.join(', ')}`,
    fix: didYouMean(name, names) ?? fix(names[0] ?? ''),
  })
}

/** Chooses objects of some kinds, qualified, by name; where not everything is known, one that is not found may stand in what was not. */
export function notFoundOnlyIfRead<T>(
  { problems, after, isLive }: AnswerInput,
  kinds: readonly string[],
  choose: () => T,
): T {
  const first = problems.find(
    ({ reach }) => reach === undefined || reach.some(({ kind }) => kinds.includes(kind)),
  )
  const gap = whyMoreOf(after.snapshot, kinds)
  try {
    return choose()
  } catch (error) {
    if (!(error instanceof KleymError) || error.code !== 'not-found') throw error
    const { what, where } = error
    if (first !== undefined) {
      const why = problemText(first)
      const parts = { what: `${what}, as far as the files could be read`, where, why, fix: first.fix }
      throw new KleymError('input', { ...parts, cause: error })
    }
    if (gap !== undefined) {
      const fix =
        missingRbacRules([gap]).join(' ') ||
        (isLive ? 'try again when the API server answers' : 'give it too')
      const parts = { what: 'cannot tell whether it is there', where, why: unknownReasonText(gap), fix }
      throw new KleymError('unreachable', { ...parts, cause: error })
    }
    if (kinds.every((kind) => after.snapshot.absentKinds.has(kind))) {
      const why = `this cluster does not serve ${kinds.join(' or ')}`
      throw new KleymError('not-found', {
        what,
        where,
        why,
        fix: 'install it, or choose another cluster',
      })
    }
    throw error
  }
}
