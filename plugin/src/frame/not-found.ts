// What was named and is not there: where not everything is known, that is not known.
import { unknownReasonText } from '@kleym/shared/core/model/unknown-reason.ts'
import { whyMoreOf } from '@kleym/shared/core/snapshot/index.ts'
import { missingRbacRules } from '../cluster/rbac.ts'
import type { AnswerInput } from '../gather/gather.ts'
import { KleymError } from '../io/errors.ts'

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
      const why = `${first.what} (${first.where}): ${first.why}`
      const parts = { what: `${what}, as far as the files could be read`, where, why, fix: first.fix }
      throw new KleymError({ ...parts, code: 'input' }, { cause: error })
    }
    if (gap !== undefined) {
      const fix =
        missingRbacRules([gap]).join(' ') ||
        (isLive ? 'try again when the API server answers' : 'give it too')
      const parts = { what: 'cannot tell whether it is there', where, why: unknownReasonText(gap), fix }
      throw new KleymError({ ...parts, code: 'unreachable' }, { cause: error })
    }
    if (kinds.every((kind) => after.snapshot.absentKinds.has(kind))) {
      const why = `this cluster does not serve ${kinds.join(' or ')}`
      throw new KleymError({
        code: 'not-found',
        what,
        where,
        why,
        fix: 'install it, or choose another cluster',
      })
    }
    throw error
  }
}
