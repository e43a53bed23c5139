// What an answer would have needed and could not get: it decides between exit code 0 and 4.
import type { Ignorance } from '@kleym/shared/core/knowledge.ts'
import type { Judgement } from '@kleym/shared/core/plan/plan.ts'
import { compareBytes } from '@kleym/shared/core/text/bytes.ts'
import { KleymError } from '../cli/errors.ts'
import type { World } from '../gather/gather.ts'

/** The gaps of the snapshot and the reasons of undetermined bindings, each once, in a total order. */
export function missingOf({ after }: World, judgements: Iterable<Judgement>): readonly Ignorance[] {
  const all = [...after.snapshot.gaps.values()]
  for (const judgement of judgements) if (judgement.state === 'undetermined') all.push(judgement.why)
  const distinct = new Map(all.map((why) => [`${why.what}\n${why.verb}\n${why.cause}`, why]))
  return [...distinct].toSorted(([a], [b]) => compareBytes(a, b)).map(([, why]) => why)
}

/** Chooses objects by name; where not everything could be read, one that is not found may stand in what was not. */
export function unlessUnread<T>({ problems }: World, choose: () => T): T {
  const [first] = problems
  try {
    return choose()
  } catch (error) {
    if (first === undefined || !(error instanceof KleymError) || error.code !== 'not-found') throw error
    throw new KleymError(
      {
        code: 'input',
        what: `${error.what}, as far as the files could be read`,
        where: error.where,
        why: `${first.what} (${first.where}): ${first.why}`,
        fix: first.fix,
      },
      { cause: error },
    )
  }
}
