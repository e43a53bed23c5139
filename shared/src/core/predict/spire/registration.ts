// The registrations of a pod for one of its containers: which SPIRE issues, and why it does not issue the others.
import type { Container, Pod } from '../../model/objects/pod.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { judgeContainer, type ContainerMatch } from './attestor.ts'
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

/** A verdict as a person reads it: `not matched`; `pending` is what kleym must still write. */
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
  return verdictsOf(prediction.entriesOf(pod), pod, container)
}

/** The same, of what is known of the pod's registrations. */
export function verdictsOf(
  outcomes: readonly EntryOutcome[],
  pod: Pod,
  container: Container,
): readonly Registration[] {
  const registrations = outcomes
    .map((outcome) => registrationOf(outcome, matchOf(pod, container, outcome)))
    .toSorted(compareRegistrations)
  return flagSharedHints(registrations)
}

/**
 * Those of `containerVerdicts` that give the container something, or may do so: issued, or not decided. Most registrations of a pod
 * are another container's, and a question about what containers hold need not describe them.
 */
export function possibleVerdicts(
  prediction: Prediction,
  pod: Pod,
  container: Container,
): readonly Registration[] {
  let found = NONE
  for (const outcome of prediction.entriesOf(pod)) {
    if (!isDecidedPossible(outcome.verdict.state)) continue
    const match = matchOf(pod, container, outcome)
    if (match?.state === 'dead') continue
    const one = registrationOf(outcome, match)
    if (found === NONE) found = [one]
    else found.push(one)
  }
  return found.length < 2 ? found : flagSharedHints(found.toSorted(compareRegistrations))
}

const NONE: Registration[] = []

function isDecidedPossible(state: EntryVerdict['state']): boolean {
  return state === 'declared' || state === 'depends' || state === 'unknown'
}

function matchOf(
  pod: Pod,
  container: Container,
  { entry, verdict }: EntryOutcome,
): ContainerMatch | undefined {
  if (entry !== undefined) return judgeContainer(pod, container, entry)
  if (verdict.state !== 'unknown') return undefined
  // One selector that cannot match is enough, whatever the rest of the entry is.
  const match = judgeContainer(pod, container, { selectors: verdict.selectors, storeSvid: false })
  return match.state === 'dead' ? match : undefined
}

function registrationOf(outcome: EntryOutcome, match: ContainerMatch | undefined): Registration {
  const { source, entry, verdict } = outcome
  const base = { source, outcome, spiffeId: entry?.spiffeId, hint: outcome.hint, sharesHint: false }
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
    // What is refused if it applies, or fails, gives nothing in either case.
    const isOpen = (verdict.state === 'refused' || verdict.state === 'failed') && verdict.open !== undefined
    const unless = isOpen ? `; ${verdict.open}` : ''
    return { ...base, verdict: verdict.state, why: `${verdict.why}${unless}`, selector: undefined, by }
  }
  return { ...base, verdict: 'issued', why: undefined, selector: undefined, by: undefined }
}

/** Whether a container certainly holds the ID: from this registration, or from another object that wants the same entry. */
export function isHeld({ verdict, why, outcome: { verdict: entry } }: Registration): boolean {
  if (verdict === 'issued') return true
  return verdict === 'depends' && isAskedFor(entry) && 'why' in entry && entry.why === why
}

/** Whether a registration gives a container nothing for certain, and may give it something. */
export function isPossible({
  verdict,
}: {
  readonly verdict: Registration['verdict'] | EntryVerdict['state'] | 'pending'
}): boolean {
  return verdict === 'depends' || verdict === 'unknown'
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
