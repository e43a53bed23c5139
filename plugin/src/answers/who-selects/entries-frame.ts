// The report of `who-selects --entries`: the registration entries that SPIRE would hold, with the names that
// `spire-server entry show -output json` gives their fields.
import type { Pod } from '@kleym/shared/core/objects/pod.ts'
import { concernsEverybody, installFindings } from '@kleym/shared/core/rules/install-rules.ts'
import { compareFindings } from '@kleym/shared/core/findings/finding.ts'
import { podNotes } from '@kleym/shared/core/rules/pod-findings.ts'
import { fates } from '@kleym/shared/core/rules/resting.ts'
import { registrationEntries } from '@kleym/shared/core/spire/registration-entries.ts'
import { sourceText } from '@kleym/shared/core/spire/prediction.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { isNearMiss } from '../../gather/near-misses.ts'
import { entriesFields } from './json.ts'
import { openJudgements } from './model.ts'
import { viewEntries } from './entries-view.ts'
import type { Frame } from '../../frame/frame.ts'
import { missingOf } from '../../frame/missing.ts'

/** Which entries are meant, beyond those of the chosen pods. */
export interface EntryScope {
  /** Only the entries of this identity. */
  readonly spiffeId: string | undefined
  /** All pods are meant: static entries that may match none of them are then shown too. */
  readonly everything: boolean
}

/** Makes the report for the chosen pods. */
export function entriesFrame(input: AnswerInput, pods: readonly Pod[], scope: EntryScope): Frame {
  const prediction = input.after.settled.prediction()
  const near = new Set(
    scope.everything
      ? []
      : pods.flatMap((pod) => prediction.entriesOf(pod).map(({ source }) => sourceText(source))),
  )
  const { ofEntry } = fates(input.after)
  const entries = registrationEntries(prediction, pods)
    .filter(
      (entry) =>
        (scope.spiffeId === undefined || entry.spiffe_id === scope.spiffeId) &&
        (scope.everything || entry.pod !== undefined || near.has(entry.source)),
    )
    .map((entry) => ({ ...entry, depends: entry.depends ?? ofEntry(entry.source) }))
  const findings = [
    ...podNotes(input.after, pods),
    ...installFindings(input.after),
    ...input.inputFindings.filter((one) => concernsEverybody(one) || isNearMiss(one)),
  ].toSorted(compareFindings)
  return {
    kind: 'EntriesReport',
    fields: () => entriesFields(entries),
    findings,
    judged: { count: pods.length + entries.length, what: 'pod, pod template or static entry' },
    missing: missingOf(input, openJudgements(input.after.settled, pods), { pods: new Set(pods) }),
    names: () =>
      pods.map(({ ref }) => ({ kind: ref.kind, group: '', namespace: ref.namespace, name: ref.name })),
    view: (layout, shown) =>
      viewEntries(entries, {
        ...layout,
        findings: shown,
        perhapsMore: findings.some(({ code }) => code === 'KLM413'),
      }),
  }
}
