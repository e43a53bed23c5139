// The report of `who-selects --entries`: the registration entries that SPIRE would hold, with the names that
// `spire-server entry show -output json` gives their fields.
import { type State, openVerdicts } from '@kleym/shared/core/analysis/index.ts'
import { CLUSTER_SPIFFE_ID_KIND } from '@kleym/shared/core/model/names.ts'
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import {
  concernsEveryBinding,
  installFindings,
  compareFindings,
  type Finding,
  podNotes,
} from '@kleym/shared/core/findings/index.ts'
import {
  registrationEntrySteps,
  type RegistrationEntry,
  sourceText,
  asServerJson,
} from '@kleym/shared/core/predict/index.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { refuseMoreThan, SHOWN_ENTRIES } from '../../gather/answer-limits.ts'
import { isNearMiss } from '../../gather/near-misses.ts'
import { openJudgements } from '../parts/pod-answers.ts'
import { entriesAnswer, viewEntries, type EntriesLayout } from './entries-view.ts'
import { reported, type Frame } from '../../frame/frame.ts'
import { namedPods } from '../../output/name.ts'
import type { Layout } from '../../text/layout.ts'
import { causesOf, isUnfollowed } from '../../frame/causes.ts'

/** Which entries are meant, beyond those of the chosen pods. */
export interface EntryScope {
  /** Only the entries of this identity. */
  readonly spiffeId: string | undefined
  /** All pods are meant: static entries that may match none of them are then shown too. */
  readonly everything: boolean
  /** Whether the answer is about a cluster as it is: then what kleym must still write is no entry. */
  readonly isLiveState: boolean
}

/** Equal for entries that are the same, however certain they are. */
function keyOf(entry: RegistrationEntry): string {
  return JSON.stringify({ ...entry, depends: undefined })
}

function refuseTooMany(held: number): void {
  refuseMoreThan(SHOWN_ENTRIES, held)
}

/** The entries of a state. Throws a KleymError where they would be too many. */
function entriesOf({ drive }: AnswerInput, state: State, pods: readonly Pod[]): readonly RegistrationEntry[] {
  return drive(registrationEntrySteps(state.prediction(), pods, refuseTooMany), 'little')
}

/** The entries of the objects that are there, and behind them those of the ClusterSPIFFEIDs that kleym must still write. */
function entriesNow(input: AnswerInput, pods: readonly Pod[]): readonly RegistrationEntry[] {
  const { now, settled } = input.after
  const there = entriesOf(input, now, pods)
  const known = new Set(there.map(keyOf))
  const unwritten = new Set([...settled.unwritten].map((name) => `${CLUSTER_SPIFFE_ID_KIND}/${name}`))
  const coming = entriesOf(input, settled, pods).filter(
    (entry) => unwritten.has(entry.source) && !known.has(keyOf(entry)),
  )
  refuseTooMany(there.length + coming.length)
  return [
    ...there,
    ...coming.map((entry) => ({ ...entry, depends: 'kleym must still write its ClusterSPIFFEID' })),
  ]
}

/** Makes the report for the chosen pods. */
export function entriesFrame(input: AnswerInput, pods: readonly Pod[], scope: EntryScope): Frame {
  const prediction = input.after.settled.prediction()
  const near = new Set(
    scope.everything
      ? []
      : pods.flatMap((pod) => prediction.entriesOf(pod).map(({ source }) => sourceText(source))),
  )
  const { ofEntry } = openVerdicts(input.after)
  const entries = (scope.isLiveState ? entriesNow(input, pods) : entriesOf(input, input.after.settled, pods))
    .filter(
      (entry) =>
        (scope.spiffeId === undefined || entry.spiffe_id === scope.spiffeId) &&
        (scope.everything || entry.pod !== undefined || near.has(entry.source)),
    )
    .map((entry) => ({ ...entry, depends: entry.depends ?? ofEntry(entry.source) }))
  const findings = [
    ...podNotes(input.after, pods),
    ...installFindings(input.after),
    ...input.inputFindings.filter((one) => concernsEveryBinding(one) || isNearMiss(one)),
  ].toSorted(compareFindings)
  const layoutOf = (layout: Layout, shown: readonly Finding[]): EntriesLayout => ({
    ...layout,
    findings: shown,
    perhapsMore: findings.some(isUnfollowed),
  })
  return {
    kind: 'EntriesReport',
    ...reported(
      async () => (await import('./schema.ts')).entriesReportSchema,
      () => ({ entries }),
    ),
    // What the server alone decides is empty.
    serverJson: () => ({ entries: entries.map(asServerJson), next_page_token: '' }),
    findings,
    judged: { count: pods.length + entries.length, what: 'pod, pod template or static entry' },
    causes: causesOf(input, {
      judgements: scope.isLiveState ? [] : openJudgements(input.after.settled, pods),
      pods: new Set(pods),
    }),
    names: () => namedPods(pods),
    answer: (layout, kept) => entriesAnswer(entries, pods, layoutOf(layout, kept)),
    view: (layout, shown) => viewEntries(entries, layoutOf(layout, shown)),
  }
}
