// The counters that SCM writes into `status.stats` of a ClusterSPIFFEID (docs/spire-facts.md §1), from one pass over all
// pods. What is not certain is counted apart.
import { YES } from '../../model/truth/truth.ts'
import type { Pod } from '../../model/objects/pod.ts'
import type { NamespaceCount } from './candidate-index.ts'
import type { CandidateState, PodJudgement } from './pod-judge.ts'
import { sourceText, type EntryOutcome, type ObjectCounts } from './prediction.ts'
import type { PreparedId } from './prepared-id.ts'

/** What is counted, and how it is judged. */
export interface CountInput {
  readonly ids: readonly PreparedId[]
  readonly statics: readonly EntryOutcome[]
  readonly pods: readonly Pod[]
  judge(pod: Pod): PodJudgement
  namespacesOf(id: PreparedId): NamespaceCount
}

type MutableCounts = { -readonly [Name in keyof ObjectCounts]: ObjectCounts[Name] }

/** Counts for every object, by `sourceText`. */
export function countObjects(input: CountInput): ReadonlyMap<string, ObjectCounts> {
  const countsOf = new Map<string, MutableCounts>()
  const byId = new Map<PreparedId, MutableCounts>()
  for (const id of input.ids) {
    const counts = noCounts()
    if (id.handling.state === 'handled') {
      const { selected, ignored } = input.namespacesOf(id)
      counts.namespacesSelected = selected
      counts.namespacesIgnored = ignored
    }
    byId.set(id, counts)
    countsOf.set(sourceText(id.source), counts)
  }
  for (const outcome of input.statics) countsOf.set(sourceText(outcome.source), countStatic(outcome))
  for (const pod of input.pods) {
    for (const candidate of input.judge(pod).candidates) {
      const counts = byId.get(candidate.id)
      if (counts !== undefined) count(candidate, pod, counts)
    }
  }
  return countsOf
}

function count(candidate: CandidateState, pod: Pod, counts: MutableCounts): void {
  if (candidate.applied.value === 'open' || candidate.contested) counts.uncertain++
  if (!pod.exists) {
    if (candidate.selected) counts.futurePodsSelected++
    return
  }
  if (candidate.selected) counts.podsSelected++
  if (candidate.countsAsRenderFailure && candidate.verdict.state !== 'displaced')
    counts.podEntryRenderFailures++
  if (candidate.applied !== YES || candidate.contested) return
  if (candidate.verdict.state === 'masked') counts.entriesMasked++
  else counts.entriesToSet++
}

function countStatic({ verdict }: EntryOutcome): MutableCounts {
  const counts = noCounts()
  if (verdict.state === 'declared' || verdict.state === 'refused') counts.entriesToSet = 1
  if (verdict.state === 'masked') counts.entriesMasked = 1
  if (verdict.state === 'depends') counts.uncertain = 1
  return counts
}

function noCounts(): MutableCounts {
  return {
    namespacesSelected: 0,
    namespacesIgnored: 0,
    podsSelected: 0,
    podEntryRenderFailures: 0,
    entriesToSet: 0,
    entriesMasked: 0,
    futurePodsSelected: 0,
    uncertain: 0,
  }
}
