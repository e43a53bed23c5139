// Findings that pods show: several identities, lost defaults, masked and refused entries, identities that reach nobody.
// All pods are gone through once; what many pods show alike is one finding that names a few and counts the rest.
import { bindingOfOutput, judgementOf, type Analysis } from '../analysis.ts'
import { entryOf } from '../entry.ts'
import { BINDING_KIND } from '../names.ts'
import type { Pod } from '../objects/pod.ts'
import { podText } from '../objects/pod-index.ts'
import type { FindingCode } from '../registry/findings.ts'
import type { EntryOutcome, EntrySource } from '../spire/prediction.ts'
import { sourceText } from '../spire/prediction.ts'
import { bindingSubject } from './binding-rules.ts'
import { finding, subjectText, type Finding, type Subject } from './finding.ts'
import { sourceSubject } from './install-rules.ts'
import { lossesOf, podFactsOf, type PodFacts } from './pod-facts.ts'
import { counted, Names } from './tally.ts'

/** What a pod shows, put into words without the pod's own name, so that alike pods fall together. */
interface Note {
  readonly code: FindingCode
  readonly subject: Subject
  readonly related: readonly Subject[]
  /** The sentence, given how many pods show it. */
  readonly summary: (pods: string) => string
  readonly evidence?: readonly string[]
}

type PodRule = (facts: PodFacts, scan: Scan) => readonly Note[]

const RULES: readonly PodRule[] = [
  severalIdentities,
  equalHints,
  lostDefaults,
  masked,
  refused,
  failed,
  notFollowed,
  foreignBeside,
  idHeldByForeign,
]

interface Scan {
  /** The binding behind an output of ours. */
  readonly bindings: ReadonlyMap<string, Subject>
  /** The subject that stands for an ID of ours. */
  readonly ids: ReadonlyMap<string, Subject>
}

/** How far the registration of one binding gets. */
interface Reach {
  declared: number
  reached: number
  missed: Map<string, Names>
}

/** The findings of all pods, and of bindings that reach none. */
export function podFindings(analysis: Analysis): readonly Finding[] {
  const reaches = new Map<string, Reach>()
  const notes = notesOf(analysis, analysis.subjects, (facts) => recordReach(facts, reaches))
  return [...notes, ...unreached(analysis, reaches)]
}

/** The findings that some pods show by themselves. */
export function podNotes(analysis: Analysis, pods: readonly Pod[]): readonly Finding[] {
  return notesOf(analysis, pods, () => {})
}

function notesOf(
  analysis: Analysis,
  pods: readonly Pod[],
  visit: (facts: PodFacts) => void,
): readonly Finding[] {
  const scan = scanOf(analysis)
  const notes = new Map<string, { note: Note; pods: Names }>()
  for (const pod of pods) {
    const facts = podFactsOf(analysis.prediction(), pod)
    if (facts.outcomes.length === 0) continue
    for (const note of RULES.flatMap((rule) => rule(facts, scan))) {
      entryOf(notes, noteKey(note), () => ({ note, pods: new Names() })).pods.add(podText(pod))
    }
    visit(facts)
  }
  return [...notes.values()].map(({ note, pods: seen }) =>
    finding(note.code, {
      subject: note.subject,
      related: note.related,
      summary: note.summary(counted(seen.count, 'pod')),
      evidence: [...(note.evidence ?? []), `seen in ${seen.text()}`],
    }),
  )
}

function scanOf(analysis: Analysis): Scan {
  const bindings = new Map(
    [...bindingOfOutput(analysis)].map(([output, key]) => {
      const slash = key.indexOf('/')
      return [
        output,
        { kind: BINDING_KIND, namespace: key.slice(0, slash), name: key.slice(slash + 1) },
      ] as const
    }),
  )
  const ids = new Map(
    analysis.settled.outputs.flatMap(({ object }) => {
      const binding = bindings.get(object.meta.name)
      return binding === undefined ? [] : [[object.spec.spiffeIDTemplate, binding] as const]
    }),
  )
  return { bindings, ids }
}

function noteKey({ code, subject, related, evidence }: Note): string {
  return JSON.stringify([code, subjectText(subject), related.map(subjectText), evidence ?? []])
}

/** The binding behind a source where it is ours, else the object itself. */
function ownerOf(source: EntrySource, { bindings }: Scan): Subject {
  return (source.kind === 'ClusterSPIFFEID' ? bindings.get(source.name) : undefined) ?? sourceSubject(source)
}

function ownerText(source: EntrySource, scan: Scan): string {
  const { kind, namespace, name } = ownerOf(source, scan)
  return kind === BINDING_KIND ? `binding ${namespace}/${name}` : sourceText(source)
}

function severalIdentities({ containers }: PodFacts, scan: Scan): readonly Note[] {
  return containers.flatMap(({ container, issued }) => {
    const ids = [...new Set(issued.map(({ spiffeId }) => spiffeId ?? ''))]
    const [first, ...others] = issued.map(({ source }) => ownerOf(source, scan))
    if (ids.length < 2 || first === undefined) return []
    return {
      code: 'KLM303' as const,
      subject: { ...first, container: container.name },
      related: others,
      summary: (pods) => `container ${container.name} of ${pods} holds ${ids.length} SPIFFE IDs`,
      evidence: issued.map(({ spiffeId, source }) => `${spiffeId ?? ''} from ${ownerText(source, scan)}`),
    }
  })
}

function equalHints({ containers }: PodFacts, scan: Scan): readonly Note[] {
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
        summary: (pods: string) =>
          `container ${container.name} of ${pods} matches ${sharing.length} entries with one hint`,
        evidence: [`hint ${JSON.stringify(hint)}`],
      }
    })
  })
}

function lostDefaults(facts: PodFacts, scan: Scan): readonly Note[] {
  const losses = lossesOf(facts)
  if (losses.length === 0) return []
  const displacing = facts.outcomes.filter(({ fallback, verdict }) => !fallback && takesPart(verdict.state))
  const subjects = displacing.map(({ source }) => ownerOf(source, scan))
  const ours = subjects.filter(({ kind }) => kind === BINDING_KIND)
  return (ours.length > 0 ? ours : subjects.slice(0, 1)).flatMap((subject) =>
    [...Map.groupBy(losses, ({ fallback }) => fallback.source.name)].map(([, lost]) => {
      const names = lost.map(({ container }) => container.name).join(', ')
      const [source] = lost.map(({ fallback }) => fallback.source)
      return {
        code: 'KLM402' as const,
        subject,
        related: source === undefined ? [] : [sourceSubject(source)],
        summary: (pods: string) =>
          `${names} of ${pods} ${lost.length === 1 ? 'is' : 'are'} left without an identity`,
        evidence: [
          `${source === undefined ? '' : sourceText(source)} is a fallback: any other registration rendered for the pod displaces it`,
          `containers: ${names}`,
        ],
      }
    }),
  )
}

/** Whether a registration was rendered for the pod, which is what displaces a fallback. */
function takesPart(state: EntryOutcome['verdict']['state']): boolean {
  return state === 'declared' || state === 'masked' || state === 'refused'
}

function masked({ outcomes }: PodFacts, scan: Scan): readonly Note[] {
  return outcomes.flatMap(({ source, verdict, entry }) =>
    verdict.state !== 'masked'
      ? []
      : {
          code: 'KLM403' as const,
          subject: ownerOf(source, scan),
          related: [ownerOf(verdict.by, scan)],
          summary: (pods: string) => `${sourceText(verdict.by)} owns the entry on ${pods}`,
          evidence: entry === undefined ? [] : [`both register ${entry.spiffeId}`],
        },
  )
}

function refused({ outcomes }: PodFacts, scan: Scan): readonly Note[] {
  return outcomes.flatMap(({ source, verdict }) =>
    verdict.state !== 'refused'
      ? []
      : {
          code: 'KLM405' as const,
          subject: ownerOf(source, scan),
          related: [],
          summary: (pods: string) => `spire-server refuses the entry of ${sourceText(source)} for ${pods}`,
          evidence: [verdict.why],
        },
  )
}

function failed({ outcomes }: PodFacts, scan: Scan): readonly Note[] {
  return outcomes.flatMap(({ source, verdict }) =>
    verdict.state !== 'failed'
      ? []
      : {
          code: 'KLM408' as const,
          subject: ownerOf(source, scan),
          related: [],
          summary: (pods: string) => `${verdict.field} fails to render for ${pods}`,
          evidence: [verdict.why],
        },
  )
}

function notFollowed({ outcomes }: PodFacts, scan: Scan): readonly Note[] {
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

function foreignBeside({ outcomes }: PodFacts, scan: Scan): readonly Note[] {
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

function idHeldByForeign({ outcomes }: PodFacts, scan: Scan): readonly Note[] {
  return outcomes.flatMap(({ source, verdict, entry }) => {
    const binding = entry === undefined ? undefined : scan.ids.get(entry.spiffeId)
    const isOurs = source.kind === 'ClusterSPIFFEID' && scan.bindings.has(source.name)
    if (binding === undefined || isOurs || verdict.state !== 'declared') return []
    return {
      code: 'KLM304' as const,
      subject: binding,
      related: [sourceSubject(source)],
      summary: (pods: string) => `${sourceText(source)} gives the same SPIFFE ID to ${pods}`,
      evidence: [`both register ${entry?.spiffeId ?? ''}`],
    }
  })
}

function recordReach({ pod, outcomes, containers }: PodFacts, reaches: Map<string, Reach>): void {
  for (const outcome of outcomes) {
    if (outcome.source.kind !== 'ClusterSPIFFEID') continue
    const reach = entryOf(reaches, outcome.source.name, () => ({
      declared: 0,
      reached: 0,
      missed: new Map(),
    }))
    if (outcome.verdict.state !== 'declared') continue
    reach.declared++
    const met = containers.flatMap(({ registrations }) =>
      registrations.filter((one) => one.outcome === outcome),
    )
    if (met.some(({ verdict }) => verdict !== 'dead')) reach.reached++
    else
      for (const why of new Set(met.map((one) => one.why ?? ''))) {
        entryOf(reach.missed, why, () => new Names()).add(podText(pod))
      }
  }
}

/** Bindings whose output is in force and reaches nobody. */
function unreached(analysis: Analysis, reaches: ReadonlyMap<string, Reach>): readonly Finding[] {
  const outputs = new Set(analysis.settled.outputs.map(({ object }) => object.meta.name))
  return analysis.compiled.flatMap(({ binding }) => {
    const judgement = judgementOf(analysis, binding.key)
    if (judgement?.state !== 'ready' || !outputs.has(judgement.resolved.output.metadata.name)) return []
    const subject = bindingSubject(binding)
    const reach = reaches.get(judgement.resolved.output.metadata.name)
    if (reach === undefined) {
      const pool = judgement.resolved.identity.poolName
      return [finding('KLM412', { subject, summary: `no pod carries the labels of InferencePool ${pool}` })]
    }
    if (reach.declared === 0 || reach.reached > 0) return []
    return [
      finding('KLM404', {
        subject,
        summary: `${counted(reach.declared, 'pod')} of the pool, and no container that all selectors match`,
        evidence: [...reach.missed].map(([why, pods]) => `${why}: ${pods.text()}`),
      }),
    ]
  })
}
