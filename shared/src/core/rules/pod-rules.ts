// What pods show: several identities, lost defaults, masked, refused and failing entries, foreign registrations.
import { BINDING_KIND } from '../names.ts'
import type { FindingCode } from '../registry/findings.ts'
import { isAskedFor, sourceText, type EntryVerdict } from '../spire/prediction.ts'
import { sourceSubject } from './install-rules.ts'
import { lossesOf, type PodIdentities } from './pod-identities.ts'
import { ownerOf, ownerText, type Note, type PodRule, type Scan } from './pod-note.ts'
import { WORKLOAD_API_RULES } from './workload-api-rules.ts'

/** All rules over one pod. */
export const POD_RULES: readonly PodRule[] = [
  severalIdentities,
  equalHints,
  lostDefaults,
  registrationsThat('masked', 'KLM403', ({ verdict, entry }, scan) => ({
    related: [ownerOf(verdict.by, scan)],
    summary: (pods) => `${sourceText(verdict.by)} owns the entry on ${pods}`,
    evidence: entry === undefined ? [] : [`both register ${entry.spiffeId}`],
  })),
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
  ...WORKLOAD_API_RULES,
]

/** The rules of which it is told too what they show of registrations that are not certain: whose ID a pod gets, and how many. */
export const OPEN_RULES = {
  whose: [idHeldByForeign],
  howMany: [severalIdentities, lostDefaults],
} as const satisfies Readonly<Record<string, readonly PodRule[]>>

type Fate = EntryVerdict['state']
type Outcome = PodIdentities['outcomes'][number]
type OutcomeThat<State extends Fate> = Outcome & { readonly verdict: Extract<EntryVerdict, { state: State }> }

/** A rule that notes every registration with one verdict. */
function registrationsThat<State extends Fate>(
  state: State,
  code: FindingCode,
  describe: (outcome: OutcomeThat<State>, scan: Scan) => Pick<Note, 'related' | 'summary' | 'evidence'>,
): PodRule {
  const isOne = (outcome: Outcome): outcome is OutcomeThat<State> => outcome.verdict.state === state
  return ({ outcomes }, scan) =>
    outcomes
      .filter(isOne)
      .map((outcome) => ({ code, subject: ownerOf(outcome.source, scan), ...describe(outcome, scan) }))
}

/** It concerns the bindings on the same pod: what it gives to their containers is not known either. */
function notFollowed({ outcomes }: PodIdentities, scan: Scan): readonly Note[] {
  const beside = outcomes
    .map(({ source }) => ownerOf(source, scan))
    .filter(({ kind }) => kind === BINDING_KIND)
  return outcomes.flatMap(({ source, verdict }) =>
    verdict.state !== 'unknown'
      ? []
      : {
          code: 'KLM413' as const,
          subject: ownerOf(source, scan),
          related: beside,
          summary: (pods: string) => `what ${sourceText(source)} gives ${pods} is not known`,
          evidence: [verdict.why],
        },
  )
}

function severalIdentities({ containers }: PodIdentities, scan: Scan): readonly Note[] {
  return containers.flatMap(({ container, issued }) => {
    const ids = [...new Set(issued.map(({ spiffeId }) => spiffeId ?? ''))]
    const [first, ...others] = issued.map(({ source }) => ownerOf(source, scan))
    if (ids.length < 2 || first === undefined) return []
    return {
      code: 'KLM303' as const,
      subject: { ...first, container: container.name },
      related: others,
      containers: [container.name],
      summary: (pods) => `container ${container.name} of ${pods} holds ${ids.length} SPIFFE IDs`,
      evidence: issued.map(({ spiffeId, source }) => `${spiffeId ?? ''} from ${ownerText(source, scan)}`),
    }
  })
}

function equalHints({ containers }: PodIdentities, scan: Scan): readonly Note[] {
  return containers.flatMap(({ container, issued }) => {
    const byHint = Map.groupBy(
      issued.filter(({ sharesHint }) => sharesHint),
      ({ hint }) => hint,
    )
    return [...byHint].flatMap(([hint, sharing]) => {
      const [first, ...others] = sharing.map(({ source }) => ownerOf(source, scan))
      if (first === undefined) return []
      return {
        code: 'KLM307' as const,
        subject: { ...first, container: container.name },
        related: others,
        containers: [container.name],
        summary: (pods: string) =>
          `container ${container.name} of ${pods} matches ${sharing.length} entries with one hint`,
        evidence: [`hint ${JSON.stringify(hint)}`],
      }
    })
  })
}

function lostDefaults(facts: PodIdentities, scan: Scan): readonly Note[] {
  const losses = lossesOf(facts)
  if (losses.length === 0) return []
  const displacing = facts.outcomes.filter(({ fallback, verdict }) => !fallback && takesPart(verdict.state))
  const subjects = displacing.map(({ source }) => ownerOf(source, scan))
  const ours = subjects.filter(({ kind }) => kind === BINDING_KIND)
  return (ours.length > 0 ? ours : subjects.slice(0, 1)).flatMap((subject) =>
    [...Map.groupBy(losses, ({ fallback }) => fallback.source.name)].map(([, lost]) => {
      const names = lost.map(({ container }) => container.name).join(', ')
      const [source] = lost.map(({ fallback }) => fallback.source)
      const [open] = lost.map(({ fallback: { outcome } }) =>
        outcome.verdict.state === 'displaced' ? outcome.verdict.open : undefined,
      )
      const on = source === undefined ? '' : `whether ${sourceText(source)} applies`
      return {
        code: 'KLM402' as const,
        subject,
        related: source === undefined ? [] : [sourceSubject(source)],
        containers: lost.map(({ container }) => container.name),
        summary: (pods: string) =>
          `${names} of ${pods} ${lost.length === 1 ? 'is' : 'are'} left without an identity`,
        evidence: [
          `${source === undefined ? '' : sourceText(source)} is a fallback: any other registration rendered for the pod displaces it`,
        ],
        ...(open === undefined ? {} : { depends: { on, why: `depends: ${open}` } }),
      }
    }),
  )
}

/** Whether a registration was rendered for the pod, which is what displaces a fallback. */
function takesPart(state: Fate): boolean {
  return state === 'declared' || state === 'masked' || state === 'refused'
}

function foreignBeside({ outcomes }: PodIdentities, scan: Scan): readonly Note[] {
  const inForce = outcomes.filter(({ fallback, verdict }) => !fallback && verdict.state === 'declared')
  const ours = inForce.map(({ source }) => ownerOf(source, scan)).filter(({ kind }) => kind === BINDING_KIND)
  if (ours.length === 0) return []
  return inForce
    .filter(({ source }) => source.kind === 'ClusterSPIFFEID' && !scan.bindings.has(source.name))
    .flatMap(({ source }) =>
      ours.map((binding) => ({
        code: 'KLM305' as const,
        subject: sourceSubject(source),
        related: [binding],
        summary: (pods: string) => `${sourceText(source)} selects ${pods} of the binding too`,
      })),
    )
}

function idHeldByForeign({ pod, outcomes, containers }: PodIdentities, scan: Scan): readonly Note[] {
  return outcomes.flatMap((outcome) => {
    const { source, verdict, entry } = outcome
    const binding = entry === undefined ? undefined : scan.bindingOfId(entry.spiffeId)
    const isOurs = source.kind === 'ClusterSPIFFEID' && scan.bindings.has(source.name)
    if (binding === undefined || isOurs) return []
    const isTheft = pod.namespace !== binding.namespace
    // Which of two registrations gives an identity away does not matter.
    if (verdict.state !== 'declared' && !(isTheft && isAskedFor(verdict))) return []
    const reaches = containers.some(({ registrations }) =>
      registrations.some((one) => one.outcome === outcome && one.verdict !== 'dead'),
    )
    if (!reaches) return []
    return {
      code: isTheft ? ('KLM308' as const) : ('KLM304' as const),
      subject: binding,
      related: [sourceSubject(source)],
      summary: (pods: string, namespaces: string) =>
        `${sourceText(source)} gives ${isTheft ? `the identity to ${pods} of ${namespaces}` : `the same SPIFFE ID to ${pods}`}`,
      evidence: [`both register ${entry?.spiffeId ?? ''}`],
    }
  })
}
