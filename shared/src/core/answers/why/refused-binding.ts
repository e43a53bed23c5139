// Bindings that are for a container and give it nothing, with the reason that the operator gives and what to do about it
// (docs/reference/reasons.md).
import { bindingsIn } from '../../snapshot/index.ts'
import { declaredId, isMeant, mayBeMeant } from '../../analysis/index.ts'
import { readyOf } from '../../model/objects/binding.ts'
import { type Judgement, verdictOf, type StatusVerdict, isReason, REASONS } from '../../decide/index.ts'
import { open } from '../../model/truth/truth.ts'
import { broken, openHop, type HopAnswer } from './hop.ts'
import type { ChainCandidate, ChainSubject } from './subject.ts'

/** For whom a binding is: known by its pool, or not known, since its pool is not. */
type Meant = 'for this container' | 'perhaps for this container'

const IS_MEANT = {
  'for this container': isMeant,
  'perhaps for this container': mayBeMeant,
} as const satisfies Record<Meant, typeof isMeant>

/** What is to be said of each binding that is for the container, and has no output. */
export function bindingsWithout(
  { analysis, pod, container, spiffeId }: ChainSubject,
  meant: Meant,
): readonly HopAnswer[] {
  return [...analysis.settled.judgements].flatMap(([key, judgement]) => {
    const { compiled } = judgement
    if (judgement.state === 'ready' || !IS_MEANT[meant](compiled, pod, container.name)) return []
    if (spiffeId !== undefined && (declaredId(compiled) ?? spiffeId) !== spiffeId) return []
    return [answerFor(key, judgement, meant)]
  })
}

function answerFor(key: string, judgement: Judgement, meant: Meant): HopAnswer {
  const verdict = verdictOf(judgement)
  if (judgement.state !== 'undetermined') return refusal(key, verdict, meant)
  const text = `binding ${key} is ${meant}, and is undetermined: ${verdict.message}`
  return openHop(open({ kind: 'undecided', of: {}, binding: key, why: judgement.why }), text)
}

function refusal(key: string, { ready, reason, message }: StatusVerdict, meant: Meant): HopAnswer {
  const { fix } = REASONS[reason]
  const what = ready === 'False' ? 'is refused' : 'has no output yet'
  return broken(`binding ${key} is ${meant}, and ${what} (${reason}): ${message}`, fix.replace(/\.$/, ''))
}

/**
 * Why kleym has not written what nothing here keeps it from writing: the operator alone knows of refused writes, of full namespaces and
 * of what it could not read, and says so in the status.
 */
export function heldBack(
  { isPending, binding = '' }: ChainCandidate,
  { analysis }: ChainSubject,
): HopAnswer | undefined {
  if (!isPending) return undefined
  const found = bindingsIn(analysis.snapshot)(binding)
  if (found.state !== 'found') return undefined
  const declared = found.object
  const ready = readyOf(declared)
  if (ready === undefined || ready.status === 'True' || !isReason(ready.reason)) return undefined
  if (ready.observedGeneration !== declared.meta.generation) return undefined
  return refusal(
    binding,
    { ready: ready.status, reason: ready.reason, message: ready.message },
    'for this container',
  )
}
