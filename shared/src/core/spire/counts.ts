// The counters that SCM writes into `status.stats` of a ClusterSPIFFEID (facts/spire.md §1), from one pass over all
// pods. What is not certain is counted apart.
import type { Pod } from '../objects/pod.ts'
import type { NamespaceCount } from './candidates.ts'
import type { CandidateState, PodJudgement } from './pod-judge.ts'
import { sourceText, type EntryOutcome, type ObjectCounts } from './prediction.ts'
import type { PreparedId } from './prepared-id.ts'

/** What counting goes through. */
export interface CountInput {
  readonly ids: readonly PreparedId[]
  readonly statics: readonly EntryOutcome[]
  readonly pods: readonly Pod[]
  judge(pod: Pod): PodJudgement
  namespacesOf(id: PreparedId): NamespaceCount
}

type Tally = { -readonly [Name in keyof ObjectCounts]: ObjectCounts[Name] }

/** Counts for every object, by `sourceText`. */
export function countObjects(input: CountInput): ReadonlyMap<string, ObjectCounts> {
  const tallies = new Map<string, Tally>()
  const byId = new Map<PreparedId, Tally>()
  for (const id of input.ids) {
    const tally = newTally()
    if (id.handling.state === 'handled') {
      const { selected, ignored } = input.namespacesOf(id)
      tally.namespacesSelected = selected
      tally.namespacesIgnored = ignored
    }
    byId.set(id, tally)
    tallies.set(sourceText(id.source), tally)
  }
  for (const outcome of input.statics) tallies.set(sourceText(outcome.source), tallyStatic(outcome))
  for (const pod of input.pods) {
    for (const candidate of input.judge(pod).candidates) {
      const tally = byId.get(candidate.id)
      if (tally !== undefined) count(candidate, pod, tally)
    }
  }
  return tallies
}

function count(candidate: CandidateState, pod: Pod, tally: Tally): void {
  if (candidate.applied === 'maybe' || candidate.contested) tally.uncertain++
  if (!pod.exists) {
    if (candidate.selected) tally.futurePodsSelected++
    return
  }
  if (candidate.selected) tally.podsSelected++
  if (candidate.failsToRender && candidate.verdict.state !== 'displaced') tally.podEntryRenderFailures++
  if (candidate.applied !== 'yes' || candidate.contested) return
  if (candidate.verdict.state === 'masked') tally.entriesMasked++
  else tally.entriesToSet++
}

function tallyStatic({ verdict }: EntryOutcome): Tally {
  const tally = newTally()
  if (verdict.state === 'declared' || verdict.state === 'refused') tally.entriesToSet = 1
  if (verdict.state === 'masked') tally.entriesMasked = 1
  if (verdict.state === 'depends') tally.uncertain = 1
  return tally
}

function newTally(): Tally {
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
