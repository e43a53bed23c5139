// What pods show: several identities, lost defaults, masked, refused and failing entries, foreign registrations.
import { groupsBy } from '../../base/groups.ts'
import type { Subject } from '../../model/objects/subject.ts'
import type { Container } from '../../model/objects/pod.ts'
import type { FindingCode } from '../registry/findings.ts'
import {
  isAskedFor,
  sourceText,
  type EntryVerdict,
  type Registration,
  type PodIdentities,
} from '../../predict/index.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { openOn, YES, type Truth } from '../../model/truth/truth.ts'
import { sourceSubject } from './install-rules.ts'
import { displacedOf, displacersOf, givesWayText, lossText, UNKNOWN_ID, type Displaced } from './displaced.ts'
import { applies } from './applies.ts'
import {
  notesOfBindings,
  ownerOf,
  ownerText,
  type Note,
  type PodRule,
  type PodLookups,
  bindingOf,
} from './pod-note.ts'
import { MESH_RULES } from './mesh-rules.ts'
import { rightOverOthers } from './right-rules.ts'
import { WORKLOAD_API_RULES } from './workload-api-rules.ts'

/** The codes that rules over one pod may report. */
export const POD_CODES: readonly FindingCode[] = [
  'KLM303',
  'KLM304',
  'KLM305',
  'KLM307',
  'KLM308',
  'KLM310',
  'KLM402',
  'KLM403',
  'KLM405',
  'KLM408',
  'KLM413',
  'KLM418',
  'KLM430',
  'KLM431',
  'KLM440',
  'KLM441',
  'KLM442',
]
/** All rules over one pod. */
export const POD_RULES: readonly PodRule[] = [
  severalIdentities,
  equalHints,
  lostDefaults,
  registrationsThat('masked', 'KLM403', ({ verdict, entry }, lookups) => ({
    related: [ownerOf(verdict.by, lookups)],
    summary: (pods) => `${sourceText(verdict.by)} owns the entry on ${pods}`,
    evidence: entry === undefined ? [] : [`both register ${entry.spiffeId}`],
  })),
  maskedByEither,
  registrationsThat('refused', 'KLM405', ({ verdict, source }) => ({
    related: [],
    summary: (pods) => `spire-server refuses the entry of ${sourceText(source)} for ${pods}`,
    evidence: [verdict.why],
  })),
  registrationsThat('failed', 'KLM408', ({ verdict }) => ({
    related: [],
    summary: (pods) => `${verdict.field} fails to render for ${pods}`,
    evidence: [verdict.why],
  })),
  notFollowed,
  foreignBeside,
  idHeldByForeign,
  rightOverOthers,
  ...WORKLOAD_API_RULES,
  ...MESH_RULES,
]

type Fate = EntryVerdict['state']
type Outcome = PodIdentities['outcomes'][number]
type OutcomeThat<State extends Fate> = Outcome & { readonly verdict: Extract<EntryVerdict, { state: State }> }

/** A rule that notes every registration with one verdict. */
function registrationsThat<State extends Fate>(
  state: State,
  code: FindingCode,
  describe: (
    outcome: OutcomeThat<State>,
    lookups: PodLookups,
  ) => Pick<Note, 'related' | 'summary' | 'evidence'>,
): PodRule {
  const isOne = (outcome: Outcome): outcome is OutcomeThat<State> => outcome.verdict.state === state
  return ({ outcomes }, lookups) =>
    outcomes.filter(isOne).map((outcome) => ({
      code,
      subject: ownerOf(outcome.source, lookups),
      ...describe(outcome, lookups),
      holds: applies(outcome),
    }))
}

/** One of two registrations masks the other, and which of them is the older is not known. */
function maskedByEither({ outcomes }: PodIdentities, lookups: PodLookups): readonly Note[] {
  const pairs = new Map<string, Note>()
  for (const { source, verdict, entry } of outcomes) {
    if (verdict.state !== 'depends' || verdict.rival === undefined) continue
    const [first, second] = [source, verdict.rival].toSorted((one, other) =>
      compareBytes(sourceText(one), sourceText(other)),
    )
    if (first === undefined || second === undefined) continue
    const [one, other] = [sourceText(first), sourceText(second)]
    pairs.set(`${one} ${other}`, {
      code: 'KLM403',
      subject: ownerOf(first, lookups),
      related: [ownerOf(second, lookups)],
      summary: (pods) => `${one} and ${other} want the same entry on ${pods}, and one masks the other`,
      evidence: entry === undefined ? [] : [`both register ${entry.spiffeId}`],
      holds: openOn(
        verdict.mayNotAsk === true
          ? `whether ${sourceText(source)} applies`
          : `whether ${one} or ${other} is the older`,
        verdict.why,
      ),
    })
  }
  return [...pairs.values()]
}

/** It concerns the bindings on the same pod: what it gives to their containers is not known either. */
function notFollowed({ outcomes }: PodIdentities, lookups: PodLookups): readonly Note[] {
  const beside = outcomes.flatMap(({ source }) => bindingOf(source, lookups) ?? [])
  return outcomes.flatMap(({ source, verdict }) =>
    verdict.state !== 'unknown'
      ? []
      : {
          code: 'KLM413' as const,
          subject: ownerOf(source, lookups),
          related: beside,
          summary: (pods: string) => `what ${sourceText(source)} gives ${pods} is not known`,
          evidence: [verdict.why],
          holds: YES,
        },
  )
}

function severalIdentities({ containers }: PodIdentities, lookups: PodLookups): readonly Note[] {
  return containers.flatMap(({ container, issued }) => {
    const ids = [...new Set(issued.map(({ spiffeId }) => spiffeId ?? ''))]
    const [first, ...others] = issued.map(({ source }) => ownerOf(source, lookups))
    if (ids.length < 2 || first === undefined) return []
    return {
      code: 'KLM303' as const,
      subject: { ...first, container: container.name },
      related: others,
      containers: [container.name],
      summary: (pods) => `container ${container.name} of ${pods} holds ${ids.length} SPIFFE IDs`,
      evidence: issued.map(
        ({ spiffeId = '', source }) =>
          `${spiffeId === '' ? UNKNOWN_ID : spiffeId} from ${ownerText(source, lookups)}`,
      ),
      holds: YES,
    }
  })
}

function equalHints({ containers }: PodIdentities, lookups: PodLookups): readonly Note[] {
  return containers.flatMap(({ container, issued }) => {
    const byHint = Map.groupBy(
      issued.filter(({ sharesHint }) => sharesHint),
      ({ hint }) => hint,
    )
    return [...byHint].flatMap(([hint, sharing]) => {
      const [first, ...others] = sharing.map(({ source }) => ownerOf(source, lookups))
      if (first === undefined) return []
      return {
        code: 'KLM307' as const,
        subject: { ...first, container: container.name },
        related: others,
        containers: [container.name],
        summary: (pods: string) =>
          `container ${container.name} of ${pods} matches ${sharing.length} entries with one hint`,
        evidence: [`hint ${JSON.stringify(hint)}`],
        holds: YES,
      }
    })
  })
}

/** KLM402 of containers that are left with none, KLM418 of those that hold another identity instead. */
function lostDefaults(facts: PodIdentities, lookups: PodLookups): readonly Note[] {
  // Whether an injected container is there is not certain, so neither is that it is left with nothing.
  const lost = displacedOf(facts).filter(
    ({ instead, kept, container }) => instead.length + kept.length > 0 || container.injectedBy === undefined,
  )
  if (lost.length === 0) return []
  const groups = groupedBy(lost, lossKey)
  return displacersOf(facts, lost, lookups).flatMap((subject) =>
    groups.map(({ first, names }): Note => {
      const { instead, kept, fallbacks } = first
      const text = lossText({ ...first, holders: names.length })
      return {
        code: instead.length + kept.length === 0 ? 'KLM402' : 'KLM418',
        subject,
        related: fallbacks.map(({ source }) => sourceSubject(source)),
        containers: names,
        summary: ofContainers(names, text),
        evidence: [givesWayText(first)],
        holds: first.holds,
      }
    }),
  )
}

/** Made apart: a sentence that is kept for each of many findings keeps nothing of the pod alive. */
function ofContainers(names: readonly string[], text: string): Note['summary'] {
  return (pods) => `${names.join(', ')} of ${pods} ${text}`
}

/** What is reported of several containers together: what is certain apart from what is not. */
function lossKey({ fallbacks, spiffeId, instead, kept, holds }: Displaced): string {
  return JSON.stringify([fallbacks.map(({ source }) => source), spiffeId, instead, kept, holds.causes.key])
}

/** Groups what is the same for several containers, with their names. */
function groupedBy<T extends { readonly container: Container }>(
  ones: readonly T[],
  keyOf: (one: T) => string,
): readonly { readonly first: T; readonly names: readonly string[] }[] {
  return groupsBy(ones, keyOf).map((same) => ({
    first: same[0],
    names: same.map(({ container }) => container.name),
  }))
}

function foreignBeside({ outcomes }: PodIdentities, lookups: PodLookups): readonly Note[] {
  const inForce = outcomes.filter(({ fallback, verdict }) => !fallback && verdict.state === 'declared')
  const ours = inForce.flatMap(({ source }) => bindingOf(source, lookups) ?? [])
  if (ours.length === 0) return []
  return inForce
    .filter(({ source }) => source.kind === 'ClusterSPIFFEID' && bindingOf(source, lookups) === undefined)
    .flatMap(({ source }) =>
      ours.map((binding) => ({
        code: 'KLM305' as const,
        subject: sourceSubject(source),
        related: [binding],
        summary: (pods: string) => `${sourceText(source)} selects ${pods} of the binding too`,
        holds: YES,
      })),
    )
}

/** Whose identity a registration of others gives away. */
export function idHeldByForeign(
  { pod, outcomes, containers }: PodIdentities,
  lookups: PodLookups,
): readonly Note[] {
  return outcomes.flatMap((outcome) => {
    const { source, verdict, entry } = outcome
    if (entry === undefined || bindingOf(source, lookups) !== undefined) return []
    // Which of two registrations gives an identity away does not matter.
    const isHeld = ({ namespace }: Subject): boolean =>
      verdict.state === 'declared' || (namespace !== pod.namespace && isAskedFor(verdict))
    const bindings = lookups.bindingsOfId(entry.spiffeId).filter(isHeld)
    if (bindings.length === 0) return []
    const reached = containers
      .flatMap(({ registrations }) => registrations.filter((one) => one.outcome === outcome))
      .filter((one) => one.verdict !== 'dead')
    const [first] = reached
    if (first === undefined) return []
    // Of a `depends` of the container's own, a selector decides.
    const isCertain = reached.some(({ selector }) => selector === undefined)
    return notesOfBindings(bindings, pod, (subject, others, isTheft) => ({
      code: isTheft ? 'KLM308' : 'KLM304',
      subject,
      related: [sourceSubject(source), ...others],
      summary: (pods, namespaces) =>
        `${sourceText(source)} gives ${isTheft ? `the identity to ${pods} of ${namespaces}` : `the same SPIFFE ID to ${pods}`}`,
      evidence: [`both register ${entry.spiffeId}`],
      parts: [entry.spiffeId],
      holds: isCertain ? YES : matches(first),
    }))
  })
}

/** Whether a selector that nothing here decides matches a container: its image, its user. */
export function matches({ source, selector = '', why = '' }: Registration): Truth {
  return openOn(`whether ${selector} of ${sourceText(source)} matches`, why)
}
