// The report of `status`: what is installed, its settings, and the verdicts that the operator wrote into the bindings.
import { installationRule, compareFindings, installFindings } from '@kleym/shared/core/findings/index.ts'
import { resourceName } from '@kleym/shared/kube/resources.ts'
import { operatorsUnknown, type Installation } from '../../cluster/installation.ts'
import type { InstalledInput } from '../../gather/installed.ts'
import { isClassKnown, statusAnswer, whyNobodyLeads } from './model.ts'
import { unreadIn } from '../parts/unread-hops.ts'
import type { SpireAnswer } from './spire.ts'
import { viewStatus, statusSummary } from './view.ts'
import { namedSubject, reported, type Frame } from '../../frame/frame.ts'
import { causesOf } from '../../frame/causes.ts'

const NO_SPIRE: SpireAnswer = {
  hops: [],
  budgets: undefined,
  timers: { syncSeconds: undefined, reloadSeconds: undefined },
}

/** Makes the report; `now` tells whether a Lease still counts. */
export function statusFrame(
  input: InstalledInput,
  installation: Installation,
  now: Date,
  { hops, budgets, timers }: SpireAnswer = NO_SPIRE,
): Frame {
  const { after } = input
  const { kinds, side } = installation
  const answer = { ...statusAnswer(input, installation, now), hops, budgets, timers }
  const nobodyLeads = whyNobodyLeads(answer)
  const absentKinds = new Set(
    kinds.filter(({ served }) => served.state === 'absent').map(({ resource }) => resourceName(resource)),
  )
  return {
    kind: 'StatusReport',
    ...reported(
      async () => (await import('./schema.ts')).statusReportSchema,
      () => ({
        ...answer,
        scmHandlesClass: answer.scm.state,
        spire: answer.hops,
        oldestStuck: answer.stuck,
        entries: answer.counters,
      }),
    ),
    findings: [
      ...installationRule.find(after, {
        absentKinds,
        operators: answer.operators,
        isClassKnown: isClassKnown(input),
      }),
      ...installFindings(after),
      ...input.inputFindings,
    ].toSorted(compareFindings),
    causes: causesOf(input, {
      unread: [
        ...operatorsUnknown(side),
        ...kinds.flatMap(({ served }) => (served.state === 'unknown' ? [served.why] : [])),
        ...unreadIn(hops),
      ],
      further:
        nobodyLeads === undefined
          ? []
          : [{ leaves: 'a finding', text: `whether the operator acts: ${nobodyLeads}` }],
    }),
    names: (shown) => shown.map(namedSubject),
    answer: (_, shown) => statusSummary(answer, input, shown),
    view: (layout, shown) => viewStatus(answer, input, shown, layout),
  }
}
