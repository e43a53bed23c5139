// A gate that judged nothing must not pass: the command before the pipe failed, the namespace is misspelled, the folder is
// another one. Only `--allow-empty` gives 0 for it (docs/offline.md, "Nothing to judge").
import { didYouMean } from '@kleym/shared/core/base/text/suggest.ts'
import { POOL_KIND } from '@kleym/shared/core/model/kinds.ts'
import { NO } from '@kleym/shared/core/model/truth/truth.ts'
import { unknownReasonText } from '@kleym/shared/core/model/unknown-reason.ts'
import type { AnswerInput } from '../gather/gather.ts'
import { isNearMiss } from '../gather/near-misses.ts'
import type { InputProblem } from '../sources/problem.ts'
import { namesText } from '../text/names.ts'
import type { Frame } from './frame.ts'

/** The problem that an answer from files is about nothing; undefined if it is about something, or another problem says so. */
export function nothingJudged(
  { judged, findings }: Pick<Frame, 'judged' | 'findings'>,
  input: Pick<AnswerInput, 'isLive' | 'problems' | 'documents' | 'namespaceInForce' | 'after'>,
  echo = '',
): InputProblem | undefined {
  if (judged === undefined || judged.count > 0 || input.isLive) return undefined
  // What could not be read, or is misspelled, says more about why.
  if (input.problems.length > 0 || findings.some(isNearMiss)) return undefined
  const { documents = 0, namespaceInForce: namespace } = input
  const problem = { kind: 'empty', what: 'nothing was checked' } as const
  if (documents === 0)
    return {
      ...problem,
      where: 'the files',
      why: 'the files hold no document',
      fix: `look at what made them, such as the command before a pipe${UNLESS}`,
    }
  const there = input.after.snapshot.namespaces.read.map(({ name }) => name)
  if (namespace !== undefined && !there.includes(namespace))
    return {
      ...problem,
      where: `-n ${namespace}`,
      why: `nothing in the files is of this namespace${there.length === 0 ? '' : `; there are ${namesText(there)}`}`,
      fix: `${didYouMean(namespace, there) ?? 'name a namespace of the files, or leave -n out for all of them'}${UNLESS}`,
    }
  const unread = judged.what === POOL_KIND ? input.after.snapshot.pools.more() : undefined
  if (unread !== undefined)
    return {
      ...problem,
      where: 'the files',
      why: `no ${POOL_KIND} is among the files: ${unknownReasonText(unread)}`,
      fix: `give the pools, or what their controller makes: kubectl get inferencepools,deployments,leaderworkersets -A -o yaml${UNLESS}`,
    }
  const { bindings, pools } = input.after.snapshot
  const ofNamespace = namespace === undefined ? '' : ` of namespace ${namespace}`
  const isBeforeTheFirst = judged.what === 'binding' && bindings.some() === NO && pools.isAnyRead
  return {
    ...problem,
    where: namespace === undefined ? 'the files' : `the files, namespace ${namespace}`,
    why: `no ${judged.what}${ofNamespace} in ${documents === 1 ? 'this document' : `these ${documents} documents`}`,
    fix: isBeforeTheFirst
      ? `see which bindings the pools could have: kubectl kleym suggest -A${echo}${UNLESS}`
      : `check which files are given, and which flags limit the question${UNLESS}`,
  }
}

const UNLESS = '; pass --allow-empty if there may be none'
