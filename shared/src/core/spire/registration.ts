// The registrations of a pod for one of its containers: which SPIRE issues, and why it does not issue the others.
import type { Container, Pod } from '../objects/pod.ts'
import { compareBytes } from '../text/bytes.ts'
import { judgeContainer } from './attestor.ts'
import {
  isAskedFor,
  sourceText,
  type EntryOutcome,
  type EntrySource,
  type EntryVerdict,
  type Prediction,
} from './prediction.ts'

/** One registration for one container. */
export interface Registration {
  readonly source: EntrySource
  readonly outcome: EntryOutcome
  readonly verdict: 'issued' | 'dead' | Exclude<EntryVerdict['state'], 'declared'>
  /** A plain sentence fragment; undefined for `issued`. */
  readonly why: string | undefined
  /** The selector that decides, for `dead` and for a `depends` of the container's own. */
  readonly selector: string | undefined
  /** The object that masks or displaces it. */
  readonly by: EntrySource | undefined
  readonly spiffeId: string | undefined
  readonly hint: string
  /** Another identity issued to this container has the same hint, and the Workload API gives out only one of them. */
  readonly sharesHint: boolean
}

/** A verdict as a person reads it: `not matched`; `pending` is what kleym has yet to write. */
export function verdictWord(verdict: Registration['verdict'] | 'pending'): string {
  if (verdict === 'dead') return 'not matched'
  return verdict === 'failed' ? 'fails to render' : verdict
}

/**
 * Every registration of a pod for one of its containers: issued ones first, then by SPIFFE ID, then by source (bytes), those
 * without a SPIFFE ID last.
 */
export function containerVerdicts(
  prediction: Prediction,
  pod: Pod,
  container: Container,
): readonly Registration[] {
  const registrations = prediction
    .entriesOf(pod)
    .map((outcome) => registrationOf(pod, container, outcome))
    .toSorted(compareRegistrations)
  return flagSharedHints(registrations)
}

function registrationOf(pod: Pod, container: Container, outcome: EntryOutcome): Registration {
  const { source, entry, verdict } = outcome
  const base = { source, outcome, spiffeId: entry?.spiffeId, hint: outcome.hint, sharesHint: false }
  const match = entry === undefined ? undefined : judgeContainer(pod, container, entry)
  // Selectors that cannot match decide for this container, whatever the verdict on the entry.
  if (match?.state === 'dead') {
    return { ...base, verdict: 'dead', why: match.why, selector: match.selector, by: undefined }
  }
  // Where it is certain that there is the entry, whichever object it is of, the selectors alone decide.
  if (match?.state === 'depends' && isAskedFor(verdict)) {
    return { ...base, verdict: 'depends', why: match.why, selector: match.selector, by: undefined }
  }
  if (verdict.state !== 'declared') {
    const by = 'by' in verdict ? verdict.by : undefined
    return { ...base, verdict: verdict.state, why: verdict.why, selector: undefined, by }
  }
  return { ...base, verdict: 'issued', why: undefined, selector: undefined, by: undefined }
}

function compareRegistrations(left: Registration, right: Registration): number {
  const issued = Number(right.verdict === 'issued') - Number(left.verdict === 'issued')
  if (issued !== 0) return issued
  const rendered = Number(left.spiffeId === undefined) - Number(right.spiffeId === undefined)
  if (rendered !== 0) return rendered
  return (
    compareBytes(left.spiffeId ?? '', right.spiffeId ?? '') ||
    compareBytes(sourceText(left.source), sourceText(right.source))
  )
}

function flagSharedHints(registrations: readonly Registration[]): readonly Registration[] {
  const holders = new Map<string, number>()
  for (const { verdict, hint } of registrations) {
    if (verdict === 'issued' && hint !== '') holders.set(hint, (holders.get(hint) ?? 0) + 1)
  }
  return registrations.map((registration) =>
    registration.verdict === 'issued' && (holders.get(registration.hint) ?? 0) > 1
      ? { ...registration, sharesHint: true }
      : registration,
  )
}
