// The report that machines read (`-o json`, `-o yaml`). Its fields only ever grow; schema/ describes them.
import { countBySeverity, type Finding } from '@kleym/shared/core/findings/finding.ts'
import type { SuppressedFinding } from '@kleym/shared/core/findings/suppress.ts'
import { DEFAULT_VARIANT_LABEL_KEY } from '@kleym/shared/core/names.ts'
import { unknownReasonText } from '@kleym/shared/core/unknown-reason.ts'
import type { AnswerInput } from '../gather/gather.ts'
import { report } from '../output/json.ts'
import { missingOf } from './causes.ts'
import type { AnswerResult } from './result.ts'

/** The whole report of a command. */
export function machineReport(judged: AnswerResult): Readonly<Record<string, unknown>> {
  const { frame, input, shown, findings, suppressed, causes } = judged
  const { assumptions, premises, problems, notShown, exitCode } = judged
  return report(frame.kind, {
    settings: settingsReport(input),
    ...frame.fields(shown),
    findings: findings.map(findingReport),
    suppressed: suppressed.map(suppressedReport),
    summary: { ...countBySeverity(findings), suppressed: suppressed.length },
    ...(notShown > 0 && { notShown }),
    missing: missingOf(causes).map((why) => ({ ...why, text: unknownReasonText(why) })),
    assumptions,
    premises,
    problems: problems.map(({ kind, what, where, why, fix }) => ({ kind, what, where, why, fix })),
    exitCode,
  })
}

/** A finding as machines read it. */
export function findingReport(one: Finding): Readonly<Record<string, unknown>> {
  const { code, severity, subject, related, summary, evidence, fix, dependsOn } = one
  const docs = `docs/findings/${code}.md`
  const rests = dependsOn === undefined ? {} : { dependsOn }
  return { code, severity, subject, related, summary, evidence, ...rests, fix, docs }
}

function suppressedReport({ finding, suppression }: SuppressedFinding): Readonly<Record<string, unknown>> {
  const { by, text, reason } = suppression
  return { ...findingReport(finding), suppression: { by, text, reason: reason ?? null } }
}

/** The settings that an answer rests on. */
export function settingsReport({
  operator,
  after,
}: Pick<AnswerInput, 'operator' | 'after'>): Readonly<Record<string, unknown>> {
  const {
    trustDomain,
    className,
    outputLabels = new Map<string, string>(),
    variantLabelKey,
  } = operator.config
  return {
    trustDomain: trustDomain.kind === 'set' ? trustDomain.value : null,
    trustDomainSource: operator.trustDomainSource ?? null,
    className,
    classNameSource: operator.classNameSource ?? null,
    outputLabels: [...outputLabels].map(([key, value]) => `${key}=${value}`),
    outputLabelsSource: operator.outputLabelsSource ?? null,
    // As it has been from the first report on: absent if it is not known, or the default.
    ...(variantLabelKey !== undefined &&
      variantLabelKey !== DEFAULT_VARIANT_LABEL_KEY && { variantLabelKey }),
    variantLabelKeySource: operator.variantLabelKeySource ?? null,
    scm: {
      source: after.settings.source,
      assumed: after.settings.assumed,
      trustDomain: after.settings.trustDomain ?? null,
      clusterName: after.settings.clusterName ?? null,
      className: after.settings.className ?? null,
      watchClassless: after.settings.watchClassless,
      ignoreNamespaces: after.settings.ignoreNamespaces,
    },
  }
}
