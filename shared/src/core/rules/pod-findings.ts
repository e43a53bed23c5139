// Findings that pods show. One pass over all pods, for all rules and for how far each binding reaches.
import { subjectDoubt } from '../snapshot/unread.ts'
import type { Analysis } from '../analysis/analysis.ts'
import { getOrCreate } from '../get-or-create.ts'
import { podText } from '../objects/pod-index.ts'
import type { Pod } from '../objects/pod.ts'
import { driveAtOnce, type Steps } from '../steps.ts'
import { bindingSubject } from '../findings/subjects.ts'
import { finding, type Finding } from '../findings/finding.ts'
import { podIdentitiesOf, type PodIdentities } from './pod-identities.ts'
import { noteKey, scanOf, type Note } from './pod-note.ts'
import { POD_RULES } from './pod-rules.ts'
import { counted, NameSummary } from '../text/counted.ts'

/** How far the registration of one binding gets. */
interface Reach {
  declared: number
  reached: number
  missed: Map<string, NameSummary>
}

/** The findings of all pods, and of bindings that reach none; a step for each pod. */
export function* podFindings(analysis: Analysis): Steps<readonly Finding[]> {
  const reaches = new Map<string, Reach>()
  const notes = yield* notesOf(analysis, analysis.podsInQuestion, (facts) => recordReach(facts, reaches))
  return [...notes, ...unreached(analysis, reaches)]
}

/** The findings that some pods show by themselves. */
export function podNotes(analysis: Analysis, pods: readonly Pod[]): readonly Finding[] {
  return driveAtOnce(notesOf(analysis, pods, () => {}))
}

function* notesOf(
  analysis: Analysis,
  pods: readonly Pod[],
  visit: (facts: PodIdentities) => void,
): Steps<readonly Finding[]> {
  const prediction = analysis.settled.prediction()
  const scan = scanOf(analysis.settled)
  const notes = new Map<string, { note: Note; pods: NameSummary; namespaces: Set<string> }>()
  for (const pod of pods) {
    yield
    const facts = podIdentitiesOf(prediction, pod)
    if (facts.outcomes.length === 0) continue
    for (const note of POD_RULES.flatMap((rule) => rule(facts, scan))) {
      const seen = getOrCreate(notes, noteKey(note), () => ({
        note,
        pods: new NameSummary(),
        namespaces: new Set(),
      }))
      seen.pods.add(podText(pod))
      seen.namespaces.add(pod.namespace)
    }
    visit(facts)
  }
  return [...notes.values()].map(({ note, pods: seen, namespaces }) =>
    finding(note.code, {
      subject: note.subject,
      related: note.related,
      summary: note.summary(counted(seen.count, 'pod')),
      evidence: [...(note.evidence ?? []), `seen in ${seen.text()}`],
      namespaces,
    }),
  )
}

function recordReach({ pod, outcomes, containers }: PodIdentities, reaches: Map<string, Reach>): void {
  for (const outcome of outcomes) {
    if (outcome.source.kind !== 'ClusterSPIFFEID') continue
    const reach = getOrCreate(reaches, outcome.source.name, () => ({
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
        getOrCreate(reach.missed, why, () => new NameSummary()).add(podText(pod))
      }
  }
}

/** Bindings whose output is in force and reaches no container. */
function unreached(analysis: Analysis, reaches: ReadonlyMap<string, Reach>): readonly Finding[] {
  const { gaps, doubts } = analysis.snapshot
  // Pods unknown: do not report unreached bindings.
  if (gaps.has('Pod')) return []
  const outputs = new Set(analysis.settled.outputs.map(({ object }) => object.meta.name))
  return analysis.compiled.flatMap(({ binding }) => {
    const judgement = analysis.now.judgements.get(binding.key)
    if (judgement?.state !== 'ready' || !outputs.has(judgement.resolved.output.metadata.name)) return []
    const { namespace } = binding.meta
    if (subjectDoubt(doubts, namespace) !== undefined) return []
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
