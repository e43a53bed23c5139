// What a pod may show besides what it shows for certain: the rules about what containers hold, asked again as if
// uncertain registrations applied (a Namespace is not among the files, the pod has no node yet). An assumption may make an answer longer, never surer (docs/assumptions.md).
import { subjectText } from '../findings/finding.ts'
import { sourceText, whyOpen, type EntryOutcome, type EntryVerdict } from '../spire/prediction.ts'
import type { Registration } from '../spire/registration.ts'
import { isOfPods, type ContainerIdentities, type PodIdentities } from './pod-identities.ts'
import { notesOfBindings, ownerOf, type Note, type PodRule, type Scan } from './pod-note.ts'
import { idHeldByForeign, POD_RULES } from './pod-rules.ts'

/** What a pod shows perhaps, without what it shows for certain. */
export function openNotes(facts: PodIdentities, scan: Scan): readonly Note[] {
  const { pod, outcomes } = facts
  // Of a pod that is itself not certain, another part of the answer tells (`perhaps-pods.ts`).
  if (pod.perhaps !== undefined) return []
  const open = outcomes.filter(isOpen)
  const inPart = outcomes.filter(({ verdict, entry }) => verdict.state === 'declared' && isInPart(entry))
  const ofPods = [...open.filter(isOfPods).map(doubtOf), ...selectorDoubts(facts)]
  return [
    ...possibleNotes(facts, scan, { doubts: open.map(doubtOf), rules: [idHeldByForeign] }),
    ...possibleNotes(facts, scan, { doubts: ofPods, rules: POD_RULES }),
    ...[...open, ...inPart].flatMap((one) => mayBecomeOurs(one, facts, scan)),
  ]
}

/** Something that is not known of a registration: `on`, a noun phrase, decides, and `why` it is not known. */
interface Doubt {
  readonly outcome: EntryOutcome
  readonly on: string
  readonly why: string
  /** It is about a selector and not about whether the registration applies. */
  readonly isOfSelector: boolean
}

function doubtOf(outcome: EntryOutcome): Doubt {
  const on = `whether ${sourceText(outcome.source)} applies`
  return { outcome, on, why: whyOpen(outcome.verdict) ?? '', isOfSelector: false }
}

/** Registrations that apply, with a selector that nothing here decides: the container's image, its user. */
function selectorDoubts({ containers }: PodIdentities): readonly Doubt[] {
  // There may be a hundred thousand pods, and hardly any has one.
  const doubts: Doubt[] = []
  for (const { container, registrations } of containers) {
    if (container.injectedBy !== undefined) continue
    for (const { verdict, selector, outcome, why = '' } of registrations) {
      if (verdict !== 'depends' || selector === undefined || !isOfPods(outcome)) continue
      const on = `whether ${selector} of ${sourceText(outcome.source)} matches`
      doubts.push({ outcome, on, why, isOfSelector: true })
    }
  }
  return doubts
}

/** What rules show if all of the doubtful registrations apply, or those that displace none, and not as things are. */
function possibleNotes(
  facts: PodIdentities,
  scan: Scan,
  { doubts, rules }: { readonly doubts: readonly Doubt[]; readonly rules: readonly PodRule[] },
): readonly Note[] {
  if (doubts.length === 0) return []
  const notesOf = (one: PodIdentities): readonly Note[] => rules.flatMap((rule) => rule(one, scan))
  const seen = new Set(notesOf(facts).map(keyOf))
  return possibilities(doubts, facts)
    .flatMap(notesOf)
    .flatMap((note) => {
      if (seen.has(keyOf(note))) return []
      seen.add(keyOf(note))
      return withReason(note, doubts, scan)
    })
}

/** A placeholder such as `<node name>` in an ID. */
function isInPart(entry: EntryOutcome['entry']): boolean {
  return entry?.spiffeId.includes('<') === true
}

function isOpen({ verdict }: EntryOutcome): boolean {
  return verdict.state === 'depends' && verdict.isContested !== true
}

/** As if all open registrations applied, which displaces fallbacks; and as if those did that displace none. */
function possibilities(doubts: readonly Doubt[], facts: PodIdentities): readonly PodIdentities[] {
  const [ofSelectors, others] = [true, false].map(
    (is) => new Set(doubts.flatMap(({ isOfSelector, outcome }) => (isOfSelector === is ? [outcome] : []))),
  )
  return possibleApplications(others ?? new Set(), facts).map((one) =>
    withSelectors(one, ofSelectors ?? new Set()),
  )
}

function possibleApplications(
  open: ReadonlySet<EntryOutcome>,
  facts: PodIdentities,
): readonly PodIdentities[] {
  const displacing = facts.outcomes.find(mayDisplace)
  const applied = (one: EntryOutcome): EntryVerdict => (open.has(one) ? { state: 'declared' } : one.verdict)
  const withoutIt = asIf(facts, (one) => (mayDisplace(one) ? one.verdict : applied(one)))
  if (displacing === undefined) return [withoutIt]
  const all = asIf(facts, (one) => (one.fallback ? displacedBy(one, displacing) : applied(one)))
  // One that displaces may apply alone, and what else might give the container an identity may not.
  const alone = facts.outcomes.filter(mayDisplace).map((displacer) =>
    asIf(facts, (one) => {
      if (one === displacer) return applied(one)
      return one.fallback ? displacedBy(one, displacer) : one.verdict
    }),
  )
  return [all, ...([...open].some(({ fallback }) => fallback) ? [withoutIt] : []), ...alone]
}

/** Whether a registration displaces fallbacks if it applies, which is not known: a static entry never does, a refused one does. */
function mayDisplace({ source, fallback, verdict }: EntryOutcome): boolean {
  return (
    !fallback &&
    source.kind === 'ClusterSPIFFEID' &&
    verdict.state !== 'failed' &&
    whyOpen(verdict) !== undefined
  )
}

function displacedBy(one: EntryOutcome, { source: by }: EntryOutcome): EntryVerdict {
  if (one.verdict.state !== 'depends' && one.verdict.state !== 'declared') return one.verdict
  return { state: 'displaced', by, why: `it is a fallback and ${sourceText(by)} may select this pod` }
}

function asIf(facts: PodIdentities, verdictOf: (one: EntryOutcome) => EntryVerdict): PodIdentities {
  const outcomes = new Map(
    facts.outcomes.map((one): [EntryOutcome, EntryOutcome] => {
      const verdict = verdictOf(one)
      return [one, verdict === one.verdict ? one : { ...one, verdict }]
    }),
  )
  return {
    pod: facts.pod,
    outcomes: [...outcomes.values()],
    containers: facts.containers.map((one) => containerAsIf(one, outcomes)),
  }
}

/** As if the containers had every selector of these registrations. */
function withSelectors(facts: PodIdentities, doubtful: ReadonlySet<EntryOutcome>): PodIdentities {
  if (doubtful.size === 0) return facts
  const containers = facts.containers.map(({ container, registrations }) => {
    const all = registrations.map((one): Registration =>
      one.selector !== undefined && one.verdict === 'depends' && doubtful.has(one.outcome)
        ? { ...one, verdict: 'issued', why: undefined, selector: undefined }
        : one,
    )
    return { container, registrations: all, issued: all.filter(({ verdict }) => verdict === 'issued') }
  })
  return { ...facts, containers }
}

function containerAsIf(
  { container, registrations }: ContainerIdentities,
  outcomes: ReadonlyMap<EntryOutcome, EntryOutcome>,
): ContainerIdentities {
  const all = registrations.map((one): Registration => {
    const outcome = outcomes.get(one.outcome) ?? one.outcome
    if (outcome === one.outcome || one.verdict === 'dead') return { ...one, outcome }
    const { verdict } = outcome
    return verdict.state === 'declared'
      ? { ...one, outcome, verdict: 'issued', why: undefined }
      : {
          ...one,
          outcome,
          verdict: verdict.state,
          why: verdict.why,
          by: 'by' in verdict ? verdict.by : undefined,
        }
  })
  return { container, registrations: all, issued: all.filter(({ verdict }) => verdict === 'issued') }
}

/** An ID that is known in part and may be one of several bindings: who gives it, as a rule of its own would note it. */
function mayBecomeOurs(outcome: EntryOutcome, facts: PodIdentities, scan: Scan): readonly Note[] {
  const { source, entry } = outcome
  const isOurs = source.kind === 'ClusterSPIFFEID' && scan.bindings.has(source.name)
  const bindings = isOurs || entry === undefined ? [] : scan.bindingsThatMayBe(entry.spiffeId)
  const reaches = facts.containers.some(({ registrations }) =>
    registrations.some((one) => one.outcome === outcome && one.verdict !== 'dead'),
  )
  if (entry === undefined || !reaches) return []
  return notesOfBindings(bindings, facts.pod, (subject, others, isTheft) => ({
    code: isTheft ? 'KLM308' : 'KLM304',
    subject,
    related: [ownerOf(source, scan), ...others],
    summary: (pods, namespaces) =>
      `${sourceText(source)} may give the identity to ${pods}${isTheft ? ` of ${namespaces}` : ''}`,
    evidence: [`it registers ${entry.spiffeId}`],
    spiffeId: entry.spiffeId,
    depends: {
      on: `what ${sourceText(source)} renders`,
      why: 'depends: its SPIFFE ID is known but for what stands in angle brackets',
    },
  }))
}

function withReason(note: Note, doubts: readonly Doubt[], scan: Scan): Note {
  const named = new Set([note.subject, ...note.related].map(subjectText))
  const own = doubts.filter(({ outcome }) => named.has(subjectText(ownerOf(outcome.source, scan))))
  const telling = own.length > 0 ? own : doubts
  const on = [...new Set(telling.map((one) => one.on))].join(' and ')
  const why = [...new Set(telling.map((one) => one.why))].join('; ')
  return { ...note, depends: { on, why: `depends: ${why}` } }
}

/** Equal for what the rules show alike. */
function keyOf({ code, subject, related }: Note): string {
  return JSON.stringify([code, subjectText(subject), related.map(subjectText)])
}
