// What a pod may show besides what it shows for certain: the rules about what containers hold, asked again as if the
// registrations applied of which that is not known (a Namespace that is not among the files, a node that the pod does not have
// yet). An assumption may make an answer longer, never surer (docs/assumptions.md).
import { subjectText } from '../findings/finding.ts'
import { sourceText, type EntryOutcome, type EntryVerdict } from '../spire/prediction.ts'
import type { Registration } from '../spire/registration.ts'
import { isPodAgent } from '../spire/static-index.ts'
import type { ContainerIdentities, PodIdentities } from './pod-identities.ts'
import { ownerOf, type Note, type PodRule, type Scan } from './pod-note.ts'
import { OPEN_RULES } from './pod-rules.ts'

/** What a pod shows perhaps, without what it shows for certain. */
export function openNotes(facts: PodIdentities, scan: Scan): readonly Note[] {
  const { pod, outcomes } = facts
  // Of a pod that is itself not certain, another part of the answer tells (`perhaps-pods.ts`).
  if (pod.perhaps !== undefined) return []
  const open = outcomes.filter(isOpen)
  const inPart = outcomes.filter(({ verdict, entry }) => verdict.state === 'declared' && isInPart(entry))
  return [
    ...possibleNotes(facts, scan, { open, rules: OPEN_RULES.whose }),
    ...possibleNotes(facts, scan, { open: open.filter(isOfPods), rules: OPEN_RULES.howMany }),
    ...[...open, ...inPart].flatMap((one) => mayBecomeOurs(one, facts, scan)),
  ]
}

/** What rules show if all of the open registrations apply, or of the fallbacks among them, and not as things are. */
function possibleNotes(
  facts: PodIdentities,
  scan: Scan,
  { open, rules }: { readonly open: readonly EntryOutcome[]; readonly rules: readonly PodRule[] },
): readonly Note[] {
  if (open.length === 0) return []
  const notesOf = (one: PodIdentities): readonly Note[] => rules.flatMap((rule) => rule(one, scan))
  const seen = new Set(notesOf(facts).map(keyOf))
  return possibilities(new Set(open), facts)
    .flatMap(notesOf)
    .flatMap((note) => {
      if (seen.has(keyOf(note))) return []
      seen.add(keyOf(note))
      return withReason(note, open, scan)
    })
}

/**
 * An agent that is no pod's node, such as that of a virtual machine, may still be one: `who-selects` shows that. It would tell
 * every pod of the cluster that it may hold one identity more.
 */
function isOfPods({ source, entry }: EntryOutcome): boolean {
  return source.kind === 'ClusterSPIFFEID' || (entry !== undefined && isPodAgent(entry.parentId))
}

/** A placeholder such as `<node name>` in an ID. */
function isInPart(entry: EntryOutcome['entry']): boolean {
  return entry?.spiffeId.includes('<') === true
}

function isOpen({ verdict }: EntryOutcome): boolean {
  return verdict.state === 'depends' && verdict.isContested !== true
}

/** As if all open registrations applied, which displaces fallbacks; and as if of these fallbacks alone did. */
function possibilities(open: ReadonlySet<EntryOutcome>, facts: PodIdentities): readonly PodIdentities[] {
  const other = [...open].find(({ fallback }) => !fallback)
  const applied = (one: EntryOutcome): EntryVerdict => (open.has(one) ? { state: 'declared' } : one.verdict)
  const alone = asIf(facts, (one) => (one.fallback ? applied(one) : one.verdict))
  const fallbacks = [...open].some(({ fallback }) => fallback) ? [alone] : []
  if (other === undefined) return fallbacks
  const all = asIf(facts, (one) => (one.fallback ? displacedBy(one, other) : applied(one)))
  return [all, ...fallbacks]
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

/** An ID that is known in part and may be one of a binding: who gives it, as a rule of its own would note it. */
function mayBecomeOurs(outcome: EntryOutcome, facts: PodIdentities, scan: Scan): readonly Note[] {
  const { source, entry } = outcome
  const isOurs = source.kind === 'ClusterSPIFFEID' && scan.bindings.has(source.name)
  const binding = isOurs || entry === undefined ? undefined : scan.bindingThatMayBe(entry.spiffeId)
  const reaches = facts.containers.some(({ registrations }) =>
    registrations.some((one) => one.outcome === outcome && one.verdict !== 'dead'),
  )
  if (binding === undefined || entry === undefined || !reaches) return []
  const isTheft = facts.pod.namespace !== binding.namespace
  return [
    {
      code: isTheft ? 'KLM308' : 'KLM304',
      subject: binding,
      related: [ownerOf(source, scan)],
      summary: (pods, namespaces) =>
        `${sourceText(source)} may give the identity to ${pods}${isTheft ? ` of ${namespaces}` : ''}`,
      evidence: [`it registers ${entry.spiffeId}`],
      depends: {
        on: `what ${sourceText(source)} renders`,
        why: 'depends: its SPIFFE ID is known but for what stands in angle brackets',
      },
    },
  ]
}

function withReason(note: Note, open: readonly EntryOutcome[], scan: Scan): Note {
  const named = new Set([note.subject, ...note.related].map(subjectText))
  const own = open.filter(({ source }) => named.has(subjectText(ownerOf(source, scan))))
  const telling = own.length > 0 ? own : open
  const on = telling.map(({ source }) => `whether ${sourceText(source)} applies`).join(' and ')
  const why = telling.flatMap(({ verdict }) => ('why' in verdict ? verdict.why : []))
  return { ...note, depends: { on, why: `depends: ${why.join('; ')}` } }
}

/** Equal for what the rules show alike. */
function keyOf({ code, subject, related }: Note): string {
  return JSON.stringify([code, subjectText(subject), related.map(subjectText)])
}
