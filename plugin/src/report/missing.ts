// What an answer would have needed and could not get: it decides between exit code 0 and 4.
import type { Ignorance } from '@kleym/shared/core/knowledge.ts'
import type { Judgement } from '@kleym/shared/core/plan/plan.ts'
import { compareBytes } from '@kleym/shared/core/text/bytes.ts'
import type { World } from '../gather/gather.ts'

/** The gaps of the snapshot and the reasons of undetermined bindings, each once, in a total order. */
export function missingOf({ after }: World, judgements: Iterable<Judgement>): readonly Ignorance[] {
  const all = [...after.snapshot.gaps.values()]
  for (const judgement of judgements) if (judgement.state === 'undetermined') all.push(judgement.why)
  const distinct = new Map(all.map((why) => [`${why.what}\n${why.verb}\n${why.cause}`, why]))
  return [...distinct].toSorted(([a], [b]) => compareBytes(a, b)).map(([, why]) => why)
}
