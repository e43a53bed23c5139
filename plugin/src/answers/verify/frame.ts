// The report of `verify`: the differences between what the objects ask for and what the server holds, worst first.
import {
  compareFindings,
  depending,
  notCertain,
  type Finding,
  concernsEveryBinding,
  installFindings,
  federationRule,
  differenceRule,
  svidRule,
} from '@kleym/shared/core/findings/index.ts'
import type { SvidAnswer } from '@kleym/shared/core/predict/index.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'
import { any, known, openOn, YES, type Truth } from '@kleym/shared/core/model/truth/truth.ts'
import { concerns, namedSubject, reported, type Frame } from '../../frame/frame.ts'
import { causesOf } from '../../frame/causes.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { isNearMiss } from '../../gather/near-misses.ts'
import { openJudgements } from '../parts/pod-answers.ts'
import type { ServerComparison } from '../parts/compare-entries.ts'
import { entriesText } from '../../text/names.ts'
import { verifyAnswer, viewVerify } from './view.ts'

/** Makes the report; `namespace` limits the findings to those that concern it. `svids` is what `--svids` showed. */
export function verifyFrame(
  input: AnswerInput,
  compared: ServerComparison,
  namespace: string | undefined,
  svids?: SvidAnswer,
): Frame {
  const { after } = input
  const { counts, judged, isLiveState } = compared
  const differences = differenceRule.find(after, judged).map((one) => lessCertain(one, compared))
  const all = [
    ...differences,
    ...(svids === undefined ? [] : svidRule.find(svids)).map((one) =>
      depending(one, after.openSettings.assumptions),
    ),
    ...federationRule.find(after),
    ...[...installFindings(after), ...input.inputFindings].filter(
      (one) => concernsEveryBinding(one) || isNearMiss(one),
    ),
  ]
  const findings = all.filter((one) => concerns(one, namespace)).toSorted(compareFindings)
  return {
    kind: 'VerifyReport',
    ...reported(
      async () => (await import('./schema.ts')).verifyReportSchema,
      () => ({ entries: compared.counts, differences: compared.judged, svids }),
    ),
    findings,
    judged: { count: counts.read + counts.missing.length + counts.perhapsMissing, what: 'entry' },
    causes: causesOf(input, {
      judgements: isLiveState ? [] : openJudgements(after.settled, after.podsInQuestion),
      unread:
        compared.whyPodsUnknown === undefined || compared.whyIncomplete !== undefined ? [] : [PODS_NOT_GIVEN],
      further: [...few(counts.openOn), ...unjudgedText(counts.extraUnjudged)].map((text) => ({
        leaves: 'a finding',
        text,
      })),
    }),
    // Entries that were too many to list differ all the same.
    differs: (kept) =>
      any(
        known(counts.extraBeyond > 0),
        ...differences.filter((one) => kept.includes(one)).map(isDifference),
      ),
    names: (shown) => shown.map(namedSubject),
    answer: () => verifyAnswer(compared, svids),
    view: (layout, shown) => viewVerify(compared, shown, layout),
  }
}

/** A difference that the moments of reading may explain is perhaps none. */
function isDifference({ code, dependsOn, summary }: Finding): Truth {
  if (code !== 'KLM806' && dependsOn === undefined) return YES
  return openOn(summary, dependsOn?.[0] ?? 'objects and entries were not read at one moment')
}

const PODS_NOT_GIVEN: UnknownReason = {
  verb: 'read',
  what: 'the pods of the cluster',
  cause: 'not given',
  fix: 'give them with -f (kubectl get pods -A -o yaml), or ask the cluster',
}

/** More than these tell a reader nothing more. */
const NOT_KNOWN_NAMED = 10

function few(all: readonly string[]): readonly string[] {
  const more = all.length - NOT_KNOWN_NAMED
  return more <= 0 ? all : [...all.slice(0, NOT_KNOWN_NAMED), `the same of ${more} other registrations`]
}

/** What is not known of extra entries that were too many to judge. */
function unjudgedText(count: number): readonly string[] {
  return count === 0 ? [] : [`which containers get ${entriesText(count)} more that no object asks for`]
}

/** An object that was not read may ask for an entry that seems to be extra. */
function lessCertain(one: Finding, { whyIncomplete, whyPodsUnknown }: ServerComparison): Finding {
  const why = whyIncomplete ?? (one.code === 'KLM801' ? undefined : whyPodsUnknown)
  return why === undefined ? one : notCertain(one, ['what was not read'], why)
}
