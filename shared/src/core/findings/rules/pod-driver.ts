// The driver of all rules over one pod. A rule looks at the verdicts of the registrations of the pod, and says for each
// observation whether it is certain. The driver runs it again as if uncertain registrations applied (a Namespace is not among
// the files, the pod has no node yet): what only this run shows is not known. An assumption may make an answer longer, never
// more certain (docs/assumptions.md).
import { onceBy } from '../../base/groups.ts'
import type { Analysis } from '../../analysis/index.ts'
import { mayBecome } from '../../base/go/template/mentions.ts'
import { BINDING_KIND } from '../../model/names.ts'
import { namespacedName } from '../../model/namespaced-name.ts'
import { podText } from '../../model/objects/pod-index.ts'
import type { Container, Pod } from '../../model/objects/pod.ts'
import { subjectText } from '../../model/objects/subject.ts'
import type { UnknownReason } from '../../model/unknown-reason.ts'
import {
  containerVerdicts,
  isPossible,
  sourceText,
  whyOpen,
  type EntryOutcome,
  type EntryVerdict,
  type Registration,
  isOfPods,
  type ContainerIdentities,
  type PodIdentities,
} from '../../predict/index.ts'
import { all, any, openOn, YES, type Truth } from '../../model/truth/truth.ts'
import { GIVE_PODS_AS_THEY_RUN } from '../../model/truth/unknown.ts'
import { madeBy } from '../../snapshot/index.ts'
import type { Concern } from '../finding/rule.ts'
import { applies } from './applies.ts'
import {
  notesOfBindings,
  ownerOf,
  podLookupsOf,
  type Note,
  type PodRule,
  type PodLookups,
  bindingOf,
} from './pod-note.ts'
import { idHeldByForeign, matches, POD_RULES } from './pod-rules.ts'

/** What all rules find on a pod, each with whether it holds; `asRead`: whether the pod is what was read of it. */
export function judged(facts: PodIdentities, lookups: PodLookups, asRead: Truth): readonly Note[] {
  const found = POD_RULES.flatMap((rule) => rule(facts, lookups))
  const notes = facts.pod.perhaps === undefined ? [...found, ...openNotes(found, facts, lookups)] : found
  return asRead === YES ? notes : notes.map((note) => ({ ...note, holds: all(note.holds, asRead) }))
}

/** Why pods and containers that are not certain may show more about what is asked: each object that makes them once. */
export function morePods(
  { podsInQuestion, settled }: Analysis,
  { bindings, pods, namespace, spiffeId: asked }: Concern,
): readonly UnknownReason[] {
  const open = podsInQuestion.filter(
    (pod) => pods?.has(pod) !== false && pod.containers.some((one) => isOpenIn(pod, one)),
  )
  if (open.length === 0) return []
  const lookups = podLookupsOf(settled)
  const prediction = settled.prediction()
  /** Of pods elsewhere, a namespace is concerned by those that may hold an identity of its own. */
  const isConcerned = (pod: Pod, { verdict, source, spiffeId = '' }: Registration): boolean => {
    if (!isPossible({ verdict })) return false
    const isHere = namespace === undefined || pod.namespace === namespace
    if (isHere && asked !== undefined && mayBecome(spiffeId, asked)) return true
    const given = [...lookups.bindingsOfId(spiffeId), ...lookups.bindingsThatMayBe(spiffeId)]
    return [ownerOf(source, lookups), ...given].some(
      (one) =>
        one.kind === BINDING_KIND &&
        bindings?.has(namespacedName(one.namespace, one.name)) !== false &&
        (isHere || one.namespace === namespace),
    )
  }
  const reasons = open.flatMap((pod): readonly UnknownReason[] => {
    const container = pod.containers.find(
      (one) =>
        isOpenIn(pod, one) &&
        containerVerdicts(prediction, pod, one).some(
          (each) => isConcerned(pod, each) && (pod.perhaps !== undefined || isForOne(each)),
        ),
    )
    if (container === undefined) return []
    const { name, injectedBy } = container
    if (pod.perhaps !== undefined) return [madeBy(pod.ref, 'the pods')]
    const what = `container ${name} that the webhook of ${injectedBy} adds to ${podText(pod)}`
    return [{ verb: 'read', what, cause: 'not given', fix: GIVE_PODS_AS_THEY_RUN }]
  })
  return onceBy(reasons, ({ what }) => what)
}

function isOpenIn({ perhaps }: Pod, { injectedBy }: Container): boolean {
  return perhaps !== undefined || injectedBy !== undefined
}

/** Whether a registration is for one container alone: without that container it gives nothing. */
function isForOne({ outcome }: Registration): boolean {
  return outcome.entry?.selectors.some(({ value }) => value.startsWith('container-name:')) === true
}

/** What a pod shows perhaps, without what it shows for certain. Of a pod that is itself not certain, `morePods` tells. */
function openNotes(found: readonly Note[], facts: PodIdentities, lookups: PodLookups): readonly Note[] {
  // There may be a hundred thousand pods, and hardly any has something open.
  const doubts: Doubt[] = []
  const inPart: EntryOutcome[] = []
  for (const outcome of facts.outcomes)
    if (outcome.verdict.state === 'depends' && outcome.verdict.isContested !== true)
      doubts.push({ outcome, holds: applies(outcome), isOfSelector: false })
    else if (outcome.verdict.state === 'declared' && isInPart(outcome.entry)) inPart.push(outcome)
  const ofSelectors = selectorDoubts(facts)
  if (doubts.length + inPart.length + ofSelectors.length === 0) return NONE
  const ofPods = [...doubts.filter(({ outcome }) => isOfPods(outcome)), ...ofSelectors]
  return [
    ...possibleNotes(facts, lookups, {
      doubts,
      rules: [idHeldByForeign],
      found: idHeldByForeign(facts, lookups),
    }),
    ...possibleNotes(facts, lookups, { doubts: ofPods, rules: POD_RULES, found }),
    ...[...doubts.map(({ outcome }) => outcome), ...inPart].flatMap((one) =>
      mayBecomeOurs(one, facts, lookups),
    ),
  ]
}

const NONE: readonly Note[] = []

/** Something that is not known of a registration. */
interface Doubt {
  readonly outcome: EntryOutcome
  /** Whether it is so; open. */
  readonly holds: Truth
  /** It is about a selector and not about whether the registration applies. */
  readonly isOfSelector: boolean
}

/** Registrations that apply, with a selector that nothing here decides. */
function selectorDoubts({ containers }: PodIdentities): readonly Doubt[] {
  const doubts: Doubt[] = []
  for (const { container, registrations } of containers) {
    if (container.injectedBy !== undefined) continue
    for (const one of registrations)
      if (one.verdict === 'depends' && one.selector !== undefined && isOfPods(one.outcome))
        doubts.push({ outcome: one.outcome, holds: matches(one), isOfSelector: true })
  }
  return doubts
}

/** What rules show if all of the doubtful registrations apply, or those that displace none, beside what they have found as things are. */
function possibleNotes(
  facts: PodIdentities,
  lookups: PodLookups,
  {
    doubts,
    rules,
    found,
  }: {
    readonly doubts: readonly Doubt[]
    readonly rules: readonly PodRule[]
    readonly found: readonly Note[]
  },
): readonly Note[] {
  if (doubts.length === 0) return NONE
  const seen = new Set(found.map(keyOf))
  return possibilities(doubts, facts)
    .flatMap((one) => rules.flatMap((rule) => rule(one, lookups)))
    .flatMap((note) => {
      if (seen.has(keyOf(note))) return []
      seen.add(keyOf(note))
      return { ...note, holds: all(note.holds, whatDecides(note, doubts, lookups)) }
    })
}

/** The doubts about what a note names, or all of them if it names none. */
function whatDecides({ subject, related }: Note, doubts: readonly Doubt[], lookups: PodLookups): Truth {
  const named = new Set([subject, ...related].map(subjectText))
  const own = doubts.filter(({ outcome }) => named.has(subjectText(ownerOf(outcome.source, lookups))))
  return any(...(own.length > 0 ? own : doubts).map(({ holds }) => holds))
}

/** A placeholder such as `<node name>` in an ID. */
function isInPart(entry: EntryOutcome['entry']): boolean {
  return entry?.spiffeId.includes('<') === true
}

/** As if all open registrations applied, which displaces fallbacks; and as if those did that displace none. */
function possibilities(doubts: readonly Doubt[], facts: PodIdentities): readonly PodIdentities[] {
  const doubted = (is: boolean): ReadonlySet<EntryOutcome> =>
    new Set(doubts.flatMap(({ isOfSelector, outcome }) => (isOfSelector === is ? [outcome] : [])))
  return possibleApplications(doubted(false), facts).map((one) => withSelectors(one, doubted(true)))
}

function possibleApplications(
  open: ReadonlySet<EntryOutcome>,
  facts: PodIdentities,
): readonly PodIdentities[] {
  const displacing = facts.outcomes.find(mayDisplace)
  const applied = (one: EntryOutcome): EntryVerdict => (open.has(one) ? { state: 'declared' } : one.verdict)
  const withoutIt = asIf(facts, (one) => (mayDisplace(one) ? one.verdict : applied(one)))
  if (displacing === undefined) return [withoutIt]
  const applying = asIf(facts, (one) => (one.fallback ? displacedBy(one, displacing) : applied(one)))
  // One that displaces may apply alone, and what else might give the container an identity may not.
  const alone = facts.outcomes.filter(mayDisplace).map((displacer) =>
    asIf(facts, (one) => {
      if (one === displacer) return applied(one)
      return one.fallback ? displacedBy(one, displacer) : one.verdict
    }),
  )
  return [applying, ...([...open].some(({ fallback }) => fallback) ? [withoutIt] : []), ...alone]
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
    ...facts,
    outcomes: [...outcomes.values()],
    containers: facts.containers.map((one) => containerAsIf(one, outcomes)),
  }
}

/** As if the containers had every selector of these registrations. */
function withSelectors(facts: PodIdentities, doubtful: ReadonlySet<EntryOutcome>): PodIdentities {
  if (doubtful.size === 0) return facts
  const containers = facts.containers.map(({ container, registrations }) => {
    const settled = registrations.map((one): Registration =>
      one.selector !== undefined && one.verdict === 'depends' && doubtful.has(one.outcome)
        ? { ...one, verdict: 'issued', why: undefined, selector: undefined }
        : one,
    )
    return {
      container,
      registrations: settled,
      issued: settled.filter(({ verdict }) => verdict === 'issued'),
    }
  })
  return { ...facts, containers }
}

function containerAsIf(
  { container, registrations }: ContainerIdentities,
  outcomes: ReadonlyMap<EntryOutcome, EntryOutcome>,
): ContainerIdentities {
  const settled = registrations.map((one): Registration => {
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
  return { container, registrations: settled, issued: settled.filter(({ verdict }) => verdict === 'issued') }
}

/** An ID that is known in part and may be one of several bindings: who gives it, as a rule of its own would note it. */
function mayBecomeOurs(outcome: EntryOutcome, facts: PodIdentities, lookups: PodLookups): readonly Note[] {
  const { source, entry } = outcome
  if (entry === undefined || bindingOf(source, lookups) !== undefined) return []
  const reaches = facts.containers.some(({ registrations }) =>
    registrations.some((one) => one.outcome === outcome && one.verdict !== 'dead'),
  )
  if (!reaches) return []
  return notesOfBindings(
    lookups.bindingsThatMayBe(entry.spiffeId),
    facts.pod,
    (subject, others, isTheft) => ({
      code: isTheft ? 'KLM308' : 'KLM304',
      subject,
      related: [ownerOf(source, lookups), ...others],
      summary: (pods, namespaces) =>
        `${sourceText(source)} may give the identity to ${pods}${isTheft ? ` of ${namespaces}` : ''}`,
      evidence: [`it registers ${entry.spiffeId}`],
      spiffeId: entry.spiffeId,
      holds: openOn(
        `what ${sourceText(source)} renders`,
        'its SPIFFE ID is known except for the part in angle brackets',
      ),
    }),
  )
}

/** Equal for what the rules show alike. */
function keyOf({ code, subject, related }: Note): string {
  return JSON.stringify([code, subjectText(subject), related.map(subjectText)])
}
